//! A101: receives that wait for senders which still compute.

use super::Rule;
use crate::model::RuleId;

/// The rule.
pub const RULE: Rule = Rule {
    id: RuleId::A101,
    name: "late sender",
    summary: "receives that wait for senders which still compute",
    explanation: "\
A receive waits as long as its message has not been sent. With a network that takes no time the wait would still be
there: it is the sender's computation that is late.

What is reported. Where it waits, for how long, and the cause: the longest computation of the sending rank since that rank
waited last, between which of its calls. If the sender was late because it waited itself, the cause is that of its own
wait. Times are processor time between calls; time on the network does not count.

How to change the source. Send earlier: move the computation that the message does not need behind the send. Or receive
later: what does not need the message goes before the receive. Or give the late rank less to do.

    C, before                                     C, after
    update(inner); update(border);                update(border);
    MPI_Send(border, n, t, to, 1, comm);          MPI_Send(border, n, t, to, 1, comm);
                                                  update(inner);

    Fortran, before                               Fortran, after
    call inner(a); call border(a)                 call border(a)
    call MPI_Send(b, n, t, to, 1, comm, ierr)     call MPI_Send(b, n, t, to, 1, comm, ierr)
                                                  call inner(a)

When it is wrong. In a pipeline the first wait of every rank is its filling, and nothing to be changed. Recorded times of a
program compiled for memory accesses are those of the instrumented program: record without for advice on waits.
",
};
