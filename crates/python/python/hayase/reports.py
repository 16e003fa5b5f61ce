"""The types of reports, as JSON has them: `hayase.Result.report` is one of these.

Written by `crates/python/reports.py` from the JSON schema of reports; not to be changed by hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired


class Accuracy(TypedDict):
    """Errors of flow models against packet models over many cases."""

    #: [`SCHEMA`].
    schema: str
    #: Command or file that was asked for, for the title of tables and pictures.
    title: str
    #: Version of the program that made the report.
    version: str
    #: Rows, ordered by case, then by reference, then by model.
    rows: list[AccuracyRow]
    #: Models that could not be run in a case.
    left_out: NotRequired[list[LeftOut]]
    #: True if all runs were made; otherwise rows, or seeds of rows, are missing.
    complete: bool
    #: Number of runs that were not made.
    missing_runs: NotRequired[int]


class AccuracyRow(TypedDict):
    """Errors of one model against one reference in one case. An error is `model / reference - 1`: below 0 the model is too fast."""

    #: Topology, as named by the user.
    topology: str
    #: Family of the fabric, with its number of dimensions if it has dimensions: `torus 2d`, `tree`.
    family: str
    #: Number of nodes of the fabric.
    nodes: int
    #: Pattern, as named by the user.
    pattern: str
    #: Kind of pattern: `all-to-all`, `random`, `permutation`, `incast` ...
    kind: str
    #: Placement, as named by the user.
    placement: str
    #: Routing rule.
    routing: str
    #: Injection rule.
    injection: str
    #: Values of the varied keys.
    varied: NotRequired[dict[str, str]]
    #: Mean size of a message [B].
    size_B: int
    #: Number of messages of one run.
    messages: int
    #: The model: `equal-share`, `redistribute`, `max-min`, `blocking`, `few-packets`.
    model: str
    #: Virtual channels of `blocking`: those of the reference if it has them, otherwise the usual ones of the model.
    channels: NotRequired[str | None]
    #: Packet model that serves as the reference: `packet:oq`, `packet:fq`, `packet:iq:dateline` ...
    reference: str
    #: Buffer of the reference, in packets; absent if there is no limit.
    buffer: int | None
    #: Packets of a mean message in the reference; present if these packets are few and large.
    packets_per_message: NotRequired[int | None]
    #: Seeds of the model and the reference.
    seeds: list[int]
    #: Error of the mean makespan over the seeds.
    makespan_error: float
    #: Smallest error of the makespan of a single seed.
    makespan_error_min: float
    #: Largest error of the makespan of a single seed.
    makespan_error_max: float
    #: Error of the time at which a rank's last message has arrived, averaged over ranks and seeds.
    mean_finish_error: float
    #: Error of the time that a message is under way, 5 % quantile: 5 of 100 messages have a lower error. Quantiles are computed for each seed and averaged over the seeds.
    time_error_q05: float
    #: Median of the same error: half of the messages have a lower error.
    time_error_q50: float
    #: 95 % quantile of the same error: 95 of 100 messages have a lower error.
    time_error_q95: float
    #: Mean makespan of the model [s].
    model_makespan_s: float
    #: Mean makespan of the reference [s].
    reference_makespan_s: float
    #: Sample standard deviation of the reference's makespans over their mean. Errors below it are not significant.
    reference_spread: float
    #: Processor time of one run of the model [s]. It differs from machine to machine, as do the next two figures.
    model_cpu_s: float
    #: Processor time of one run of the reference [s].
    reference_cpu_s: float
    #: `reference_cpu_s / model_cpu_s`: the speedup of the model.
    speed_ratio: float


class BestThroughput(TypedDict):
    """Throughput over all routings, with any split over paths."""

    #: Fraction of its bandwidth that every node uses on the best known routes; the mean over seeds.
    optimum_throughput: float
    #: Fraction that no routing exceeds; the mean over seeds.
    optimum_throughput_at_most: float
    #: Proof of the upper bound, of the first seed.
    optimum_certificate: Proof
    #: Proof in words.
    optimum_proof: str
    #: Largest load of the links of each kind on the best known routes, over all seeds.
    optimum_largest_load: dict[str, float]
    #: Cables that raise the throughput most, if they were asked for.
    cables: NotRequired[list[NewCable]]


class Bottleneck(TypedDict):
    """The bottleneck link."""

    #: Name of the link.
    link: str
    #: Kind of the link.
    kind: str
    #: Load of the link.
    load: float


class Bounds(TypedDict):
    """Lower bounds of the makespan [s]: three of bandwidth, which ignore the order of messages, one of computation, and one of dependences, which ignores that messages share links. Programs and farms have only the last."""

    #: Bytes that one node sends or receives over its host link, divided by the link's capacity; the largest of all nodes.
    injection_s: float | None
    #: Largest computation of one rank, with its sending if the rank does one after the other; for patterns that compute.
    computation_s: NotRequired[float | None]
    #: Bytes of one link divided by its capacity; the largest of all links.
    busiest_link_s: float | None
    #: Bytes that cross the bisection divided by its bandwidth, if the fabric's bisection is known.
    bisection_s: float | None
    #: Critical path: the longest chain of messages that wait for each other, with their delays and the latencies of their routes, each as if it had the network to itself. Present for complete runs with delays or latencies.
    path_s: NotRequired[float | None]
    #: Time that no schedule on any routes undercuts, by the bytes that each pair of nodes exchanges. Present if the optimum was asked for, or if a free certificate says more than injection and bisection.
    optimum_at_least_s: NotRequired[float | None]
    #: Time that steady flows on the best known routes reach, with any split over routes; if the optimum was asked for.
    optimum_reached_s: NotRequired[float | None]
    #: Proof of `optimum_at_least_s`.
    optimum_certificate: NotRequired[Proof | None]


class Carried(TypedDict):
    """Bytes of one job on a link."""

    #: Name of the job.
    job: str
    #: Bytes carried [B].
    bytes: int


class Collectives(TypedDict):
    """Collectives of one parallelism."""

    #: Number of collectives.
    collectives: int
    #: Bytes of all of them [B].
    bytes: int


class Communication(TypedDict):
    """Communication of a GPU in a step. Bytes are the number of operations times the size of one as NCCL counts it."""

    #: Tensor parallelism.
    tp: Collectives
    #: Messages of a middle stage, in both directions.
    pp: Sends
    #: Gradients and weights.
    dp: Collectives
    #: All-to-alls of experts.
    ep: Collectives
    #: Keys and values of context parallelism.
    cp: Sends


class ComparedJob(TypedDict):
    """Job, summarized over the runs of a row."""

    #: Name of the job.
    name: str
    #: Number of ranks of the job.
    ranks: int
    #: Time from the start of the job to its end [s]: mean over its repetitions, then over the seeds. Absent for a background job.
    makespan_s: NotRequired[float | None]
    #: Time of one repetition with no other job on the fabric [s].
    alone_s: NotRequired[float | None]
    #: `makespan / alone`, mean over the seeds.
    slowdown: NotRequired[float | None]
    #: Sample standard deviation of the slowdown over several seeds.
    slowdown_sd: NotRequired[float | None]


class Comparison(TypedDict):
    """Runs that differ in the compared choices, over the same seeds."""

    #: [`SCHEMA`].
    schema: str
    #: Command or file behind the comparison, for the title of tables and pictures.
    title: str
    #: Figure by which rows are ranked; absent if it is the makespan.
    ranked_by: NotRequired[RankBy]
    #: Rows, best first within each job. Jobs are in the order in which they were named.
    rows: list[ComparisonRow]
    #: True if all runs were made; otherwise rows, or seeds of rows, are missing.
    complete: bool
    #: Number of runs that were not made.
    missing_runs: NotRequired[int]


class ComparisonRow(TypedDict):
    """One point of a comparison: a pattern under one choice of everything else."""

    #: Topology, as named by the user.
    topology: str
    #: Placement.
    placement: str
    #: Sharing policy; empty if messages are not flows.
    sharing: str
    #: Transport: `flow`, `packet:oq` ...
    transport: str
    #: Routing rule.
    routing: str
    #: Injection rule.
    injection: str
    #: Machine as named by the user, or the node model; empty if nodes cost nothing.
    machine: NotRequired[str]
    #: Values of the varied keys.
    varied: NotRequired[dict[str, str]]
    #: Pattern or program, as named by the user.
    pattern: str
    #: Faults, if they are compared: a part of the cables, or a name.
    faults: NotRequired[str | None]
    #: Slowdown against runs without faults, if faults are compared.
    slowdown: NotRequired[Slowdown | None]
    #: Number of seeds whose faults leave messages without a route. Their runs have no makespan.
    cut_off: NotRequired[int]
    #: Work that is done: `all-to-all of 20 KB among 54 ranks`, or, if it has no name, `57,240,000 B among 54 ranks`. Rows of the same job are ranked; rows of different jobs cannot be.
    job: str
    #: Makespans over the seeds.
    makespan: SeedStatistics
    #: Makespan with its interval, if it is an estimate.
    estimate: NotRequired[Estimate | None]
    #: Reason why there is no estimate, if the whole run was simulated.
    estimate_reason: NotRequired[str | None]
    #: Results of each job, if several jobs share the fabric.
    jobs: NotRequired[list[ComparedJob]]
    #: Largest slowdown of any job, if several jobs share the fabric.
    worst_slowdown: NotRequired[WorstSlowdown | None]
    #: Number of messages of one run.
    messages: int
    #: Bytes sent in one run [B].
    bytes: int
    #: Lower bounds of the makespan, averaged over the seeds.
    bounds: Bounds
    #: `mean makespan / largest bound`.
    ratio_to_bound: float
    #: `mean makespan / optimum_at_least_s`, if the optimum was asked for.
    ratio_to_optimum: NotRequired[float | None]
    #: Mean ratio to the bound of the same runs without late starts, if ranks start late by `message-jitter`.
    ratio_in_step: NotRequired[float | None]
    #: `mean makespan / smallest mean makespan of the job`, or the same ratio of the figure by which rows are ranked.
    ratio_to_best: float
    #: Use of links by kind in the run of the first seed; absent if it was not measured.
    links: NotRequired[list[KindUse]]
    #: Time of a training step by its parts, in the run of the first seed.
    llm: NotRequired[StepParts | None]
    #: Rank among the rows of the job by the mean of that figure, from 1. Equal means share a rank.
    place: int
    #: True if the row is not the best but cannot be told from it: 0 lies within the 95 % interval of the difference of the two means.
    tied: bool
    #: Run time of one run, averaged over the seeds [s]. It differs from machine to machine.
    wall_s: float
    #: Packet hops of the first run, if messages are packets: each link that a packet crosses counts once.
    packet_hops: NotRequired[int | None]
    #: Accuracy to expect of such runs, from a map of errors; for patterns whose messages are flows.
    accuracy: NotRequired[KnownAccuracy | None]
    #: Combined fingerprint of the runs.
    fingerprint: str


class CostOverSeeds(TypedDict):
    """Cost over the seeds: the makespan of each seed less the one with the same seed without slow processors."""

    #: Number of seeds.
    seeds: int
    #: Mean makespan without slow processors [s].
    without_mean_s: float
    #: Mean cost [s].
    mean_s: float
    #: Lower end of the 95 % interval of the mean, `mean - t s / sqrt(n)` with Student's t [s].
    low_s: float
    #: Upper end of the interval [s].
    high_s: float
    #: Sample standard deviation of the cost [s].
    sd_s: float


class CriticalPath(TypedDict):
    """Chain of activities and messages from the start to the end of the last rank. Its times add up to the makespan."""

    #: Number of steps.
    steps: int
    #: Number of times the path goes from one rank to another.
    changes: int
    #: Time on the path by kind.
    kinds: list[PathPart]
    #: The 20 ranks with the most time on the path, most first.
    ranks: list[PathRank]
    #: The 20 operations with the most time on the path, most first.
    operations: list[PathOperation]


class Crossing(TypedDict):
    """Size from which an algorithm is the fastest."""

    #: Fabric as named by the user.
    topology: str
    #: Placement as named by the user.
    placement: str
    #: Transport as named by the user.
    transport: str
    #: Smallest compared size [B].
    from_bytes: int
    #: Fastest algorithm with late starts.
    algorithm: str
    #: Fastest algorithm if all ranks start at once: in step only.
    algorithm_in_step: str


class Delayed(TypedDict):
    """Number of ranks that ended later by more than a threshold."""

    #: Threshold of the delay [s].
    more_than_s: float
    #: Number of ranks.
    ranks: int


class Delayed2(TypedDict):
    """Rank that another rank delayed."""

    #: Number of the rank.
    rank: int
    #: Wait caused by the delaying rank [s].
    time_s: float


class Delays(TypedDict):
    """Time that messages lost on links that held them back."""

    #: Total over all messages [s].
    total_s: float
    #: Parts of the total by kind of link, largest first.
    kinds: list[KindDelay]


class Difference(TypedDict):
    """Two reports of the same kind beside each other."""

    #: Version of the JSON format: `hayase-difference-1`.
    schema: str
    #: File of the first report.
    first: str
    #: File of the second report.
    second: str
    #: Keys of the scenario with other values.
    scenario: list[OtherValue]
    #: Keys of the result with other values.
    result: list[OtherValue]


class ErrorRange(TypedDict):
    """Range of the makespan errors of a model over near cases."""

    #: Model.
    model: str
    #: Kind of switch: `input-queued`, `output-queued`, `fair-queued`.
    switches: str
    #: Smallest error of the makespan; 0.1 means 10 % too long.
    low: float
    #: Largest error of the makespan.
    high: float
    #: Number of rows of the map behind the range.
    rows: int


class Estimate(TypedDict):
    """Makespan estimated from the beginning of a run. The report's `messages` and `bytes` are then those of the whole run. `bounds` has `injection_s` alone. `links`, `contention`, `rounds`, `fingerprint` and `meta` cover the simulated part."""

    #: Estimated makespan [s].
    makespan_s: float
    #: Lower end of its interval [s].
    low_s: float
    #: Upper end of its interval [s].
    high_s: float
    #: Probability that the interval holds the makespan of the full run: 0.95.
    confidence: float
    #: Fraction of all messages that was simulated.
    simulated_part: float
    #: Requested accuracy: half of the interval over the makespan.
    asked: float


