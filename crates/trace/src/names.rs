//! Names of places: `file:line (function)`; without debug information `object: function+0x12`; without
//! symbols `object+0x1234`; outside of any file `0x401136`.

use crate::{Frame, Site};

/// Returns true if a name contains a line of a source, not just a place in a function or file.
pub fn has_line(name: &str) -> bool {
    place(name).rsplit_once(':').is_some_and(|(_, line)| line.parse::<u32>().is_ok())
}

/// Returns a name without its function: `file:line`.
pub fn place(name: &str) -> &str {
    name.rsplit_once(" (").map_or(name, |(place, _)| place)
}

/// Returns the function of a name; `None` if it is unknown.
pub fn function(name: &str) -> Option<&str> {
    match name.rsplit_once(" (") {
        Some((_, function)) => function.strip_suffix(')'),
        None => Some(name.split_once(": ")?.1.rsplit_once("+0x")?.0),
    }
}

/// Returns the program or library of a place whose line is unknown: `pw.x` of `pw.x: cegterg_+0x31`.
pub fn object_without_line(name: &str) -> Option<&str> {
    if has_line(name) || name.starts_with("0x") {
        return None;
    }
    let (object, _) = name.split_once(": ").or_else(|| name.rsplit_once("+0x"))?;
    Some(object)
}

impl Site {
    /// Returns the callers above the place that the site is named after.
    ///
    /// A site is named after the place of the call itself. If that has no name, because it is in an
    /// interpreted language, the site is named after one of the callers. Callers before that one are
    /// functions on the path from there to the call.
    pub fn above(&self) -> &[Frame] {
        let named = |frame: &Frame| frame.address == 0 && frame.name == self.name;
        let at = self.callers.iter().position(named).map_or(0, |at| at + 1);
        &self.callers[at..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_is_known() {
        for (name, line, of, object) in [
            ("src/a.c:12 (main)", true, Some("main"), None),
            ("src/a.c:12", true, None, None),
            ("a.cpp:3 ((anonymous namespace)::f)", true, Some("(anonymous namespace)::f"), None),
            ("pw.x: cegterg_+0x31", false, Some("cegterg_"), Some("pw.x")),
            ("lib.so: ns::f<a::b>+0x0", false, Some("ns::f<a::b>"), Some("lib.so")),
            ("lib.so.0+0x1234", false, None, Some("lib.so.0")),
            ("0x401136", false, None, None),
            ("", false, None, None),
        ] {
            assert_eq!((has_line(name), function(name), object_without_line(name)), (line, of, object), "{name}");
        }
    }

    #[test]
    fn the_callers_of_a_line_of_python_are_those_above_it() {
        let frame = |address, name: &str| Frame { address, name: name.into() };
        let callers = vec![frame(7, "MPI.so: send+0x3"), frame(0, "a.py:3 (f)"), frame(0, "a.py:9 (<module>)")];
        let mut site = Site { address: 5, name: "a.py:3 (f)".into(), callers };
        assert_eq!(site.above(), &[frame(0, "a.py:9 (<module>)")]);
        site.name = "wrap.c:2 (send)".into();
        assert_eq!(site.above().len(), 3);
    }
}
