//! Where in its range a communication is posted and waited for.

use hayase_advice::model::{Action, Edit};

/// Where in the range that a change allows communication is posted and waited for.
///
/// Earliest and latest hides most of the message, but posting and waiting take the processor's time too: a post that
/// comes before another message holds that one up by o, and a wait behind the next receive costs its o after the
/// message everybody waits for, where it would have cost nothing before it. Which is best depends on the machine, so
/// they are all tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Placement {
    /// Posted where it is called now, not as early as it could be.
    pub late_post: bool,
    /// Waited for behind the longest calculation that it may overlap with, not as late as it could be.
    pub early_wait: bool,
}

impl Placement {
    /// All of them, the widest first.
    pub const ALL: [Self; 4] = [
        Self { late_post: false, early_wait: false },
        Self { late_post: true, early_wait: false },
        Self { late_post: false, early_wait: true },
        Self { late_post: true, early_wait: true },
    ];

    /// Those of which these edits make different programs, the widest first.
    pub fn that_differ(edits: &[Edit]) -> Vec<Self> {
        let (mut posts, mut waits) = (false, false);
        for edit in edits {
            if let Action::Overlap { post, wait, .. } = &edit.action {
                // A post at the end of the interval before the call is where the call is; a wait before it moves to its
                // end.
                posts |= post.interval < 0 || (post.interval == 0 && post.fraction < 1.0);
                waits |= wait.interval > 0;
            }
        }
        let differs = |placement: &Self| (posts || !placement.late_post) && (waits || !placement.early_wait);
        Self::ALL.into_iter().filter(differs).collect()
    }

    /// What is to be said of it; `None` of the widest.
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
