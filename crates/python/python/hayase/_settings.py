"""Types of what is asked for: the words that scenarios have, for editors and type checkers.

The words are those of `hayase schema`; a test holds them against it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, Union

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from hayase._scenario import Pattern, Topology

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
#: The rules by name; lists of nodes ("0-7,12") and files are texts, too.
PlacementName = Literal["regular", "random", "block", "round-robin", "by-leaf", "by-group"]
NodeName = Literal["ideal", "loggp", "loggps", "loggopsim", "receive-times"]

Sharing = Union[SharingName, Table]
Routing = Union[RoutingName, Table]
Transport = Union[TransportName, Table]
Node = Union[NodeName, Table]
Placement = Union[PlacementName, str, Table, "ArrayLike"]

TopologyLike = Union[str, "PathLike[str]", Table, "Topology"]
PatternLike = Union[str, "PathLike[str]", Table, "Pattern", "ArrayLike", Any]


T = TypeVar("T")
#: One, or each of several.
Several = Union[T, Sequence[T]]
#: What a comparison runs on, and runs.
FabricName = Union[str, "PathLike[str]", Table, "Topology"]
WorkName = Union[str, "PathLike[str]", Table, "Pattern"]
#: A part of a fabric that fails: 0.01, "1%", or what.
Fault = Union[float, str]


class Common(TypedDict, total=False):
    """What all runs of a comparison have in common."""

    resolution: Quantity
    link: Table
    node: Node
    collectives: Table
    noise: str | Table
    straggler: str | Table | Sequence[str | Table]
    jobs: str | Table | Sequence[str | Table]
    preset: str
    size: Quantity
    jitter: Quantity
    #: The makespan from its beginning, within so much: "1%".
    estimate: str
    #: Dotted keys, as `--set` has them.
    settings: Mapping[str, Any]


class Settings(Common, total=False):
    """Keys of a scenario, with `_` for `-`, and what the command line has flags for."""

    seed: int
    routing: Routing
    placement: Placement
    sharing: Sharing
    transport: Transport
    faults: float | str | Table
    machine: str | PathLike[str]
    injection: str
