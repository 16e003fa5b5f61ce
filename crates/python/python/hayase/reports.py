"""The types of reports, as JSON has them: `hayase.Result.report` is one of these.

Written by `crates/python/reports.py` from the JSON schema of reports; not to be changed by hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired


class Accuracy(TypedDict):
    """Models of messages beside models of packets, over cases."""

    #: [`SCHEMA`].
    schema: str
    #: What was asked for, for the title of tables and pictures.
    title: str
    #: The version of the program that made it.
    version: str
    #: By case, then by reference, then by model.
    rows: list[AccuracyRow]
    #: Models that could not be played in a case.
    left_out: NotRequired[list[LeftOut]]
    #: Whether all runs were made; else rows, or seeds of rows, are missing.
    complete: bool
    #: Runs that were not made.
    missing_runs: NotRequired[int]


class AccuracyRow(TypedDict):
    """One model beside one reference in one case. An error is `model / reference - 1`: below 0 the model is too fast."""

    #: The topology as named.
    topology: str
    #: What kind of fabric it is, with its number of dimensions where it has some: `torus 2d`, `tree`.
    family: str
    #: Nodes of the fabric.
    nodes: int
    #: The pattern as named.
    pattern: str
    #: What kind of pattern it is: `all-to-all`, `random`, `permutation`, `incast` ...
    kind: str
    #: The placement as named.
    placement: str
    #: The routing rule.
    routing: str
    #: The injection rule.
    injection: str
    #: The values of the keys that are varied.
    varied: NotRequired[dict[str, str]]
    #: Size of a message on average [B].
    size_B: int
    #: Messages of one run.
    messages: int
    #: The model: `equal-share`, `redistribute`, `max-min`, `blocking`, `few-packets`.
    model: str
    #: The virtual channels of `blocking`; those of the reference where it knows them, else its usual ones.
    channels: NotRequired[str | None]
    #: The packet model it is held against: `packet:oq`, `packet:fq`, `packet:iq:dateline` ...
    reference: str
    #: Packets of a buffer of the reference; none where there is no limit.
    buffer: int | None
    #: Packets of a mean message of the reference, where its packets are few and large.
    packets_per_message: NotRequired[int | None]
    #: The seeds of both.
    seeds: list[int]
    #: Of the mean makespan over the seeds.
    makespan_error: float
    #: The least of the errors of the makespan, seed by seed.
    makespan_error_min: float
    #: The largest.
    makespan_error_max: float
    #: Of the time at which a rank's last message has arrived, averaged over ranks and seeds.
    mean_finish_error: float
    #: Of the time that each message is under way: 5 of 100 messages have a lower error. Quantiles are means over the seeds of those of each.
    time_error_q05: float
    #: Half of the messages have a lower error.
    time_error_q50: float
    #: 95 of 100 messages have a lower error.
    time_error_q95: float
    #: Mean makespan of the model [s].
    model_makespan_s: float
    #: Mean makespan of the reference [s].
    reference_makespan_s: float
    #: Sample standard deviation of the reference's makespans over their mean: errors below it say little.
    reference_spread: float
    #: Processor time of one run of the model [s]; differs from machine to machine, as the two below.
    model_cpu_s: float
    #: Processor time of one run of the reference [s].
    reference_cpu_s: float
    #: `reference_cpu_s / model_cpu_s`: how many times faster the model is.
    speed_ratio: float


class Bottleneck(TypedDict):
    """The link that holds traffic back."""

    #: Its name.
    link: str
    #: Its kind.
    kind: str
    #: Its load.
    load: float


class Bounds(TypedDict):
    """Lower bounds of the makespan [s]: three of bandwidth, which do not know the order of the messages, one of computation, and one of dependences, which does not know that they share links. Of programs and farms only the last is known."""

    #: The most that one node sends or receives over its host link.
    injection_s: float | None
    #: The most that one rank computes, and sends where it does one after the other; of patterns that compute.
    computation_s: NotRequired[float | None]
    #: The most that one link carries over its capacity.
    busiest_link_s: float | None
    #: What crosses the bisection over its bandwidth, where the fabric's bisection is known.
    bisection_s: float | None
    #: The critical path: the longest chain of messages that wait for each other, with their delays and the latencies of their routes, each as if it had the network to itself; of complete runs with delays or latencies.
    path_s: NotRequired[float | None]


class Carried(TypedDict):
    """What a link carried of a job."""

    #: The name of the job.
    job: str
    #: [B]
    bytes: int


class ComparedJob(TypedDict):
    """A job in the runs of a row."""

    #: Its name.
    name: str
    #: Its ranks.
    ranks: int
    #: From its beginning to its end, mean over the seeds of the mean over its repetitions [s]; nothing of a background.
    makespan_s: NotRequired[float | None]
    #: The same with nobody else on the fabric, done once [s].
    alone_s: NotRequired[float | None]
    #: `makespan / alone`, mean over the seeds.
    slowdown: NotRequired[float | None]
    #: Its sample standard deviation over several seeds.
    slowdown_sd: NotRequired[float | None]


class Comparison(TypedDict):
    """Runs that differ in what is compared, over the same seeds."""

    #: [`SCHEMA`].
    schema: str
    #: The command or file behind it, for the title of tables and pictures.
    title: str
    #: What rows are ranked by, where it is not the makespan.
    ranked_by: NotRequired[RankBy]
    #: Best first within each job; jobs in the order in which they were named.
    rows: list[ComparisonRow]
    #: Whether all runs were made; else rows, or seeds of rows, are missing.
    complete: bool
    #: Runs that were not made.
    missing_runs: NotRequired[int]


class ComparisonRow(TypedDict):
    """One point of a comparison: a pattern under one choice of everything else."""

    #: The topology as named.
    topology: str
    #: The placement.
    placement: str
    #: The sharing policy; empty where messages are no flows.
    sharing: str
    #: The transport: `flow`, `packet:oq` ...
    transport: str
    #: The routing rule.
    routing: str
    #: The injection rule.
    injection: str
    #: The machine as named, or the node model; empty where nodes cost nothing.
    machine: NotRequired[str]
    #: The values of the keys that are varied.
    varied: NotRequired[dict[str, str]]
    #: The pattern or program as named.
    pattern: str
    #: What fails, where that is compared: a part of the cables, or a name.
    faults: NotRequired[str | None]
    #: How many times as long it takes as with nothing failed, where that is compared.
    slowdown: NotRequired[Slowdown | None]
    #: Seeds with which messages had no way: their runs have no makespan.
    cut_off: NotRequired[int]
    #: What is done: `all-to-all of 20 KB among 54 ranks`, or what no name tells, `57,240,000 B among 54 ranks`. Rows of one job are ranked, those of different jobs cannot be.
    job: str
    #: Makespans over the seeds.
    makespan: SeedStatistics
    #: The makespan with its interval, where it is an estimate.
    estimate: NotRequired[Estimate | None]
    #: Why there is none, where all was simulated.
    estimate_reason: NotRequired[str | None]
    #: Where several jobs share the fabric: what each came to.
    jobs: NotRequired[list[ComparedJob]]
    #: And the largest slowdown of one.
    worst_slowdown: NotRequired[WorstSlowdown | None]
    #: Messages of one run.
    messages: int
    #: Bytes of one run [B].
    bytes: int
    #: Lower bounds of the makespan, averaged over the seeds.
    bounds: Bounds
    #: `mean makespan / largest bound`.
    ratio_to_bound: float
    #: `mean makespan / smallest mean makespan of the job`, or the same of the figure that rows are ranked by.
    ratio_to_best: float
    #: Place among the rows of the job by the mean of that figure, from 1; equal means share a place.
    place: int
    #: Whether it is not the best, but cannot be told from it: 0 lies within the 95 % interval of the difference of the two means.
    tied: bool
    #: Run time of one run, averaged over the seeds [s]; differs from machine to machine.
    wall_s: float
    #: Packets that crossed a link in the first run, each link counted, where messages are packets.
    packet_hops: NotRequired[int | None]
    #: What a map of errors says of such runs, of patterns that are flows.
    accuracy: NotRequired[KnownAccuracy | None]
    #: Combined fingerprint of the runs.
    fingerprint: str


class CostOverSeeds(TypedDict):
    """The cost over seeds: of each seed the makespan less that with the same seed where nobody is slow."""

    #: Seeds.
    seeds: int
    #: The mean makespan where nobody is slow [s].
    without_mean_s: float
    #: The mean cost [s].
    mean_s: float
    #: Lower end of the 95 % interval of the mean, `mean - t s / sqrt(n)` with the t of Student [s].
    low_s: float
    #: Its upper end [s].
    high_s: float
    #: Sample standard deviation of the cost [s].
    sd_s: float


class CriticalPath(TypedDict):
    """The chain of activities and messages from the start to the end of the last rank; its times add up to the makespan."""

    #: Its steps.
    steps: int
    #: How often it goes from one rank to another.
    changes: int
    #: The time of each kind that is on it.
    kinds: list[PathPart]
    #: The ranks with the most time on it, most first.
    ranks: list[PathRank]
    #: The operations with the most time on it, most first.
    operations: list[PathOperation]


class Delayed(TypedDict):
    """How many ranks ended later, by more than a time."""

    #: By more than this [s].
    more_than_s: float
    #: Ranks.
    ranks: int


class Delayed2(TypedDict):
    """A rank that another delayed."""

    #: Which one.
    rank: int
    #: How long it waited for that [s].
    time_s: float


class Delays(TypedDict):
    """Time that messages lost on links that held them back."""

    #: Over all messages [s].
    total_s: float
    #: Kinds of links with their parts of it, the largest first.
    kinds: list[KindDelay]


class ErrorRange(TypedDict):
    """How far the makespans of a model were off over near cases."""

    #: The model.
    model: str
    #: The switches: `input-queued`, `output-queued`, `fair-queued`.
    switches: str
    #: The least error of the makespan; 0.1 is 10 % too long.
    low: float
    #: The largest.
    high: float
    #: Rows of the map it is from.
    rows: int


class Estimate(TypedDict):
    """A makespan that is estimated from the beginning of a run."""

    #: The makespan [s].
    makespan_s: float
    #: The low end of its interval [s].
    low_s: float
    #: The high end [s].
    high_s: float
    #: How sure the interval is to hold the makespan of the full run: 0.95.
    confidence: float
    #: The part of all messages that was simulated.
    simulated_part: float
    #: Half of the interval over the makespan, as it was asked for.
    asked: float


class FarmBounds(TypedDict):
    """Lower bounds [s]."""

    #: Total work over the speed of all workers.
    work_s: float
    #: The same with what the messages cost the workers.
    exchange_s: float
    #: The longest message on the fastest worker.
    longest_s: float
    #: What the master spends on messages.
    master_s: float
    #: What goes over the links of the master's node, over what they carry; `null` without a fabric, where workers are on that node, and with several masters.
    network_s: float | None


class FarmReport(TypedDict):
    """Predictions for some numbers of workers, or ways of giving out tasks."""

    #: The version of the form of the report in JSON: [`SCHEMA`], [`replay::SCHEMA`], [`FARM_SCHEMA`], [`whatif::SCHEMA`].
    schema: str
    #: The complete scenario, so that the report can be run again.
    scenario: Any
    #: `complete`, or why the run ended early; of a farm that is tried in several ways, the worst of all.
    status: Status
    #: When the last message arrived, or the last rank ended [s]; of a run that is not complete, the last of those that did; of a farm that is tried in several ways, that of the first.
    makespan_s: float
    #: Messages delivered; of a program those of its collectives among them.
    messages: int
    #: Bytes delivered [B].
    bytes: int
    #: When and with what the run came to a standstill or was stopped, where it is not complete.
    stopped: NotRequired[Stopped | None]
    #: Over seeds, where there are several; the rest of the report is of the first seed.
    seeds: NotRequired[SeedStatistics | None]
    #: What failed, and what became of messages for it, where anything does.
    faults: NotRequired[FaultsReport | None]
    #: What slow processors cost, where there are any and that was asked for.
    noise: NotRequired[NoiseReport | None]
    #: The makespan with its interval, where it is an estimate.
    estimate: NotRequired[Estimate | None]
    #: Why there is none, where all was simulated.
    estimate_reason: NotRequired[str | None]
    #: A number that differs where anything happened at another time.
    fingerprint: str
    #: What a map of errors says of such runs, of patterns that are flows.
    accuracy: NotRequired[KnownAccuracy | None]
    #: Where the tasks come from, for people.
    tasks: str
    #: The network and the way tasks are given out, for people.
    setting: str
    #: How many tasks.
    task_count: int
    #: Their times, summed [s].
    work_s: float
    #: The longest of them [s].
    longest_task_s: float
    #: What is varied beside the number of workers (`granularity`).
    varied: NotRequired[str | None]
    #: One for each combination, workers ascending within each value of what is varied.
    predictions: list[Prediction2]
    #: The smallest number of workers from which on more of them gain less than 1 %; nothing where the largest number still gains, or only one was tried. Of what is varied, for the first value.
    saturation_workers: int | None
    #: The smallest number of workers tried from which on the (busiest) master is busy for 99 % of the predicted time or more; nothing where it is not. Of what is varied, for the first value.
    master_busy_workers: int | None
    #: An estimate: the number of equal workers that keep the master busy, in the mean and without start and end; nothing where that is not known in closed form.
    master_bound_workers: int | None
    #: Whether all combinations were run.
    complete: bool
    #: What may differ from machine to machine.
    meta: Meta


class FaultsReport(TypedDict):
    """What failed, and what became of messages for it."""

    #: Links that have failed at the start, those of switches among them; a cable is two.
    failed_links: Parts
    #: Switches that have failed at the start.
    failed_switches: Parts
    #: Links that carry another bandwidth at the start than they were built for.
    degraded_links: Parts
    #: Whether anything fails or comes back later.
    events: bool
    #: Pairs of nodes between which no way is left at the start, each direction counted; not told where links have no ends and nodes are too many.
    pairs_cut_off: NotRequired[int | None]
    #: The first of them.
    cut_off: list[str]
    #: Messages that were sent again, or later, because a link of theirs had failed.
    resent: int
    #: Messages that were lost.
    lost: int
    #: Messages that never found a way.
    stranded: int
    #: From where to where the first of those that were lost or found no way were to go.
    without_way: list[str]


class Gridlock(TypedDict):
    """Packets that wait for each other in a circle."""

    #: Packets, and messages at their sources, that cannot move.
    packets: int
    #: The circle, by names of links: the buffer behind each is full, and its first packet waits for the next one.
    cycle: list[str]


class Interference(TypedDict):
    """What the messages of a job lost to those of another, or to those of their own."""

    #: The job that lost it.
    victim: str
    #: The job to which.
    culprit: str
    #: Summed over the messages of the victim [s].
    delay_s: float


class JobReport(TypedDict):
    """What became of a job."""

    #: Its name.
    name: str
    #: What it does, for people.
    workload: str
    #: Its ranks.
    ranks: int
    #: How it was placed: the rule, a file, or a list of nodes.
    placement: str
    #: By rank: its node.
    nodes: list[int]
    #: Whether it goes on as long as others do.
    background: NotRequired[bool]
    #: When it began for the first time [s]; nothing of a job that never began.
    start_s: float | None
    #: When it ended for the last time [s]; nothing of a job that never ended.
    end_s: float | None
    #: Why it never began, or never ended.
    unfinished: NotRequired[str | None]
    #: How often it was done.
    repetitions: int
    #: From its beginning to its end, on average over its repetitions [s]; nothing of a background.
    makespan_s: NotRequired[float | None]
    #: The shortest of several repetitions [s].
    min_s: NotRequired[float | None]
    #: The longest of them [s].
    max_s: NotRequired[float | None]
    #: The same with nobody else on the fabric, done once [s]; where that was worked out.
    alone_s: NotRequired[float | None]
    #: `makespan / alone`.
    slowdown: NotRequired[float | None]
    #: Messages delivered.
    messages: int
    #: Their bytes [B].
    bytes: int
    #: Time its messages were under way over the time that each would have taken with the network to itself, both summed over all messages: by its own messages and by those of others.
    contention: float
    #: Time that its messages lost to faults, summed over messages [s]; where interference was asked for and links change while jobs run.
    fault_delay_s: NotRequired[float | None]


class JobsReport(TypedDict):
    """What came out of several jobs on one fabric."""

    #: The version of the form of the report in JSON: [`SCHEMA`], [`replay::SCHEMA`], [`FARM_SCHEMA`], [`whatif::SCHEMA`].
    schema: str
    #: The complete scenario, so that the report can be run again.
    scenario: Any
    #: `complete`, or why the run ended early; of a farm that is tried in several ways, the worst of all.
    status: Status
    #: When the last message arrived, or the last rank ended [s]; of a run that is not complete, the last of those that did; of a farm that is tried in several ways, that of the first.
    makespan_s: float
    #: Messages delivered; of a program those of its collectives among them.
    messages: int
    #: Bytes delivered [B].
    bytes: int
    #: When and with what the run came to a standstill or was stopped, where it is not complete.
    stopped: NotRequired[Stopped | None]
    #: Over seeds, where there are several; the rest of the report is of the first seed.
    seeds: NotRequired[SeedStatistics | None]
    #: What failed, and what became of messages for it, where anything does.
    faults: NotRequired[FaultsReport | None]
    #: What slow processors cost, where there are any and that was asked for.
    noise: NotRequired[NoiseReport | None]
    #: The makespan with its interval, where it is an estimate.
    estimate: NotRequired[Estimate | None]
    #: Why there is none, where all was simulated.
    estimate_reason: NotRequired[str | None]
    #: A number that differs where anything happened at another time.
    fingerprint: str
    #: What a map of errors says of such runs, of patterns that are flows.
    accuracy: NotRequired[KnownAccuracy | None]
    #: The fabric, for people.
    fabric: str
    #: The jobs, in their order.
    jobs: list[JobReport]
    #: The links that several jobs used, most bytes over capacity first.
    meetings: list[Meeting]
    #: Who delays whom: each pair of jobs, where that was asked for and the run is complete.
    interference: NotRequired[list[Interference] | None]
    #: Lower bounds of the makespan, of the jobs that are no background.
    bounds: Bounds
    #: `makespan / largest bound`.
    ratio_to_bound: float
    #: Which channels wait for each other, where packets block each other for ever.
    gridlock: NotRequired[Gridlock | None]
    #: What may differ from machine to machine.
    meta: Meta


class KindDelay(TypedDict):
    """The part of all delay that a kind of links has."""

    #: The kind: `up from level 1`.
    links: str
    #: Its part of all delay.
    part: float


class KnownAccuracy(TypedDict):
    """What a map of errors says of runs like this one."""

    #: The model of the run.
    model: str
    #: By kind of switch: how far makespans of the model, and of others, were off. Empty where no case is near.
    against: list[ErrorRange]
    #: The cases it is from, in words: `torus-16x16, all-to-all-pairwise, 1 MB, random`. Empty where none is near.
    cases: list[str]
    #: The version of the map.
    map: str
    #: One sentence that says it.
    text: str
    #: A sentence on what the model leaves out, where that takes a tenth of a message's time or more.
    leaves_out: NotRequired[str | None]


class LateRank(TypedDict):
    """A rank that others waited for, and what goes back to it [s]; sums over all ranks that waited."""

    #: Which one.
    rank: int
    #: What ranks waited, for it or for others that it held up, that goes back to it.
    caused_s: float
    #: Of that: since it computed longer than those that waited, or started later.
    by_computing_s: float
    #: The rest: since it sent longer.
    by_sending_s: float
    #: Whom that delayed, most first; of the first five ranks.
    delays: NotRequired[list[Delayed2]]
    #: How long others waited for it.
    waited_for_s: float
    #: Of that: since it computed longer.
    as_it_computed_s: float
    #: Since it sent longer.
    as_it_sent_s: float
    #: Since it waited for others itself. The rest its messages were under way.
    as_it_waited_s: float


class LeftOut(TypedDict):
    """A model that was not played in a case."""

    #: The case, in words.
    case: str
    #: The model or reference.
    model: str
    #: Why.
    reason: str


class Limits(TypedDict):
    """Times that a better network approaches [s]; no number where it is not known, of patterns and farms."""

    #: Messages cost nothing and arrive when they are sent: computation and dependences are left.
    ideal_s: float
    #: Nobody waits: the most that one rank computes, sends and receives in the unchanged run.
    zero_wait_s: float
    #: The most that one rank computes.
    compute_s: float


class LinkUse(TypedDict):
    """What one link did."""

    #: Its number.
    id: int
    #: Whether it has failed at the start.
    failed: NotRequired[bool]
    #: Its name: `node 3 -> switch 1.0`.
    name: str
    #: Its capacity [B/s].
    capacity_bps: float
    #: What it carried [B].
    bytes: int
    #: How long at least one flow was on it [s]; absent, like the numbers of flows, where times were not recorded.
    busy_s: NotRequired[float]
    #: `bytes / (capacity * makespan)`.
    utilisation: float
    #: The most flows on it at once.
    peak_flows: NotRequired[int]
    #: Flows on it, averaged over its busy time.
    mean_flows: NotRequired[float]
    #: The most packets that waited for it at once; absent, like the two below, where messages are not packets.
    peak_queue: NotRequired[int]
    #: Packets that waited for it, averaged over the run.
    mean_queue: NotRequired[float]
    #: How long it stood still although packets waited for it, for want of room behind it [s].
    blocked_s: NotRequired[float]
    #: Time that messages lost on it, summed over messages [s]; absent where it was not measured.
    delay_s: NotRequired[float]


class Meeting(TypedDict):
    """A link that several jobs used, at the same time or not."""

    #: Its name.
    link: str
    #: Its capacity [B/s].
    capacity_bps: float
    #: `bytes of all jobs / (capacity * makespan)`.
    utilisation: float
    #: What it carried of each job, most first.
    jobs: list[Carried]


class Meta(TypedDict):
    """What may differ from machine to machine."""

    #: Run time of the simulation [s].
    wall_s: float
    #: Events: deliveries, starts and wakes.
    events: int
    #: Packets that crossed a link, each link counted, where messages are packets.
    packet_hops: NotRequired[int | None]
    #: Peak memory of the process [B], where the system tells.
    peak_rss_bytes: int | None
    #: Version of this program.
    version: str


class NoiseReport(TypedDict):
    """What slow processors cost: the run beside the same one in which nobody is slow."""

    #: The makespan with the same seed where nobody is slow [s].
    without_s: float
    #: `makespan - without` [s].
    cost_s: float
    #: `makespan / without`; 1 where both are 0.
    slowdown: float
    #: The cost over seeds, where there are several.
    seeds: NotRequired[CostOverSeeds | None]
    #: How much longer the ranks' own work took, where that was added up.
    slowed: NotRequired[SlowedRanks | None]
    #: How many ranks ended later, by more than some times.
    delayed: list[Delayed]
    #: How far the delay travelled: ranks by how many messages they are from the nearest straggler. Empty where all ranks are slow, or where messages were too many to be kept.
    by_distance: list[Reached]
    #: Each rank.
    ranks: list[RankDelay]


class OpenReceives(TypedDict):
    """Receives that left open what they take (`MPI_ANY_SOURCE`, `MPI_ANY_TAG`)."""

    #: What they take: `recorded`, what came in the recorded run, or `arrival`, what comes first.
    take: str
    #: How many there are.
    receives: int
    #: How many took a message, and the node model says which.
    seen: int
    #: How many of these took one of the rank, with the tag, of the recorded run.
    as_recorded: int


class Parts(TypedDict):
    """So many parts, and what they are called."""

    #: How many.
    count: int
    #: Their names; of more than 1000, the first.
    names: list[str]


class PathOperation(TypedDict):
    """One operation's part of the critical path, of one kind."""

    #: Whose.
    rank: int
    #: Its position in the rank's program.
    op: int
    #: What it is, in words, where the node model tells receives apart.
    operation: NotRequired[str | None]
    #: What the time was spent on.
    kind: str
    #: How long [s].
    time_s: float


