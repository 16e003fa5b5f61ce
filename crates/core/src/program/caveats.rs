//! Known defects of a recording as a whole: it lacks part of the run, or its times are not those of the
//! program alone.
//!
//! The reader of traces notes them. They stay with the [`Program`](crate::program::Program) made of the
//! trace, and data sets carry them.

/// Known defects of the recordings that the results are based on.
#[report(Eq, Default)]
pub struct Caveats {
    /// Parts of the run that the recordings lack, and the consequences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub incomplete: Vec<String>,
    /// Recordings whose ranks lacked a core, and the consequences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lack_of_cores: Vec<String>,
    /// Time of ranks that was neither computation nor communication, or may have been either, and the
    /// consequences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<String>,
    /// Parts of traces that their readers left out, and how often.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<String>,
}

/// Names of the notes in data sets.
const INCOMPLETE: &str = "incomplete";
const LACK_OF_CORES: &str = "lack-of-cores";
const OUTSIDE: &str = "outside";
const IGNORED: &str = "ignored";

impl Caveats {
    /// Returns true if there are no caveats.
    pub fn is_empty(&self) -> bool {
        self.incomplete.is_empty() && self.ignored.is_empty() && self.of_times().next().is_none()
    }

    /// Adds the caveats of another recording, without duplicates.
    pub fn add(&mut self, other: &Self) {
        let Self { incomplete, lack_of_cores, outside, ignored } = other.beyond(self);
        self.incomplete.extend(incomplete);
        self.lack_of_cores.extend(lack_of_cores);
        self.outside.extend(outside);
        self.ignored.extend(ignored);
    }

    /// Returns the caveats about times.
    pub fn of_times(&self) -> impl Iterator<Item = &String> {
        self.lack_of_cores.iter().chain(&self.outside)
    }

    /// Returns the caveats that `known` does not have.
    pub fn beyond(&self, known: &Self) -> Self {
        let rest =
            |mine: &[String], theirs: &[String]| mine.iter().filter(|text| !theirs.contains(text)).cloned().collect();
        Self {
            incomplete: rest(&self.incomplete, &known.incomplete),
            lack_of_cores: rest(&self.lack_of_cores, &known.lack_of_cores),
            outside: rest(&self.outside, &known.outside),
            ignored: rest(&self.ignored, &known.ignored),
        }
    }

    /// Returns the caveats as notes of a data set; those about times only if `times` is set.
    pub fn notes(&self, times: bool) -> impl Iterator<Item = (String, String)> {
        let named = |name: &'static str| move |text: &String| (name.to_owned(), text.clone());
        let of_times =
            self.lack_of_cores.iter().map(named(LACK_OF_CORES)).chain(self.outside.iter().map(named(OUTSIDE)));
        let left_out = self.ignored.iter().map(named(IGNORED));
        self.incomplete.iter().map(named(INCOMPLETE)).chain(left_out).chain(of_times.filter(move |_| times))
    }

    /// Reads the caveats from the notes of a data set.
    pub fn of_notes(notes: &[(String, String)]) -> Self {
        let named = |name: &str| {
            notes.iter().filter(|(known, _)| known == name).map(|(_, text)| text.clone()).collect::<Vec<_>>()
        };
        let [incomplete, lack_of_cores, outside, ignored] = [INCOMPLETE, LACK_OF_CORES, OUTSIDE, IGNORED].map(named);
        Self { incomplete, lack_of_cores, outside, ignored }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_sets_carry_them_as_notes_and_what_is_said_twice_is_one() {
        let caveats = Caveats {
            incomplete: vec!["a: b".into()],
            lack_of_cores: vec!["c".into()],
            outside: vec!["d".into()],
            ..Caveats::default()
        };
        let notes: Vec<_> = caveats.notes(true).collect();
        assert_eq!(Caveats::of_notes(&notes), caveats);
        let program: Vec<_> = caveats.notes(false).collect();
        assert_eq!(program, [("incomplete".to_owned(), "a: b".to_owned())]);
        let mut sum = Caveats::of_notes(&program);
        sum.add(&caveats);
        assert_eq!(sum, caveats);
        assert!(Caveats::of_notes(&[("clock".into(), "wall".into())]).is_empty());
    }
}
