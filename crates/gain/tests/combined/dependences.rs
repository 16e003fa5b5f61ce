//! Check of every dependence of a program, element by element, against the order of a changed program.
//!
//! The check uses nothing of the search. A rank is a sequence of accesses and of communications with all
//! their bytes. Times are read off the operations of the recorded or changed program: a calculation stands
//! for one access per microsecond.

use std::collections::BTreeMap;

use hayase::ids::RankId;
use hayase::program::{OpKind, Program};
use hayase_advice::model::{Action, Edit};
use hayase_trace::Call;

use super::programs::{Bytes, conflict, parts};
use super::recorded::Recorded;

/// Access `(interval, position)`, or a part of an event.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Element {
    Access(usize, usize),
    Part(usize, usize),
}

/// Begin and end of each access and part.
type Times = BTreeMap<Element, (u64, u64)>;

/// Event that takes the place of each merged or replaced call, by rank, event and part.
type Places = BTreeMap<(u32, usize, usize), usize>;

/// Returns the new places of merged and replaced calls.
pub fn places(edits: &[Edit], ranks: &[Recorded]) -> Places {
    let mut places = Places::new();
    for edit in edits {
        match &edit.action {
            Action::Overlap { .. } => {}
            Action::Merge { with, .. } => {
                for head in edit.events() {
                    for other in with.iter().map(|distance| head + distance) {
                        for part in 0..3 {
                            places.insert((edit.rank, other as usize, part), head as usize);
                        }
                    }
                }
            }
            Action::Replace { calls, .. } => {
                for &(rank, event) in calls {
                    let first = calls.iter().find(|call| call.0 == rank).unwrap().1;
                    for (part, _) in parts(&ranks[rank as usize].events[event as usize], rank as i32, 0) {
                        places.insert((rank, event as usize, part), first as usize);
                    }
                }
            }
        }
    }
    places
}

/// Returns the times of a rank of a program; `made` is the number of collective operations of the recorded
/// program.
fn times(program: &Program, rank: u32, recorded: &Recorded, places: &Places, made: usize) -> Result<Times, String> {
    let ops = program.rank(RankId(rank));
    let mut times = Times::new();
    let mut clock = 0;
    let mut computed: BTreeMap<usize, (f64, usize)> = BTreeMap::new();
    // Parts that each operation does.
    let mut doing: BTreeMap<u32, Vec<Element>> = BTreeMap::new();
    for (at, op) in (0_u32..).zip(&ops.ops) {
        let event = ops.places[at as usize] as usize - 1;
        clock += 1;
        let part = match op.kind {
            OpKind::Calc => {
                let (time, done) = computed.entry(event).or_default();
                *time += op.duration().ps() * 1e-6;
                for position in *done..(time.round() as usize) {
                    clock += 1;
                    times.insert(Element::Access(event, position), (clock, clock));
                }
                *done = time.round() as usize;
                continue;
            }
            OpKind::Wait | OpKind::Waitall => {
                let list = match op.kind {
                    OpKind::Wait => vec![op.arg],
                    _ => ops.list(op.arg, op.size as u32).to_vec(),
                };
                for what in list.iter().flat_map(|started| &doing[started]) {
                    times.get_mut(what).unwrap().1 = clock;
                }
                continue;
            }
            OpKind::Send | OpKind::Isend => 0,
            OpKind::Recv | OpKind::Irecv => 1,
            _ => 2,
        };
        // A new collective operation replaces messages.
        let replaces = part == 2
            && op.arg as usize >= made
            && recorded.events[event].call.kind() != hayase_trace::CallKind::Collective
            && recorded.events[event].call != Call::Iallreduce;
        let mut does: Vec<Element> = places
            .iter()
            .filter(|((of, _, _), place)| *of == rank && **place == event)
            .filter(|((_, _, other), _)| replaces || *other == part)
            .map(|((_, event, part), _)| Element::Part(*event, *part))
            .collect();
        if !replaces {
            does.push(Element::Part(event, part));
        }
        for &what in &does {
            if times.insert(what, (clock, clock)).is_some() {
                return Err(format!("rank {rank} does {what:?} twice"));
            }
        }
        doing.insert(at, does);
    }
    Ok(times)
}