class PathPart(TypedDict):
    """One kind of time on the critical path."""

    #: What it was spent on; `network` is a message under way.
    kind: str
    #: How long [s].
    time_s: float
    #: Its part of the path.
    part: float


class PathRank(TypedDict):
    """One rank's part of the critical path."""

    #: Which one.
    rank: int
    #: How long it was on it, messages to it included [s].
    time_s: float
    #: Its part of the path.
    part: float


class Prediction(TypedDict):
    """What a prediction was put together from."""

    #: The program data.
    program: str
    #: Where the times of blocks are from.
    computation: list[PredictionPart]
    #: The communication data, where messages take their times from it.
    communication: NotRequired[str | None]
    #: How long the run took that the computation data is of, where it is one run and that is known [s].
    recorded_s: NotRequired[float | None]
    #: By what rule waits end: `rules` (each message by itself), `order of arrival` (receives that leave open from whom, in order of time), or `simulated`.
    waits: str
    #: Times of blocks found by the block and rank themselves.
    direct: int
    #: Found by the block's name, in data of another form of the program.
    by_name: int
    #: Found by the block's name at other ranks.
    other_ranks: int
    #: Which times of a block are taken: `mean`, `line` or `draw`.
    times: str


class Prediction2(TypedDict):
    """One prediction."""

    #: The value of what is varied.
    value: NotRequired[str | None]
    #: Number of workers.
    workers: int
    #: Workers and masters.
    processors: int
    #: The predicted time [s].
    time_s: float
    #: Total work over the speed of all workers, relative to the predicted time.
    efficiency: float
    #: How long the master (the busiest, with several) is busy, relative to the predicted time.
    master_utilisation: float
    #: How long workers compute, relative to the predicted time: all, the least and the most used.
    worker_utilisation: Utilisation
    #: Results that wait at the master, on average over time and at most.
    waiting: Waiting
    #: By how much the worker that is done last is done later than the mean, relative to the predicted time.
    imbalance: float
    #: From the moment the last task was given out to the end [s].
    tail_s: float
    #: Messages with tasks that were sent.
    messages: int
    #: Of these, sent again since their worker was lost.
    repeated: int
    #: Time that lost workers had computed for nothing [s].
    wasted_s: float
    #: Tasks that are not done, since all workers were lost.
    undone: int
    #: Lower bounds of the predicted time.
    bounds: FarmBounds
    #: The largest of them [s].
    bound_s: float
    #: The predicted times over several seeds, if they were asked for; everything else is of the first.
    seeds: NotRequired[SeedStatistics | None]
    #: Over when everybody did how much: equal fingerprints are equal results, to the last bit.
    fingerprint: str


