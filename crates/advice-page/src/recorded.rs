//! A run as it was recorded: every call in its own time, messages from the call that sends to the call that completes.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use hayase_advice::lines::Names;
use hayase_advice::model::Location;
use hayase_advice::stream::Error;
use hayase_trace::{Call, Communicator, Event, Flags, Item, ReadError, Reader};

use crate::{Kind, Message, PlaceId, Run, Span};

/// Reads the streams of a run, one a rank, as `rank-00000.hyt` and so on.
///
/// What a blocking call waited is not told apart from its work: of `Recv` all is receiving, of `Send` sending. Computation is at the
/// line of the call it leads to. Ranks whose streams say when they started on a clock in common are put beside each other
/// by it; else all start at 0. Time starts when the first rank comes out of `MPI_Init`: what it takes is the launcher's, not the program's. `names` names addresses of call sites that have no name yet.
///
/// Memory: a run's, and 32 bytes for each message until all ranks are read.
///
/// # Errors
/// A file cannot be read, or is damaged; one that ends early is taken as far as it goes.
pub fn recorded(run: &hayase_advice::search::Run, names: Names<'_>) -> Result<Run, Error> {
    let starts = run.streams.iter().map(|path| start(path)).collect::<Result<Vec<_>, Error>>()?;
    let known = starts.iter().all(|&(start, _)| start > 0);
    let first = starts.iter().map(|&(start, ready)| start.saturating_add(ready)).min().unwrap_or(0);
    let mut page = Run::new(run.streams.len() as u32);
    let mut channels = Channels::new();
    for (path, (start, ready)) in run.streams.iter().zip(starts) {
        let shift = if known { (start, first) } else { (0, ready) };
        let mut rank = Rank { shift, ..Rank::default() };
        let failed = |error| Error::File { path: path.clone(), error };
        let mut reader = open(path)?;
        loop {
            match reader.next() {
                Ok(Some(item)) => rank.item(&item, &mut page, &mut channels, names),
                Ok(None) | Err(ReadError::Truncated { .. }) => break,
                Err(error) => return Err(failed(error)),
            }
        }
    }
    for ((from, to, _, tag), channel) in channels {
        for (send, receive) in channel.sends.iter().zip(&channel.receives) {
            if let &Some(arrived) = &receive.arrived {
                let (bytes, from_place, to_place) = (send.bytes, send.place, receive.place);
                page.message(&Message { from, to, sent: send.sent, arrived, bytes, tag, from_place, to_place });
            }
        }
    }
    Ok(page)
}

fn open(path: &Path) -> Result<Reader<BufReader<File>>, Error> {
    let file = File::open(path).map_err(|error| Error::File { path: path.into(), error: error.into() })?;
    Ok(Reader::new(BufReader::with_capacity(1 << 16, file)))
}

/// When a stream starts (0: not known), and how long after that `MPI_Init` returned.
fn start(path: &Path) -> Result<(u64, u64), Error> {
    let (mut reader, mut start) = (open(path)?, 0);
    loop {
        match reader.next() {
            Ok(Some(Item::Header(header))) => start = header.start,
            Ok(Some(Item::Event(event))) => return Ok((start, if event.call == Call::Init { event.end } else { 0 })),
            Ok(Some(_)) => {}
            Ok(None) | Err(ReadError::Truncated { .. }) => return Ok((start, 0)),
            Err(error) => return Err(Error::File { path: path.into(), error }),
        }
    }
}

/// Sender, receiver, communicator, tag: messages between these do not overtake each other.
type Key = (u32, u32, u64, i32);
type Channels = BTreeMap<Key, Channel>;

/// Sends and receives in the order in which they were posted.
#[derive(Default)]
struct Channel {
    sends: Vec<Sent>,
    receives: Vec<Received>,
}

struct Sent {
    sent: u64,
    bytes: u64,
    place: PlaceId,
}

struct Received {
    arrived: Option<u64>,
    place: PlaceId,
}

