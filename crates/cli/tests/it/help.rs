//! Help texts, which a newcomer reads first.

use super::{Desk, Said};
use snapbox::str;

#[test]
fn the_first_page_names_all_verbs_with_examples_and_exit_codes() {
    Desk::new().hayase("--help").assert().success().stderr_eq("").stdout_eq(str![[r#"
A discrete-event message-flow simulator for HPC interconnects.

Name a fabric and a traffic pattern; Hayase predicts how long the communication takes, what bounds
it and which links are the bottleneck. Results go to standard output, everything else to standard
error.

Usage: hayase [OPTIONS] <COMMAND>

Simulate:
  run           Simulate one scenario
  rates         Show the rate and bottleneck of every message of the first step
  throughput    Compute the throughput of a fabric under steady traffic
  schedule      Schedule a collective operation near its best possible time, beside the usual algorithms
  nccl          Show the algorithm and protocol that NCCL takes for a collective, by size, and its time on a fabric

Compare:
  compare       Compare fabrics, algorithms, placements and settings, best first
  sweep         Run a plan of thousands of simulations that can be interrupted and resumed
  whatif        Vary parameters of nodes and network one at a time
  accuracy      Compare flow models with packet simulation over many cases

Fabrics:
  list          List the named topologies, patterns, machines, presets, models or rules of advice
  show          Show a named topology, pattern, machine, preset, model or rule, or the fabric or messages of a file
  topology      Show, draw and compare fabrics, or write their forwarding tables

Programs:
  llm           Compute a training step of a language model in closed form
  replay        Replay a recorded program on other nodes or another network
  predict       Predict the run time of a program from data sets that were measured once
  master-slave  Predict the run time of a master/slave program from a few executed tasks
  program       Make, show and extend the data sets of a prediction
  trace         Show the contents of a recorded program or a schedule, or convert it to another format
  calibrate     Make a machine from measured round trips, a ping-pong or a ring
  measure       Measure the message times of a real network

Record and advise:
  record        Run an MPI program and record the MPI calls of all its ranks
  wrap          Compile with any compiler, instrumented so that memory accesses can be recorded
  advise        Find possible improvements of a recorded program

More:
  init          Write a commented scenario to start from
  check         Check input files without running anything
  validate      Check the simulator against closed forms, other simulators and published figures
  bench         Measure the speed of the simulator on this machine
  generate      Generate shell completions, manual pages or the JSON schema of scenario files

Options:
  -q, --quiet
          Print only results and errors

      --progress <WHEN>
          Show how far a run is, on standard error: auto (on a terminal), always (off a terminal a
          line every few seconds) or never
          
          [default: auto]

      --color <WHEN>
          Colour messages: auto (on a terminal, unless NO_COLOR is set), always or never
          
          [default: auto]

  -h, --help
          Print help (see a summary with '-h')

  -V, --version
          Print version

Examples:
  hayase run -t fat-tree-54 -p all-to-all-simple-spread
      the time of an all-to-all on 54 nodes, its bounds and its busiest links
  hayase compare -t fat-tree-54 -p all-to-all-simple-spread,all-to-all-nd-spread /
      --placement regular,random -o compare.svg
      algorithms and placements, as a table and a picture
  hayase init my.toml && hayase run my.toml
      a commented scenario to edit, and its run
  hayase replay gaussian-elimination:n=256 -m myrinet
      the run time of a parallel program on a machine, and where the time goes
  hayase list topologies; hayase list patterns
      the named fabrics and patterns

Exit codes:
  0    done
  1    failed at run time (a file cannot be written)
  2    bad input or usage; the message shows the place
  3    the simulated program deadlocks; the message shows who waits for whom
  130  stopped by Ctrl-C; the results until then are reported, marked as interrupted

"#]]);
}

#[test]
fn without_a_verb_the_help_is_shown_and_the_call_is_wrong() {
    let assert = Desk::new().hayase("").assert().code(2).stdout_eq("");
    let stderr = assert.stderr();
    assert!(stderr.contains("Usage: hayase") && stderr.contains("Examples:"), "{stderr}");
}

#[test]
fn the_help_of_run_says_what_each_option_takes() {
    Desk::new().hayase("run -h").assert().success().stdout_eq(str![[r#"
Simulate one scenario: run time, bounds and bottleneck links

Usage: hayase run [OPTIONS] [FILE]...

Arguments:
  [FILE]...  The work: a scenario file (TOML), a JSON report whose scenario is run again, or a list
             of messages (.csv). Programs are a trace, a schedule, a rule, or the data sets of a
             prediction (.prog, .comp, .comm). The tasks of a master/slave program are a table, a
             tasks file or a rule

Options:
  -h, --help  Print help (see more with '--help')

Scenario:
  -p, --pattern <NAME|FILE>     The traffic: a name (`hayase list patterns`), a TOML file with a
                                [workload.*] table, a CSV of messages, or a program (a trace, a
                                schedule, or a rule like linear:ranks=64)
      --size <SIZE>             Size of each message: "20 KB", "64 KiB"
      --size-of <block|vector>  Data that --size counts in a collective: a rank's block or the whole
                                vector (default: by operation, see the reference)
      --ranks <N>               Number of ranks of the pattern (default: one for each node)
      --jitter <TIME>           Start each rank at a random time from 0 to this: "1 us"
      --barrier-cost <TIME>     Time of the barrier after each step with --injection barrier
                                (default 0): "5 us"
      --injection <RULE>        Condition for a rank's next message: queue (its last one is
                                delivered), sendrecv (and it has received this step's messages),
                                barrier (all ranks have). Further rules: left (its last one has left
                                the node), all (none), window=K (fewer than K are under way)
  -t, --topology <NAME|FILE>    The fabric: a name (`hayase list topologies`), a family with its
                                numbers ("torus:dims=[3,5],bandwidth=1 GB/s"), a TOML file with a
                                [topology.*] table, a SimGrid platform (.xml) or an InfraGraph
                                (.yaml)
  -m, --machine <NAME|FILE>     The machine, which sets the cost of messages at the nodes, and in
                                between without a fabric: a name (`hayase list machines`) or a TOML
                                file with a [node.*] table (default: no cost)
      --placement <RULE|FILE>   Placement of ranks on nodes: regular, random, block,
                                round-robin[:group], by-leaf[:random], by-group[:random], nodes
                                (0-7,12) or a CSV file `rank,node`
      --ranks-per-node <N>      Place up to this number of ranks on each node; they share its links
                                (default 1)
      --sharing <POLICY>        Sharing of a link among messages: max-min (exact, the default),
                                equal-share, redistribute, blocking (input queues with head-of-line
                                blocking)
      --transport <MODEL>       Network model: flow (the default; flow:max-min sets the sharing
                                too), packet:oq (output queues), packet:iq (input buffers with
                                credits), packet:fq (fair queuing), contention-free
      --routing <RULE>          Routing rule: d-mod-k, s-mod-k, hashed, dimension-order,
                                random-order, min-adaptive, doal, family, shortest-path, table,
                                minimal, ecmp, spray, valiant-groups, valiant-switches, ugal-l,
                                ugal-g, progressive, min-hop, dfsssp, up-down, tables:FILE,
                                paths:FILE (default: the usual rule of the fabric)
      --faults <PART|NAME>      Fail cables between switches: a fraction of them, drawn by the seed
                                (1%), or one by name; more in [faults]
      --node <MODEL>            Node model: ideal, loggp, loggps, tabulated or loggopsim. Its
                                parameters come from the machine or from --set
      --seed <N>                Seed of everything random; with several runs, the seed of the first
      --link-bandwidth <RATE>   Bandwidth of links, for a fabric that takes it from the machine:
                                "12.5 GB/s"
      --noise <NOISE>           Interrupt the ranks' processors: LENGTH/PERIOD, or the LENGTH of one
                                interruption in each computation. Then the distribution of lengths
                                (fixed, uniform, exponential) and the starts (random, synchronised):
                                25us/1ms,exponential
      --straggler <STRAGGLER>   Slow ranks down, RANKS=SPEED: 3=50%, 0-7=0.5, nodes:3=50%,
                                count:2=50% (drawn), JOB:3=50%, 3=50%@1ms..2ms (may be repeated)
      --preset <NAME|FILE>      Defaults for everything that the scenario leaves open, such as the
                                settings of a publication: a name (`hayase list presets`) or a file
      --set <KEY=VALUE>         Set any key of a scenario file: --set topology.fat-tree.p=4 (may be
                                repeated; the last one counts)
      --job <JOB>               Add a job that shares the fabric with others:
                                NAME=PATTERN:RANKS@PLACEMENT, with a pattern or program, its number
                                of ranks and its placement on the free nodes; ranks and placement
                                may be left out (may be repeated)
      --interference            Show which job delays which: the time that messages of each job lose
                                to those of each other job
      --estimate <PERCENT>      Estimate the makespan to this relative precision (1%), with a 95 %
                                interval, by simulating only the beginning. Work that is not alike
                                from step to step is run in full
      --optimum [<GAP>]         Bound the best possible time over all routings with this largest gap
                                (default 1%), and compare the makespan with it
      --seeds <N>               Run this number of seeds, starting with --seed, and report the
                                spread of the makespan
      --strict                  Exit with code 1 if a recording is incomplete: calls or ranks are
                                missing, or it ends early

Distribution of tasks:
      --order <ORDER>  Order of the tasks: listed (the default), longest-first, shortest-first,
                       random; or guided or factoring (as listed, in messages that become smaller).
                       Order in which ranks of an all-to-all visit each other: rank (the default),
                       node, slot, stride, sign, digit, reflect, random, or auto (the best in
                       rounds)

Output:
  -o, --output <FILE>      Write this file too; its name, or KIND=FILE, selects the content (see
                           below; may be repeated)
      --format <FORMAT>    Format of standard output: table, json, or csv if the result is one table
                           [default: table]
  -j, --threads <N>        Number of threads (default: one for each core)
      --window <FROM..TO>  Part of the run that a timeline shows: 1.2ms..1.4ms, 1.2ms.. or ..1.4ms

General options:
  -q, --quiet            Print only results and errors
      --progress <WHEN>  Show the progress of a run: a bar on a terminal; with `always`, elsewhere a
                         line every few seconds [default: auto]
      --color <WHEN>     Colour messages: auto (on a terminal, unless NO_COLOR is set), always or
                         never [default: auto]

Examples:
  hayase run -t fat-tree-54 -p all-to-all-simple-spread --placement random --seeds 8
  hayase run -t torus-4x4 -p all-to-all-pairwise --transport packet:iq
  hayase run -t torus-8x8 -p ring --size "1 MB" -o report.json -o loads.svg
  hayase run report.json                  run the scenario of a report again
  hayase run scenario.toml --set topology.fat-tree.p=4
  hayase run -t torus-8x8 -p messages.csv --injection window=4
  hayase run farm.toml -t torus-4x4       a master/slave program ([workload.master-slave])
  hayase run gaussian-elimination:n=256 -m myrinet
      a program by rule; likewise traces and schedules, with the options of `hayase replay`
  hayase run cg.prog node-a.comp gigabit.comm
      a prediction from data sets, with the options of `hayase predict`
  hayase run executed.csv --grid 1024x1024 --workers 8..128:8
      tasks of a master/slave program, with the options of `hayase master-slave`
  hayase run -t fat-tree-54 --job a=all-to-all-pairwise:16@random --job b=ring:20
  hayase run -t fat-tree-3456 -p all-to-all-simple-spread --placement random --estimate 1%
  hayase run -t torus-8x8 -p messages.csv --straggler 3=50% -o noise.svg

You supply: scenario.toml (`hayase init scenario.toml` writes one), messages.csv (src,dst,bytes),
farm.toml; cg.prog, node-a.comp and gigabit.comm (data sets), executed.csv (tasks)

Options of single kinds of work are described by `hayase replay --help` (programs), `hayase predict
--help` (predictions) and `hayase master-slave --help` (master/slave programs). Other work refuses
them.

Files (-o), by name:
  x.json         the report
  x.html         the answer as a page for a browser: sentences, tables and pictures
  x.svg          the load of each link, drawn on the fabric
  timeline.svg   messages, computation and waiting over time (small runs)
  messages.csv   every message: src,dst,index,bytes,start_s,end_s
  ranks.csv      every rank: its time by kind, and its lateness
  path.csv       the critical path; activities.csv: all activities of ranks
  links.csv      every link: capacity, bytes, busy time, utilisation, flows
  links.svg      the load over time of each kind of link, and of the busiest links
  rankfile=FILE  host of each rank for Open MPI, numbered by the order of an all-to-all;
  hostfile=FILE for MPICH
  noise.svg      the propagation of delays of slow ranks (--straggler, --noise); also noise.csv
For programs see `hayase replay`, for master/slave programs `hayase master-slave`. With several
jobs, x.csv has a line for each and x.svg shows when they ran. messages.csv and links.csv then name
the job, timeline.svg has a colour for each, and loads.svg shows the load of each link.
interference.csv and interference.svg show which job delays which.
The name may be longer (run-7-messages.csv): the word in it counts.
A file appears when it is complete; a run that is stopped or deadlocks writes only the report.

"#]]);
}

#[test]
fn a_wrong_option_is_answered_with_the_right_one() {
    Desk::new().hayase("run --topolgy x").assert().code(2).stdout_eq("").stderr_eq(str![[r#"
error: unexpected argument '--topolgy' found

  tip: a similar argument exists: '--topology'

Usage: hayase run --topology <NAME|FILE> [FILE]...

For more information, try '--help'.

"#]]);
}

#[test]
fn a_wrong_value_is_answered_with_the_right_ones() {
    Desk::new().hayase("run --format yaml").assert().code(2).stdout_eq("").stderr_eq(str![[r#"
error: invalid value 'yaml' for '--format <FORMAT>'
  [possible values: table, json, csv]

For more information, try '--help'.

"#]]);
}

#[test]
fn every_shell_has_its_completions() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let assert = Desk::new().hayase(&format!("completions {shell}")).assert().success();
        let script = assert.stdout();
        assert!(script.contains("compare") && script.contains("placement"), "{shell}");
    }
}

#[test]
fn every_verb_has_a_manual_page() {
    let desk = Desk::new();
    desk.hayase("man -o . --quiet").assert().success().stdout_eq("").stderr_eq("");
    let names = desk.names();
    for name in ["hayase.1", "hayase-run.1", "hayase-topology-show.1"] {
        assert!(names.iter().any(|other| other == name), "{names:?}");
        assert!(desk.read(name).contains(".SH NAME"), "{name}");
    }
}

#[test]
fn the_version_is_told() {
    let text = format!("hayase {}\n", env!("CARGO_PKG_VERSION"));
    Desk::new().hayase("--version").assert().success().stdout_eq(text);
}