class PredictionPart(TypedDict):
    """Ranks that take the times of their blocks from one place."""

    #: Which: `0-7`.
    ranks: str
    #: The computation data.
    computation: str
    #: What its times are multiplied by.
    scale: float


#: What the rows of a comparison are ranked by, smallest first.
RankBy: TypeAlias = "Literal['makespan'] | Literal['slowdown']"


class RankDelay(TypedDict):
    """By how much a rank ended later."""

    #: Its number.
    rank: int
    #: When it ended: its program, or its last message where it is no program [s].
    end_s: float
    #: The same where nobody is slow [s].
    without_s: float
    #: `end - without` [s].
    delay_s: float
    #: How much longer its own work took [s].
    slowed_s: NotRequired[float | None]
    #: When it first sent or got a message later than it would have [s].
    reached_s: NotRequired[float | None]
    #: The least messages from a straggler to it.
    messages: NotRequired[int | None]
    #: Links on the route from the nearest straggler.
    hops: NotRequired[int | None]


class RankReport(TypedDict):
    """Where the time of one rank went [s]."""

    #: Which one.
    rank: int
    #: When its last operation ended.
    end_s: float
    #: It computed.
    compute_s: float
    #: It sent: its processor was busy.
    send_overhead_s: float
    #: It received: its processor was busy.
    recv_overhead_s: float
    #: It waited for receivers.
    send_wait_s: float
    #: It waited for messages.
    recv_wait_s: float
    #: It exchanged requests and answers of rendezvous.
    sync_s: float


