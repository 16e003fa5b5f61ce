//! `--window`: the part of a run that its timeline shows.

use clap::Args;

use super::range::quantity;
use hayase::diagnostic::Diagnostic;
use hayase::units::Time;
use hayase_output::svg::Window;

/// Part of a run that is drawn.
#[derive(Args, Clone, PartialEq, Eq, Debug, Default)]
pub struct WindowArgs {
    /// Part of the run that a timeline shows: 1.2ms..1.4ms, 1.2ms.. or ..1.4ms.
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true, help_heading = "Output")]
    pub window: Option<String>,
}

impl WindowArgs {
    /// Returns the window, or the whole run if none is given.
    ///
    /// # Errors
    /// Fails if the text is no window, the window is empty, or there is no timeline to show it.
    pub fn window(&self, has_timeline: bool) -> Result<Window, Diagnostic> {
        const HELP: &str = "write two times with their units, 1.2ms..1.4ms, or leave one out: 1.2ms.. or ..1.4ms";
        let Some(text) = &self.window else { return Ok(Window::default()) };
        let wrong = |message: String| Diagnostic::new("wrong-value", message).help(HELP);
        let (from, to) = text.split_once("..").ok_or_else(|| wrong(format!("--window: `{text}` is not FROM..TO")))?;
        let (from, to) = (from.trim(), to.trim());
        if from.is_empty() && to.is_empty() {
            return Err(wrong("--window: `..` leaves out both ends".to_owned()));
        }
        let seconds = |text: &str, otherwise: f64| match text {
            "" => Ok(otherwise),
            text => quantity::<Time>("--window", text).map(Time::seconds).map_err(|mistake| mistake.help(HELP)),
        };
        let window = Window { from_s: seconds(from, 0.0)?, to_s: seconds(to, f64::INFINITY)? };
        if window.to_s < window.from_s {
            return Err(wrong(format!("--window: {to} is before {from}")));
        }
        if window.to_s <= window.from_s {
            return Err(wrong(format!(
                "--window: nothing is from {} to {to}",
                if from.is_empty() { "0 s" } else { from }
            )));
        }
        if !has_timeline {
            return Err(Diagnostic::new("wrong-choice", "--window is for a timeline, and none is written")
                .help("write one: -o timeline.svg"));
        }
        Ok(window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Window, Diagnostic> {
        WindowArgs { window: Some(text.to_owned()) }.window(true)
    }

    #[test]
    fn a_window_has_one_end_or_two() {
        assert_eq!(of("1.5ms..2 ms").unwrap(), Window { from_s: 1.5e-3, to_s: 2e-3 });
        assert_eq!(of("3us..").unwrap(), Window { from_s: 3e-6, to_s: f64::INFINITY });
        assert_eq!(of("..7ns").unwrap(), Window { from_s: 0.0, to_s: 7e-9 });
        assert_eq!(WindowArgs::default().window(false).unwrap(), Window::default());
    }

    #[test]
    fn what_is_no_window_is_said() {
        for text in [
            "..",
            "",
            "5ms",
            "2ms..1ms",
            "1ms..1ms",
            "..0s",
            "1..2",
            "-1ms..2ms",
            "1ms..2 parsecs",
            "1ms...2ms",
            "a..b",
        ] {
            let mistake = of(text).unwrap_err();
            assert!(mistake.message.contains("--window") && mistake.help.is_some(), "{text}: {mistake:?}");
        }
        let alone = WindowArgs { window: Some("1ms..2ms".into()) }.window(false).unwrap_err();
        assert!(alone.message.contains("none is written"), "{alone:?}");
    }
}
