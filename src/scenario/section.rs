//! Keys of a scenario after reading: absent, broken, or with value and place.

use serde::{Serialize, Serializer};

use crate::diagnostic::Span;

/// A key of the scenario after reading.
#[derive(Clone, Debug)]
pub(super) enum Section<T> {
    /// The key is absent.
    Absent,
    /// The key has mistakes, which have been reported.
    Broken,
    /// The value and its place.
    Is(T, Span),
}

impl<T> Section<T> {
    /// Converts the value.
    pub fn map<U>(self, of: impl FnOnce(T) -> U) -> Section<U> {
        match self {
            Self::Absent => Section::Absent,
            Self::Broken => Section::Broken,
            Self::Is(value, span) => Section::Is(of(value), span),
        }
    }

    /// Returns the value, if it could be read.
    pub fn get(&self) -> Option<&T> {
        match self {
            Self::Is(value, _) => Some(value),
            _ => None,
        }
    }

    /// Returns the value, or a default if the key is absent; `None` if it has mistakes.
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

    /// Returns true if the key has mistakes.
    pub fn is_broken(&self) -> bool {
        matches!(self, Self::Broken)
    }

    /// Returns true if the key is absent.
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// Returns the place of the value.
    pub fn span(&self) -> Option<Span> {
        match self {
            Self::Is(_, span) => Some(*span),
            _ => None,
        }
    }
}

/// Writes an absent or broken key as `None`.
impl<T: Serialize> Serialize for Section<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.get().serialize(serializer)
    }
}
