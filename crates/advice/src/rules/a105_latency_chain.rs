//! A105: small messages that wait for each other one after the other.

use super::Rule;
use crate::model::RuleId;

/// The rule.
pub const RULE: Rule = Rule {
    id: RuleId::A105,
    name: "latency-bound chain",
    summary: "small messages that wait for each other one after the other",
    explanation: "\
When every message can only be sent after another has come, and little is computed in between, latencies add up: neither more
bandwidth nor faster processors help.

What is reported. Messages of at most 4 KiB that were needed when they came, sixteen or more in a row with less than 20
microseconds of computation on a rank between them: lines of the send and of the receive, and the longest chain.

How to change the source. Fewer and larger steps: several rows of a wavefront in one message; halos two cells deep and exchanged
every other step; several independent chains at once, so that one computes while another is under way.

    C, before                                             C, after
    for (j...) { MPI_Recv(left(j), 1); row(j);            for (j...; j += 8) { MPI_Recv(left(j), 8); rows(j, 8);
                 MPI_Send(right(j), 1); }                                      MPI_Send(right(j), 8); }

    Fortran: the same, with sections left(j:j+7).

When it is wrong. Larger blocks fill a pipeline more slowly: there is a best size, which `hayase whatif` can look for.
",
};