class Reached(TypedDict):
    """Ranks that are as many messages from the nearest straggler."""

    #: The least messages, one after another, by which something gets from a straggler to them; 0 are stragglers.
    messages: int
    #: Links on the route from the nearest straggler, on average; without a fabric nothing.
    hops: NotRequired[float | None]
    #: How many there are.
    ranks: int
    #: How many of them it reached.
    reached: int
    #: When it reached the first of them [s].
    first_s: NotRequired[float | None]
    #: By how much later they ended, on average [s].
    delay_s: float


class RegionReport(TypedDict):
    """A part of the program that its author told apart."""

    #: Its name.
    name: str
    #: How often it was executed, on the rank that did so most.
    executions: int
    #: How many ranks executed it.
    ranks: int
    #: From the first rank's begin to the last one's end of each execution, added up [s].
    time_s: float
    #: Computation within it: the mean over its ranks [s].
    computation_s: float
    #: Sending and receiving, the same [s].
    communication_s: float
    #: Waiting, the same [s].
    waiting_s: float
    #: `time_s` of the run that was recorded, where that is known [s].
    recorded_s: NotRequired[float | None]


class ReplayReport(TypedDict):
    """What came out of one run of a program."""

    #: The version of the form of the report in JSON: [`SCHEMA`], [`replay::SCHEMA`], [`FARM_SCHEMA`], [`whatif::SCHEMA`].
    schema: str
    #: The complete scenario, so that the report can be run again.
    scenario: Any
    #: `complete`, or why the run ended early; of a farm that is tried in several ways, the worst of all.
    status: Status
    #: When the last message arrived, or the last rank ended [s]; of a run that is not complete, the last of those that did; of a farm that is tried in several ways, that of the first.
    makespan_s: float
    #: Messages delivered; of a program those of its collectives among them.
    messages: int
    #: Bytes delivered [B].
    bytes: int
    #: When and with what the run came to a standstill or was stopped, where it is not complete.
    stopped: NotRequired[Stopped | None]
    #: Over seeds, where there are several; the rest of the report is of the first seed.
    seeds: NotRequired[SeedStatistics | None]
    #: What failed, and what became of messages for it, where anything does.
    faults: NotRequired[FaultsReport | None]
    #: What slow processors cost, where there are any and that was asked for.
    noise: NotRequired[NoiseReport | None]
    #: The makespan with its interval, where it is an estimate.
    estimate: NotRequired[Estimate | None]
    #: Why there is none, where all was simulated.
    estimate_reason: NotRequired[str | None]
    #: A number that differs where anything happened at another time.
    fingerprint: str
    #: What a map of errors says of such runs, of patterns that are flows.
    accuracy: NotRequired[KnownAccuracy | None]
    #: The program: the name of its trace.
    program: str
    #: What is not in the recordings, and what follows.
    incomplete: NotRequired[list[str]]
    #: That ranks of these recordings lacked a core, and what follows.
    lack_of_cores: NotRequired[list[str]]
    #: Which time of ranks was neither computation nor communication, or may have been either, and what follows.
    outside: NotRequired[list[str]]
    #: The nodes, for people: `loggps`.
    node: str
    #: The network, for people.
    network: str
    #: The same in the run that was recorded, where the trace has it [s].
    measured_s: NotRequired[float | None]
    #: `makespan_s / measured_s - 1`; of a complete run.
    error: NotRequired[float | None]
    #: The region that was asked for: breakdown, waits, critical path and ranks are of what happens in it.
    region: NotRequired[str | None]
    #: The regions that the program marks, or the one that was asked for.
    regions: NotRequired[list[RegionReport]]
    #: Operations of the program.
    operations: int
    #: Messages that arrived and that nobody asked for.
    unreceived: int
    #: Where the time went, over all ranks.
    breakdown: list[Spread]
    #: The longest waits between two ranks, longest first.
    waits: list[Wait]
    #: Of receives that left open from whom or with what tag, and of which it is known what came in the recorded run: what they took here.
    open_receives: NotRequired[OpenReceives | None]
    #: What made it last as long as it did; where the run is complete and not too long to be walked back through.
    critical_path: NotRequired[CriticalPath | None]
    #: Ranks that others waited for, those first that most of all waiting goes back to; where that was asked for, the run is complete, and not too long to be walked back through.
    late: NotRequired[list[LateRank]]
    #: What it was put together from, where it is a prediction from data sets.
    prediction: NotRequired[Prediction | None]
    #: Where the time of each rank went.
    ranks: list[RankReport]
    #: What may differ from machine to machine.
    meta: Meta


