//! Calls as a trace of Paje, for viewing: a container a rank, a state a call, and a link a message.
//!
//! Source: L. Schnorr, *Paje trace file format*, 2014; the events are those that SimGrid writes.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use hayase_trace::walk::{Channel, Channels, Communicators, Requests};

use super::calls::{Calls, Event, Item, ItemError, MOST_RANKS};

/// Definitions of events and types. States are `S`, links `L`, ranks `R` in the container `0`.
const HEAD: &str = "\
%EventDef PajeDefineContainerType 0
% Alias string
% Type string
% Name string
%EndEventDef
%EventDef PajeDefineStateType 1
% Alias string
% Type string
% Name string
%EndEventDef
%EventDef PajeDefineLinkType 2
% Alias string
% Type string
% StartContainerType string
% EndContainerType string
% Name string
%EndEventDef
%EventDef PajeCreateContainer 3
% Time date
% Alias string
% Type string
% Container string
% Name string
%EndEventDef
%EventDef PajeDestroyContainer 4
% Time date
% Type string
% Name string
%EndEventDef
%EventDef PajePushState 5
% Time date
% Type string
% Container string
% Value string
%EndEventDef
%EventDef PajePopState 6
% Time date
% Type string
% Container string
%EndEventDef
%EventDef PajeStartLink 7
% Time date
% Type string
% Container string
% StartContainer string
% Value string
% Key string
%EndEventDef
%EventDef PajeEndLink 8
% Time date
% Type string
% Container string
% EndContainer string
% Value string
% Key string
%EndEventDef
0 P 0 program
0 R P rank
1 S R call
2 L P R R message
3 0 p P 0 program
";

/// Consumer of calls that makes a trace of Paje of them, in memory.
///
/// A message runs from the begin of its send to the end of the call that completes its receive. A message with only one
/// end, or whose source or tag is not known, has no link.
#[derive(Debug, Default)]
pub struct ToPaje {
    ranks: BTreeMap<u32, Rank>,
    /// Calls as (begin, end, rank, name) \[ns\].
    calls: Vec<(u64, u64, u32, &'static str)>,
    /// Begins of sends \[ns\] with their bytes, and places of receives in `received`, without a partner.
    channels: Channels<(u64, u64), usize>,
    /// Ends of receives \[ns\].
    received: Vec<u64>,
    /// Messages: their channel, send, and receive.
    messages: Vec<(Channel, (u64, u64), usize)>,
}

/// Rank on its way.
#[derive(Debug, Default)]
struct Rank {
    /// Start of its times, from which they count \[ns\].
    start: u64,
    comms: Communicators,
    /// Place in `received`, by request.
    requests: Requests<usize>,
}

impl Calls for ToPaje {
    fn item(&mut self, rank: u32, _place: u64, item: Item<'_>) -> Result<(), ItemError> {
        match item {
            Item::Header(header) => {
                if header.ranks > MOST_RANKS {
                    return Err(ItemError::new("too-large", format!("a trace of {} ranks", header.ranks)));
                }
                let repeated = || ItemError::new("repeated-rank", format!("rank {rank} appears twice"));
                let comms = Communicators::new(rank, header.ranks);
                let known = self.ranks.insert(rank, Rank { start: header.start, comms, ..Rank::default() });
                return if known.is_some() { Err(repeated()) } else { Ok(()) };
            }
            Item::Communicator(number, comm) => {
                if let Some(rank) = self.ranks.get_mut(&rank) {
                    rank.comms.insert(number, comm);
                }
            }
            Item::Event(event) if event.thread != 0 => {
                return Err(ItemError::new(
                    "several-threads",
                    "calls of several threads overlap, and states of Paje nest",
                ));
            }
            Item::Event(event) => self.call(rank, event),
            _ => {}
        }
        Ok(())
    }
}

impl ToPaje {
    /// Creates an empty trace.
    pub fn new() -> Self {
        Self::default()
    }

    fn call(&mut self, me: u32, event: &Event) {
        let Some(Rank { start, comms, requests }) = self.ranks.get_mut(&me) else { return };
        let (begin, end) = (start.saturating_add(event.begin), start.saturating_add(event.end));
        self.calls.push((begin, end.max(begin), me, event.name()));
        for begun in requests.begun(event) {
            for message in begun.message_ends() {
                let Some(channel) = comms.channel(&begun, &message) else { continue };
                let met = if message.sends {
                    self.channels.send(channel, (begin, message.bytes))
                } else {
                    let place = self.received.len();
                    self.received.push(end);
                    if let Some(request) = begun.request_made() {
                        requests.keep(request, place);
                    }
                    self.channels.receive(channel, place)
                };
                self.messages.extend(met.map(|(send, receive)| (channel, send, receive)));
            }
        }
        if event.call.completes_requests() {
            for place in event.requests.iter().filter_map(|&request| requests.complete(request)) {
                self.received[place] = end;
            }
        }
    }