class Exposed(TypedDict):
    """Time of a GPU by what it waits for [s]."""

    #: Collectives of tensor parallelism.
    tp: float
    #: Messages between stages, from the end of the sender's computation on.
    pp: float
    #: Gradients and weights.
    dp: float
    #: Keys and values.
    cp: float
    #: All-to-alls of experts.
    ep: float


class FarmBounds(TypedDict):
    """Lower bounds [s]."""

    #: Total work over the speed of all workers.
    work_s: float
    #: The same, with the workers' cost of messages.
    exchange_s: float
    #: The longest message on the fastest worker.
    longest_s: float
    #: Time that the master spends on messages.
    master_s: float
    #: Bytes over the links of the master's node, divided by their capacity; `null` without a fabric, with workers on that node, and with several masters.
    network_s: float | None


class FarmReport(TypedDict):
    """Predictions for several numbers of workers, or several rules for giving out tasks."""

    #: Version of the JSON format: `hayase-report-1` of a pattern, `hayase-replay-1` of a program, `hayase-jobs-1` of several jobs, `hayase-master-slave-1` of a farm, `hayase-whatif-1` of any of them varied.
    schema: str
    #: Complete scenario, so that the report can be run again. Work without a fabric has no topology, routing, placement and sharing.
    scenario: Any
    #: `complete`, or the reason why the run ended early. Of a farm that is tried in several ways, the worst status.
    status: Status
    #: Time at which the last message arrived, or the last rank ended [s]. An incomplete run counts only those that did. Of a farm that is tried in several ways, this is the makespan of the first.
    makespan_s: float
    #: Number of messages delivered, including those of collectives, and of a farm those with tasks and with results.
    messages: int
    #: Bytes delivered [B].
    bytes: int
    #: Time and progress at which the run deadlocked or was stopped; present if the run is not complete.
    stopped: NotRequired[Stopped | None]
    #: Makespans over several seeds, if there are several; the rest of the report is of the first seed.
    seeds: NotRequired[SeedStatistics | None]
    #: Faults and their effect on messages, if there are faults.
    faults: NotRequired[FaultsReport | None]
    #: Cost of slow processors, if there are any and it was asked for. Absent for a farm that is tried in several ways.
    noise: NotRequired[NoiseReport | None]
    #: Makespan with its interval, if it is an estimate.
    estimate: NotRequired[Estimate | None]
    #: Reason why there is no estimate, if the whole run was simulated.
    estimate_reason: NotRequired[str | None]
    #: Hash that changes if anything happens at another time.
    fingerprint: str
    #: Accuracy to expect of such runs, from a map of errors; for patterns whose messages are flows.
    accuracy: NotRequired[KnownAccuracy | None]
    #: Source of the tasks, for people.
    tasks: str
    #: Network and rule for giving out tasks, for people.
    setting: str
    #: Number of tasks.
    task_count: int
    #: Sum of the task times [s].
    work_s: float
    #: Longest task time [s].
    longest_task_s: float
    #: Parameter that is varied besides the number of workers (`granularity`).
    varied: NotRequired[str | None]
    #: One prediction for each combination; workers ascend within each value of the varied parameter.
    predictions: list[Prediction2]
    #: Smallest number of workers from which on more workers gain less than 1 %. Absent if the largest number still gains, or if only one was tried. If a parameter is varied, this is for its first value.
    saturation_workers: int | None
    #: Smallest number of workers tried from which on the (busiest) master is busy for 99 % of the predicted time or more. Absent if there is none. If a parameter is varied, this is for its first value.
    master_busy_workers: int | None
    #: Estimated number of equal workers that keep the master busy, on average and without start and end. Absent if there is no closed form.
    master_bound_workers: int | None
    #: True if all combinations were run.
    complete: bool
    #: Figures that may differ from machine to machine.
    meta: Meta


