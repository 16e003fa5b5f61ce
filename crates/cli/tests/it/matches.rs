//! Matching of receives and messages: a replay and a prediction match them as the recording did.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use hayase_needs::is_there;
use hayase_trace::{CallKind, Communicator, Event, Flags, Item, Reader};

use super::{Desk, Said};

/// Sender, tag and size \[B\].
type Message = (u32, i32, u64);
/// Sizes in order, by communicator, sender, receiver and tag.
type Channels = BTreeMap<(u64, u32, u32, i32), Vec<u64>>;

/// Messages of a recording, by sender and receiver.
#[derive(Default)]
struct Recorded {
    sent: Channels,
    received: Channels,
    /// Messages taken by each rank, in the order in which its receives were posted.
    taken: Vec<Vec<Message>>,
    /// Number of receives with a wildcard for source or tag.
    open: usize,
}

/// State of a rank while its calls are read.
struct Rank {
    me: u32,
    communicators: BTreeMap<u32, Communicator>,
    persistent: BTreeMap<u64, Event>,
}

impl Rank {
    fn world(&self, comm: u32, peer: i32) -> Option<u32> {
        let peer = usize::try_from(peer).ok()?;
        if comm == 0 { Some(peer as u32) } else { self.communicators[&comm].members.get(peer).copied() }
    }

    fn id(&self, comm: u32) -> u64 {
        if comm == 0 { 1 } else { self.communicators[&comm].id }
    }

    fn send(&self, event: &Event, all: &mut Recorded) {
        if let Some(to) = self.world(event.comm, event.peer) {
            all.sent.entry((self.id(event.comm), self.me, to, event.tag)).or_default().push(event.bytes);
        }
    }

    fn receive(&self, event: &Event, (peer, tag, bytes): (i32, i32, u64), all: &mut Recorded) {
        if let Some(from) = self.world(event.comm, peer) {
            all.received.entry((self.id(event.comm), from, self.me, tag)).or_default().push(bytes);
            all.taken[self.me as usize].push((from, tag, bytes));
            all.open += usize::from(event.flags.has(Flags::ANY_SOURCE) || event.flags.has(Flags::ANY_TAG));
        }
    }

    fn event(&mut self, event: &Event, all: &mut Recorded) {
        let first = (event.peer, event.tag, event.bytes);
        match event.call.kind() {
            CallKind::Send | CallKind::Isend => self.send(event, all),
            CallKind::Recv | CallKind::Irecv => self.receive(event, first, all),
            CallKind::Sendrecv => {
                self.send(event, all);
                self.receive(event, (event.peer2, event.tag2, event.bytes2), all);
            }
            CallKind::SendInit | CallKind::RecvInit => drop(self.persistent.insert(event.requests[0], event.clone())),
            CallKind::Start => {
                for number in &event.requests {
                    let made = &self.persistent[number];
                    match made.call.kind() {
                        CallKind::SendInit => self.send(made, all),
                        _ if event.peer >= 0 => self.receive(event, first, all),
                        _ => self.receive(made, (made.peer, made.tag, made.bytes), all),
                    }
                }
            }
            _ => {}
        }
    }
}

fn recorded(folder: &Path, ranks: u32) -> Recorded {
    let mut all = Recorded { taken: vec![Vec::new(); ranks as usize], ..Recorded::default() };
    for me in 0..ranks {
        let mut rank = Rank { me, communicators: BTreeMap::new(), persistent: BTreeMap::new() };
        let mut reader = Reader::new(BufReader::new(File::open(folder.join(format!("rank-{me:05}.hyt"))).unwrap()));
        while let Some(item) = reader.next().unwrap() {
            match item {
                Item::Communicator(index, group) => drop(rank.communicators.insert(index, group.clone())),
                Item::Event(event) => rank.event(event, &mut all),
                _ => {}
            }
        }
    }
    all
}

/// Returns the messages taken by each rank in program order, from the table that a replay writes.
fn taken(table: &str, ranks: u32) -> Vec<Vec<Message>> {
    let mut all: Vec<Vec<(u64, Message)>> = vec![Vec::new(); ranks as usize];
    for line in table.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        // Messages of collective operations are not operations of the program.
        if let Ok(op) = cells[7].parse() {
            let message = (cells[1].parse().unwrap(), cells[3].parse().unwrap(), cells[5].parse().unwrap());
            all[cells[2].parse::<usize>().unwrap()].push((op, message));
        }
    }
    let in_order = |mut of_rank: Vec<(u64, Message)>| {
        of_rank.sort_unstable();
        of_rank.into_iter().map(|(_, message)| message).collect()
    };
    all.into_iter().map(in_order).collect()
}

