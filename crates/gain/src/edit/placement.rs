//! Choice of the points at which communications are posted and waited for.

use hayase_advice::model::{Action, Edit};

/// Choice of the post and the wait in the range that a change allows.
///
/// The earliest post and the latest wait hide most of the message, but both take processor time. A post
/// before another message delays that message by o. A wait after the next receive costs its o after the
/// message that all wait for, where before it the o would be free. The best choice depends on the machine, so
/// all are tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Placement {
    /// Set to post at the present call, not as early as possible.
    pub late_post: bool,
    /// Set to wait right after the longest calculation in the range, not as late as possible.
    pub early_wait: bool,
}

impl Placement {
    /// All placements, the widest first.
    pub const ALL: [Self; 4] = [
        Self { late_post: false, early_wait: false },
        Self { late_post: true, early_wait: false },
        Self { late_post: false, early_wait: true },
        Self { late_post: true, early_wait: true },
    ];

    /// Returns the placements for which these edits make different programs, the widest first.
    pub fn distinct(edits: &[Edit]) -> Vec<Self> {
        let (mut posts, mut waits) = (false, false);
        for edit in edits {
            if let Action::Overlap { post, wait, .. } = &edit.action {
                // A post at the end of the interval before the call stays at the call. A wait before the end of the
                // call moves to that end.
                posts |= post.interval < 0 || (post.interval == 0 && post.fraction < 1.0);
                waits |= wait.interval > 0;
            }
        }
        let differs = |placement: &Self| (posts || !placement.late_post) && (waits || !placement.early_wait);
        Self::ALL.into_iter().filter(differs).collect()
    }

    /// Returns a sentence about the placement; `None` for the widest.
    pub fn text(self) -> Option<&'static str> {
        match (self.late_post, self.early_wait) {
            (false, false) => None,
            (true, false) => Some("best if posted where it is, and completed as late as it can be"),
            (false, true) => {
                Some("best if posted as early as it can be, and completed right behind the longest computation")
            }
            (true, true) => Some("best if posted where it is, and completed right behind the longest computation"),
        }
    }
}
