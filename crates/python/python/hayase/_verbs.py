"""Other commands of the program: comparisons, sweeps, rates, throughput, schedules, replays, predictions, advice."""

from __future__ import annotations

import functools
import graphlib
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from hayase import _arrays, _hayase
from hayase._faces import Answer
from hayase._progress import told
from hayase._result import Result
from hayase._scenario import Part, Pattern, Progress, Scenario, Topology, as_json, counted, failing, part_of, unused
from hayase._settings import OfFarm, OfProgram, Run
from hayase._units import number

if TYPE_CHECKING:
    import pandas
    import xarray
    from numpy.typing import ArrayLike
    from typing_extensions import Unpack

    from hayase._settings import (
        Compared,
        FabricName,
        Fault,
        MethodName,
        OfJobs,
        OnNetwork,
        OperationName,
        PlacementName,
        Quantity,
        RoutingName,
        Scheduled,
        Settings,
        Several,
        SharingName,
        Table,
        TransportName,
        WorkName,
    )


def several(values: Any) -> list[Any]:
    """Returns a list of one or several values."""
    if values is None:
        return []
    if isinstance(values, (str, int, float, Mapping, Part, os.PathLike)):
        return [values]
    return list(values)


class Call:
    """Call of a command of the program: words, and the attached files that they name."""

    def __init__(self, verb: str, scenario: Scenario) -> None:
        self.words = [verb]
        self.scenario = scenario

    def option(self, name: str, value: Any) -> Call:
        """Adds `--name=value`, unless the value is missing; a list becomes values with commas between them."""
        if value is None or value is False:
            return self
        flag = "--" + name.replace("_", "-")
        if value is True:
            self.words.append(flag)
        elif isinstance(value, (list, tuple)):
            if value:
                self.words.append(f"{flag}={','.join(map(str, value))}")
        else:
            self.words.append(f"{flag}={value}")
        return self

    def vary(self, keys: Mapping[str, Any] | None) -> Call:
        """Adds `--vary=KEY=A,B` for each key, from a list, a single value, or the text of the program."""
        if not isinstance(keys, (Mapping, type(None))):
            raise TypeError(f"`vary` is a dict of keys and their values, not {type(keys).__name__}")
        for key, values in (keys or {}).items():
            one = isinstance(values, (str, Mapping)) or not hasattr(values, "__iter__")
            self.option("vary", f"{key}={','.join(map(str, [values] if one else values))}")
        return self

    def part(self, kind: type[Part], said: Any) -> str:
        """Returns the name of a topology or a pattern; a table is attached under a name of its own."""
        part, files = part_of(kind, said), self.scenario._files
        spec = part.put_into(files)
        if isinstance(spec, str):
            return spec
        table = "topology" if kind is Topology else "workload"
        return self.attach(part.name or next(iter(spec), table), {table: spec})

    def attach(self, name: str, table: Mapping[str, Any]) -> str:
        """Attaches a file with this table and returns its name."""
        content = _hayase.toml(as_json(table)).encode()
        found = unused(f"{name}.toml", content, self.scenario._files)
        self.scenario._files[found] = content
        return found

    def answer(self, progress: Progress = None, threads: int | None = None) -> Any:
        """Runs the command and returns its JSON."""
        return self._answer(progress, threads, html=False)[0]

    def shown(self, progress: Progress = None, threads: int | None = None) -> Answer:
        """Runs the command and returns its JSON, with its table for notebooks."""
        answer, html = self._answer(progress, threads, html=True)
        return Answer(answer, html, self)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Runs the command and writes a file, as `-o` does."""
        words = [word for word in self.words if not word.startswith(("--format=", "--output="))]
        self.scenario._texts().verb([*words, f"--output={os.fspath(path)}"])

    def _answer(self, progress: Progress, threads: int | None, html: bool) -> tuple[Any, str]:
        self.words.append("--format=json")
        with told(progress, "messages") as tell:
            printed, table = self.scenario._texts().verb(self.words, html=html, progress=tell, threads=threads)
        return json.loads(printed), table


def with_unit(value: Any, unit: str) -> Any:
    """Returns a number as a text with this unit, and other values as they are."""
    return f"{value:.17g} {unit}" if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def needs_pandas() -> None:
    """Raises an error if pandas is missing, before anything runs."""
    try:
        import pandas  # noqa: F401
    except ImportError:
        raise ImportError("the answer is a pandas.DataFrame: pip install 'hayase[pandas]'") from None


def frame(rows: Sequence[Mapping[str, Any]], report: Any) -> pandas.DataFrame:
    """Returns rows as a DataFrame with their report."""
    import pandas

    table = pandas.DataFrame(list(rows))
    table.attrs["report"] = report
    return table


def words_of(name: str, values: Any) -> list[str]:
    """Returns the values of one choice of a comparison as words."""
    for value in (found := several(values)):
        if isinstance(value, bool) or not isinstance(value, (str, os.PathLike, int, float)):
            raise TypeError(f"`{name}` of a comparison is a word or a list of words, not {type(value).__name__}")
    return [os.fspath(value) if isinstance(value, os.PathLike) else str(value) for value in found]


def placements_of(call: Call, values: Any) -> list[str]:
    """Returns the placements of a comparison as words; an array of nodes is attached as a file."""
    one = hasattr(values, "dtype") or isinstance(values, (list, tuple)) and all(isinstance(each, int) for each in values)
    words = []
    for value in [values] if one and len(values) else several(values):
        if _arrays.is_array(value):
            nodes = _arrays.placement(value)["nodes"]["list"].split(",")
            rows = "".join(f"{rank},{node}\n" for rank, node in enumerate(nodes))
            name = unused("nodes.csv", content := f"rank,node\n{rows}".encode(), call.scenario._files)
            call.scenario._files[name] = content
            words.append(name)
        else:
            words += words_of("placement", value)
    return words


def compare(
    topologies: Several[FabricName],
    patterns: Several[WorkName] | None = None,
    *,
    placement: Several[PlacementName | str | os.PathLike[str]] | ArrayLike | None = None,
    sharing: Several[SharingName] | None = None,
    transport: Several[TransportName] | None = None,
    routing: Several[RoutingName] | None = None,
    injection: Several[str] | None = None,
    order: Several[str] | None = None,
    machine: Several[str | os.PathLike[str]] | None = None,
    faults: Several[Fault] | None = None,
    vary: Mapping[str, Any] | None = None,
    seeds: int | None = None,
    seed: int | None = None,
    rank: Literal["makespan", "slowdown"] | None = None,
    optimum: bool | str | None = None,
    progress: Progress = None,
    threads: int | None = None,
    **settings: Unpack[Compared],
) -> pandas.DataFrame:
    """Runs every combination of the given choices, a row for each, and ranks the rows that do the same work.

    order: orders of an all-to-all ("rank", "node", "auto" ...), or "all".
    optimum: bound the best possible time over all routings with this largest gap: "2%", or `True` for 1 %. Adds the
        columns `optimum_at_least`, `optimum_reached` and `ratio_to_optimum`.

    >>> table = compare("torus-4x4", ["ring", "all-to-all-pairwise"], placement=["regular", "random"], seeds=2)
    >>> table[["pattern", "placement", "makespan", "place"]].iloc[0].to_dict()
    {'pattern': 'ring', 'placement': 'regular', 'makespan': 2e-05, 'place': 1}
    """
    needs_pandas()
    call = Call("compare", Scenario(None, None, **settings))
    call.option("topology", [call.part(Topology, one) for one in several(topologies)])
    call.option("pattern", [call.part(Pattern, one) for one in several(patterns)])
    call.option("placement", placements_of(call, placement))
    faults = [each if isinstance(each, str) else failing(each) for each in several(faults)]
    listed: dict[str, Any] = dict(sharing=sharing, transport=transport, routing=routing)
    for name, values in (listed | dict(injection=injection, order=order, machine=machine, faults=faults)).items():
        call.option(name, words_of(name, values))
    call.vary(vary)
    call.option("seeds", seeds).option("seed", seed).option("rank", rank).option("optimum", optimum)
    report = call.answer(progress, threads)
    rows = []
    for row in report["rows"]:
        flat = {key: value for key, value in row.items() if not isinstance(value, (dict, list))}
        flat |= row.get("varied", {}) if isinstance(row.get("varied"), dict) else {}
        spread = row["makespan"]
        flat |= {"makespan": spread["mean_s"], "sd": spread["sd_s"], "seeds": len(spread["seeds"])}
        if estimate := row.get("estimate"):
            flat |= {"low": estimate["low_s"], "high": estimate["high_s"]}
        for name, bound in row["bounds"].items():
            flat[name.removesuffix("_s") if name.startswith("optimum") else name.replace("_s", "_bound")] = bound
        rows.append(flat)
    return frame(rows, report)


def rates(
    topology: Any, pattern: Any, *, threads: int | None = None, **settings: Unpack[Settings]
) -> pandas.DataFrame:
    """Returns the rates of the messages of the first step, if all of them are under way at once.

    >>> rates("torus-4x4", "ring")["rate"].unique().tolist()
    [1000000000.0]
    """
    needs_pandas()
    report = Call("rates", Scenario(topology, pattern, **settings)).answer(threads=threads)
    names = {"rate_Bps": "rate"}
    return frame([{names.get(key, key): value for key, value in row.items()} for row in report], report)


def throughput(
    topology: Any,
    traffic: str = "uniform",
    *,
    both: bool = False,
    seeds: int | None = None,
    seed: int | None = None,
    simulate: bool = False,
    under_way: int | None = None,
    rounds: int | None = None,
    optimum: bool | str | None = None,
    cables: bool = False,
    progress: Progress = None,
    threads: int | None = None,
    **settings: Unpack[OnNetwork],
) -> Answer:
    """Returns the fraction of their bandwidth that all nodes can use at once under steady traffic.

    optimum: bound the throughput over all routings, with this largest gap: "2%", or `True` for 1 %.
    cables: find the optimum after one more cable, for the ten best of up to 24 cables.

    >>> round(throughput("torus-4x4")["throughput"], 6)
    1.0
    >>> round(throughput("torus-4x4", optimum="2%")["optimum_throughput_at_most"], 6)
    1.0
    """
    call = Call("throughput", Scenario(None, None, **settings))
    call.option("topology", call.part(Topology, topology)).option("traffic", traffic).option("both", both)
    call.option("seeds", seeds).option("seed", seed)
    call.option("simulate", simulate).option("under_way", under_way).option("rounds", rounds)
    call.option("optimum", optimum).option("cables", cables)
    return call.shown(progress, threads)


#: Columns of numbers of a plan, with their types.
PLANNED = {"src": "i8", "dst": "i8", "bytes": "i8", "slot": "i8", "weight": "f8"}


class Schedule(Answer):
    """Schedule of a collective operation: the program's JSON as a dict, and its messages."""

    def __init__(self, answer: Answer, plan: list[dict[str, Any]] | None, call: Call | None) -> None:
        super().__init__(answer, answer._html, call)
        self._plan = plan

    @functools.cached_property
    def plan(self) -> dict[str, Any]:
        """Messages as columns: arrays `src`, `dst`, `bytes`, `slot` (-1 without one) and `weight`; lists `path` and
        `after`.

        `path` has the links of each message, as rows of `Topology.link_table()`; it is empty for the routes of the
        routing rule. `after` has the earlier messages that must have arrived first.
        """
        import numpy as np

        if (rows := self._plan) is None:
            raise LookupError("the plan of this schedule was not recorded: make it with plan=True")
        columns = {name: [-1 if row[name] is None else row[name] for row in rows] for name in PLANNED}
        lists = {name: [row[name] for row in rows] for name in ("path", "after")}
        return {name: np.array(column, PLANNED[name]) for name, column in columns.items()} | lists


