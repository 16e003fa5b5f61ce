//! The wall clock, used only for the run time in the `meta` of reports. Results never depend on it.

#[cfg(not(target_family = "wasm"))]
pub use std::time::Instant;
#[cfg(target_family = "wasm")]
pub use stopped::Instant;

/// Returns the current instant of the wall clock.
#[allow(clippy::disallowed_methods, reason = "goes into `meta` only, which may differ from run to run")]
pub fn now() -> Instant {
    Instant::now()
}

/// Clock of WebAssembly, which has none by itself: no time passes.
#[cfg(target_family = "wasm")]
mod stopped {
    use std::time::Duration;

    /// An instant.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub struct Instant;

    impl Instant {
        /// Returns the only instant.
        pub fn now() -> Self {
            Self
        }

        /// Returns no time.
        pub fn elapsed(&self) -> Duration {
            Duration::ZERO
        }

        /// Returns no time.
        pub fn duration_since(&self, _: Self) -> Duration {
            Duration::ZERO
        }
    }
}