fn report(desk: &Desk, words: &str) -> serde_json::Value {
    desk.hayase(&format!("{words} --format json -q")).assert().success().json()
}

const NETWORK: &str = r#"format = "hayase-communication-1"
times = [
  { size = "0 B", receive = "1 us", median = "1 us", high = "1 us" },
  { size = "8000 B", receive = "9 us", median = "9 us", high = "9 us" },
]
"#;

const RANKS: u32 = 4;

/// Programs: name, arguments, true if also recorded with the token, and true if it has receives with
/// wildcards.
const PROGRAMS: [(&str, &str, bool, bool); 5] = [
    ("farm", "30 100", true, true),
    ("groups", "10 4", true, true),
    ("gauss", "20", false, false),
    ("wavefront", "20 2", false, false),
    ("stencil", "20 10", false, false),
];

#[test]
fn a_replay_takes_the_messages_that_were_taken_in_the_recorded_run() {
    for mpi in ["openmpi", "mpich"] {
        // `build` needs both, whatever it builds.
        if !["mpicc", "mpifort"].iter().all(|compiler| is_there(&format!("{compiler}.{mpi}"))) {
            continue;
        }
        let desk = Desk::new().file("net.comm", NETWORK);
        let build = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs/build");
        let mut built = Command::new(build);
        built.args([mpi, "bin"]).args(PROGRAMS.map(|program| program.0)).current_dir(desk.path());
        let output = built.output().unwrap();
        assert!(output.status.success(), "{mpi}: {}", String::from_utf8_lossy(&output.stderr));
        let more = if mpi == "openmpi" { "--oversubscribe" } else { "" };
        for (program, arguments, token, open) in PROGRAMS {
            for option in ["", "--token"].into_iter().take(1 + usize::from(token)) {
                let what = format!("{program} {option} under {mpi}");
                let words = format!(
                    "record --force {option} -o run -- mpirun.{mpi} -np {RANKS} {more} bin/{program} {arguments}"
                );
                let record =
                    desk.hayase(&words).env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
                record
                    .env("XDG_CACHE_HOME", desk.path().join("cache"))
                    .timeout(Duration::from_secs(300))
                    .assert()
                    .success();
                let recorded = recorded(&desk.path().join("run"), RANKS);
                // Every message is there at both ends: its size, communicator and tag.
                assert_eq!(recorded.sent, recorded.received, "{what}");
                assert!(recorded.sent.values().map(Vec::len).sum::<usize>() > 20, "{what}");
                assert_eq!(recorded.open > 0, open, "{what}");

                desk.hayase("program fold run -o run.prog -o run.comp -q").assert().success();
                for words in [
                    "replay run -m infiniband-hdr -o messages.csv",
                    "predict --program run.prog --computation run.comp --communication net.comm -o messages.csv",
                    "predict --program run.prog --computation run.comp -m myrinet -t torus-4x4 -o messages.csv",
                ] {
                    let played = report(&desk, words);
                    assert_eq!(taken(&desk.read("messages.csv"), RANKS), recorded.taken, "{what}: {words}");
                    let left = &played["open_receives"];
                    let count = |name: &str| left[name].as_u64().unwrap_or(0) as usize;
                    assert_eq!((count("receives"), count("as_recorded")), (recorded.open, recorded.open), "{what}");
                    // In the order of arrival other messages may match, as many as the report counts.
                    let played = report(&desk, &format!("{words} --wildcards arrival"));
                    if played["status"] == "complete" {
                        let arrived = taken(&desk.read("messages.csv"), RANKS);
                        let pairs = arrived.iter().flatten().zip(recorded.taken.iter().flatten());
                        let other = pairs.filter(|(a, b)| (a.0, a.1) != (b.0, b.1)).count();
                        let left = &played["open_receives"];
                        let count = |name: &str| left[name].as_u64().unwrap_or(0) as usize;
                        assert_eq!(count("receives") - count("as_recorded"), other, "{what}: {words}");
                    }
                }
                fs::remove_dir_all(desk.path().join("run")).unwrap();
            }
        }
    }
}