def sizes_in(folder: str, sizes: Any) -> Any:
    """Returns the path of the sizes of an all-to-all; those of an array are written into this folder."""
    part, path = part_of(Pattern, sizes), Path(folder, "sizes.csv")
    path.write_bytes(b"".join(part.files.values()))
    return path if part.files else part.spec


def schedule(
    operation: OperationName,
    topology: FabricName,
    *,
    ranks: int | None = None,
    size: Quantity = "1 MB",
    method: MethodName = "auto",
    root: int = 0,
    trees: int | None = None,
    chunks: int | None = None,
    jitter: Quantity | None = None,
    barrier_cost: Quantity | None = None,
    sizes: WorkName | ArrayLike | None = None,
    plan: bool = False,
    progress: Progress = None,
    threads: int | None = None,
    **settings: Unpack[Scheduled],
) -> Schedule:
    """Returns the best possible time of a collective operation, a schedule near it, and the usual algorithms.

    size: what each rank contributes, has for each other rank (all-to-all), or the whole vector (all-reduce, broadcast).
    sizes: instead of `size`, the sizes of an all-to-all: a file, an array of rows of source, destination and bytes, or
        `Pattern.from_matrix(...)`.
    jitter: the largest late start of a rank.
    barrier_cost: the time of the barrier after each slot of a schedule in rounds.
    plan: record the messages as `plan`.

    >>> report = schedule("all-gather", "torus-4x4", size="1 MB", plan=True)
    >>> report["method"], report["optimum_s"], int(report.plan["bytes"].sum())
    ('trees', 0.015, 240000000)
    """
    call = Call("schedule", Scenario(None, None, **settings))
    call.words.append(operation)
    call.option("topology", call.part(Topology, topology)).option("ranks", ranks).option("method", method)
    call.option("root", root).option("trees", trees).option("chunks", chunks)
    call.option("jitter", with_unit(jitter, "s")).option("barrier_cost", with_unit(barrier_cost, "s"))
    with tempfile.TemporaryDirectory() as folder:
        of_pairs, path = sizes is not None, Path(folder, "plan.json")
        call.option("sizes" if of_pairs else "size", sizes_in(folder, sizes) if of_pairs else with_unit(size, "B"))
        answer = call.option("output", path if plan else None).shown(progress, threads)
        messages = json.loads(path.read_bytes())["messages"] if plan else None
        # Sizes are in this folder, so that the command cannot be run again.
        return Schedule(answer, messages, None if of_pairs else call)