class FaultsReport(TypedDict):
    """Faults of a run, and their effect on messages."""

    #: Links that have failed at the start, including those of failed switches. A cable is two links.
    failed_links: Parts
    #: Switches that have failed at the start.
    failed_switches: Parts
    #: Links whose bandwidth at the start differs from the one they were built for.
    degraded_links: Parts
    #: True if anything fails or is repaired later.
    events: bool
    #: Number of ordered pairs of nodes without a route at the start. Absent if links have no ends and there are too many nodes.
    pairs_cut_off: NotRequired[int | None]
    #: The first of these pairs.
    cut_off: list[str]
    #: Number of messages that were sent again, or later, because one of their links had failed.
    resent: int
    #: Number of messages that were lost.
    lost: int
    #: Number of messages that never found a route.
    stranded: int
    #: Source and destination of the first messages that were lost or found no route.
    without_way: list[str]


class FirstStage(TypedDict):
    """Memory of a GPU of the first stage."""

    #: Number of parameters.
    parameters: int
    #: Weights, gradients and optimizer [B].
    state_B: int
    #: Activations of a layer and micro-batch [B].
    activation_layer_B: int
    #: Activations that are held at the peak [B].
    activation_B: int


class Gridlock(TypedDict):
    """Cycle of packets that wait for each other."""

    #: Number of packets, and of messages at their sources, that cannot move.
    packets: int
    #: Cycle, as names of links: the buffer behind each is full, and its first packet waits for the next link.
    cycle: list[str]


class Interference(TypedDict):
    """Time that the messages of a job lost to those of another job, or to other messages of the same job."""

    #: Job that was delayed.
    victim: str
    #: Job that caused the delay.
    culprit: str
    #: Delay, summed over the messages of the victim [s].
    delay_s: float


class JobReport(TypedDict):
    """Result of a job."""

    #: Name of the job.
    name: str
    #: Workload of the job, for people.
    workload: str
    #: Number of ranks of the job.
    ranks: int
    #: Placement of the job: the rule, a file, or a list of nodes.
    placement: str
    #: Node of each rank.
    nodes: list[int]
    #: True if the job runs in the background, as long as other jobs do.
    background: NotRequired[bool]
    #: First start of the job [s]; absent if it never started.
    start_s: float | None
    #: Last end of the job [s]; absent if it never ended.
    end_s: float | None
    #: Reason why the job never started, or never ended.
    unfinished: NotRequired[str | None]
    #: Number of repetitions.
    repetitions: int
    #: Time from the start of the job to its end [s], averaged over its repetitions. Absent for a background job.
    makespan_s: NotRequired[float | None]
    #: Shortest of several repetitions [s].
    min_s: NotRequired[float | None]
    #: Longest of several repetitions [s].
    max_s: NotRequired[float | None]
    #: Time of one repetition with no other job on the fabric [s], if it was computed.
    alone_s: NotRequired[float | None]
    #: `makespan / alone`.
    slowdown: NotRequired[float | None]
    #: Number of messages delivered.
    messages: int
    #: Bytes delivered [B].
    bytes: int
    #: Time that its messages were under way, over the time that each would have taken with the network to itself, both summed over all messages. It counts delays by messages of this job and of others.
    contention: float
    #: Time that its messages lost to faults, summed over messages [s]. Present if interference was asked for and links change while jobs run.
    fault_delay_s: NotRequired[float | None]


class JobsReport(TypedDict):
    """Results of several jobs on one fabric."""

    #: Version of the JSON format: `hayase-report-1` of a pattern, `hayase-replay-1` of a program, `hayase-jobs-1` of several jobs, `hayase-master-slave-1` of a farm, `hayase-whatif-1` of any of them varied.
    schema: str
    #: Complete scenario, so that the report can be run again. Work without a fabric has no topology, routing, placement and sharing.
    scenario: Any
    #: `complete`, or the reason why the run ended early. Of a farm that is tried in several ways, the worst status.
    status: Status
    #: Time at which the last message arrived, or the last rank ended [s]. An incomplete run counts only those that did. Of a farm that is tried in several ways, this is the makespan of the first.
    makespan_s: float
    #: Number of messages delivered, including those of collectives, and of a farm those with tasks and with results.
    messages: int
    #: Bytes delivered [B].
    bytes: int
    #: Time and progress at which the run deadlocked or was stopped; present if the run is not complete.
    stopped: NotRequired[Stopped | None]
    #: Makespans over several seeds, if there are several; the rest of the report is of the first seed.
    seeds: NotRequired[SeedStatistics | None]
    #: Faults and their effect on messages, if there are faults.
    faults: NotRequired[FaultsReport | None]
    #: Cost of slow processors, if there are any and it was asked for. Absent for a farm that is tried in several ways.
    noise: NotRequired[NoiseReport | None]
    #: Makespan with its interval, if it is an estimate.
    estimate: NotRequired[Estimate | None]
    #: Reason why there is no estimate, if the whole run was simulated.
    estimate_reason: NotRequired[str | None]
    #: Hash that changes if anything happens at another time.
    fingerprint: str
    #: Accuracy to expect of such runs, from a map of errors; for patterns whose messages are flows.
    accuracy: NotRequired[KnownAccuracy | None]
    #: Fabric, for people.
    fabric: str
    #: Jobs, in their order.
    jobs: list[JobReport]
    #: The ten most used links that several jobs used, largest bytes over capacity first.
    meetings: list[Meeting]
    #: Delays between each pair of jobs, if asked for and the run is complete.
    interference: NotRequired[list[Interference] | None]
    #: Lower bounds of the makespan, for the jobs that are not background jobs.
    bounds: Bounds
    #: `makespan / largest bound`.
    ratio_to_bound: float
    #: `makespan / optimum_at_least_s`, if the optimum was asked for.
    ratio_to_optimum: NotRequired[float | None]
    #: Channels that wait for each other, if packets block each other forever.
    gridlock: NotRequired[Gridlock | None]
    #: Figures that may differ from machine to machine.
    meta: Meta


class KindDelay(TypedDict):
    """Part of the total delay that falls on one kind of link."""

    #: Kind of link: `up from level 1`.
    links: str
    #: Part of the total delay.
    part: float


class KindUse(TypedDict):
    """Use of the links of one kind in a run."""

    #: Kind of link: `up from level 1`.
    links: str
    #: Largest time that a link needs for its bytes, `bytes / capacity` [s].
    load_s: float
    #: Link with this load.
    most_loaded: str
    #: Time that messages lost on all links of the kind [s]; absent if it was not measured.
    delay_s: NotRequired[float | None]


class KnownAccuracy(TypedDict):
    """Accuracy to expect of a run, from a map of errors."""

    #: Model of the run.
    model: str
    #: Errors of the makespan by kind of switch, of this model and of others. Empty if the map has no case near the run.
    against: list[ErrorRange]
    #: Cases of the map that are near the run, in words: `torus-16x16, all-to-all-pairwise, 1 MB, random`. Empty if there are none.
    cases: list[str]
    #: Version of the map.
    map: str
    #: Ratios of measured collectives near the run; absent if there are none.
    measured: NotRequired[str | None]
    #: Summary in one sentence.
    text: str
    #: Sentence about effects that the model leaves out, present if they take a tenth of a message's time or more.
    leaves_out: NotRequired[str | None]


class LateRank(TypedDict):
    """Rank that others waited for, with the waits that it caused [s], summed over all ranks that waited."""

    #: Number of the rank.
    rank: int
    #: Waits that this rank caused, directly or through ranks that it delayed.
    caused_s: float
    #: Part of `caused_s` because it computed longer than the waiting ranks, or started later.
    by_computing_s: float
    #: Rest of `caused_s`: it spent longer on sending.
    by_sending_s: float
    #: Ranks that it delayed, most first; only for the first five rows.
    delays: NotRequired[list[Delayed2]]
    #: Time that others waited for messages of this rank.
    waited_for_s: float
    #: Part of `waited_for_s` because it computed longer.
    as_it_computed_s: float
    #: Part of `waited_for_s` because it sent longer.
    as_it_sent_s: float
    #: Part of `waited_for_s` because it waited itself. In the rest of the time its messages were under way.
    as_it_waited_s: float


class LayoutRow(TypedDict):
    """Layout that fits, with its time and memory."""

    #: Layout.
    layout: TrainingLayout
    #: Time of a step [s].
    step_s: float
    #: Simulated time of a step, if a fabric was asked for [s].
    simulated_s: NotRequired[float | None]
    #: Model operations over those of the GPUs' peak in the time of the step.
    mfu: float
    #: Largest memory of a GPU [B].
    memory_B: int


class LayoutSearch(TypedDict):
    """Result of a search for layouts."""

    #: Number of layouts that fit.
    fitting: int
    #: Fastest layouts, at most 20.
    fastest: list[LayoutRow]
    #: Layouts to which no other is superior in time and memory, fastest first.
    pareto: list[LayoutRow]
    #: Reason in words why the second layout is slower than the first.
    second: NotRequired[str | None]


class LeftOut(TypedDict):
    """Model that was not run in a case."""

    #: Case, in words.
    case: str
    #: Model or reference.
    model: str
    #: Reason why it was left out.
    reason: str


