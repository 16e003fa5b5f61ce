//! Training steps whose program is only their beginning.

use std::sync::Arc;

use super::program::ProgramWork;
use super::simulated::RunOptions;
use crate::diagnostic::Diagnostic;
use crate::network::Network;
use crate::system::{ProgramSpec, System, WorkloadSpec};
use crate::training::{Gpu, Training};

impl ProgramWork {
    /// Returns the same training step with a program of at least this number of micro-batches, or of all. Other
    /// programs stay.
    ///
    /// # Errors
    /// A program that does not fit in memory.
    pub fn with_micro_batches(mut self, micro_batches: u64) -> Result<Self, Diagnostic> {
        let Some((step, gpu)) = self.training().filter(|_| self.beginning.is_some()) else {
            return Ok(Self { beginning: None, ..self });
        };
        let micro_batches = step.repeats_from(micro_batches).unwrap_or(u64::MAX);
        let program = step.beginning(micro_batches).program(&gpu).map_err(|mut mistakes| mistakes.swap_remove(0))?;
        self.program = Arc::new(program);
        self.beginning = Some(micro_batches).filter(|&few| few < step.layout.micro_batches(&step.model));
        Ok(self)
    }

    /// Returns true if nothing on this system changes with time or by chance, so that a training step may repeat.
    pub(super) fn may_repeat(&self, system: &System, options: &RunOptions<'_>) -> bool {
        let is_steady = |network: &Network| network.router.choice().is_none() && network.events().is_none();
        let sees = options.on_activity.is_some() || options.on_transfer.is_some() || options.on_mark.is_some();
        system.network().is_none_or(is_steady)
            && system.noise().noise.is_none()
            && system.optimum().is_none()
            && !(sees || options.link_series || options.keep || options.until.is_some())
    }

    /// Returns the training step that the program is, with its GPU.
    pub(crate) fn training(&self) -> Option<(Training, Gpu)> {
        match &self.spec {
            Some(WorkloadSpec::Program(ProgramSpec::Llm(spec))) => {
                Some((spec.training(None, false).ok()?, spec.gpu().ok()?.clone()))
            }
            _ => None,
        }
    }
}