/// A communication that a request can start, or one that is under way.
#[derive(Clone, Copy)]
struct Half {
    send: bool,
    key: Key,
    bytes: u64,
}

/// A rank while its stream is read.
#[derive(Default)]
struct Rank {
    rank: u32,
    ranks: u32,
    /// What is added to its times, and then taken off.
    shift: (u64, u64),
    end: u64,
    number: u64,
    places: Vec<PlaceId>,
    communicators: Vec<Communicator>,
    /// Persistent requests: what they start.
    persistent: BTreeMap<u64, Half>,
    /// Receives under way: their channel, and which they are there.
    pending: BTreeMap<u64, (Key, usize)>,
}

impl Rank {
    fn item(&mut self, item: &Item<'_>, page: &mut Run, channels: &mut Channels, names: Names<'_>) {
        match item {
            Item::Header(header) => (self.rank, self.ranks) = (header.rank, header.ranks),
            Item::Site(index, site) => {
                let named = if site.name.is_empty() { names(self.rank, site.address) } else { Some(site.name.clone()) };
                let place = named.map_or(PlaceId::UNKNOWN, |name| {
                    let Location { file, line, .. } = Location::parse(&name);
                    page.place(&file, line)
                });
                put(&mut self.places, *index, place);
            }
            Item::Communicator(index, communicator) => put(&mut self.communicators, *index, (*communicator).clone()),
            Item::Event(event) => self.event(event, page, channels),
            Item::Region(..) | Item::Mark(_) | Item::Note(..) | Item::End { .. } => {}
        }
    }

    fn event(&mut self, event: &Event, page: &mut Run, channels: &mut Channels) {
        let shifted = |time: u64| time.saturating_add(self.shift.0).saturating_sub(self.shift.1);
        let (begin, end) = (shifted(event.begin), shifted(event.end));
        if event.call == Call::Init && self.number == 0 {
            (self.end, self.number) = (end, 1);
            return;
        }
        let place = (event.site as usize).checked_sub(1).and_then(|site| self.places.get(site).copied());
        let place = place.unwrap_or_default();
        if begin > self.end {
            // Before the stream starts the rank was not there yet.
            let from = if self.number == 0 { shifted(0) } else { self.end };
            page.span(self.rank, Span { place, ..Span::new(Kind::Computation, from, begin) });
        }
        let peer = self.world(event, event.peer);
        page.span(
            self.rank,
            Span {
                kind: kind(event.call),
                begin,
                end,
                place,
                event: Some(self.number),
                call: event.call.name(),
                peer,
                bytes: event.bytes,
                tag: event.tag,
            },
        );
        (self.end, self.number) = (end.max(self.end), self.number + 1);
        self.communication(event, place, (begin, end), channels);
    }

    /// What the call sends, receives, starts and completes.
    fn communication(&mut self, event: &Event, place: PlaceId, (begin, end): (u64, u64), channels: &mut Channels) {
        use hayase_trace::Kind as Of;
        let half = |rank: &Self, send: bool, peer: i32, tag: i32, bytes: u64| {
            let (me, other, comm) = (rank.rank, rank.world(event, peer)?, rank.id(event.comm));
            let key = if send { (me, other, comm, tag) } else { (other, me, comm, tag) };
            Some(Half { send, key, bytes })
        };
        let first = |rank: &Self, send| half(rank, send, event.peer, event.tag, event.bytes);
        match event.call.kind() {
            Of::Send | Of::Isend => {
                if let Some(half) = first(self, true) {
                    post(half, place, begin, None, channels);
                }
            }
            Of::Recv => {
                if let Some(half) = first(self, false) {
                    post(half, place, begin, Some(end), channels);
                }
            }
            Of::Sendrecv => {
                let second = half(self, false, event.peer2, event.tag2, event.bytes2);
                for half in first(self, true).into_iter().chain(second) {
                    post(half, place, begin, Some(end), channels);
                }
            }
            Of::Irecv => {
                if let (Some(half), Some(&request)) = (first(self, false), event.requests.first()) {
                    self.pending.insert(request, post(half, place, begin, None, channels));
                }
            }
            Of::SendInit | Of::RecvInit => {
                let half = first(self, event.call.kind() == Of::SendInit);
                if let (Some(half), Some(&request)) = (half, event.requests.first()) {
                    self.persistent.insert(request, half);
                }
            }
            Of::Start => {
                for request in &event.requests {
                    if let Some(&half) = self.persistent.get(request) {
                        let posted = post(half, place, begin, None, channels);
                        if !half.send {
                            self.pending.insert(*request, posted);
                        }
                    }
                }
            }
            Of::Wait | Of::WaitAny | Of::Test => {
                for request in &event.requests {
                    if let Some((key, number)) = self.pending.remove(request)
                        && let Some(receive) = channels.get_mut(&key).and_then(|of| of.receives.get_mut(number))
                    {
                        (receive.arrived, receive.place) = (Some(end), place);
                    }
                }
            }
            _ => {}
        }
    }

