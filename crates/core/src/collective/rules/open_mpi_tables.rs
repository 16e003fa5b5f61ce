//! Switch points of Open MPI's `tuned` component. A row applies to communicators with fewer ranks than its
//! first number; in a row, an algorithm applies to sizes below its number.
//!
//! Source: <https://github.com/open-mpi/ompi>, `ompi/mca/coll/tuned/coll_tuned_decision_fixed.c` (4.1 and
//! 5.0).

use super::super::algorithm::Algorithm::{self, *};

/// Rows by number of ranks; in each row, algorithms by size \[B\].
pub(super) type Table = &'static [(u32, &'static [(u64, Algorithm)])];

/// No limit on the size.
const ALL: u64 = u64::MAX;
/// No limit on the number of ranks.
const ANY: u32 = u32::MAX;

pub(super) const ALLREDUCE: Table = &[
    (
        4,
        &[
            (8, Ring),
            (4_096, RecursiveDoubling),
            (8_192, Ring),
            (16_384, RecursiveDoubling),
            (262_144, Ring),
            (ALL, Rabenseifner),
        ],
    ),
    (8, &[(16, Ring), (8_192, RecursiveDoubling), (ALL, Rabenseifner)]),
    (16, &[(8_192, RecursiveDoubling), (ALL, Rabenseifner)]),
    (32, &[(64, Ring), (4_096, RecursiveDoubling), (ALL, Rabenseifner)]),
    (64, &[(128, Ring), (ALL, Rabenseifner)]),
    (128, &[(262_144, RecursiveDoubling), (ALL, Rabenseifner)]),
    (256, &[(131_072, ReduceBcast), (262_144, RecursiveDoubling), (ALL, Rabenseifner)]),
    (512, &[(4_096, ReduceBcast), (ALL, Rabenseifner)]),
    (2048, &[(2_048, ReduceBcast), (16_384, RecursiveDoubling), (ALL, Rabenseifner)]),
    (4096, &[(2_048, ReduceBcast), (4_096, Ring), (16_384, RecursiveDoubling), (ALL, Rabenseifner)]),
    (ANY, &[(2_048, ReduceBcast), (16_384, Ring), (32_768, RecursiveDoubling), (ALL, Rabenseifner)]),
];

pub(super) const ALLREDUCE_IN_ORDER: Table = &[
    (4, &[(131_072, RecursiveDoubling), (ALL, Linear)]),
    (8, &[(ALL, RecursiveDoubling)]),
    (16, &[(1_048_576, RecursiveDoubling), (ALL, ReduceBcast)]),
    (128, &[(ALL, RecursiveDoubling)]),
    (256, &[(131_072, ReduceBcast), (524_288, RecursiveDoubling), (ALL, ReduceBcast)]),
    (512, &[(4_096, ReduceBcast), (524_288, RecursiveDoubling), (ALL, ReduceBcast)]),
    (ANY, &[(2_048, ReduceBcast), (ALL, RecursiveDoubling)]),
];

pub(super) const ALLTOALL: Table = &[
    (
        3,
        &[
            (2, SimpleSpread),
            (4, Linear),
            (16, SimpleSpread),
            (64, Linear),
            (256, SimpleSpread),
            (4_096, Linear),
            (32_768, SimpleSpread),
            (1_048_576, Linear),
            (ALL, SimpleSpread),
        ],
    ),
    (8, &[(524_288, Linear), (1_048_576, SimpleSpread), (ALL, Linear)]),
    (16, &[(ALL, Linear)]),
    (32, &[(4, Linear), (512, Bruck), (ALL, Linear)]),
    (64, &[(512, Bruck), (ALL, Linear)]),
    (128, &[(1_024, Bruck), (262_144, Linear), (ALL, SimpleSpread)]),
    (256, &[(1_024, Bruck), (262_144, Linear), (ALL, SimpleSpread)]),
    (512, &[(1_024, Bruck), (32_768, Linear), (ALL, SimpleSpread)]),
    (1024, &[(512, Bruck), (262_144, Linear), (ALL, SimpleSpread)]),
    (2048, &[(512, Bruck), (ALL, Linear)]),
    (4096, &[(1_024, Bruck), (ALL, Linear)]),
    (ANY, &[(2_048, Bruck), (ALL, Linear)]),
];

pub(super) const ALLTOALLV: Table = &[
    (4, &[(ALL, SimpleSpread)]),
    (64, &[(ALL, Linear)]),
    (128, &[(ALL, SimpleSpread)]),
    (256, &[(ALL, Linear)]),
    (1024, &[(ALL, SimpleSpread)]),
    (ANY, &[(ALL, Linear)]),
];

pub(super) const BARRIER: Table = &[
    (4, &[(ALL, RecursiveDoubling)]),
    (8, &[(ALL, Linear)]),
    (64, &[(ALL, RecursiveDoubling)]),
    (256, &[(ALL, Dissemination)]),
    (512, &[(ALL, Binomial)]),
    (1024, &[(ALL, Dissemination)]),
    (4096, &[(ALL, Binomial)]),
    (ANY, &[(ALL, Dissemination)]),
];

