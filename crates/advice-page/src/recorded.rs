//! Run as it was recorded: every call at its own time, and messages from the sending call to the completing
//! call.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use hayase_advice::lines::Names;
use hayase_advice::model::Location;
use hayase_advice::stream::Error;
use hayase_trace::walk::{Channel, Channels, Communicators, Requests};
use hayase_trace::{Call, Event, Item, ReadError, Reader};

use crate::run::Run;
use crate::span::{Activity, Message, PlaceId, Span};

/// Reads the streams of a run, one for each rank, as `rank-00000.hyt` and so on.
///
/// The wait of a blocking call is not separated from its work: all of `Recv` is receiving, all of `Send`
/// sending. Computation is at the line of the call after it. If all streams record their start on a common
/// clock, ranks are aligned by it; else all start at 0. Time starts when the first rank returns from
/// `MPI_Init`, because the time before belongs to the launcher, not the program. `names` gives the names of
/// call sites that have only an address.
///
/// Memory: that of a run, and 80 bytes for each message until all ranks are read.
///
/// # Errors
/// A file cannot be read, or is damaged. A truncated file is read as far as it goes.
pub fn recorded(run: &hayase_advice::search::RunFiles, names: Names<'_>) -> Result<Run, Error> {
    let starts = run.streams.iter().map(|path| start(path)).collect::<Result<Vec<_>, Error>>()?;
    let known = starts.iter().all(|&(start, _)| start > 0);
    let first = starts.iter().map(|&(start, ready)| start.saturating_add(ready)).min().unwrap_or(0);
    let mut page = Run::new(run.streams.len() as u32);
    let mut messages = Messages::default();
    for (path, (start, ready)) in run.streams.iter().zip(starts) {
        let shift = if known { (start, first) } else { (0, ready) };
        let mut rank = RankReader { shift, ..RankReader::default() };
        let failed = |error| Error::File { path: path.clone(), error };
        let mut reader = open(path)?;
        loop {
            match reader.next() {
                Ok(Some(item)) => rank.item(&item, &mut page, &mut messages, names),
                Ok(None) | Err(ReadError::Truncated { .. }) => break,
                Err(error) => return Err(failed(error)),
            }
        }
    }
    // Sorted by channel, and within each in the order of sending, whichever rank was read first.
    messages.met.sort_by_key(|&(channel, ..)| channel);
    for (Channel { from, to, tag, .. }, sent, receive) in messages.met {
        let Received { arrived: Some(arrived), place: to_place } = messages.received[receive] else { continue };
        let Sent { sent, bytes, place: from_place } = sent;
        page.message(&Message { from, to, sent, arrived, bytes, tag, from_place, to_place });
    }
    Ok(page)
}

fn open(path: &Path) -> Result<Reader<BufReader<File>>, Error> {
    let file = File::open(path).map_err(|error| Error::File { path: path.into(), error: error.into() })?;
    Ok(Reader::new(BufReader::with_capacity(1 << 16, file)))
}

/// Returns the start of a stream (0 if not known), and the time from there to the return of `MPI_Init`
/// \[ns\].
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

/// Messages of all ranks.
#[derive(Default)]
struct Messages {
    /// Unmatched sends, and receives by their index in `received`.
    channels: Channels<Sent, usize>,
    met: Vec<(Channel, Sent, usize)>,
    received: Vec<Received>,
}

struct Sent {
    sent: u64,
    bytes: u64,
    place: PlaceId,
}

struct Received {
    /// Time of completion \[ns\]; `None` if the receive was never complete.
    arrived: Option<u64>,
    place: PlaceId,
}

/// State of a rank while its stream is read.
#[derive(Default)]
struct RankReader {
    rank: u32,
    /// Times added to its times, and then subtracted \[ns\].
    shift: (u64, u64),
    end: u64,
    number: u64,
    places: Vec<PlaceId>,
    communicators: Communicators,
    /// Receives under way.
    requests: Requests<usize>,
}

impl RankReader {
    fn item(&mut self, item: &Item<'_>, page: &mut Run, messages: &mut Messages, names: Names<'_>) {
        match item {
            Item::Header(header) => {
                (self.rank, self.communicators) = (header.rank, Communicators::new(header.rank, header.ranks));
            }
            Item::Site(index, site) => {
                let named = if site.name.is_empty() { names(self.rank, site.address) } else { Some(site.name.clone()) };
                let place = named.map_or(PlaceId::UNKNOWN, |name| {
                    let Location { file, line, .. } = Location::parse(&name);
                    page.place(&file, line)
                });
                let index = *index as usize;
                // A damaged stream can name any number.
                if index < 1 << 24 {
                    if self.places.len() <= index {
                        self.places.resize(index + 1, PlaceId::UNKNOWN);
                    }
                    self.places[index] = place;
                }
            }
            Item::Communicator(index, communicator) => self.communicators.insert(*index, communicator),
            Item::Event(event) => self.event(event, page, messages),
            Item::Region(..) | Item::Mark(_) | Item::Note(..) | Item::End { .. } => {}
        }
    }