class Report(TypedDict):
    """What came out of one run of a pattern."""

    #: The version of the form of the report in JSON: [`SCHEMA`], [`replay::SCHEMA`], [`FARM_SCHEMA`], [`whatif::SCHEMA`].
    schema: str
    #: The complete scenario, so that the report can be run again.
    scenario: Any
    #: `complete`, or why the run ended early; of a farm that is tried in several ways, the worst of all.
    status: Status
    #: When the last message arrived, or the last rank ended [s]; of a run that is not complete, the last of those that did; of a farm that is tried in several ways, that of the first.
    makespan_s: float
    #: Messages delivered; of a program those of its collectives among them.
    messages: int
    #: Bytes delivered [B].
    bytes: int
    #: When and with what the run came to a standstill or was stopped, where it is not complete.
    stopped: NotRequired[Stopped | None]
    #: Over seeds, where there are several; the rest of the report is of the first seed.
    seeds: NotRequired[SeedStatistics | None]
    #: What failed, and what became of messages for it, where anything does.
    faults: NotRequired[FaultsReport | None]
    #: What slow processors cost, where there are any and that was asked for.
    noise: NotRequired[NoiseReport | None]
    #: The makespan with its interval, where it is an estimate.
    estimate: NotRequired[Estimate | None]
    #: Why there is none, where all was simulated.
    estimate_reason: NotRequired[str | None]
    #: A number that differs where anything happened at another time.
    fingerprint: str
    #: What a map of errors says of such runs, of patterns that are flows.
    accuracy: NotRequired[KnownAccuracy | None]
    #: The fabric, for people: `fat-tree p=12 (3456 nodes, 1008 switches, 20736 links)`.
    fabric: str
    #: The workload, for people: `all-to-all simple-spread, 20 KB, 3456 ranks`.
    workload: str
    #: `bytes / makespan` [B/s].
    bandwidth_bps: float
    #: The same for each node [B/s].
    bandwidth_per_node_bps: float
    #: Lower bounds of the makespan.
    bounds: Bounds
    #: `makespan / largest bound`; 1 is perfect.
    ratio_to_bound: float
    #: Time messages were under way over the time they would have taken alone, both summed over all messages; 1: no message was ever held back by another.
    contention: float
    #: The links on which messages lost most time, or, where that was not measured, those most used.
    links: list[LinkUse]
    #: Time that messages lost on links, where it was measured.
    delays: NotRequired[Delays | None]
    #: The rule by which messages change virtual channels, where switches have queues that share links (`packet:iq`, `blocking`): `dateline`, `classes` ...
    channels: NotRequired[str | None]
    #: Rounds of the redistribution, where that is the sharing policy.
    rounds: NotRequired[Rounds | None]
    #: Which channels wait for each other, where packets block each other for ever.
    gridlock: NotRequired[Gridlock | None]
    #: Where the time went, over all ranks.
    breakdown: NotRequired[list[Spread]]
    #: The longest waits of a rank for another, or for its own message to it, longest first.
    waits: NotRequired[list[Wait]]
    #: What made the run last as long as it did; where it is not too long to be walked back through.
    critical_path: NotRequired[CriticalPath | None]
    #: Ranks that others waited for, those first that most of all waiting goes back to; the same.
    late: NotRequired[list[LateRank]]
    #: Where the time of each rank went.
    ranks: NotRequired[list[RankReport]]
    #: What may differ from machine to machine.
    meta: Meta