pub(super) const BCAST: Table = &[
    (
        4,
        &[
            (32, Pipeline),
            (256, Binary),
            (512, Pipeline),
            (1_024, Knomial),
            (32_768, Linear),
            (131_072, Binary),
            (262_144, Pipeline),
            (524_288, Linear),
            (1_048_576, Binomial),
            (ALL, Binary),
        ],
    ),
    (8, &[(64, Binary), (128, Binomial), (2_048, Binary), (8_192, Binomial), (1_048_576, Linear), (ALL, Pipeline)]),
    (16, &[(8, Knomial), (64, Binary), (4_096, Knomial), (16_384, Binary), (32_768, Binomial), (ALL, Linear)]),
    (32, &[(4_096, Knomial), (1_048_576, Binomial), (ALL, ScatterAllgather)]),
    (64, &[(2_048, Binomial), (ALL, Knomial)]),
    (128, &[(ALL, Knomial)]),
    (256, &[(2, Binomial), (16_384, Binary), (32_768, Linear), (65_536, Binary), (ALL, Knomial)]),
    (1024, &[(16_384, Knomial), (32_768, Binary), (ALL, Knomial)]),
    (2048, &[(524_288, Knomial), (ALL, ScatterAllgather)]),
    (4096, &[(262_144, Knomial), (ALL, ScatterAllgather)]),
    (ANY, &[(8_192, Knomial), (16_384, Binary), (262_144, Knomial), (ALL, ScatterAllgather)]),
];

pub(super) const REDUCE: Table = &[
    (
        4,
        &[
            (8, Rabenseifner),
            (16, Binary),
            (32, Pipeline),
            (262_144, Linear),
            (524_288, Pipeline),
            (1_048_576, Chain),
            (ALL, Pipeline),
        ],
    ),
    (
        8,
        &[
            (4_096, Binary),
            (65_536, Chain),
            (262_144, Binomial),
            (524_288, Linear),
            (1_048_576, Binomial),
            (ALL, Linear),
        ],
    ),
    (16, &[(8_192, Binary), (ALL, Binomial)]),
    (32, &[(4_096, Binary), (ALL, Binomial)]),
    (256, &[(ALL, Binomial)]),
    (512, &[(8_192, Binomial), (16_384, InOrderBinary), (ALL, Binomial)]),
    (2048, &[(ALL, Binomial)]),
    (4096, &[(512, Binomial), (1_024, InOrderBinary), (8_192, Binomial), (16_384, InOrderBinary), (ALL, Binomial)]),
    (
        ANY,
        &[
            (16, Binomial),
            (32, InOrderBinary),
            (1_024, Binomial),
            (2_048, InOrderBinary),
            (8_192, Binomial),
            (16_384, InOrderBinary),
            (ALL, Binomial),
        ],
    ),
];

pub(super) const REDUCE_IN_ORDER: Table = &[
    (4, &[(8, InOrderBinary), (ALL, Linear)]),
    (8, &[(ALL, Linear)]),
    (16, &[(1_024, InOrderBinary), (8_192, Linear), (16_384, InOrderBinary), (262_144, Linear), (ALL, InOrderBinary)]),
    (128, &[(ALL, InOrderBinary)]),
    (256, &[(512, InOrderBinary), (1_024, Linear), (ALL, InOrderBinary)]),
    (ANY, &[(ALL, InOrderBinary)]),
];

pub(super) const REDUCE_SCATTER: Table = &[
    (4, &[(65_536, Ring), (131_072, RecursiveHalving), (ALL, Ring)]),
    (8, &[(8, ReduceThenScatter), (262_144, RecursiveHalving), (ALL, Ring)]),
    (32, &[(262_144, RecursiveHalving), (ALL, Ring)]),
    (64, &[(64, ReduceThenScatter), (524_288, RecursiveHalving), (ALL, Ring)]),
    (128, &[(256, ReduceThenScatter), (ALL, RecursiveHalving)]),
    (256, &[(256, ReduceThenScatter), (ALL, RecursiveHalving)]),
    (512, &[(256, ReduceThenScatter), (ALL, RecursiveHalving)]),
    (1024, &[(512, ReduceThenScatter), (ALL, RecursiveHalving)]),
    (2048, &[(512, ReduceThenScatter), (ALL, RecursiveHalving)]),
    (4096, &[(512, ReduceThenScatter), (ALL, RecursiveHalving)]),
    (ANY, &[(1_024, ReduceThenScatter), (ALL, RecursiveHalving)]),
];

