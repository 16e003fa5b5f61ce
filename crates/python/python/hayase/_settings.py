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
NodeName = Literal["ideal", "loggp", "loggps", "loggopsim", "receive-times"]

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


class Common(TypedDict, total=False):
    """Keys of all runs."""

    resolution: Quantity
    link: Table
    node: Node
    collectives: Table
    noise: str | Table
    straggler: str | Table | Sequence[str | Table]
    preset: str
    size: Quantity
    jitter: Quantity
    #: Relative precision of an estimate of the makespan: "1%".
    estimate: str
    #: Dotted keys, as in `--set`.
    settings: Mapping[str, Any]


class Compared(Common, total=False):
    """Keys that all runs of a comparison share."""

    jobs: str | Table | Sequence[str | Table]


class OnNetwork(Common, total=False):
    """Keys of the network: routing, placement, sharing, transport, faults."""

    routing: RoutingLike
    placement: Placement
    sharing: Sharing
    transport: Transport
    faults: float | str | Table


class Settings(OnNetwork, total=False):
    """Keys of a scenario, with `_` for `-`, and options of the command line."""

    seed: int
    machine: str | PathLike[str]
    injection: str
    jobs: str | Table | Sequence[str | Table]


class OfJobs(OnNetwork, total=False):
    """Keys of a scenario of several jobs."""

    seed: int
    machine: str | PathLike[str]


class Run(OnNetwork, total=False):
    """Keys of a scenario whose machine is an argument of its own, and options of its run."""

    seed: int
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
