"""Types of arguments: the words of scenarios, for editors and type checkers.

The words are those of `hayase schema`; a test compares both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, Union

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from hayase._scenario import Pattern, Routing, Topology

#: A table of a scenario.
Table = Mapping[str, Any]
#: Numbers are seconds, bytes, bytes per second; texts have units.
Quantity = Union[float, str]

SharingName = Literal["max-min", "equal-share", "redistribute", "blocking"]
RoutingName = Literal[
    "d-mod-k",
    "s-mod-k",
    "hashed",
    "dimension-order",
    "random-order",
    "min-adaptive",
    "doal",
    "planes",
    "family",
    "shortest-path",
    "table",
    "minimal",
    "ecmp",
    "spray",
    "valiant-groups",
    "valiant-switches",
    "ugal-l",
    "ugal-g",
    "progressive",
    "fluid",
    "min-hop",
    "dfsssp",
    "up-down",
    "tables",
    "paths",
]
TransportName = Literal[
    "flow",
    "flow:max-min",
    "flow:equal-share",
    "flow:redistribute",
    "flow:blocking",
    "packet",
    "packet:oq",
    "packet:iq",
    "packet:fq",
    "contention-free",
]
#: Rules by name; lists of nodes ("0-7,12") and files are texts too.
PlacementName = Literal["regular", "random", "block", "round-robin", "by-leaf", "by-group"]
NodeName = Literal["ideal", "loggp", "loggps", "loggopsim", "tabulated", "receive-times"]
OperationName = Literal["all-to-all", "all-gather", "reduce-scatter", "all-reduce", "broadcast", "scatter", "gather"]
MethodName = Literal["auto", "order", "greedy", "pack", "packr", "colour", "routes", "trees"]

Sharing = Union[SharingName, Table]
RoutingLike = Union[RoutingName, Table, "Routing"]
Transport = Union[TransportName, Table]
Node = Union[NodeName, Table]
Placement = Union[PlacementName, str, Table, "ArrayLike"]

TopologyLike = Union[str, "PathLike[str]", Table, "Topology"]
PatternLike = Union[str, "PathLike[str]", Table, "Pattern", "ArrayLike", Any]


T = TypeVar("T")
#: One value, or a sequence of values.
Several = Union[T, Sequence[T]]
#: Fabrics and workloads of a comparison.
FabricName = Union[str, "PathLike[str]", Table, "Topology"]
WorkName = Union[str, "PathLike[str]", Table, "Pattern"]
#: Part of a fabric that fails: 0.01, "1%", or names.
Fault = Union[float, str]


class OfSystem(TypedDict, total=False):
    """Keys of links and nodes."""

    #: Number of ranks on each node, which share its links.
    ranks_per_node: int
    resolution: Quantity
    symmetry: Literal["auto", "on", "off"]
    link: Table
    node: Node
    collectives: Table
    noise: str | Table
    straggler: str | Table | Sequence[str | Table]
    preset: str
    #: Dotted keys, as in `--set`.
    settings: Mapping[str, Any]


class OfNetwork(TypedDict, total=False):
    """Keys of the network: routing, placement, sharing, transport, faults."""

    routing: RoutingLike
    placement: Placement
    sharing: Sharing
    transport: Transport
    faults: float | str | Table


class Scheduled(OfSystem, OfNetwork, total=False):
    """Keys of the system on which a collective operation is scheduled."""

    seed: int
    machine: str | PathLike[str]


class Common(OfSystem, total=False):
    """Keys of all runs."""

    size: Quantity
    #: Data that `size` counts in a collective.
    size_of: Literal["block", "vector"]
    jitter: Quantity
    #: Time of the barrier after each step with `injection="barrier"`.
    barrier_cost: Quantity
    #: Relative precision of an estimate of the makespan: "1%".
    estimate: str


class Compared(Common, total=False):
    """Keys that all runs of a comparison share."""

    jobs: str | Table | Sequence[str | Table]


class OnNetwork(Common, OfNetwork, total=False):
    """Keys of runs on a network."""


class Bounded(OnNetwork, total=False):
    """Keys of runs that may be compared with the best possible time."""

    seed: int
    #: Largest gap of the best possible time over all routings: "2%", or `True` for 1 %.
    optimum: bool | str


class Settings(Bounded, total=False):
    """Keys of a scenario, with `_` for `-`, and options of the command line."""

    machine: str | PathLike[str]
    injection: str
    #: Order of an all-to-all: "node", "auto" ...
    order: str
    jobs: str | Table | Sequence[str | Table]


class OfJobs(Bounded, total=False):
    """Keys of a scenario of several jobs."""

    machine: str | PathLike[str]


class Run(Bounded, total=False):
    """Keys of a scenario whose machine is an argument of its own, and options of its run."""

    messages: bool
    links: bool
    ranks: bool
    activities: bool
    path: bool
    seeds: int
    progress: bool | Callable[[float, int, int], object] | None
    threads: int | None


class OfProgram(Run, total=False):
    """Keys of a program of any source."""

    cpu_speed: float
    wildcards: str
    fragment: Quantity
    region: str
    from_: Quantity
    to: Quantity
    skip_start: bool
    flop_rate: float | str
    truncated: bool
    memory_bandwidth: Quantity
    groups: str
    gathered: bool


class OfFarm(Run, total=False):
    """Keys of a master with its workers."""

    grid: Any
    clamp: Any
    refined: Any
    bytes_in: Any
    bytes_out: Any
    workers: int | Sequence[int]
    processors: Any
    speeds: Any
    latency: Quantity
    overhead: Quantity
    overhead_per_processor: Quantity
    gap: Quantity
    overlap: Any
    order: Any
    granularity: Any
    chunking: Any
    prefetch: Any
    masters: Any
    hierarchy: Any
    lose: Any
    detection: Quantity
    vary: Any