pub(super) const REDUCE_SCATTER_BLOCK: Table = &[
    (4, &[(4, RecursiveDoubling), (131_072, RecursiveHalving), (ALL, ReduceThenScatter)]),
    (8, &[(8, RecursiveHalving), (32, RecursiveDoubling), (1_048_576, RecursiveHalving), (ALL, ReduceThenScatter)]),
    (
        16,
        &[(4, ReduceThenScatter), (524_288, RecursiveHalving), (4_194_304, ReduceThenScatter), (ALL, RecursiveHalving)],
    ),
    (
        32,
        &[
            (32, ReduceThenScatter),
            (524_288, RecursiveHalving),
            (2_097_152, ReduceThenScatter),
            (ALL, RecursiveHalving),
        ],
    ),
    (
        ANY,
        &[
            (4, RecursiveHalving),
            (16, ReduceThenScatter),
            (65_536, RecursiveHalving),
            (262_144, ReduceThenScatter),
            (ALL, RecursiveHalving),
        ],
    ),
];

pub(super) const ALLGATHER: Table = &[
    (3, &[(ALL, Ring)]),
    (32, &[(ALL, RecursiveDoubling)]),
    (64, &[(1_024, RecursiveDoubling), (65_536, NeighborExchange), (ALL, Ring)]),
    (128, &[(512, RecursiveDoubling), (65_536, NeighborExchange), (ALL, Ring)]),
    (
        256,
        &[
            (512, RecursiveDoubling),
            (131_072, NeighborExchange),
            (524_288, Ring),
            (1_048_576, NeighborExchange),
            (ALL, Ring),
        ],
    ),
    (
        512,
        &[
            (32, RecursiveDoubling),
            (128, Bruck),
            (1_024, RecursiveDoubling),
            (131_072, NeighborExchange),
            (524_288, Ring),
            (1_048_576, NeighborExchange),
            (ALL, Ring),
        ],
    ),
    (1024, &[(64, RecursiveDoubling), (256, Bruck), (2_048, RecursiveDoubling), (ALL, NeighborExchange)]),
    (
        2048,
        &[
            (4, RecursiveDoubling),
            (8, Bruck),
            (16, RecursiveDoubling),
            (32, Bruck),
            (256, RecursiveDoubling),
            (512, Bruck),
            (4_096, RecursiveDoubling),
            (ALL, NeighborExchange),
        ],
    ),
    (4096, &[(32, Bruck), (128, RecursiveDoubling), (512, Bruck), (4_096, RecursiveDoubling), (ALL, NeighborExchange)]),
    (
        ANY,
        &[
            (2, RecursiveDoubling),
            (8, Bruck),
            (16, RecursiveDoubling),
            (512, Bruck),
            (4_096, RecursiveDoubling),
            (ALL, NeighborExchange),
        ],
    ),
];

pub(super) const ALLGATHERV: Table = &[
    (3, &[(ALL, Ring)]),
    (
        8,
        &[
            (256, Linear),
            (4_096, NeighborExchange),
            (8_192, Ring),
            (16_384, NeighborExchange),
            (262_144, Bruck),
            (ALL, NeighborExchange),
        ],
    ),
    (16, &[(1_024, Linear), (ALL, Bruck)]),
    (32, &[(128, Linear), (262_144, Bruck), (ALL, Ring)]),
    (64, &[(256, Linear), (8_192, Bruck), (ALL, Ring)]),
    (128, &[(256, Linear), (4_096, Bruck), (ALL, Ring)]),
    (256, &[(1_024, Bruck), (65_536, NeighborExchange), (ALL, Ring)]),
    (512, &[(1_024, Bruck), (ALL, Ring)]),
    (1024, &[(512, Bruck), (1_024, Linear), (4_096, Bruck), (1_048_576, NeighborExchange), (ALL, Ring)]),
    (ANY, &[(4_096, Bruck), (ALL, NeighborExchange)]),
];

pub(super) const GATHER: Table = &[
    (4, &[(2, LinearSync), (4, Linear), (32_768, Binomial), (65_536, Linear), (131_072, Binomial), (ALL, LinearSync)]),
    (8, &[(1_024, Binomial), (8_192, Linear), (32_768, Binomial), (262_144, Linear), (ALL, LinearSync)]),
    (256, &[(ALL, Binomial)]),
    (512, &[(2_048, Binomial), (8_192, Linear), (ALL, Binomial)]),
    (ANY, &[(ALL, Binomial)]),
];

pub(super) const SCATTER: Table = &[
    (4, &[(2, LinearNonblocking), (131_072, Linear), (262_144, LinearNonblocking), (ALL, Linear)]),
    (
        8,
        &[
            (2_048, Binomial),
            (4_096, Linear),
            (8_192, Binomial),
            (32_768, Linear),
            (1_048_576, LinearNonblocking),
            (ALL, Linear),
        ],
    ),
    (16, &[(16_384, Binomial), (1_048_576, LinearNonblocking), (ALL, Linear)]),
    (32, &[(16_384, Binomial), (32_768, Linear), (ALL, LinearNonblocking)]),
    (64, &[(512, Binomial), (8_192, LinearNonblocking), (16_384, Binomial), (ALL, LinearNonblocking)]),
    (ANY, &[(512, Binomial), (ALL, LinearNonblocking)]),
];