class Limits(TypedDict):
    """Times that a better network approaches [s]; NaN (`null` in JSON) if unknown: for a pattern all, for a farm all but the first."""

    #: Time if messages cost nothing and arrive when they are sent: only computation and dependences are left.
    ideal_s: float
    #: Time if no rank waits: the largest sum of computing, sending and receiving of one rank in the unchanged run.
    zero_wait_s: float
    #: Largest computation of one rank.
    compute_s: float


class LinkUse(TypedDict):
    """Load of one link."""

    #: Number of the link.
    id: int
    #: True if the link has failed at the start.
    failed: NotRequired[bool]
    #: Name of the link: `node 3 -> switch 1.0`.
    name: str
    #: Capacity of the link [B/s].
    capacity_bps: float
    #: Bytes carried [B].
    bytes: int
    #: Time with at least one flow on the link [s]. Absent, like the numbers of flows, if times were not recorded.
    busy_s: NotRequired[float]
    #: `bytes / (capacity * makespan)`.
    utilisation: float
    #: Largest number of flows at once.
    peak_flows: NotRequired[int]
    #: Number of flows, averaged over the busy time.
    mean_flows: NotRequired[float]
    #: Largest number of packets that waited for the link at once. Absent, like the next two figures, if messages are not packets.
    peak_queue: NotRequired[int]
    #: Number of packets that waited for the link, averaged over the run.
    mean_queue: NotRequired[float]
    #: Time that the link stood still although packets waited for it, because the buffer behind it was full [s].
    blocked_s: NotRequired[float]
    #: Time that messages lost on the link, summed over messages [s]; absent if it was not measured.
    delay_s: NotRequired[float]


class MeasuredErrors(TypedDict):
    """Errors of one model over scored rows. The error of a row is a factor: the larger of predicted over measured and measured over predicted, at least 1."""

    #: Model.
    model: str
    #: Machine; absent for all.
    system: NotRequired[str | None]
    #: Operation; absent for all.
    operation: NotRequired[str | None]
    #: Class of sizes of the whole vector; absent for all.
    size: NotRequired[str | None]
    #: Number of scored rows that the model predicts.
    rows: int
    #: Median of the errors [1].
    median: float
    #: 90 % quantile of the errors [1].
    p90: float
    #: Share of rows whose prediction is within 25 % of the measured time.
    within_25: float


class MeasuredReport(TypedDict):
    """Measured times of collectives beside the predictions of models."""

    #: [`SCHEMA`].
    schema: str
    #: Files or names that were asked for, for the title of tables and pictures.
    title: str
    #: Version of the program that made the report.
    version: str
    #: Models in the order asked for. The first one has intervals, ratios and worst rows.
    models: list[str]
    #: Columns of the files, in their usual order.
    columns: list[str]
    #: Rows, in the order of the files.
    rows: list[MeasuredRow]
    #: Errors by model, by system, operation and size.
    errors: list[MeasuredErrors]
    #: Positions in `rows` of the scored rows with the largest errors, the worst first; at most ten.
    worst: list[int]
    #: Reasons of rows without a prediction or a score, the most frequent first.
    reasons: list[ReasonCount]
    #: Share of measured times that intervals are made to contain.
    nominal_coverage: float
    #: Share of scored rows with an interval whose measured time lies inside it; absent if there are none.
    coverage: NotRequired[float | None]
    #: True if all runs were made; otherwise predictions are missing.
    complete: bool
    #: Number of runs that were not made.
    missing_runs: NotRequired[int]


class MeasuredRow(TypedDict):
    """Measured collective, with its predictions."""

    #: Name of the machine.
    system: str
    #: Collective operation: `allgather`, `alltoall` ...
    operation: str
    #: Name of the algorithm in its library.
    algorithm: str
    #: Library and its version; empty if unknown.
    library: str
    #: Number of nodes.
    nodes: int
    #: Lengths of a grid of nodes: `4x4x4`; empty if there is none.
    shape: str
    #: Number of ranks.
    ranks: int
    #: Size of the whole vector [B]: the block of one pair of ranks is its part by the number of ranks.
    size_B: int
    #: Measured time [s].
    time_s: float
    #: Statistic of the time: `median of the slowest rank`; empty if unknown.
    statistic: str
    #: 10 % quantile of the measured times [s].
    p10_s: NotRequired[float | None]
    #: 90 % quantile of the measured times [s].
    p90_s: NotRequired[float | None]
    #: Number of measured times.
    repetitions: NotRequired[int | None]
    #: Name of the placement; empty if unknown.
    placement: str
    #: Note of the source.
    note: str
    #: Source of the row.
    source: str
    #: Predicted time of each model [s]; null where there is none.
    predicted_s: list[float | None]
    #: Lower end of the interval around the first model's prediction [s].
    low_s: NotRequired[float | None]
    #: Upper end of the interval [s].
    high_s: NotRequired[float | None]
    #: Prediction of the first model over measured time [1]: below 1 the model is too fast.
    ratio: NotRequired[float | None]
    #: True if the row counts in the errors.
    scored: bool
    #: Reason why the row has no prediction or is not scored; empty if it is scored.
    reason: str


class Meeting(TypedDict):
    """Link that several jobs used, at the same time or not."""

    #: Name of the link.
    link: str
    #: Capacity of the link [B/s].
    capacity_bps: float
    #: `bytes of all jobs / (capacity * makespan)`.
    utilisation: float
    #: Bytes of each job on the link, most first.
    jobs: list[Carried]


class Meta(TypedDict):
    """Figures that may differ from machine to machine."""

    #: Run time of the simulation [s].
    wall_s: float
    #: Number of events: deliveries, starts and wakes.
    events: int
    #: Packet hops, if messages are packets: each link that a packet crosses counts once.
    packet_hops: NotRequired[int | None]
    #: Peak memory of the process [B], if the system reports it.
    peak_rss_bytes: int | None
    #: Version of this program.
    version: str


class NcclChoice(TypedDict):
    """Algorithm with its time by NCCL's model."""

    #: Algorithm.
    algorithm: str
    #: Protocol.
    protocol: str
    #: Time by NCCL's model [s].
    model_s: float


class NcclDifference(TypedDict):
    """Value of a log that is not that of the model."""

    #: Line of the log, from 1.
    line: int
    #: Value in words: `all-reduce of 64 KiB`.
    value: str
    #: Value of the log.
    logged: str
    #: Value of the model.
    model: str


class NcclLog(TypedDict):
    """Values of NCCL's own log beside those of the model."""

    #: File of the log.
    file: str
    #: Number of compared choices, each size and choice once.
    choices: int
    #: Number of compared latencies and bandwidths.
    entries: int
    #: Values that differ.
    differences: list[NcclDifference]


class NcclReport(TypedDict):
    """Algorithms and protocols that NCCL takes for an operation, by size."""

    #: Version of the JSON format: `hayase-nccl-1`.
    schema: str
    #: System, as named by the user.
    system: str
    #: Fabric of the simulated times, for people.
    fabric: NotRequired[str | None]
    #: A row for each size.
    rows: list[NcclRow]
    #: Values of NCCL's own log beside those of the model.
    log: NotRequired[NcclLog | None]


class NcclRow(TypedDict):
    """Algorithm and protocol for one size."""

    #: Operation: `all-reduce`.
    op: str
    #: Number of ranks.
    ranks: int
    #: Number of nodes.
    nodes: int
    #: Size [B]: what a rank sends or receives, the larger; all blocks of an all-gather or a reduce-scatter.
    size_B: int
    #: Algorithm: `ring`, `tree`, `nvls`, `nvls-tree`, `pat`, `collnet-direct`, `collnet-chain`.
    algorithm: str
    #: Protocol: `ll`, `ll128`, `simple`.
    protocol: str
    #: Time by NCCL's model [s].
    model_s: float
    #: Second choice of the model.
    runner_up: NcclChoice | None
    #: Time of the second choice over that of the first, less 1.
    margin: float | None
    #: Simulated time with the launch [s]; absent without a fabric, and for algorithms without messages.
    simulated_s: NotRequired[float | None]
    #: Time that the messages on their routes do not undercut [s].
    bound_s: NotRequired[float | None]
    #: Bus bandwidth by NCCL's convention, of the simulated time [B/s].
    bus_bandwidth_Bps: NotRequired[float | None]


#: Cable that could be added, one link each way.
NewCable = TypedDict("NewCable", {
    #: One end.
    "from": 'str',
    #: Other end.
    "to": 'str',
    #: Bandwidth of each of its links [B/s].
    "bandwidth_Bps": 'float',
    #: Throughput over all routings with this cable, at least.
    "optimum_throughput": 'float',
    #: Throughput over all routings with this cable, at most.
    "optimum_throughput_at_most": 'float',
})


class NoiseReport(TypedDict):
    """Cost of slow processors: the run compared with the same run without slow processors."""

    #: Makespan with the same seed without slow processors [s].
    without_s: float
    #: `makespan - without` [s].
    cost_s: float
    #: `makespan / without`; 1 where both are 0.
    slowdown: float
    #: Cost over several seeds, if there are several.
    seeds: NotRequired[CostOverSeeds | None]
    #: Extra time of the ranks' own work, if it was added up.
    slowed: NotRequired[SlowedRanks | None]
    #: Number of ranks that ended later, by several thresholds.
    delayed: list[Delayed]
    #: Spread of the delay: ranks by their distance in messages from the nearest straggler. Empty if all ranks are slow, or if there were too many messages to keep.
    by_distance: list[Reached]
    #: Delay of each rank.
    ranks: list[RankDelay]


