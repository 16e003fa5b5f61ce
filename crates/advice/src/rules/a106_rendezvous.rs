//! A106: messages just large enough to wait for their receivers.

use super::Rule;
use crate::model::RuleId;

/// The rule.
pub const RULE: Rule = Rule {
    id: RuleId::A106,
    name: "rendezvous wait",
    summary: "messages large enough to wait for their receivers",
    explanation: "\
An MPI library sends short messages at once (eager) and longer ones only when the receive has been posted (rendezvous), which costs
a round trip and makes the sender wait for a late receiver.

What is reported. Sends above the limit `S` of the machine that waited, and the largest message among them: with a limit as
high as that none of them would wait. Needs `S`. The same waits are reported by A102 with who causes them: the two are not
to be added.

How to change the run. Raise the limit: MPIR_CVAR_CH4_OFI_EAGER_MAX_MSG_SIZE and the like of MPICH, `--mca
btl_tcp_eager_limit` of Open MPI. Or the source: post receives earlier (A001 says whether they can be), or send
large messages in parts so that the first parts go at once.

    C, before                                   C, after
    work(); MPI_Recv(x, n, ...);                MPI_Irecv(x, n, ..., &request); work(); MPI_Wait(&request, &status);

    Fortran: the same with call MPI_Irecv(x, n, ..., request, ierr) and call MPI_Wait(request, status, ierr).

When it is wrong. Eager messages that come before their receive are copied, and take memory at the receiver for every sender.

Source: LogGPS, parameter S.
",
};