    /// Writes the trace, its events in the order of their times.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(self, out: &mut dyn Write) -> io::Result<()> {
        let first = self.calls.iter().map(|call| call.0).min().unwrap_or(0);
        let last = self.calls.iter().map(|call| call.1).max().unwrap_or(first);
        let after = |time: u64| seconds(time - first);
        // At one time calls end before others begin, but for those that begin there, too.
        let mut lines = BTreeSet::new();
        for (at, &(begin, end, rank, name)) in self.calls.iter().enumerate() {
            let is_short = i32::from(begin == end);
            lines.insert((begin, 1, 2 * at, format!("5 {} S r{rank} MPI_{name}", after(begin))));
            lines.insert((end, is_short, 2 * at + 1, format!("6 {} S r{rank}", after(end))));
        }
        for (key, (channel, (begin, bytes), receive)) in self.messages.into_iter().enumerate() {
            let Channel { from, to, .. } = channel;
            let end = self.received[receive].max(begin);
            lines.insert((begin, 3, key, format!("7 {} L p r{from} {bytes} m{key}", after(begin))));
            lines.insert((end, 4, key, format!("8 {} L p r{to} {bytes} m{key}", after(end))));
        }
        out.write_all(HEAD.as_bytes())?;
        for rank in self.ranks.keys() {
            writeln!(out, "3 0 r{rank} R p \"rank {rank}\"")?;
        }
        lines.iter().try_for_each(|(.., line)| writeln!(out, "{line}"))?;
        for rank in self.ranks.keys() {
            writeln!(out, "4 {} R r{rank}", after(last))?;
        }
        writeln!(out, "4 {} P p", after(last))
    }
}

/// Returns a time in seconds with all its digits.
fn seconds(ns: u64) -> String {
    format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::Input;
    use crate::trace::calls::{Call, Header};
    use crate::trace::time_independent;

    /// Ranks send, receive into a request, and wait for it.
    const ACTIONS: &str = "0 init\n1 init\n0 compute 5e6\n0 send 1 7 1000 6\n1 irecv 0 7 1000 6\n1 compute 1e5\n\
                           1 wait 0 1 7\n0 barrier\n1 barrier\n0 finalize\n1 finalize\n";

    fn paje() -> String {
        let mut calls = ToPaje::new();
        let open = |name: &str| Ok(Input::from_bytes(name, ACTIONS.into()));
        time_independent::read("a.txt", &open, 1e9, &mut calls).unwrap();
        let mut bytes = Vec::new();
        calls.write(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn states_nest_and_events_are_in_the_order_of_their_times() {
        let (mut depth, mut time, mut states) = (BTreeMap::new(), 0.0, 0);
        for line in paje().lines().filter(|line| line.starts_with(['5', '6', '7', '8'])) {
            let words: Vec<&str> = line.split(' ').collect();
            let now: f64 = words[1].parse().unwrap();
            assert!(now >= time, "{line}");
            time = now;
            let depth = depth.entry(words[3].to_owned()).or_insert(0);
            match words[0] {
                "5" => (*depth, states) = (*depth + 1, states + 1),
                "6" => *depth -= 1,
                _ => {}
            }
            assert!(*depth >= 0, "{line}");
        }
        assert!(depth.values().all(|depth| *depth == 0));
        assert_eq!(states, 9);
    }

    #[test]
    fn a_call_without_duration_ends_before_the_next_begins() {
        let mut calls = ToPaje::new();
        calls.item(0, 0, Item::Header(&Header::new(0, 1))).unwrap();
        for (call, begin, end) in [(Call::Iprobe, 20, 20), (Call::Barrier, 20, 30), (Call::Barrier, 30, 30)] {
            calls.item(0, 0, Item::Event(&Event::new(call, begin, end))).unwrap();
        }
        let mut bytes = Vec::new();
        calls.write(&mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let states: Vec<&str> =
            text.lines().filter(|line| line.starts_with(['5', '6'])).map(|line| &line[..1]).collect();
        assert_eq!(states.concat(), "565656");
    }

    #[test]
    fn a_message_leads_from_its_send_to_the_wait_for_its_receive() {
        let text = paje();
        let of = |event: &str| -> Vec<String> {
            let lines = text.lines().filter(|line| line.starts_with(event));
            lines.map(|line| line.splitn(3, ' ').nth(2).unwrap().to_owned()).collect()
        };
        assert_eq!(of("7 "), ["L p r0 1000 m0"]);
        assert_eq!(of("8 "), ["L p r1 1000 m0"]);
        let at = |start: &str| text.lines().position(|line| line.starts_with(start)).unwrap();
        let wait = text.lines().position(|line| line.ends_with("r1 MPI_Wait")).unwrap();
        assert!(at("7 ") < at("8 ") && wait < at("8 "));
    }
}
