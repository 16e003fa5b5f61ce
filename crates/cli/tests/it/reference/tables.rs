//! Page of tables: columns of every CSV that the program writes, from files that it has written.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::super::{Desk, Said};
use super::wrapped;
use hayase_output::columns::MEANINGS;

/// Table that the program writes.
struct Table {
    title: &'static str,
    about: &'static str,
    /// Command that writes the table, to standard output or to a file after ` -o `.
    command: &'static str,
}

const TABLES: &[Table] = &[
    Table {
        title: "messages.csv",
        about: "A line for each message of a pattern, with `run`.",
        command: "run -t torus-4x4 -p ring -o messages.csv",
    },
    Table {
        title: "messages.csv of a program",
        about: "A line for each message of a program, when it has been received; `run`, `replay`, `predict`.",
        command: "replay gaussian-elimination:n=32,ranks=4 -m myrinet -o messages.csv",
    },
    Table {
        title: "links.csv",
        about: "A line for each link, with `run` and `replay`.",
        command: "run -t torus-4x4 -p ring -o links.csv",
    },
    Table {
        title: "ranks.csv",
        about: "Where the time of each rank went, and how late it was; `run`, `replay`, `predict`.",
        command: "replay gaussian-elimination:n=32,ranks=4 -m myrinet -o ranks.csv",
    },
    Table {
        title: "activities.csv",
        about: "A line for each activity of a rank, when it ends.",
        command: "replay gaussian-elimination:n=32,ranks=4 -m myrinet -o activities.csv",
    },
    Table {
        title: "path.csv",
        about: "Steps of the critical path, from 0 to the makespan without a gap.",
        command: "replay gaussian-elimination:n=32,ranks=4 -m myrinet -o path.csv",
    },
    Table {
        title: "matrix.csv",
        about: "Communication matrix of a program.",
        command: "replay gaussian-elimination:n=32,ranks=4 -m myrinet -o matrix.csv",
    },
    Table {
        title: "noise.csv",
        about: "How slow ranks delay each rank; with `--straggler` or `--noise`.",
        command: "run -t torus-4x4 -p ring --straggler 1=50% -o noise.csv",
    },
    Table {
        title: "rates.csv",
        about: "Rates of the messages of the first step, with `rates`.",
        command: "rates -t torus-4x4 -p ring -o rates.csv",
    },
    Table {
        title: "jobs.csv",
        about: "A line for each job, with `run --job`.",
        command: "run -t torus-4x4 --job a=ring:8 --job b=ring:8 -o jobs.csv",
    },
    Table {
        title: "messages.csv of jobs",
        about: "A line for each message of all jobs; ranks are those of the job.",
        command: "run -t torus-4x4 --job a=ring:8 --job b=ring:8 -o messages.csv",
    },
    Table {
        title: "links.csv of jobs",
        about: "A line for each link, with a column for each job.",
        command: "run -t torus-4x4 --job a=ring:8 --job b=ring:8 -o links.csv",
    },
    Table {
        title: "interference.csv",
        about: "Time that jobs lose to each other, with `run --job --interference`.",
        command: "run -t torus-4x4 --job a=ring:8 --job b=ring:8 --interference -o interference.csv",
    },
    Table {
        title: "Comparison",
        about: "Rows of `compare`, best first. Keys of `--vary` have a column each, behind `machine`.",
        command: "compare -t torus-4x4 -p ring,all-to-all-simple-spread -o x.csv",
    },
    Table {
        title: "Comparison with faults",
        about: "Columns that `compare --faults` adds.",
        command: "compare -t torus-4x4 -p ring --faults 0,1% -o x.csv",
    },
    Table {
        title: "Comparison of estimates",
        about: "Columns that `compare --estimate` adds.",
        command: "compare -t torus-4x4 -p ring --estimate 5% -o x.csv",
    },
    Table {
        title: "Comparison with the optimum",
        about: "Columns that `compare --optimum` and `--jitter` add.",
        command: "compare -t torus-4x4 -p ring --optimum --jitter 1us -o x.csv",
    },
    Table {
        title: "Algorithms of an operation",
        about: "Rows of `compare --op`. `placement` and `transport` have a column each if several are compared.",
        command: "compare --op all-gather -t torus-4x4 --vary size=1KB -o x.csv",
    },
    Table {
        title: "Choices of NCCL",
        about: "A line for each size, with `nccl`. The last three columns need a fabric.",
        command: "nccl --op all-reduce --ranks 8 --nodes 1 -m h200-8x400g --size 1MiB -o x.csv",
    },
    Table {
        title: "Comparison of jobs",
        about: "Columns that `compare --job` adds.",
        command: "compare -t torus-4x4 --job a=ring:8 --job b=ring:8 -o x.csv",
    },
    Table {
        title: "jobs.csv of a comparison",
        about: "A line for each job of each row of `compare --job`.",
        command: "compare -t torus-4x4 --job a=ring:8 --job b=ring:8 -o jobs.csv",
    },
    Table {
        title: "Two reports",
        about: "Keys with other values in the two reports of `compare a.json b.json`, those of the scenario first.",
        command: "compare a.json b.json -o x.csv",
    },
    Table {
        title: "What-if",
        about: "Predicted time over each parameter, with `whatif`; the first lines are the unchanged run and its limits.",
        command: "whatif gaussian-elimination:n=32,ranks=4 -m myrinet --vary L=1us,2us -o x.csv",
    },
    Table {
        title: "Accuracy",
        about: "A line for each flow model beside each packet model in each case, with `accuracy`. Errors are fractions: 0.1 is 10 %, negative where the model is too fast.",
        command: "accuracy -t torus-4x4 -p ring --models max-min --references packet:oq -o x.csv",
    },
    Table {
        title: "Measured collectives",
        about: "Rows of `accuracy --measured`: the columns of their files (`shape` and `placement` too, where a file has them), then the prediction.",
        command: "accuracy --measured marenostrum5 --models max-min+ideal -o x.csv",
    },
    Table {
        title: "Farm",
        about: "Predictions of a master/worker program. `--vary` adds a first column.",
        command: "master-slave constant:count=20,time=1ms --workers 2,4 --seeds 2 -o x.csv",
    },
    Table {
        title: "Fabrics",
        about: "Rows of `topology compare`.",
        command: "topology compare torus-4x4,crossbar-64 --simulate 1 --pairings 2 --failed 1% -o x.csv",
    },
    Table {
        title: "Cables of a fabric",
        about: "Links of `topology show`, as `[topology.custom]` reads them.",
        command: "topology show torus-4x4 -o x.csv",
    },
    Table {
        title: "paths.csv",
        about: "Routes of the optimum, with `throughput --optimum`, as `--routing paths:FILE` reads them.",
        command: "throughput -t torus-4x4 --optimum -o paths.csv",
    },
    Table {
        title: "Forwarding tables",
        about: "Entries of `topology routes`, as `--routing tables:FILE` reads them.",
        command: "topology routes torus-4x4 -o x.csv",
    },
    Table {
        title: "Messages of a pattern",
        about: "Lines of `show pattern NAME`.",
        command: "pattern show ring --ranks 4 --format csv",
    },
    Table {
        title: "List of topologies",
        about: "`list topologies --format csv`.",
        command: "list topologies --format csv",
    },
    Table { title: "List of machines", about: "`list machines --format csv`.", command: "list machines --format csv" },
    Table { title: "List of rules", about: "`explain --format csv`.", command: "explain --format csv" },
    Table {
        title: "Validation",
        about: "Cases of `validate --format csv`.",
        command: "validate --format csv one-message",
    },
];