class Rounds(TypedDict):
    """Rounds of the redistribution policy, per solution of the rates."""

    #: Fewest.
    min: int
    #: On average.
    mean: float
    #: Most.
    max: int


class SeedStatistics(TypedDict):
    """Makespans over seeds."""

    #: The seeds.
    seeds: list[int]
    #: The makespan of each [s].
    makespans_s: list[float]
    #: Their mean [s].
    mean_s: float
    #: Their sample standard deviation [s]; 0 for a single seed.
    sd_s: float
    #: The smallest [s].
    min_s: float
    #: The largest [s].
    max_s: float
    #: Seeds that were asked for and not run.
    missing: NotRequired[int]
    #: Seeds with which what failed left messages without a way.
    cut_off: NotRequired[int]
    #: Where makespans are estimates: half of the 95 % interval of each [s], 0 of those that are exact.
    halves_s: NotRequired[list[float]]
    #: And the interval of their mean [s].
    interval_s: NotRequired[list[float] | None]


class Sensitivity(TypedDict):
    """The predicted time over one parameter."""

    #: Its name, as typed: `S`, `topology.torus.bandwidth`.
    parameter: str
    #: Its unchanged value, where it has one.
    base: str | None
    #: `ln(T2 / T1) / ln(p2 / p1)` between the smallest value p1 and the largest p2: 1 where the time is proportional to the parameter, 0 where it does not depend on it; nothing where that is not defined.
    elasticity: float | None
    #: What came out, in the order in which values were named.
    points: list[WhatIfPoint]