    /// The rank of `MPI_COMM_WORLD` that is `peer` in the call's communicator.
    fn world(&self, event: &Event, peer: i32) -> Option<u32> {
        let peer = u32::try_from(peer).ok()?;
        let rank = match self.communicators.get(event.comm as usize) {
            Some(group) if event.flags.has(Flags::INTER) => group.remote.get(peer as usize).copied(),
            Some(group) if !group.members.is_empty() => group.members.get(peer as usize).copied(),
            _ => (event.comm == 0).then_some(peer),
        };
        rank.filter(|&rank| rank < self.ranks)
    }

    fn id(&self, comm: u32) -> u64 {
        self.communicators.get(comm as usize).map(|group| group.id).filter(|&id| id != 0).unwrap_or(comm.into())
    }
}

/// Adds a send or a receive to its channel, and says where it is there.
fn post(half: Half, place: PlaceId, sent: u64, arrived: Option<u64>, channels: &mut Channels) -> (Key, usize) {
    let channel = channels.entry(half.key).or_default();
    if half.send {
        channel.sends.push(Sent { sent, bytes: half.bytes, place });
        return (half.key, channel.sends.len() - 1);
    }
    channel.receives.push(Received { arrived, place });
    (half.key, channel.receives.len() - 1)
}

/// Sets an entry of a table that grows as the stream names them.
fn put<T: Clone + Default>(table: &mut Vec<T>, index: u32, value: T) {
    let index = index as usize;
    // A damaged stream can name any number.
    if index < 1 << 24 {
        if table.len() <= index {
            table.resize(index + 1, T::default());
        }
        table[index] = value;
    }
}