/// Returns the page of tables.
pub fn page() -> String {
    let report = |makespan: f64| format!("{{\"schema\": \"hayase-report-1\", \"makespan_s\": {makespan}}}");
    let desk = Desk::new().file("a.json", &report(1.0)).file("b.json", &report(2.0));
    let mut page = "# Tables\n\n\
        Columns of every CSV, in their order. Names in `_s` are in seconds, in `_Bps` (or `_bps`) in bytes per second,\n\
        in `_per_s` per second; `bytes` are bytes. Unknown values are empty. Python, Arrow and JSON use the same \
        names.\n\n"
        .to_owned();
    let mut used = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut missing = Vec::new();
    for Table { title, about, command } in TABLES {
        let said = desk.hayase(&format!("{command} -q")).assert().success().stdout();
        let text = match command.split_once(" -o ") {
            Some((_, file)) => desk.read(file),
            None => said,
        };
        write!(page, "## {title}\n\n{}\n\n| column | meaning |\n|---|---|\n", wrapped(about)).unwrap();
        let family = title.split([' ', '.']).next().unwrap();
        for column in text.lines().next().unwrap().split(',') {
            // A table that extends another one lists only its own columns.
            if !seen.insert((family, column.to_owned())) && title.starts_with("Comparison ") {
                continue;
            }
            let line = |start: String| MEANINGS.lines().find(|line| line.starts_with(&start));
            let line = line(format!("{title}/{column}: ")).or_else(|| line(format!("{column}: ")));
            let Some(line) = line else {
                missing.push(format!("{title}/{column}"));
                continue;
            };
            used.insert(line);
            writeln!(page, "| `{column}` | {} |", line.split_once(": ").unwrap().1).unwrap();
        }
        page.push('\n');
    }
    assert!(missing.is_empty(), "meanings.txt does not explain {missing:#?}");
    let unused: Vec<&str> = MEANINGS.lines().filter(|line| !used.contains(line)).collect();
    assert!(unused.is_empty(), "meanings.txt explains columns that no table has: {unused:?}");
    page.trim_end().to_owned() + "\n"
}