def llm(
    model: str | os.PathLike[str],
    *,
    machine: str | os.PathLike[str] | None = None,
    gpus: int | None = None,
    search: bool = False,
    progress: Progress = None,
    threads: int | None = None,
    **settings: Any,
) -> Answer:
    """Returns operations, memory, communication and, on a machine, time of a training step in closed form.

    model: a name ("gpt-3-175b"), a name with settings, a TOML file, or "llm:layers=96,hidden=12288".
    machine: a name or a TOML file with a [gpu] table.
    search: rank all layouts that fit.
    settings: `tp`, `pp`, `dp`, `cp`, `ep`, `micro`, `batch`, `sequence`, `interleave`, `schedule`, `recompute`,
        `zero`, `sequence_parallel`, `overlap`.

    >>> llm("llm:layers=96,hidden=12288")["llm"]["parameters"]
    174615822336
    >>> llm("gpt-3-175b", machine="a100-8x200g", gpus=512)["fits"]
    True
    """
    call = Call("llm", Scenario(None, None))
    call.words.append(os.fspath(model))
    call.option("machine", None if machine is None else os.fspath(machine)).option("gpus", gpus).option("search", search)
    for key, value in settings.items():
        call.option(key, "false" if value is False else value)
    return call.shown(progress, threads)