class OpenReceives(TypedDict):
    """Receives that leave open which message they take (`MPI_ANY_SOURCE`, `MPI_ANY_TAG`)."""

    #: Message that they take: `recorded`, the one of the recorded run, or `arrival`, the first to arrive.
    take: str
    #: Number of such receives.
    receives: int
    #: Number of receives that took a message which the node model identifies (`loggopsim` does not).
    seen: int
    #: Number of these that took a message with the source and tag of the recorded run.
    as_recorded: int


class OperationComparison(TypedDict):
    """Algorithms of a collective operation on several fabrics, with several sizes."""

    #: Version of the JSON format: `hayase-operation-1`.
    schema: str
    #: Operation: `all-gather`.
    operation: str
    #: Times of each algorithm, fastest first for each size.
    rows: list[OperationRow]
    #: Sizes from which another algorithm is the fastest.
    crossings: list[Crossing]


class OperationRow(TypedDict):
    """Simulated times of one algorithm for one size on one fabric."""

    #: Fabric as named by the user.
    topology: str
    #: Placement as named by the user.
    placement: str
    #: Transport as named by the user.
    transport: str
    #: Size [B].
    size_bytes: int
    #: Time that no schedule undercuts [s].
    optimum_s: float
    #: Largest late start of a rank [s].
    jitter_s: float
    #: Name: `schedule`, or that of an algorithm.
    name: str
    #: Makespan if all ranks start at once [s].
    makespan_s: float
    #: Makespan if ranks start late [s].
    makespan_jitter_s: float
    #: `makespan / optimum`, all ranks at once: in step only.
    ratio_in_step: float
    #: `makespan with late starts / optimum`.
    ratio_to_optimum: float


class OtherValue(TypedDict):
    """Value of a key in two reports."""

    #: Key: `links[node 3 -> L1.0].bytes`.
    key: str
    #: Value in the first report; null if it has none.
    first: Any
    #: Value in the second report; null if it has none.
    second: Any
    #: `second / first - 1`, for numbers.
    change: NotRequired[float | None]


class Parts(TypedDict):
    """Number of parts and their names."""

    #: Number of parts.
    count: int
    #: Names of the parts; only the first 1000 if there are more.
    names: list[str]


class PathOperation(TypedDict):
    """Time of one operation on the critical path, for one kind of time."""

    #: Rank of the operation.
    rank: int
    #: Position of the operation in the rank's program.
    op: int
    #: Operation in words, if the node model tells receives apart.
    operation: NotRequired[str | None]
    #: Kind of time.
    kind: str
    #: Time on the path [s].
    time_s: float


class PathPart(TypedDict):
    """Time of one kind on the critical path."""

    #: Kind of time; `network` is a message under way.
    kind: str
    #: Time on the path [s].
    time_s: float
    #: Part of the path.
    part: float


class PathRank(TypedDict):
    """Time of one rank on the critical path."""

    #: Number of the rank.
    rank: int
    #: Time on the path, including messages to the rank [s].
    time_s: float
    #: Part of the path.
    part: float


class PlayedStep(TypedDict):
    """Training step that was played."""

    #: Rank of the GPU.
    rank: int
    #: Time of the step [s].
    step_s: float
    #: Computation [s].
    compute_s: float
    #: Waits for communication while no computation runs [s].
    exposed_s: Exposed
    #: Waits for passes of other stages [s].
    bubble_s: float
    #: Model operations over those of the GPUs' peak in the time of the step.
    mfu: float
    #: Hardware operations over those of the GPUs' peak in the time of the step.
    hfu: float
    #: Number of micro-batches.
    micro_batches: int
    #: Number of micro-batches that were played; the others repeat them.
    played: int
    #: Time of the step in closed form [s].
    closed_form_s: float
    #: Memory of a GPU of each stage.
    stages: list[StageMemory]


class Prediction(TypedDict):
    """Data sets that a prediction was assembled from."""

    #: Program data.
    program: str
    #: Sources of the times of blocks.
    computation: list[PredictionPart]
    #: Communication data, if times of messages come from it.
    communication: NotRequired[str | None]
    #: Time of the run that the computation data was gathered from, if it is a single run and its time is known [s].
    recorded_s: NotRequired[float | None]
    #: Rule by which waits end: `rules` (each message by itself), `order of arrival` (receives with an open source, in order of time), or `simulated`.
    waits: str
    #: Number of block times found by block and rank.
    direct: int
    #: Number of block times found by the block's name, in data of another form of the program.
    by_name: int
    #: Number of block times found by the block's name at other ranks.
    other_ranks: int
    #: Time that an execution of a block takes: `mean`, `line` or `draw`.
    times: str


class Prediction2(TypedDict):
    """Prediction for one combination."""

    #: Value of the varied parameter.
    value: NotRequired[str | None]
    #: Number of workers.
    workers: int
    #: Number of workers and masters.
    processors: int
    #: Predicted time [s].
    time_s: float
    #: Total work over the speed of all workers, relative to the predicted time.
    efficiency: float
    #: Part of the predicted time in which the master (with several, the busiest) is busy.
    master_utilisation: float
    #: Part of the predicted time in which workers compute: mean, least and most used.
    worker_utilisation: Utilisation
    #: Results that wait at the master, on average over time and at most.
    waiting: Waiting
    #: Delay of the last worker to finish against the mean, relative to the predicted time.
    imbalance: float
    #: Time from the moment the last task was given out to the end [s].
    tail_s: float
    #: Number of task messages sent.
    messages: int
    #: Number of task messages that were sent again because their worker was lost.
    repeated: int
    #: Computation of lost workers that was wasted [s].
    wasted_s: float
    #: Number of tasks that were not done because all workers were lost.
    undone: int
    #: Lower bounds of the predicted time.
    bounds: FarmBounds
    #: Largest lower bound [s].
    bound_s: float
    #: Predicted times over several seeds, if asked for; everything else is of the first seed.
    seeds: NotRequired[SeedStatistics | None]
    #: Hash of the time and amount of all work: equal fingerprints mean equal results, to the last bit.
    fingerprint: str


class PredictionPart(TypedDict):
    """Ranks that take the times of their blocks from the same data."""

    #: Ranks: `0-7`.
    ranks: str
    #: Computation data.
    computation: str
    #: Factor by which the times are multiplied.
    scale: float


#: Kind of proof that no schedule takes less time.
Proof: TypeAlias = "Literal['ports'] | Literal['distance'] | Literal['lengths'] | Literal['cut']"


#: Figure by which the rows of a comparison are ranked, smallest first.
RankBy: TypeAlias = "Literal['makespan'] | Literal['slowdown']"


class RankDelay(TypedDict):
    """Delay of one rank."""

    #: Number of the rank.
    rank: int
    #: End of its program, or of its last message if it runs no program [s].
    end_s: float
    #: The same end without slow processors [s].
    without_s: float
    #: `end - without` [s].
    delay_s: float
    #: Extra time of its own work [s].
    slowed_s: NotRequired[float | None]
    #: Time at which it first sent or received a message late because of slow processors [s].
    reached_s: NotRequired[float | None]
    #: Smallest number of messages from a straggler to it.
    messages: NotRequired[int | None]
    #: Number of links on the route from the nearest straggler.
    hops: NotRequired[int | None]


class RankReport(TypedDict):
    """Breakdown of the time of one rank [s]."""

    #: Number of the rank.
    rank: int
    #: End of its last operation.
    end_s: float
    #: Computation.
    compute_s: float
    #: Send overhead: the processor was busy sending.
    send_overhead_s: float
    #: Receive overhead: the processor was busy receiving.
    recv_overhead_s: float
    #: Wait for receivers.
    send_wait_s: float
    #: Wait for messages.
    recv_wait_s: float
    #: Exchange of requests and answers of rendezvous.
    sync_s: float


class Reached(TypedDict):
    """Ranks at the same distance in messages from the nearest straggler."""

    #: Distance: the smallest number of consecutive messages from a straggler to these ranks; 0 for stragglers themselves.
    messages: int
    #: Mean number of links on the route from the nearest straggler; absent without a fabric.
    hops: NotRequired[float | None]
    #: Number of these ranks.
    ranks: int
    #: Number of these ranks that the delay reached.
    reached: int
    #: Time at which the delay reached the first of them [s].
    first_s: NotRequired[float | None]
    #: Mean delay of their ends [s].
    delay_s: float


class ReasonCount(TypedDict):
    """Reason, and the number of rows that have it."""

    #: Reason in words.
    reason: str
    #: Number of rows.
    rows: int


#: Part of the forward pass that the backward pass computes again to save memory.
Recompute: TypeAlias = "Literal['none'] | Literal['selective'] | Literal['full']"


class RegionReport(TypedDict):
    """Part of the program that its author marked as a region."""

    #: Name of the region.
    name: str
    #: Number of executions, on the rank with the most.
    executions: int
    #: Number of ranks that executed it.
    ranks: int
    #: Time from the first rank's begin to the last one's end, summed over the executions [s].
    time_s: float
    #: Computation within the region, mean over its ranks [s].
    computation_s: float
    #: Sending and receiving within the region, mean over its ranks [s].
    communication_s: float
    #: Waiting within the region, mean over its ranks [s].
    waiting_s: float
    #: `time_s` of the recorded run, if known [s].
    recorded_s: NotRequired[float | None]


