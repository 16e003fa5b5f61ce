//! A key of a scenario after reading: not there, wrong, or with its value and place.

use serde::{Serialize, Serializer};

use crate::diagnostic::Span;

/// A key of the scenario after reading.
#[derive(Clone, Debug)]
pub(super) enum Section<T> {
    /// It is not there.
    Absent,
    /// It is there, but has mistakes; they have been reported.
    Broken,
    /// What it says, and where it stands.
    Is(T, Span),
}

impl<T> Section<T> {
    /// The same, as something else.
    pub fn map<U>(self, of: impl FnOnce(T) -> U) -> Section<U> {
        match self {
            Self::Absent => Section::Absent,
            Self::Broken => Section::Broken,
            Self::Is(value, span) => Section::Is(of(value), span),
        }
    }

    /// What it says, if it could be read.
    pub fn get(&self) -> Option<&T> {
        match self {
            Self::Is(value, _) => Some(value),
            _ => None,
        }
    }

    /// What it says, or what holds where it says nothing; nothing where it has mistakes.
    pub fn or(&self, usual: impl FnOnce() -> T) -> Option<T>
    where
        T: Clone,
    {
        match self {
            Self::Is(value, _) => Some(value.clone()),
            Self::Absent => Some(usual()),
            Self::Broken => None,
        }
    }

    /// Whether it is there and has mistakes.
    pub fn is_broken(&self) -> bool {
        matches!(self, Self::Broken)
    }

    /// Whether it is not there.
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// Where it stands.
    pub fn span(&self) -> Option<Span> {
        match self {
            Self::Is(_, span) => Some(*span),
            _ => None,
        }
    }
}

/// A key that is not there is as nothing.
impl<T: Serialize> Serialize for Section<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.get().serialize(serializer)
    }
}
