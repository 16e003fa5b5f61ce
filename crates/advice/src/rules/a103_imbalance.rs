//! A103: collective operations at which ranks arrive at different times.

use super::Rule;
use crate::model::RuleId;

/// The rule.
pub const RULE: Rule = Rule {
    id: RuleId::A103,
    name: "imbalance",
    summary: "collective operations at which ranks arrive at different times",
    explanation: "\
In a collective operation the ranks that come early wait for the last. If it is often the same rank or the same lines that make it
late, work is not divided evenly.

What is reported. The operation, the time that all ranks together wait in it, the ranks that come last, and the longest
computation of these since they waited last.

How to change the source. Divide by work instead of by number: other block limits, cyclic distribution of rows whose length
differs, tasks given out on demand. Where the wait is short but frequent, fewer collective operations help (A003).

    C, before                                             C, after
    for (i = first; i < first + n / size; i++) row(i);    for (i = rank; i < n; i += size) row(i);
    MPI_Allreduce(...);                                   MPI_Allreduce(...);

    Fortran: do i = first, last becomes do i = rank + 1, n, size.

When it is wrong. A single late arrival at the first operation is start-up. On a machine with other programs on it, processor times
differ by chance.
",
};