class Slowdown(TypedDict):
    """How many times as long runs take in which something failed."""

    #: Mean over the seeds of `makespan / makespan with nothing failed`, both with the same seed.
    mean: float
    #: Lower end of the 95 % interval of the mean, `mean - t s / sqrt(n)` with the t of Student; the mean of one seed.
    low: float
    #: Its upper end.
    high: float
    #: Seeds.
    seeds: int


class SlowedRanks(TypedDict):
    """How much longer the own work of ranks took, on slow processors and under noise."""

    #: Ranks whose work took longer.
    ranks: int
    #: On average over all ranks [s].
    mean_s: float
    #: The most of one rank [s].
    most_s: float
    #: That rank.
    most_rank: int
    #: What of that does not show in the makespan, since it fell into time in which the rank or others would have waited anyway: `most - cost`, or 0 [s].
    absorbed_s: float


class Spread(TypedDict):
    """One kind of time, over all ranks [s]."""

    #: What it was spent on.
    kind: str
    #: The least, and the first rank that has it.
    least_s: float
    #: Which.
    least_rank: int
    #: The mean.
    mean_s: float
    #: The most, and the first rank that has it.
    most_s: float
    #: Which.
    most_rank: int
    #: Its part of the time of all ranks until each ended.
    part: float


#: How a run ended.
Status: TypeAlias = "Literal['complete'] | Literal['interrupted'] | Literal['deadlocked'] | Literal['undone']"