class ReplayReport(TypedDict):
    """Result of one run of a program."""

    #: Version of the JSON format: `hayase-report-1` of a pattern, `hayase-replay-1` of a program, `hayase-jobs-1` of several jobs, `hayase-master-slave-1` of a farm, `hayase-whatif-1` of any of them varied.
    schema: str
    #: Complete scenario, so that the report can be run again. Work without a fabric has no topology, routing, placement and sharing.
    scenario: Any
    #: `complete`, or the reason why the run ended early. Of a farm that is tried in several ways, the worst status.
    status: Status
    #: Time at which the last message arrived, or the last rank ended [s]. An incomplete run counts only those that did. Of a farm that is tried in several ways, this is the makespan of the first.
    makespan_s: float
    #: Number of messages delivered, including those of collectives, and of a farm those with tasks and with results.
    messages: int
    #: Bytes delivered [B].
    bytes: int
    #: Time and progress at which the run deadlocked or was stopped; present if the run is not complete.
    stopped: NotRequired[Stopped | None]
    #: Makespans over several seeds, if there are several; the rest of the report is of the first seed.
    seeds: NotRequired[SeedStatistics | None]
    #: Faults and their effect on messages, if there are faults.
    faults: NotRequired[FaultsReport | None]
    #: Cost of slow processors, if there are any and it was asked for. Absent for a farm that is tried in several ways.
    noise: NotRequired[NoiseReport | None]
    #: Makespan with its interval, if it is an estimate.
    estimate: NotRequired[Estimate | None]
    #: Reason why there is no estimate, if the whole run was simulated.
    estimate_reason: NotRequired[str | None]
    #: Hash that changes if anything happens at another time.
    fingerprint: str
    #: Accuracy to expect of such runs, from a map of errors; for patterns whose messages are flows.
    accuracy: NotRequired[KnownAccuracy | None]
    #: Lower bounds of the makespan by the bytes that nodes exchange, if the optimum was asked for.
    bounds: NotRequired[Bounds | None]
    #: `makespan / optimum_at_least_s`, if the optimum was asked for.
    ratio_to_optimum: NotRequired[float | None]
    #: Program, by the name of its trace.
    program: str
    #: Parts of the run that the recordings lack, and the consequences.
    incomplete: NotRequired[list[str]]
    #: Recordings whose ranks lacked a core, and the consequences.
    lack_of_cores: NotRequired[list[str]]
    #: Time of ranks that was neither computation nor communication, or may have been either, and the consequences.
    outside: NotRequired[list[str]]
    #: Parts of traces that their readers left out, and how often.
    ignored: NotRequired[list[str]]
    #: Node model, for people: `loggps`.
    node: str
    #: Network, for people.
    network: str
    #: Makespan of the recorded run, if the trace has it [s].
    measured_s: NotRequired[float | None]
    #: `makespan_s / measured_s - 1`, for a complete run.
    error: NotRequired[float | None]
    #: Region that was asked for: breakdown, waits, critical path and ranks cover only this region. The `end_s` of a rank is then the time it spent there.
    region: NotRequired[str | None]
    #: Regions that the program marks, or the one that was asked for.
    regions: NotRequired[list[RegionReport]]
    #: Number of operations of the program.
    operations: int
    #: Number of classes of ranks that do the same, if one rank of each was played; waits are those of these ranks.
    classes: NotRequired[int | None]
    #: Number of messages that arrived and were never received.
    unreceived: int
    #: Breakdown of the time, over all ranks.
    breakdown: list[Spread]
    #: The 20 longest waits between two ranks, longest first (none under `loggopsim`).
    waits: list[Wait]
    #: Matching of receives that leave source or tag open (`MPI_ANY_SOURCE`, `MPI_ANY_TAG`) and whose message in the recorded run is known.
    open_receives: NotRequired[OpenReceives | None]
    #: Critical path of the run; present if the run is complete and not too long: up to 1,000,000 activities and messages and 10,000 ranks, or any if a file asks for it (`path.csv`, a timeline).
    critical_path: NotRequired[CriticalPath | None]
    #: Ranks that delayed others, largest caused wait first; present if asked for and the run is complete and not too long to be walked back through.
    late: NotRequired[list[LateRank]]
    #: Up to ten links, those on which messages lost the most time first, then the most used.
    links: NotRequired[list[LinkUse]]
    #: Time that messages lost on links, if the run measured it.
    delays: NotRequired[Delays | None]
    #: Data sets behind the run, if it is a prediction from data sets.
    prediction: NotRequired[Prediction | None]
    #: Training step, if the program is one.
    llm: NotRequired[PlayedStep | None]
    #: Breakdown of the time of each rank.
    ranks: list[RankReport]
    #: Figures that may differ from machine to machine.
    meta: Meta


class Report(TypedDict):
    """Result of one run of a pattern."""

    #: Version of the JSON format: `hayase-report-1` of a pattern, `hayase-replay-1` of a program, `hayase-jobs-1` of several jobs, `hayase-master-slave-1` of a farm, `hayase-whatif-1` of any of them varied.
    schema: str
    #: Complete scenario, so that the report can be run again. Work without a fabric has no topology, routing, placement and sharing.
    scenario: Any
    #: `complete`, or the reason why the run ended early. Of a farm that is tried in several ways, the worst status.
    status: Status
    #: Time at which the last message arrived, or the last rank ended [s]. An incomplete run counts only those that did. Of a farm that is tried in several ways, this is the makespan of the first.
    makespan_s: float
    #: Number of messages delivered, including those of collectives, and of a farm those with tasks and with results.
    messages: int
    #: Bytes delivered [B].
    bytes: int
    #: Time and progress at which the run deadlocked or was stopped; present if the run is not complete.
    stopped: NotRequired[Stopped | None]
    #: Makespans over several seeds, if there are several; the rest of the report is of the first seed.
    seeds: NotRequired[SeedStatistics | None]
    #: Faults and their effect on messages, if there are faults.
    faults: NotRequired[FaultsReport | None]
    #: Cost of slow processors, if there are any and it was asked for. Absent for a farm that is tried in several ways.
    noise: NotRequired[NoiseReport | None]
    #: Makespan with its interval, if it is an estimate.
    estimate: NotRequired[Estimate | None]
    #: Reason why there is no estimate, if the whole run was simulated.
    estimate_reason: NotRequired[str | None]
    #: Hash that changes if anything happens at another time.
    fingerprint: str
    #: Accuracy to expect of such runs, from a map of errors; for patterns whose messages are flows.
    accuracy: NotRequired[KnownAccuracy | None]
    #: Fabric, for people: `fat-tree p=12 (3456 nodes, 1008 switches, 20736 links)`.
    fabric: str
    #: Workload, for people: `all-to-all simple-spread, 20 KB, 3456 ranks`.
    workload: str
    #: Fingerprint of the fabric for which the messages were planned, if it is another one: their paths and slots may not fit.
    planned_for: NotRequired[str | None]
    #: `bytes / makespan` [B/s].
    bandwidth_bps: float
    #: Bandwidth per node [B/s].
    bandwidth_per_node_bps: float
    #: Lower bounds of the makespan.
    bounds: Bounds
    #: `makespan / largest bound`; 1 is perfect.
    ratio_to_bound: float
    #: `makespan / optimum_at_least_s`, if the optimum was asked for.
    ratio_to_optimum: NotRequired[float | None]
    #: Ratio to the bound of the same run without late starts, if ranks start late by `message-jitter`: in step only.
    ratio_in_step: NotRequired[float | None]
    #: Name of the order, also if it was chosen by `auto`: `node`.
    order: NotRequired[str]
    #: Time of each order that was tried by `auto`, with a barrier after each round and without other costs [s].
    rounds_s: NotRequired[dict[str, float]]
    #: Time that messages were under way, over the time that they would have taken alone, both summed over all messages. 1 means that no message was ever held back by another.
    contention: float
    #: The ten links on which messages lost the most time, or, if that was not measured, the ten most used; with the columns of `links.csv`.
    links: list[LinkUse]
    #: Time that messages lost on links, if it was measured: by default for at most 2,000,000 messages, as flows under a policy that names bottlenecks.
    delays: NotRequired[Delays | None]
    #: Rule by which messages change virtual channels, if switches have queues that share links (`packet:iq`, `blocking`): `dateline`, `classes` ...
    channels: NotRequired[str | None]
    #: Number of rounds of the redistribution, if that is the sharing policy.
    rounds: NotRequired[Rounds | None]
    #: Channels that wait for each other, if packets block each other forever.
    gridlock: NotRequired[Gridlock | None]
    #: Breakdown of the time, over all ranks. Like the next four fields it is present if ranks compute or wait for each other and there are at most 100,000 messages, or if files ask for it (`ranks.csv`, `path.csv`, a timeline). An operation is a message; a rank's own message under way is `send wait`.
    breakdown: NotRequired[list[Spread]]
    #: Longest waits of a rank for another, or for its own message to it, longest first.
    waits: NotRequired[list[Wait]]
    #: Critical path of the run; absent if the run is too long to be walked back through.
    critical_path: NotRequired[CriticalPath | None]
    #: Ranks that delayed others, largest caused wait first; absent if the run is too long to be walked back through.
    late: NotRequired[list[LateRank]]
    #: Breakdown of the time of each rank.
    ranks: NotRequired[list[RankReport]]
    #: Figures that may differ from machine to machine.
    meta: Meta


