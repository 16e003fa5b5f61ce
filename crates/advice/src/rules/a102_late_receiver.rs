//! A102: sends that wait for receivers which still compute.

use super::Rule;
use crate::model::RuleId;

/// The rule.
pub const RULE: Rule = Rule {
    id: RuleId::A102,
    name: "late receiver",
    summary: "sends that wait for receivers which still compute",
    explanation: "\
A message above the eager limit (and every MPI_Ssend) is not sent before its receive has been posted: the sender waits for a
receiver that still computes.

What is reported. As for a late sender (A101), the other way round. Needs the limit (`S` of the machine); without it only
synchronous sends are known to wait.

How to change the source. Post the receive before the computation, with MPI_Irecv: then the message can come at any time.

    C, before                                     C, after
    compute(a);                                   MPI_Irecv(b, n, t, from, 1, comm, &request);
    MPI_Recv(b, n, t, from, 1, comm, &status);    compute(a);
                                                  MPI_Wait(&request, &status);

    Fortran: the same with call MPI_Irecv(b, n, t, from, 1, comm, request, ierr) and call MPI_Wait(request, status, ierr).

When it is wrong. If the computation uses the buffer, the receive cannot be earlier; A001 says whether it does.

Source: LogGPS, section on synchronisation costs (send wait).
",
};
