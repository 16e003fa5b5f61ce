//! What was typed after `hayase master-slave`, as the scenario that it stands for.

use std::num::NonZeroU32;

use super::args::{FarmArgs, MasterSlaveArgs, SourceArgs};
use crate::{Voice, asked, progress};
use hayase::scenario::Loader;

/// The tasks, the workers and the network between them.
pub fn loader(tasks: &str, source: &SourceArgs, farm: &FarmArgs, voice: Voice) -> Loader {
    let mut loader = asked::loader().on_read(progress::reading(voice.show));
    if let Some(path) = &farm.scenario {
        loader = loader.file(path);
    }
    loader = loader.text("<master-slave>", "[workload.master-slave]\n").work("<TASKS>", "tasks", tasks);
    let texts = [
        ("--grid", "grid", &source.grid),
        ("--bytes-in", "bytes-in", &source.bytes_in),
        ("--bytes-out", "bytes-out", &source.bytes_out),
        ("--workers", "workers", &farm.workers),
        ("--processors", "processors", &farm.processors),
        ("--speeds", "speeds", &farm.speeds),
        ("--latency", "latency", &farm.latency),
        ("--overhead", "overhead", &farm.overhead),
        ("--overhead-per-processor", "overhead-per-processor", &farm.overhead_per_processor),
        ("--gap", "gap", &farm.gap),
    ];
    for (flag, key, text) in texts {
        if let Some(text) = text {
            loader = loader.work(flag, key, text);
        }
    }
    let switches = [
        ("--clamp", "clamp", source.clamp),
        ("--refined", "refined", source.refined),
        ("--overlap", "overlap", farm.overlap),
    ];
    for (flag, key, _) in switches.into_iter().filter(|(.., on)| *on) {
        loader = loader.set(flag, &format!("workload.master-slave.{key}=true"));
    }
    farm.system.on(loader)
}

impl MasterSlaveArgs {
    /// The scenario that it stands for.
    pub fn loader(&self, voice: Voice) -> Loader {
        let mut loader = loader(self.tasks.as_deref().unwrap_or_default(), &self.source, &self.farm, voice);
        let texts = [
            ("--order", "order", &self.order),
            ("--chunking", "chunking", &self.chunking),
            ("--detection", "detection", &self.detection),
            ("--vary", "vary", &self.vary),
        ];
        for (flag, key, text) in texts {
            if let Some(text) = text {
                loader = loader.work(flag, key, text);
            }
        }
        let numbers = [
            ("--granularity", "granularity", self.granularity.map(NonZeroU32::get)),
            ("--prefetch", "prefetch", self.prefetch),
            ("--masters", "masters", self.masters.map(NonZeroU32::get)),
            ("--hierarchy", "hierarchy", self.hierarchy.map(NonZeroU32::get)),
        ];
        for (flag, key, number) in numbers {
            if let Some(number) = number {
                loader = loader.set(flag, &format!("workload.master-slave.{key}={number}"));
            }
        }
        if self.lose.is_empty() {
            return loader;
        }
        loader.set("--lose", &format!("workload.master-slave.lose={:?}", self.lose))
    }
}