class Rounds(TypedDict):
    """Rounds of the redistribution policy for each solution of the rates."""

    #: Smallest number of rounds.
    min: int
    #: Mean number of rounds.
    mean: float
    #: Largest number of rounds.
    max: int


#: Kind of schedule.
ScheduleKind: TypeAlias = "Literal['gpipe'] | Literal['1f1b']"


class ScheduleReport(TypedDict):
    """Best possible time of a collective operation on a fabric, a schedule near it, and the usual algorithms."""

    #: Version of the JSON format: `hayase-schedule-1`.
    schema: str
    #: Fabric, for people.
    fabric: str
    #: Fingerprint of the fabric, which the plan's file names.
    fabric_fingerprint: str
    #: Placement of the ranks.
    placement: str
    #: Transport on which the times are simulated.
    transport: str
    #: Operation: `all-gather`.
    operation: str
    #: Method of the schedule: `trees`, `greedy` ...; absent if there is a bound alone.
    method: str | None
    #: Reason why there is a bound and no schedule.
    no_schedule: NotRequired[str | None]
    #: Number of ranks.
    ranks: int
    #: Size [B]: what each rank contributes to an all-gather, reduce-scatter, scatter or gather, what it has for each other rank in an all-to-all, the whole vector of an all-reduce or a broadcast.
    size_bytes: int
    #: Time that no schedule undercuts [s]: bandwidth alone, without latencies. Of an all-reduce it is the optimum of a reduce-scatter and then an all-gather with equal shares; other shares can be faster on unequal nodes.
    optimum_s: float
    #: Time of an all-reduce along reversed trees and then the same trees, if their roots had the best shares of the vector; present if it is smaller than `optimum_s`, for up to 128 ranks [s].
    free_shares_s: NotRequired[float | None]
    #: True if steady flows reach `optimum_s`.
    optimum_exact: bool
    #: Kind of proof of `optimum_s`.
    optimum_certificate: NotRequired[Proof | None]
    #: Proof in words.
    optimum_proof: str
    #: Cut that limits an operation on trees.
    worst_cut: WorstCut | None
    #: Smallest number of equal trees of each root that reaches the optimum, or the number that the schedule has.
    trees_per_root: int | None
    #: Largest number of messages between a root and a rank, for trees.
    depth: NotRequired[int | None]
    #: Number of chunks of each tree's data.
    chunks: NotRequired[int | None]
    #: Number of slots, for schedules in rounds.
    slots: NotRequired[int | None]
    #: Order of the ranks, for schedules in rounds of an order.
    order: NotRequired[str | None]
    #: Number of messages of the plan.
    messages: int
    #: Time of the schedule by its formula [s].
    predicted_s: float | None
    #: Simulated time of the schedule [s].
    simulated_s: float | None
    #: Simulated time of the schedule if ranks start up to `jitter_s` late [s].
    simulated_jitter_s: float | None
    #: Largest late start of a rank [s].
    jitter_s: float
    #: The schedule and the usual algorithms, fastest first with late starts.
    algorithms: list[ScheduleRow]


class ScheduleRow(TypedDict):
    """Simulated times of one algorithm."""

    #: Name: `schedule`, or that of an algorithm.
    name: str
    #: Makespan if all ranks start at once [s].
    makespan_s: float
    #: Makespan if ranks start late [s].
    makespan_jitter_s: float
    #: `makespan / optimum`, all ranks at once: in step only.
    ratio_in_step: float
    #: `makespan with late starts / optimum`.
    ratio_to_optimum: float


class SeedStatistics(TypedDict):
    """Makespans over seeds."""

    #: Seeds.
    seeds: list[int]
    #: Makespan of each seed [s].
    makespans_s: list[float]
    #: Mean makespan [s].
    mean_s: float
    #: Sample standard deviation of the makespans [s]; 0 for a single seed.
    sd_s: float
    #: Smallest makespan [s].
    min_s: float
    #: Largest makespan [s].
    max_s: float
    #: Number of seeds that were asked for and not run.
    missing: NotRequired[int]
    #: Number of seeds whose faults left messages without a route.
    cut_off: NotRequired[int]
    #: Half of the 95 % interval of each makespan [s], 0 for an exact one; present if makespans are estimates.
    halves_s: NotRequired[list[float]]
    #: Interval of the mean makespan [s]; present if makespans are estimates.
    interval_s: NotRequired[list[float] | None]


class Sends(TypedDict):
    """Messages of one parallelism."""

    #: Number of messages.
    sends: int
    #: Bytes of all of them [B].
    bytes: int


class Sensitivity(TypedDict):
    """Predicted times over one parameter."""

    #: Name of the parameter, as typed: `S`, `topology.torus.bandwidth`. `bands.o` of `[node.loggp]` changes all bands together.
    parameter: str
    #: Unchanged value, if there is one.
    base: str | None
    #: `ln(T2 / T1) / ln(p2 / p1)` between the smallest value p1 and the largest p2. It is 1 if the time is proportional to the parameter, 0 if it does not depend on it, and absent if it is not defined.
    elasticity: float | None
    #: Results, in the order in which values were named.
    points: list[WhatIfPoint]


class Slowdown(TypedDict):
    """Slowdown of runs with faults against runs without."""

    #: Mean over the seeds of `makespan / makespan without faults`, both with the same seed.
    mean: float
    #: Lower end of the 95 % interval of the mean, `mean - t s / sqrt(n)` with Student's t; the mean if there is one seed.
    low: float
    #: Upper end of the interval.
    high: float
    #: Number of seeds.
    seeds: int


class SlowedRanks(TypedDict):
    """Extra time of the ranks' own work on slow processors and under noise."""

    #: Number of ranks whose work took longer.
    ranks: int
    #: Mean over all ranks [s].
    mean_s: float
    #: Largest extra time of one rank [s].
    most_s: float
    #: Rank with the largest extra time.
    most_rank: int
    #: Part of the largest extra time that does not show in the makespan, because it fell into time in which ranks would have waited anyway: `most - cost`, or 0 [s].
    absorbed_s: float


class Spread(TypedDict):
    """Time of one kind, over all ranks [s]."""

    #: Kind of time.
    kind: str
    #: Smallest time of a rank.
    least_s: float
    #: First rank with the smallest time.
    least_rank: int
    #: Mean time of a rank.
    mean_s: float
    #: Largest time of a rank.
    most_s: float
    #: First rank with the largest time.
    most_rank: int
    #: Part of the time of all ranks until each ended.
    part: float


class StageMemory(TypedDict):
    """Memory of a GPU of one stage."""

    #: Stage.
    stage: int
    #: Number of layers.
    layers: int
    #: Number of parameters.
    parameters: int
    #: Weights [B].
    weights_B: int
    #: Gradients [B].
    gradients_B: int
    #: States of the optimizer [B].
    optimizer_B: int
    #: Activations that are held at the peak [B].
    activation_B: int
    #: Sum of all kinds [B].
    memory_B: int


#: Status of a run at its end.
Status: TypeAlias = "Literal['complete'] | Literal['interrupted'] | Literal['deadlocked'] | Literal['undone']"


class StepParts(TypedDict):
    """Time of a step on the GPU that ends last; its parts add up to that time."""

    #: Rank of the GPU.
    rank: int
    #: Time of the step [s].
    step_s: float
    #: Computation [s].
    compute_s: float
    #: Waits for communication while no computation runs [s].
    exposed_s: Exposed
    #: Waits for passes of other stages [s].
    bubble_s: float


class StepTime(TypedDict):
    """Parts of the time of a step along the slowest stage; their sum is the time of the step."""

    #: Matrix products of layers [s].
    matrices_s: float
    #: Attention scores [s].
    attention_s: float
    #: Norms, activation functions and sums, which memory bounds [s].
    elementwise_s: float
    #: Output layer and loss [s].
    output_s: float
    #: Exposed tensor communication [s].
    tp_s: float
    #: Exposed messages between stages [s].
    pp_s: float
    #: Wait for the pipeline to fill and drain [s].
    bubble_s: float
    #: Exposed collectives on gradients and weights [s].
    dp_s: float
    #: All-to-alls of experts [s].
    ep_s: float
    #: Exposed messages of keys and values [s].
    cp_s: float
    #: Optimizer [s].
    optimizer_s: float


class Stopped(TypedDict):
    """Progress of a run that did not reach its end."""

    #: Time from which on nothing moved, or at which the run was stopped [s].
    at_s: float
    #: Number of messages delivered by then.
    messages: int
    #: Bytes delivered by then [B].
    bytes: int


