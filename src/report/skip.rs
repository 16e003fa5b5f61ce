//! Conditions under which fields are left out of JSON.

/// Returns true if a value is the default: 0, false, or nothing.
pub(super) fn is_zero<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