def nccl(
    operation: str | None = None,
    *,
    ranks: int | None = None,
    nodes: int | None = None,
    size: str | int | None = None,
    machine: str | os.PathLike[str] | None = None,
    graph: str | os.PathLike[str] | None = None,
    log: str | os.PathLike[str] | None = None,
    topology: str | os.PathLike[str] | None = None,
    algorithm: str | None = None,
    protocol: str | None = None,
    launch: str | float | None = None,
    progress: Progress = None,
    threads: int | None = None,
) -> Answer:
    """Returns the algorithm and protocol that NCCL takes for a collective, by size, and its time on a fabric.

    size: bytes, a list or a range "1KiB..4GiB" that doubles.
    machine: a name or a TOML file with a table [nccl]; graph: a JSON file, and the name of a system in it.
    log: a log of NCCL_DEBUG=INFO; its operation, ranks, nodes and sizes are the defaults.
    launch: seconds, or a text with a unit.

    >>> nccl("all-reduce", ranks=8, nodes=1, size="2MiB", machine="h100-8x400g")["rows"][0]["algorithm"]
    'nvls'
    """
    call = Call("nccl", Scenario(None, None))
    call.option("op", operation).option("ranks", ranks).option("nodes", nodes).option("size", with_unit(size, "B"))
    files = {"machine": machine, "graph": graph, "log": log, "topology": topology}
    for key, value in files.items():
        call.option(key, None if value is None else os.fspath(value))
    call.option("algorithm", algorithm).option("protocol", protocol).option("launch", with_unit(launch, "s"))
    return call.shown(progress, threads)


