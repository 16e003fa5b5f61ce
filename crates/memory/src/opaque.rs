//! placeholder
pub(crate) fn watch() {}
