//! One walk over the recorded calls of a rank: the communications that each call begins and completes, and
//! the matching of messages and receives.
//!
//! Every reader of calls asks the same three questions, and MPI answers them:
//! * [`Requests`]: which communications does a call begin, and which does a wait complete?
//! * [`Communicators`]: which rank of the world is on the other side, and is it the same communicator there?
//! * [`Channels`]: which send meets which receive?
//!
//! ```text
//! channel:  (sender, receiver, communicator, tag)
//! the n-th message of a channel is taken by the n-th receive of it
//! ```
//! The special cases are decided here, once:
//!
//! | case | what it is taken for |
//! |---|---|
//! | a message to or from `MPI_PROC_NULL` | nothing; a request for it is complete when it is made |
//! | a receive that was cancelled | nothing: it is recorded as one from `MPI_PROC_NULL` |
//! | a cancelled send, or start of a receive that names its source | not cancelled: the recording does not tell |
//! | a receive with unknown source or tag | under way, but of no channel: it can take any message |
//! | `Start` of a receive that left open source or tag | a receive of the message that this start records |
//! | `Start` of an active request, which MPI forbids | the end of the one before: its wait was not recorded |
//! | a wait for an inactive or null request | nothing |
//! | `Waitany`, `Waitsome` and tests | complete what was complete in the recorded run, if anything was |
//! | a request that is freed while it is active | continues, and its completion is never known |
//! | a stream that ends early | what is not completed by then never is |
//! | `Comm_create_group` | nothing: only members of the new communicator call it, and they are not known yet |
//! | `Comm_idup` | a collective operation on the old communicator that continues until it is waited for |
//!
//! Source: MPI 4.1, sections 3.5 (order of messages), 3.7 to 3.11 (requests, cancellation, persistent
//! requests, null processes) and 7.4 (communicators).

mod channels;
mod communicators;
mod requests;

pub use channels::{Channel, Channels};
pub use communicators::{Communicators, Identities, Identity};
pub use requests::Requests;

#[cfg(test)]
mod tests;
