//! What was typed after `hayase master-slave`, as the scenario that it stands for.

use super::args::{FarmArgs, MasterSlaveArgs, SourceArgs};
use crate::{Voice, progress};
use hayase::scenario::Loader;

/// The tasks, the workers and the network between them.
pub fn loader(tasks: &str, source: &SourceArgs, farm: &FarmArgs, voice: Voice) -> Loader {
    let mut loader = Loader::new()
        .on_read(progress::reading(voice.show))
        .text("<master-slave>", "[workload.master-slave]\n")
        .seed(source.seed)
        .work("<TASKS>", "tasks", tasks);
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
    type Set = fn(Loader, &str) -> Loader;
    let options: [(&Option<String>, Set); 5] = [
        (&farm.machine, Loader::machine),
        (&farm.topology, Loader::topology),
        (&farm.placement, Loader::placement),
        (&farm.sharing, Loader::sharing),
        (&farm.routing, Loader::routing),
    ];
    for (value, add) in options {
        if let Some(value) = value {
            loader = add(loader, value);
        }
    }
    loader
}

impl MasterSlaveArgs {
    /// The scenario that it stands for.
    pub fn loader(&self, voice: Voice) -> Loader {
        let mut loader = loader(self.tasks.as_deref().unwrap_or_default(), &self.source, &self.farm, voice)
            .work("--order", "order", &self.order)
            .work("--chunking", "chunking", &self.chunking)
            .work("--detection", "detection", &self.detection);
        let mut numbers = vec![
            ("--granularity", "granularity", self.granularity.get()),
            ("--prefetch", "prefetch", self.prefetch),
            ("--masters", "masters", self.masters.get()),
        ];
        numbers.extend(self.hierarchy.map(|batch| ("--hierarchy", "hierarchy", batch.get())));
        for (flag, key, number) in numbers {
            loader = loader.set(flag, &format!("workload.master-slave.{key}={number}"));
        }
        if !self.lose.is_empty() {
            loader = loader.set("--lose", &format!("workload.master-slave.lose={:?}", self.lose));
        }
        match &self.vary {
            Some(text) => loader.work("--vary", "vary", text),
            None => loader,
        }
    }
}
