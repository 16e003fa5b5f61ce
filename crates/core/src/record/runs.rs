//! Runs for the observers of this room. They are compiled in this crate, for speed, even if another crate
//! calls them.

use super::Recorder;
#[cfg(feature = "simulator")]
use super::jobs::JobsRecorder;
use crate::engine::{Flight, Observer, Outcome, Steps, Watch};
use crate::ids::LinkId;
use crate::network::Network;
use crate::pattern::PatternPlayer;
use crate::transport::Metered;
use crate::units::Time;
use crate::workload::Workload;

/// An observer that calls a function with each message when it has arrived.
struct Delivered<'a>(&'a mut dyn FnMut(Time, &Flight));

impl Observer for Delivered<'_> {
    fn delivered(&mut self, now: Time, flight: &Flight, _: &[LinkId]) {
        (self.0)(now, flight);
    }
}

impl Network {
    /// Runs a workload without an observer.
    pub fn play(&self, workload: &mut dyn Workload, watch: Option<&dyn Watch>) -> Outcome {
        self.simulate(workload, &mut (), watch)
    }

    /// Runs a pattern and calls a function with each message when it has arrived.
    pub fn play_pattern(
        &self,
        player: &mut PatternPlayer,
        on_delivered: &mut dyn FnMut(Time, &Flight),
        watch: Option<&dyn Watch>,
    ) -> Outcome {
        self.simulate_known(player, Metered::Nothing, &mut Delivered(on_delivered), watch)
    }

    /// Runs a pattern and records it.
    pub fn record_pattern(
        &self,
        player: &mut PatternPlayer,
        metered: Metered<'_>,
        recorder: &mut Recorder<'_>,
        watch: Option<&dyn Watch>,
    ) -> Outcome {
        self.simulate_known(player, metered, recorder, watch)
    }

    /// Runs any workload and records it.
    pub fn record(
        &self,
        workload: &mut dyn Workload,
        metered: Metered<'_>,
        recorder: &mut Recorder<'_>,
        watch: Option<&dyn Watch>,
    ) -> Outcome {
        self.simulate_metered(workload, metered, recorder, watch)
    }

    /// Runs several jobs and records each of them.
    #[cfg(feature = "simulator")]
    pub fn record_jobs(
        &self,
        workload: &mut dyn Workload,
        metered: Metered<'_>,
        recorder: &mut JobsRecorder<'_>,
        watch: Option<&dyn Watch>,
    ) -> Outcome {
        self.simulate_metered(workload, metered, recorder, watch)
    }
}

impl Steps<'_> {
    /// Counts the steps and records them; returns `None` if they cannot be counted.
    pub fn record(&self, recorder: &mut Recorder<'_>, watch: Option<&dyn Watch>) -> Option<Outcome> {
        self.run(recorder, watch)
    }
}
