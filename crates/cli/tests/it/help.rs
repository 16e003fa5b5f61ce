//! Help texts, which a newcomer reads first.

use super::{Desk, Said};
use snapbox::str;

#[test]
fn the_first_page_names_all_verbs_with_examples_and_exit_codes() {
    Desk::new().hayase("--help").assert().success().stderr_eq("").stdout_eq(str![[r#"
A discrete-event message-flow simulator for HPC interconnects.

Name a fabric and what is sent over it; Hayase says how long it takes, what bounds it and which
links hold it back. Results go to standard output, everything else to standard error.

Usage: hayase [OPTIONS] <COMMAND>

Simulate:
  run           Simulate one scenario and report what came out
  rates         Show how fast each message of the first step would be
  throughput    Count the loads of steady traffic

Compare:
  compare       Simulate many combinations side by side, best first
  sweep         Run thousands of points of a plan
  whatif        Vary parameters of nodes and network, one at a time
  accuracy      Hold models of messages against packets over many cases

Fabrics:
  list          List what has a name
  show          Show what has a name, or a fabric in a file
  topology      Show, draw and compare fabrics, or write their forwarding tables

Programs:
  replay        Play a recorded program on other nodes or another network
  predict       Predict how long a program takes, from data sets that were measured once
  master-slave  Predict a master/slave program from a few executed tasks
  program       Make, show and extend program data and computation data
  trace         Show what a recorded program or a schedule holds, or write it in another format
  calibrate     Find the LogGPS parameters of a machine from measured round trips
  measure       Measure what a real network does, as a data set

Record and advise:
  record        Run an MPI program and record the calls of all its ranks
  wrap          Compile with any compiler so that the program tells which memory it accesses
  advise        Find what to improve in a recorded program

More:
  init          Write a commented scenario to start from
  check         Check files without running anything
  validate      Check the simulator against closed forms, other simulators and published figures
  bench         Measure what a simulated message costs on this machine
  generate      Generate what other programs read

Options:
  -q, --quiet
          Say nothing but results and errors

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
      how long one all-to-all takes on 54 nodes, what bounds it, which links are busiest
  hayase compare -t fat-tree-54 -p all-to-all-simple-spread,all-to-all-nd-spread /
      --placement regular,random -o compare.svg
      algorithms and placements side by side, as a table and as a picture
  hayase init my.toml && hayase run my.toml
      a commented scenario to edit, and its run
  hayase replay gaussian-elimination:n=256 -m myrinet
      how long a parallel program takes on a machine, and where its time goes
  hayase list topologies; hayase list patterns
      the fabrics and workloads that have a name

Exit codes:
  0    done
  1    failed at run time (a file cannot be written)
  2    bad input or usage; the place is shown
  3    the simulated program deadlocks; who waits for whom is shown
  130  stopped by Ctrl-C; what had happened by then is reported, marked as interrupted

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
Simulate one scenario and report what came out

Usage: hayase run [OPTIONS] [FILE]...

Arguments:
  [FILE]...  The work: a scenario file (TOML), a JSON report whose scenario is run again, a list of
             messages (.csv), a trace, schedule or program by rule, the data sets of a prediction
             (.prog, .comp, .comm), or the tasks of a farm (a table, a tasks file or a rule)

Options:
  -h, --help  Print help (see more with '--help')

Scenario:
  -p, --pattern <NAME|FILE>    What is sent: a name (`hayase pattern list`), a TOML file with a
                               [workload.*] table, a CSV of messages, a program (a trace, a
                               schedule, or a rule like linear:ranks=64)
      --size <SIZE>            The size of each message, with its unit: "20 KB", "64 KiB"
      --ranks <N>              The number of ranks of every pattern (default: one on each node)
      --jitter <TIME>          Each rank starts at a random time from 0 to this: "1 us"
      --injection <RULE>       When a rank sends its next message: queue (the last is delivered),
                               sendrecv (and this step's are received), barrier (everybody's are),
                               left (the last has left the node), all (at once), window=K (up to K
                               under way)
  -t, --topology <NAME|FILE>   The fabric: a name (`hayase topology list`), a family with its
                               numbers ("torus:dims=[3,5],bandwidth=1 GB/s"), a TOML file with a
                               [topology.*] table, a SimGrid platform (.xml), an InfraGraph (.yaml)
  -m, --machine <NAME|FILE>    What messages cost at their ends, and without a fabric in between: a
                               name (`hayase machine list`) or a TOML file with a [node.*] table
                               (default: nothing)
      --placement <RULE|FILE>  Which node each rank is on: regular, random, block,
                               round-robin[:group], by-leaf[:random], by-group[:random], nodes
                               (0-7,12) or a CSV file `rank,node`
      --sharing <POLICY>       How messages share a link: max-min (exact, the default), equal-share,
                               redistribute, blocking (input queues that hold each other up)
      --transport <MODEL>      How messages move: flow (the default; flow:max-min chooses the
                               sharing too), packet:oq (output queues), packet:iq (input buffers
                               with credits), packet:fq (messages in turn), contention-free
      --routing <RULE>         Which way messages go: d-mod-k, s-mod-k, hashed, dimension-order,
                               random-order, min-adaptive, doal, family, shortest-path, table,
                               minimal, ecmp, spray, valiant-groups, valiant-switches, ugal-l,
                               ugal-g, progressive, min-hop, dfsssp, up-down, tables:FILE,
                               paths:FILE (default: what is usual for the fabric)
      --faults <PART|NAME>     Cables between switches that fail: a part of them, drawn by the seed
                               (1%), or a name; more in [faults]
      --node <MODEL>           The node model: ideal, loggp, loggps, loggopsim; its parameters are
                               those of the machine, or set with --set
      --seed <N>               The seed of everything random; of several runs the first
      --link-bandwidth <RATE>  The bandwidth of links, where a fabric leaves it to the machine:
                               "12.5 GB/s"
      --noise <NOISE>          Stops of the ranks' processors, LENGTH/PERIOD or the LENGTH of one in
                               each calculation, then how lengths are distributed (fixed, uniform,
                               exponential) and when they begin (random, synchronised):
                               25us/1ms,exponential
      --straggler <STRAGGLER>  Ranks that are slow, RANKS=SPEED: 3=50%, 0-7=0.5, nodes:3=50%,
                               count:2=50% (drawn), JOB:3=50%, 3=50%@1ms..2ms (may be repeated)
      --preset <NAME|FILE>     What holds where nothing else is said, such as the setting of a
                               publication: a name (`hayase preset list`) or a file like those
      --set <KEY=VALUE>        Any key of a scenario file: --set topology.fat-tree.p=4 (may be
                               repeated; the last one holds)
      --job <JOB>              A job beside others, NAME=PATTERN:RANKS@PLACEMENT: its name, a
                               pattern or program, its number of ranks and their placement among the
                               nodes that are left; the last two may be left out (may be repeated)
      --estimate <PERCENT>     The makespan to within this part of it (1%), as an estimate with its
                               95 % interval: the beginning is simulated, and the rest is worked out
                               from it. What is not alike from step to step is run in full
      --seeds <N>              Run with so many seeds, from --seed on, and report how the makespan
                               spreads
      --strict                 End with exit code 1 if a recording is incomplete: calls or ranks are
                               missing, or it ends early

Giving out tasks:
      --interference  Of jobs: also tell which delays which, the time that messages of each lost to
                      those of each other

Output:
  -o, --output <FILE>      Also write this file; its name, or KIND=FILE, says what (see below; may
                           be repeated)
      --format <FORMAT>    What is printed: table, json, or csv where the result is one table
                           [default: table]
  -j, --threads <N>        Threads to use (default: one for each core)
      --window <FROM..TO>  What a timeline shows, from one time to another: 1.2ms..1.4ms; without
                           the one from the start, without the other to the end

General options:
  -q, --quiet            Say nothing but results and errors
      --progress <WHEN>  Show how far a run is: on a terminal a bar, elsewhere (with `always`) a
                         line now and then [default: auto]
      --color <WHEN>     Colour messages: auto (on a terminal, unless NO_COLOR is set), always or
                         never [default: auto]

Examples:
  hayase run -t fat-tree-54 -p all-to-all-simple-spread --placement random --seeds 8
  hayase run -t torus-4x4 -p all-to-all-pairwise --transport packet:iq
  hayase run -t torus-8x8 -p ring --size "1 MB" -o report.json -o loads.svg
  hayase run report.json                  the scenario of a report once more
  hayase run scenario.toml --set topology.fat-tree.p=4
  hayase run -t torus-8x8 -p messages.csv --injection window=4
  hayase run farm.toml -t torus-4x4       a master and its workers ([workload.master-slave])
  hayase run gaussian-elimination:n=256 -m myrinet
      a program by rule; likewise traces and schedules, with the options of `hayase replay`
  hayase run cg.prog node-a.comp gigabit.comm
      a prediction from data sets, with the options of `hayase predict`
  hayase run executed.csv --grid 1024x1024 --workers 8..128:8
      tasks of a master/slave program, with the options of `hayase master-slave`
  hayase run -t fat-tree-54 --job a=all-to-all-pairwise:16@random --job b=ring:20
  hayase run -t fat-tree-3456 -p all-to-all-simple-spread --placement random --estimate 1%
  hayase run -t torus-8x8 -p messages.csv --straggler 3=50% -o noise.svg

Yours: scenario.toml (`hayase init scenario.toml` writes one), messages.csv (src,dst,bytes),
farm.toml; cg.prog, node-a.comp and gigabit.comm (data sets), executed.csv (tasks)

The options of programs are described by `hayase replay --help`, those of predictions by `hayase
predict --help`, those of farms by `hayase master-slave --help`. An option that the work does not
have is refused.

Files (-o), by name:
  x.json         the report
  x.svg          how loaded each link was, drawn over the fabric
  timeline.svg   who sent what when, computed, and waited for whom (small runs)
  messages.csv   every message: src,dst,index,bytes,start_s,end_s
  ranks.csv      every rank: where its time went, how late it was
  path.csv       the critical path; activities.csv: all that ranks did
  links.csv      every link: capacity, bytes, busy time, utilisation, flows
  noise.svg      how far the delay of slow ranks travels (--straggler, --noise); also noise.csv
Of a program those of `hayase replay`, of a farm those of `hayase master-slave`. Of jobs x.csv is a
line for each, x.svg shows when they ran, messages.csv and links.csv say which job it was,
timeline.svg has a colour for each, and loads.svg shows how loaded each link was; interference.csv
and interference.svg hold which delays which.
The name may be longer (run-7-messages.csv): the word in it counts.
A file appears when it is complete; of a run that was stopped or deadlocked only the report.

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