class Throughput(TypedDict):
    """Result of load counting."""

    #: Fraction of its bandwidth that every node uses; for random pairs the mean over pairs. The mean over seeds.
    throughput: float
    #: Standard deviation over seeds, if there are several.
    deviation: NotRequired[float | None]
    #: Fraction of its bandwidth that the slowest of the random pairs uses; the mean over seeds.
    slowest_pair: NotRequired[float | None]
    #: Number of seeds with which random traffic was drawn.
    seeds: int
    #: Fraction of the traffic on shortest paths, if the rule chose the best mix of two kinds of paths.
    minimal_share: NotRequired[float | None]
    #: Largest load of the links of each kind, over all seeds: the traffic of a link when every node uses its whole bandwidth, divided by its capacity.
    largest_load: dict[str, float]
    #: Mean load of the links of each kind, over all seeds: its inverse is the throughput that they would allow if all of them were used equally.
    mean_load: dict[str, float]
    #: Link with the largest load.
    bottleneck: Bottleneck | None


class TrainingLayout(TypedDict):
    """Layout of a model on GPUs."""

    #: Layout in words: `tp=8 pp=8 dp=16 micro=1 recompute=selective`.
    words: str
    #: Number of GPUs.
    gpus: int
    #: Number of micro-batches of a step.
    micro_batches: int
    #: Degree of tensor parallelism t.
    tp: int
    #: Number of pipeline stages p.
    pp: int
    #: Degree of data parallelism D.
    dp: int
    #: Degree of context parallelism c.
    cp: int
    #: Degree of expert parallelism e.
    ep: int
    #: Number of sequences of a micro-batch b.
    micro: int
    #: Number of chunks of layers of a stage v.
    interleave: int
    #: Order of forward and backward passes.
    schedule: ScheduleKind
    #: True if sequences are divided where tensors are not.
    sequence_parallel: bool
    #: Recomputed part of the forward pass.
    recompute: Recompute
    #: Stage of ZeRO, 0 to 3.
    zero: int
    #: Bytes of a gradient in collectives [B].
    grad_bytes: int
    #: True if embedding and output count as a layer each, so that first and last stage have one layer fewer.
    embedding_as_layer: bool
    #: True if one kernel computes attention without storing its scores.
    flash: NotRequired[bool | None]
    #: True if tensor, pipeline and data communication run beside computation.
    overlap: bool


class TrainingReport(TypedDict):
    """Operations, memory, communication and time of a training step in closed form."""

    #: Version of the JSON format: `hayase-llm-1`.
    schema: str
    #: Model as it was asked for.
    model: str
    #: Machine, if one was asked for.
    machine: NotRequired[str | None]
    #: Layout on the GPUs; of a search the fastest.
    layout: TrainingLayout
    #: Figures of the step.
    llm: TrainingStep
    #: Memory of a GPU of each stage.
    stages: list[StageMemory]
    #: Parts of the time of a step, with a machine.
    time: NotRequired[StepTime | None]
    #: Largest part of the time, in words.
    bound: NotRequired[str | None]
    #: True if all stages fit into the memory of a GPU, with a machine.
    fits: NotRequired[bool | None]
    #: Memory of a GPU that a layout can use [B], with a machine.
    usable_B: NotRequired[int | None]
    #: Layouts that fit, nearest first, if this one does not.
    nearest: NotRequired[list[LayoutRow] | None]
    #: Result of a search.
    search: NotRequired[LayoutSearch | None]


class TrainingStep(TypedDict):
    """Figures of a training step. Operations are those of all GPUs, bytes those of one GPU of the first stage."""

    #: Number of parameters.
    parameters: int
    #: Number of parameters that a token meets, with `top_k` experts of each layer.
    active_parameters: int
    #: Operations of the forward pass.
    forward_flops: int
    #: Operations that the step needs: three times the forward pass.
    model_flops: int
    #: Operations that the step executes, with those that are computed again.
    hardware_flops: int
    #: Memory of a GPU of the first stage.
    first_stage: FirstStage
    #: Communication of a GPU of the first stage in a step.
    communication: Communication
    #: Time of the step [s], with a machine.
    step_s: NotRequired[float | None]
    #: Model operations over those of the GPUs' peak in the time of the step, with a machine.
    mfu: NotRequired[float | None]
    #: Hardware operations over those of the GPUs' peak in the time of the step, with a machine.
    hfu: NotRequired[float | None]


class Utilisation(TypedDict):
    """Mean, smallest and largest utilisation."""

    #: Mean over all workers.
    mean: float
    #: Utilisation of the least used worker.
    min: float
    #: Utilisation of the most used worker.
    max: float


class Wait(TypedDict):
    """Total wait of one rank for another."""

    #: Rank that waited.
    rank: int
    #: Rank that was waited for.
    peer: int
    #: Kind of wait: `send wait` or `receive wait`.
    kind: str
    #: Total wait [s].
    time_s: float
    #: Number of waits.
    count: int


class Waiting(TypedDict):
    """Number of results that wait."""

    #: Average over time.
    mean: float
    #: Maximum.
    max: int


class WhatIfPoint(TypedDict):
    """Result for one value of one parameter."""

    #: Value of the parameter.
    value: str
    #: Value as a number in base units [s, B, s/B, B/s, 1]; absent if it is a word.
    number: float | None
    #: Predicted time [s]; absent if there is none.
    time_s: float | None
    #: `time_s` over the unchanged time, less 1.
    change: float | None
    #: Time and progress at which the program deadlocked, if it did.
    stopped: NotRequired[Stopped | None]
    #: Reason why there is no time: the program deadlocks, or the value contradicts other values.
    failed: NotRequired[str | None]
    #: Other parameters that were changed together with this one, because the values would contradict otherwise. s of `[node.loggps]` follows S down, for example.
    note: NotRequired[str | None]


class WhatIfReport(TypedDict):
    """Predicted times with one parameter changed at a time, and lower limits of the time."""

    #: Version of the JSON format: `hayase-report-1` of a pattern, `hayase-replay-1` of a program, `hayase-jobs-1` of several jobs, `hayase-master-slave-1` of a farm, `hayase-whatif-1` of any of them varied.
    schema: str
    #: Complete scenario, so that the report can be run again. Work without a fabric has no topology, routing, placement and sharing.
    scenario: Any
    #: `complete`, or the reason why the run ended early. Of a farm that is tried in several ways, the worst status.
    status: Status
    #: Time at which the last message arrived, or the last rank ended [s]. An incomplete run counts only those that did. Of a farm that is tried in several ways, this is the makespan of the first.
    makespan_s: float
    #: Number of messages delivered, including those of collectives, and of a farm those with tasks and with results.
    messages: int
    #: Bytes delivered [B].
    bytes: int
    #: Time and progress at which the run deadlocked or was stopped; present if the run is not complete.
    stopped: NotRequired[Stopped | None]
    #: Makespans over several seeds, if there are several; the rest of the report is of the first seed.
    seeds: NotRequired[SeedStatistics | None]
    #: Faults and their effect on messages, if there are faults.
    faults: NotRequired[FaultsReport | None]
    #: Cost of slow processors, if there are any and it was asked for. Absent for a farm that is tried in several ways.
    noise: NotRequired[NoiseReport | None]
    #: Makespan with its interval, if it is an estimate.
    estimate: NotRequired[Estimate | None]
    #: Reason why there is no estimate, if the whole run was simulated.
    estimate_reason: NotRequired[str | None]
    #: Hash that changes if anything happens at another time.
    fingerprint: str
    #: Accuracy to expect of such runs, from a map of errors; for patterns whose messages are flows.
    accuracy: NotRequired[KnownAccuracy | None]
    #: Program, by the name of its trace.
    program: str
    #: Parts of the run that the recordings lack, and the consequences.
    incomplete: NotRequired[list[str]]
    #: Recordings whose ranks lacked a core, and the consequences.
    lack_of_cores: NotRequired[list[str]]
    #: Time of ranks that was neither computation nor communication, or may have been either, and the consequences.
    outside: NotRequired[list[str]]
    #: Parts of traces that their readers left out, and how often.
    ignored: NotRequired[list[str]]
    #: Node model, for people: `loggps`.
    node: str
    #: Network, for people.
    network: str
    #: Region whose times are reported, if one was asked for.
    region: NotRequired[str | None]
    #: Number of tasks of a farm that are not done in the unchanged run because all workers were lost.
    undone: NotRequired[int]
    #: Time of the recorded run, if the trace has it [s].
    measured_s: NotRequired[float | None]
    #: Times that other networks could reach at best.
    limits: Limits
    #: True if every parameter is halved and doubled, and parameters are listed by effect, largest first. False if the user named values.
    tornado: bool
    #: Predicted times over each changed parameter.
    varied: list[Sensitivity]
    #: True if all runs were made.
    complete: bool
    #: Figures that may differ from machine to machine.
    meta: Meta


class WorstCut(TypedDict):
    """Cut between compute nodes."""

    #: Number of ranks inside.
    nodes: int
    #: Bandwidth out of the cut [B/s].
    bandwidth_Bps: float


class WorstSlowdown(TypedDict):
    """Largest slowdown of any job."""

    #: Mean over the seeds of the largest slowdown of any job.
    mean: float
    #: Sample standard deviation over several seeds; 0 for one seed.
    sd: float
    #: Job with the largest mean slowdown.
    job: str