def bounds(topology: Any, pattern: Any, **settings: Unpack[Settings]) -> dict[str, Any]:
    """Returns lower bounds of the makespan [s]: injection, busiest link, bisection, critical path, and the optimum.

    Messages are counted as if each had the network to itself; adaptive routes are those of an idle network.

    >>> bounds("torus-4x4", "ring")["injection_s"]
    2e-05
    """
    settings["transport"] = "contention-free"
    return dict(Scenario(topology, pattern, **settings).run()["bounds"])


def interference(
    topology: Any,
    jobs: str | Table | Sequence[str | Table],
    *,
    progress: Progress = None,
    threads: int | None = None,
    **settings: Unpack[OfJobs],
) -> Answer:
    """Runs jobs that share a fabric, and returns the time that the messages of each job lost to those of each job.

    >>> report = interference("torus-4x4", ["a=ring:8", "b=ring:8"])
    >>> [(row["victim"], row["culprit"]) for row in report["interference"]]
    [('a', 'a'), ('a', 'b'), ('b', 'a'), ('b', 'b')]
    """
    call = Call("run", Scenario(topology, jobs=jobs, **settings)).option("interference", True)
    return call.shown(progress, threads)


#: Keys of programs of any source, without the `_` of `from_`.
PLAYED = tuple(key.rstrip("_") for key in OfProgram.__annotations__ if key not in Run.__annotations__)


def dict_of(settings: Any) -> dict[str, Any]:
    """Casts settings to a dict, from which keys can be removed."""
    return cast("dict[str, Any]", settings)


