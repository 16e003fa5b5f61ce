//! A104: a rank to which many send at once.

use super::Rule;
use crate::model::RuleId;

/// The rule.
pub const RULE: Rule = Rule {
    id: RuleId::A104,
    name: "serialised receiver",
    summary: "a rank to which many send at once",
    explanation: "\
Messages from many ranks to one share its link, and it takes them one after the other: the last sender's message needs
as long as all together (incast).

What is reported. Receives of one rank from four or more ranks without computation in between, if at most half of all ranks
receive in this way: an exchange in which everybody takes part loads all links alike.

How to change the source. MPI_Gather or MPI_Reduce, which work along trees; gathering on one rank of each node first; or
every rank writes its part itself (MPI-IO).

    C, before                                                     C, after
    for (r = 1; r < size; r++)                                    MPI_Reduce(mine, all, n, t, MPI_SUM, 0, comm);
      { MPI_Recv(part, n, t, r, 1, comm, &s); add(all, part); }

    Fortran: the same with call MPI_Reduce(mine, all, n, t, MPI_SUM, 0, comm, ierr).

When it is wrong. For few and short messages the overheads count, not the link; the predicted gain of A004 tells them apart.
",
};