fn kind(call: Call) -> Kind {
    use hayase_trace::Kind as Of;
    match call.kind() {
        // All ranks end together.
        Of::Local if call == Call::Finalize => Kind::Collective,
        Of::Send | Of::Isend | Of::SendInit | Of::Start => Kind::Send,
        Of::Recv | Of::Irecv | Of::RecvInit | Of::Sendrecv => Kind::Receive,
        Of::Wait | Of::WaitAny | Of::Test | Of::Probe | Of::Iprobe => Kind::Wait,
        Of::Collective | Of::Icollective | Of::Communicator => Kind::Collective,
        Of::Local | Of::Opaque => Kind::Computation,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hayase_trace::{Header, Site, Writer};

    fn stream(folder: &Path, rank: u32, start: u64, events: &[Event]) {
        let file = File::create(folder.join(format!("rank-{rank:05}.hyt"))).unwrap();
        let mut writer = Writer::new(file, &Header { start, ..Header::new(rank, 2) }).unwrap();
        writer.site(0, &Site { address: 0x10, ..Site::default() }).unwrap();
        writer.site(1, &Site { address: 0x20, name: "a.c:7 (main)".into(), ..Site::default() }).unwrap();
        for event in events {
            writer.event(event).unwrap();
        }
        writer.finish().unwrap();
    }

    fn read(folder: &Path) -> Run {
        let run = hayase_advice::search::Run::open(folder).unwrap();
        recorded(&run, &|rank, address| (address == 0x10).then(|| format!("b.c:{}", rank + 1))).unwrap()
    }

    #[test]
    fn calls_follow_computation_and_messages_end_where_they_are_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let to = |peer, bytes, event| Event { peer, tag: 5, bytes, site: 1, ..event };
        let sends = [to(1, 100, Event::new(Call::Send, 10, 20)), to(1, 200, Event::new(Call::Isend, 30, 31))];
        stream(folder.path(), 0, 1_000, &sends);
        let receive =
            |begin, request| Event { requests: vec![request], ..to(0, 0, Event::new(Call::Irecv, begin, begin + 1)) };
        let wait = Event { requests: vec![2, 1], site: 2, ..Event::new(Call::Waitall, 10, 40) };
        stream(folder.path(), 1, 1_500, &[receive(0, 1), receive(5, 2), wait]);
        let run = read(folder.path());
        let spans = |rank: usize| -> Vec<_> { run.spans[rank].iter().map(|s| (s.kind, s.begin, s.end)).collect() };
        assert_eq!(spans(0)[..3], [(Kind::Computation, 0, 10), (Kind::Send, 10, 20), (Kind::Computation, 20, 30)]);
        assert_eq!(spans(1).last(), Some(&(Kind::Wait, 510, 540)));
        let messages: Vec<_> = run.messages.iter().map(|m| (m.sent, m.arrived, m.bytes, m.from, m.to)).collect();
        assert_eq!(messages, [(10, 540, 100, 0, 1), (30, 540, 200, 0, 1)]);
        let place = |place: PlaceId| run.places[place.0 as usize].clone();
        assert_eq!(place(run.messages[0].from_place), ("b.c".into(), 1));
        assert_eq!(place(run.messages[0].to_place), ("a.c".into(), 7));
    }

    #[test]
    fn time_starts_when_the_first_rank_is_ready() {
        let folder = tempfile::tempdir().unwrap();
        let events = |init| [Event::new(Call::Init, 0, init), Event::new(Call::Barrier, 700, 720)];
        stream(folder.path(), 0, 1_000, &events(500));
        stream(folder.path(), 1, 1_100, &events(600));
        let run = read(folder.path());
        let spans =
            |rank: usize| -> Vec<_> { run.spans[rank].iter().map(|s| (s.kind, s.begin, s.end, s.event)).collect() };
        assert_eq!(spans(0), [(Kind::Computation, 0, 200, None), (Kind::Collective, 200, 220, Some(1))]);
        assert_eq!(spans(1), [(Kind::Computation, 200, 300, None), (Kind::Collective, 300, 320, Some(1))]);
    }

    #[test]
    fn a_receive_that_was_never_completed_is_no_message() {
        let folder = tempfile::tempdir().unwrap();
        stream(folder.path(), 0, 0, &[Event { peer: 1, ..Event::new(Call::Send, 0, 5) }]);
        stream(folder.path(), 1, 0, &[Event { peer: 0, requests: vec![1], ..Event::new(Call::Irecv, 0, 5) }]);
        assert!(read(folder.path()).messages.is_empty());
    }

    #[test]
    fn persistent_requests_send_and_receive_each_time_they_are_started() {
        let folder = tempfile::tempdir().unwrap();
        let init = |call, peer| Event { peer, tag: 1, bytes: 8, requests: vec![1], ..Event::new(call, 0, 1) };
        let with = |call, begin| Event { requests: vec![1], ..Event::new(call, begin, begin + 1) };
        let twice = |of| [of, with(Call::Start, 10), with(Call::Wait, 20), with(Call::Start, 30), with(Call::Wait, 40)];
        stream(folder.path(), 0, 0, &twice(init(Call::SendInit, 1)));
        stream(folder.path(), 1, 0, &twice(init(Call::RecvInit, 0)));
        let times: Vec<_> = read(folder.path()).messages.iter().map(|m| (m.sent, m.arrived)).collect();
        assert_eq!(times, [(10, 21), (30, 41)]);
    }
}