def played(kind: str, table: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    """Returns the table of a program, with the settings that are keys of it."""
    for key in PLAYED:
        # `from` is a keyword of Python.
        for name in (key, key + "_"):
            if (value := settings.pop(name, None)) is not None:
                table[key] = value
    return {kind: table}


def replay(program: Any, machine: Any = None, topology: Any = None, **settings: Unpack[OfProgram]) -> Result:
    """Predicts the time of a recorded program, a schedule or a program by rule on other nodes and another network.

    >>> replay("linear:ranks=8,size=20KB", "myrinet", ranks=True).kind
    'program'
    """
    if isinstance(program, os.PathLike):
        program = os.fspath(program)
    if isinstance(program, str) and any(key in settings or key + "_" in settings for key in PLAYED):
        is_rule = ":" in program and not os.path.exists(program) or program in rules()
        program = played("program" if is_rule else "trace", {"rule" if is_rule else "path": program}, dict_of(settings))
    return _run(topology, program, machine, dict_of(settings))


def rules() -> list[str]:
    """Returns the names of programs by rule."""
    return list(_hayase.rules())


def predict(
    program: str | os.PathLike[str],
    computation: str | os.PathLike[str],
    communication: str | os.PathLike[str] | None = None,
    *,
    scale: Any = None,
    times: str | None = None,
    machine: Any = None,
    topology: Any = None,
    **settings: Unpack[OfProgram],
) -> Result:
    """Predicts the time of a program from its program, computation and communication data."""
    table: dict[str, Any] = {"program": os.fspath(program), "computation": os.fspath(computation)}
    if communication is not None:
        table["communication"] = os.fspath(communication)
    table |= {key: value for key, value in (("scale", scale), ("times", times)) if value is not None}
    return _run(topology, played("program-data", table, dict_of(settings)), machine, dict_of(settings))


#: Keys of farms that are not settings of scenarios.
FARM = tuple(key for key in OfFarm.__annotations__ if key not in Run.__annotations__)


def master_slave(tasks: Any, *, topology: Any = None, machine: Any = None, **settings: Unpack[OfFarm]) -> Result:
    """Predicts the time of a master with its workers for these tasks.

    >>> result = master_slave({"constant": {"count": 64, "time": 0.001}}, workers=[4, 8])
    >>> [row["workers"] for row in result["predictions"]]
    [4, 8]
    """
    table: dict[str, Any] = {"tasks": os.fspath(tasks) if isinstance(tasks, os.PathLike) else tasks}
    rest = dict_of(settings)
    table |= {key: rest.pop(key) for key in FARM if key in rest}
    return _run(topology, {"master-slave": table}, machine, rest)


#: Arguments of a run that are not part of its scenario.
ASKED = ("messages", "links", "ranks", "activities", "path", "seeds", "progress", "threads")


def _run(topology: Any, pattern: Any, machine: Any, settings: dict[str, Any]) -> Result:
    asked = {name: settings.pop(name) for name in ASKED if name in settings}
    return Scenario(topology, pattern, machine=machine, **settings).run(**asked)


def advise(
    recording: str | os.PathLike[str],
    machine: Any = None,
    topology: Any = None,
    *,
    times: str | os.PathLike[str] | None = None,
    source: Sequence[str | os.PathLike[str]] = (),
    all: bool = False,
    copy_rate: str | float | None = None,
    region: str | None = None,
    progress: Progress = None,
    threads: int | None = None,
    **settings: Unpack[OnNetwork],
) -> Answer:
    """Proposes improvements of a recorded program, best first, with the time that each saves."""
    call = Call("advise", Scenario(topology, None, machine=machine, **settings))
    call.words.append(os.fspath(recording))
    call.option("times", os.fspath(times) if times is not None else None).option("all", all).option("region", region)
    call.option("copy_rate", with_unit(copy_rate, "B/s"))
    for folder in source:
        call.option("source", os.fspath(folder))
    return call.shown(progress, threads)


def whatif(
    work: Any,
    machine: Any = None,
    topology: Any = None,
    *,
    vary: Mapping[str, Any] | None = None,
    progress: Progress = None,
    threads: int | None = None,
    **settings: Unpack[OnNetwork],
) -> pandas.DataFrame:
    """Predicts the effect of each parameter of nodes and network alone; without `vary` all are halved and doubled.

    >>> table = whatif("linear:ranks=4,size=20KB", "myrinet")
    >>> {"parameter", "value", "time", "change"} <= set(table.columns)
    True
    """
    needs_pandas()
    call = Call("whatif", Scenario(topology, None, machine=machine, **settings))
    call.words.append(call.part(Pattern, work) if not isinstance(work, str) else work)
    call.vary(vary)
    report = call.answer(progress, threads)
    rows = []
    for varied in report["varied"]:
        for point in varied["points"]:
            rows.append({"parameter": varied["parameter"], **{key.removesuffix("_s"): it for key, it in point.items()}})
    return frame(rows, report)


def sweep(
    plan: str | os.PathLike[str] | Mapping[str, Any],
    out: str | os.PathLike[str],
    *,
    shard: tuple[int, int] | None = None,
    retry_failed: bool = False,
    as_: str = "pandas",
    progress: Progress = None,
    threads: int | None = None,
) -> Any:
    """Runs the missing points of a plan, and returns the finished rows in the order of the plan.

    Each point is kept in the folder `out` as soon as it is done, so the same call continues after an interruption. The
    program (`hayase sweep PLAN -o OUT`) uses the same folder. A plan is a file, or a dict of the same form: a scenario
    with a table `grid`. `shard=(3, 64)` is the fourth of 64 parts.
    """
    if as_ not in ("pandas", "xarray"):
        raise ValueError(f"`as_` is 'pandas' or 'xarray', not {as_!r}")
    if shard is not None:
        if len(shard) != 2:
            raise ValueError(f"`shard` is (i, n), the i-th of n parts, unlike {shard!r}")
        number = counted("shard", shard[1], 1, 2**32 - 1)
        shard = (counted("shard", shard[0], 0, number - 1), number)
    needs_pandas()
    scenario = Scenario()
    if isinstance(plan, Mapping):
        name = "plan.toml"
        scenario._files[name] = _hayase.toml(as_json(in_plan(scenario, plan))).encode()
    else:
        name = os.fspath(plan)
    folder = os.fspath(out)
    texts = scenario._texts()
    with told(progress, "points") as tell:
        run, there, failed, interrupted = texts.sweep(
            name, folder, shard=shard, retry_failed=retry_failed, progress=tell, threads=threads
        )
    report = json.loads(texts.rows(name, folder, threads=threads))
    names = {"makespan_s": "makespan"}
    rows = [
        {names.get(key, key.replace("_bound_s", "_bound")): value for key, value in row.items()}
        for row in report["rows"]
    ]
    table = frame(rows, {key: value for key, value in report.items() if key != "rows"})
    for key in report["keys"]:
        table = with_numbers(table, key)
    table.attrs["report"] |= {"run": run, "there": there, "failed": failed, "interrupted": interrupted}
    return to_xarray(table) if as_ == "xarray" else table


#: Suffixes of columns with numbers of quantities, by dimension.
NUMBERS = {"B": "bytes", "s": "s", "B/s": "Bps"}


def with_numbers(table: pandas.DataFrame, key: str) -> pandas.DataFrame:
    """Adds a column of numbers beside a key whose values are quantities: `size_bytes` beside `size`."""
    found = [number(value) for value in table[key]]
    dimensions = {each[1] if each else None for each in found}
    if len(dimensions) == 1 and (name := NUMBERS.get(dimensions.pop() or "")):
        table.insert(list(table.columns).index(key) + 1, f"{key}_{name}", [each[0] for each in found if each])
    return table


def in_plan(scenario: Scenario, plan: Mapping[str, Any]) -> dict[str, Any]:
    """Converts parts and arrays in a plan to texts; varied fabrics and patterns are attached."""
    call = Call("sweep", scenario)
    kinds: dict[str, type[Part]] = {"topology": Topology, "workload": Pattern, "pattern": Pattern}

    def one(key: str, value: Any, varied: bool) -> Any:
        kind = kinds.get(key)
        if kind and (isinstance(value, Part) or kind is Pattern and _arrays.is_array(value)):
            part = part_of(kind, value)
            return call.part(kind, part) if varied or isinstance(part.spec, str) else part.put_into(scenario._files)
        return scenario._unpacked(key, value)

    made = {key: one(key, value, False) for key, value in plan.items() if key not in ("grid", "zip")}
    for name in ("grid", "zip"):
        if name in plan:
            tables = plan[name] if isinstance(plan[name], list) else [plan[name]]
            lists = [
                {
                    key: [one(key, value, True) for value in values] if isinstance(values, (list, tuple)) else values
                    for key, values in table.items()
                }
                for table in tables
            ]
            made[name] = lists if isinstance(plan[name], list) else lists[0]
    return made


def to_xarray(table: pandas.DataFrame) -> xarray.Dataset:
    """Converts the rows of a sweep to a dataset whose dimensions are the varied keys."""
    report = table.attrs.get("report", {})
    keys = report.get("keys") if isinstance(report, dict) else None
    if not keys:
        raise ValueError("only the rows of a sweep have keys that are dimensions; `hayase.sweep` returns them")
    # Sorted as text, "10 KB" would come before "2 KB".
    order = {key: in_order(table, keys, key) for key in keys}
    left = [name for name in table if name == "id" or any(name == f"{key}_{unit}" for key in keys for unit in NUMBERS.values())]
    return table.drop(columns=left).set_index(keys).to_xarray().reindex(order)


def in_order(table: pandas.DataFrame, keys: Sequence[str], key: str) -> list[Any]:
    """Returns the values of a key in the order of the plan, from some rows of it.

    Rows are in the plan's order, with the last key running fastest. So among rows that agree in the keys before it, the
    values of a key are in order.
    """
    values = list(dict.fromkeys(table[key]))
    if not (before := list(keys[: list(keys).index(key)])):
        return values
    chains: list[list[Any]] = [list(dict.fromkeys(rows)) for _, rows in table.groupby(before, sort=False)[key]]
    if values in chains:
        return values
    behind: graphlib.TopologicalSorter[Any] = graphlib.TopologicalSorter({value: () for value in values})
    for chain in chains:
        for one, next_one in zip(chain, chain[1:]):
            behind.add(next_one, one)
    try:
        return list(behind.static_order())
    except graphlib.CycleError:
        # Keys are not nested, so the order of the rows is the only one.
        return values


def topologies() -> dict[str, str]:
    """Returns the named fabrics, with their descriptions.

    >>> "fat-tree-54" in topologies()
    True
    """
    return dict(_hayase.topologies())


def patterns() -> dict[str, str]:
    """Returns the named workloads, with their descriptions."""
    return dict(_hayase.patterns())


def machines() -> dict[str, str]:
    """Returns the named machines, with their descriptions."""
    return dict(_hayase.machines())


def models() -> dict[str, str]:
    """Returns the named models of training steps, with their descriptions."""
    return dict(_hayase.models())


def presets() -> dict[str, str]:
    """Returns the named presets, with their descriptions."""
    return dict(_hayase.presets())


def placements() -> dict[str, str]:
    """Returns the rules of placement, with their descriptions.

    >>> "random" in placements()
    True
    """
    schema = json.loads(_hayase.schema())
    found = {}
    for choice in schema["$defs"]["PlacementSpec"]["oneOf"]:
        for name in choice.get("properties", {}):
            found[name] = choice.get("description", "")
    return found


def _list_settings() -> None:
    """Lists the keyword arguments of each command in its docstring, since `help` shows only the name of a TypedDict."""
    from hayase import _settings

    kinds = {
        "Compared": (compare,),
        "Settings": (rates, bounds),
        "OnNetwork": (throughput, advise, whatif),
        "Scheduled": (schedule,),
        "OfJobs": (interference,),
        "OfProgram": (replay, predict),
        "OfFarm": (master_slave,),
    }
    for kind, verbs in kinds.items():
        keys = ", ".join(getattr(_settings, kind).__annotations__)
        for verb in verbs:
            verb.__doc__ = f"{(verb.__doc__ or '').rstrip()}\n\n    Settings: {keys}.\n    "


_list_settings()