    fn event(&mut self, event: &Event, page: &mut Run, messages: &mut Messages) {
        let shifted = |time: u64| time.saturating_add(self.shift.0).saturating_sub(self.shift.1);
        let (begin, end) = (shifted(event.begin), shifted(event.end));
        if event.call == Call::Init && self.number == 0 {
            (self.end, self.number) = (end, 1);
            return;
        }
        let place = (event.site as usize).checked_sub(1).and_then(|site| self.places.get(site).copied());
        let place = place.unwrap_or_default();
        if begin > self.end {
            // The rank did not exist before its stream starts.
            let from = if self.number == 0 { shifted(0) } else { self.end };
            page.span(self.rank, Span { place, ..Span::new(Activity::Computation, from, begin) });
        }
        let peer = self.communicators.world(event, event.peer);
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
        self.communication(event, place, (begin, end), messages);
    }

    /// Processes the messages and requests of a call.
    fn communication(&mut self, event: &Event, place: PlaceId, (begin, end): (u64, u64), messages: &mut Messages) {
        let Messages { channels, met, received } = messages;
        for begun in self.requests.begun(event) {
            for message in begun.message_ends() {
                let Some(channel) = self.communicators.channel(&begun, &message) else { continue };
                let pair = if message.sends {
                    channels.send(channel, Sent { sent: begin, bytes: message.bytes, place })
                } else {
                    let number = received.len();
                    let arrived = (!begun.call.makes_request()).then_some(end);
                    received.push(Received { arrived, place });
                    if let Some(request) = begun.request_made() {
                        self.requests.keep(request, number);
                    }
                    channels.receive(channel, number)
                };
                met.extend(pair.map(|(sent, receive)| (channel, sent, receive)));
            }
        }
        if event.call.completes_requests() {
            for receive in event.requests.iter().filter_map(|&request| self.requests.complete(request)) {
                received[receive] = Received { arrived: Some(end), place };
            }
        } else if event.call == Call::RequestFree {
            for &request in &event.requests {
                self.requests.free(request);
            }
        }
    }
}

fn kind(call: Call) -> Activity {
    use hayase_trace::CallKind as Of;
    match call.kind() {
        // All ranks end together.
        Of::Local if call == Call::Finalize => Activity::Collective,
        Of::Send | Of::Isend | Of::SendInit | Of::Start => Activity::Send,
        Of::Recv | Of::Irecv | Of::RecvInit | Of::Sendrecv => Activity::Receive,
        Of::Wait | Of::WaitAny | Of::Test | Of::Probe | Of::Iprobe => Activity::Wait,
        Of::Collective | Of::Icollective | Of::Communicator => Activity::Collective,
        Of::Local | Of::Opaque => Activity::Computation,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hayase_trace::{Flags, Header, Site, Writer};

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
        let run = hayase_advice::search::RunFiles::open(folder).unwrap();
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
        assert_eq!(
            spans(0)[..3],
            [(Activity::Computation, 0, 10), (Activity::Send, 10, 20), (Activity::Computation, 20, 30)]
        );
        assert_eq!(spans(1).last(), Some(&(Activity::Wait, 510, 540)));
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
        assert_eq!(spans(0), [(Activity::Computation, 0, 200, None), (Activity::Collective, 200, 220, Some(1))]);
        assert_eq!(spans(1), [(Activity::Computation, 200, 300, None), (Activity::Collective, 300, 320, Some(1))]);
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

    #[test]
    fn starts_of_a_receive_from_anyone_take_what_they_brought() {
        let folder = tempfile::tempdir().unwrap();
        let send = |begin| Event { peer: 1, tag: 1, bytes: 8, ..Event::new(Call::Send, begin, begin + 1) };
        stream(folder.path(), 0, 0, &[send(10), send(30)]);
        let with = |call, begin| Event { requests: vec![1], ..Event::new(call, begin, begin + 1) };
        let open = |peer, event| Event { flags: Flags::ANY_SOURCE, peer, tag: 1, bytes: 8, ..event };
        let once = |begin, peer| [open(peer, with(Call::Start, begin)), with(Call::Wait, begin + 10)];
        // The second is cancelled.
        let receives = [once(10, 0), once(30, Event::PROC_NULL), once(50, 0)].concat();
        stream(folder.path(), 1, 0, &[vec![open(-1, with(Call::RecvInit, 0))], receives].concat());
        let times: Vec<_> = read(folder.path()).messages.iter().map(|m| (m.sent, m.arrived)).collect();
        assert_eq!(times, [(10, 21), (30, 61)]);
    }

    #[test]
    fn a_receive_that_is_freed_keeps_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let send = |begin| Event { peer: 1, ..Event::new(Call::Send, begin, begin + 1) };
        stream(folder.path(), 0, 0, &[send(10), send(30)]);
        let with = |call, begin| Event { requests: vec![1], ..Event::new(call, begin, begin + 1) };
        let events = [
            Event { peer: 0, ..with(Call::Irecv, 0) },
            with(Call::RequestFree, 5),
            Event { peer: 0, ..Event::new(Call::Recv, 30, 40) },
        ];
        stream(folder.path(), 1, 0, &events);
        let times: Vec<_> = read(folder.path()).messages.iter().map(|m| (m.sent, m.arrived)).collect();
        assert_eq!(times, [(30, 40)]);
    }
}