class Stopped(TypedDict):
    """How far a run came that did not come to its end."""

    #: From when on nothing moved any more, or when the run was stopped [s].
    at_s: float
    #: Messages delivered by then.
    messages: int
    #: Their bytes [B].
    bytes: int


class Throughput(TypedDict):
    """What came out of counting loads."""

    #: The part of its bandwidth that every node uses; of random pairs the mean over pairs. The mean over seeds.
    throughput: float
    #: The standard deviation over seeds, where there are several.
    deviation: NotRequired[float | None]
    #: Of random pairs: what the slowest has; the mean over seeds.
    slowest_pair: NotRequired[float | None]
    #: How often random traffic was drawn.
    seeds: int
    #: The part of the traffic that goes shortest ways, where the rule has mixed two kinds of ways as is best.
    minimal_share: NotRequired[float | None]
    #: By kind of link, the largest load of all its links, over all seeds: what crosses it when every node uses its whole bandwidth, over its capacity.
    largest_load: dict[str, float]
    #: By kind of link, the mean load of its links, over all seeds: 1 over it is the throughput that they would allow if all of them were used alike.
    mean_load: dict[str, float]
    #: The link with the largest load.
    bottleneck: Bottleneck | None


class Utilisation(TypedDict):
    """Mean, least and most."""

    #: Of all.
    mean: float
    #: Of the one with the least.
    min: float
    #: Of the one with the most.
    max: float


class Wait(TypedDict):
    """How long one rank waited for another, in all."""

    #: Who waited.
    rank: int
    #: For whom.
    peer: int
    #: For what: `send wait` or `receive wait`.
    kind: str
    #: How long [s].
    time_s: float
    #: How often.
    count: int


class Waiting(TypedDict):
    """Results that wait."""

    #: On average over time.
    mean: float
    #: At most.
    max: int


class WhatIfPoint(TypedDict):
    """One value of one parameter."""

    #: The value.
    value: str
    #: The same as a number in base units [s, B, s/B, B/s, 1]; nothing where it is a word.
    number: float | None
    #: The predicted time [s]; nothing where there is none.
    time_s: float | None
    #: `time_s` over the unchanged time, less 1.
    change: float | None
    #: Where the program deadlocks: when and with what it came to a standstill.
    stopped: NotRequired[Stopped | None]
    #: Why there is no time: the program deadlocks, or the value does not go with the others.
    failed: NotRequired[str | None]
    #: What was changed with it, because it would not go with it otherwise.
    note: NotRequired[str | None]


class WhatIfReport(TypedDict):
    """The predicted time with one parameter changed at a time, and what it cannot fall below."""

    #: The version of the form of the report in JSON: [`SCHEMA`], [`replay::SCHEMA`], [`FARM_SCHEMA`], [`whatif::SCHEMA`].
    schema: str
    #: The complete scenario, so that the report can be run again.
    scenario: Any
    #: `complete`, or why the run ended early; of a farm that is tried in several ways, the worst of all.
    status: Status
    #: When the last message arrived, or the last rank ended [s]; of a run that is not complete, the last of those that did; of a farm that is tried in several ways, that of the first.
    makespan_s: float
    #: Messages delivered; of a program those of its collectives among them.
    messages: int
    #: Bytes delivered [B].
    bytes: int
    #: When and with what the run came to a standstill or was stopped, where it is not complete.
    stopped: NotRequired[Stopped | None]
    #: Over seeds, where there are several; the rest of the report is of the first seed.
    seeds: NotRequired[SeedStatistics | None]
    #: What failed, and what became of messages for it, where anything does.
    faults: NotRequired[FaultsReport | None]
    #: What slow processors cost, where there are any and that was asked for.
    noise: NotRequired[NoiseReport | None]
    #: The makespan with its interval, where it is an estimate.
    estimate: NotRequired[Estimate | None]
    #: Why there is none, where all was simulated.
    estimate_reason: NotRequired[str | None]
    #: A number that differs where anything happened at another time.
    fingerprint: str
    #: What a map of errors says of such runs, of patterns that are flows.
    accuracy: NotRequired[KnownAccuracy | None]
    #: The program: the name of its trace.
    program: str
    #: What is not in the recordings, and what follows.
    incomplete: NotRequired[list[str]]
    #: That ranks of these recordings lacked a core, and what follows.
    lack_of_cores: NotRequired[list[str]]
    #: Which time of ranks was neither computation nor communication, or may have been either, and what follows.
    outside: NotRequired[list[str]]
    #: The nodes, for people: `loggps`.
    node: str
    #: The network, for people.
    network: str
    #: The region whose times these are, if one was asked for.
    region: NotRequired[str | None]
    #: Tasks of a farm that are not done with nothing changed, since all workers were lost.
    undone: NotRequired[int]
    #: The time of the run that was recorded, where the trace has it [s].
    measured_s: NotRequired[float | None]
    #: What other networks could bring at most.
    limits: Limits
    #: Whether every parameter is halved and doubled, the one that matters most first; else values were named.
    tornado: bool
    #: What was changed.
    varied: list[Sensitivity]
    #: Whether all of it was run.
    complete: bool
    #: What may differ from machine to machine.
    meta: Meta


class WorstSlowdown(TypedDict):
    """The largest slowdown of a job."""

    #: Mean over the seeds of the largest slowdown of a job.
    mean: float
    #: Its sample standard deviation over several seeds; 0 for one.
    sd: float
    #: The job with the largest mean slowdown.
    job: str