/// Reports the first dependence of a rank that a changed program does not keep.
pub fn broken(
    before: &Program,
    after: &Program,
    rank: u32,
    recorded: &Recorded,
    all: u64,
    places: &Places,
) -> Result<(), String> {
    let made = before.collectives.len();
    let old = times(before, rank, recorded, &Places::new(), made)?;
    let new = times(after, rank, recorded, places, made)?;
    if old.keys().ne(new.keys()) {
        return Err(format!("rank {rank} does not do the same: {old:?} {new:?}"));
    }
    let mut touched: Vec<(Element, Vec<Bytes>)> = Vec::new();
    for (number, accesses) in recorded.intervals.iter().enumerate() {
        for (position, one) in accesses.iter().enumerate() {
            let bytes = vec![(one.address, one.address + one.size, one.write)];
            touched.push((Element::Access(number, position), bytes));
        }
    }
    for (number, event) in recorded.events.iter().enumerate() {
        let of = parts(event, rank as i32, all);
        touched.extend(of.into_iter().map(|(part, bytes)| (Element::Part(number, part), bytes)));
    }
    touched.retain(|(what, _)| old.contains_key(what));
    let envelope = |what: Element| match what {
        Element::Access(..) => None,
        Element::Part(event, part) => {
            let event = &recorded.events[event];
            // Collective operations have one order, messages one for each partner and tag.
            Some(match part {
                2 => (part, 0, 0),
                1 if event.call.kind() == hayase_trace::CallKind::Sendrecv => (part, event.peer2, event.tag2),
                _ => (part, event.peer, event.tag),
            })
        }
    };
    for (a, of_a) in &touched {
        for (b, of_b) in &touched {
            let ((a0, a1), (b0, _)) = (old[a], old[b]);
            let ((c0, c1), (d0, _)) = (new[a], new[b]);
            let touch = of_a.iter().any(|&one| of_b.iter().any(|&other| conflict(one, other)));
            if touch && a1 < b0 && c1 >= d0 {
                return Err(format!("rank {rank}: {b:?} needs {a:?}, {old:?} {new:?}"));
            }
            // `MPI_Sendrecv_replace`: the old data stays in the buffer until the call, and is sent by its end.
            let replaces = |event: usize| recorded.events[event].call == Call::SendrecvReplace;
            let early =
                matches!((a, b), (Element::Access(n, _), Element::Part(e, 1)) if replaces(*e) && n <= e && c1 >= d0);
            let late =
                matches!((a, b), (Element::Part(e, 0), Element::Access(n, _)) if replaces(*e) && e < n && c1 >= d0);
            if early || late {
                return Err(format!("rank {rank}: {a:?} and {b:?}, {old:?} {new:?}"));
            }
            let replaced = |what: &Element| matches!(what, Element::Part(e, p) if places.contains_key(&(rank, *e, *p)));
            if envelope(*a).is_some()
                && envelope(*a) == envelope(*b)
                && a0 < b0
                && c0 > d0
                && !(replaced(a) && replaced(b))
            {
                return Err(format!("rank {rank}: {b:?} overtakes {a:?}, {old:?} {new:?}"));
            }
        }
    }
    Ok(())
}

/// Reports messages of the changed program whose size differs at the other end.
pub fn unequal(after: &Program) -> Result<(), String> {
    let mut sizes: BTreeMap<(u32, u32, u32), [Vec<u64>; 2]> = BTreeMap::new();
    for (rank, ops) in after.iter() {
        for op in &ops.ops {
            match op.kind {
                OpKind::Send | OpKind::Isend => {
                    sizes.entry((rank.0, op.peer, op.tag)).or_default()[0].push(op.size);
                }
                OpKind::Recv | OpKind::Irecv => {
                    sizes.entry((op.peer, rank.0, op.tag)).or_default()[1].push(op.size);
                }
                _ => {}
            }
        }
    }
    match sizes.iter().find(|(_, [sent, received])| sent != received) {
        Some((channel, sizes)) => Err(format!("{channel:?}: {sizes:?}")),
        None => Ok(()),
    }
}
