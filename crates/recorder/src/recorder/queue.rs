//! Events that wait for unknown fields.
//!
//! Source and size of a started receive are known when it is complete, and the trace records them where the
//! receive is started. So that event and all after it wait here until then. At most 16,384 events wait;
//! fields unknown by then are left out.

use std::collections::VecDeque;
use std::io::{self, Write};

use hayase_trace::{Event, Mark, Writer};

/// Largest number of waiting events: some megabytes.
const MAX_WAITING_EVENTS: usize = 1 << 14;

/// Events that wait.
#[derive(Debug, Default)]
pub struct Queue {
    waiting: VecDeque<Waiting>,
    /// Number of the first waiting event, counted from the first that ever waited.
    first: u64,
    /// Number of the next event, if it is open.
    opens: Option<u64>,
    /// Used events, kept for their memory.
    spare: Vec<Event>,
}

#[derive(Debug)]
struct Waiting {
    event: Event,
    open: bool,
    /// Borders of regions after the event.
    marks: Vec<Mark>,
}

impl Queue {
    /// Number of waiting events.
    pub fn len(&self) -> u64 {
        self.waiting.len() as u64
    }

    /// True if no event waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Notes that events have been written without the queue.
    pub fn skip(&mut self, events: u64) {
        self.first += events;
    }

    /// Declares open the event that follows after `before` others; returns the number to resolve it by.
    pub fn open(&mut self, before: u64) -> u64 {
        let number = self.first + self.len() + before;
        self.opens = Some(number);
        number
    }

    /// Adds an event; writes events that need not wait.
    ///
    /// # Errors
    /// Those of the writer.
    #[inline]
    pub fn add<W: Write>(&mut self, event: &Event, writer: &mut Writer<W>) -> io::Result<()> {
        let number = self.first + self.len();
        let open = self.opens == Some(number);
        if open {
            self.opens = None;
        } else if self.waiting.is_empty() {
            // Numbers count all events, waiting or not.
            self.first += 1;
            return writer.event(event);
        }
        let event = match self.spare.pop() {
            Some(mut spare) => {
                spare.clone_from(event);
                spare
            }
            None => event.clone(),
        };
        self.waiting.push_back(Waiting { event, open, marks: Vec::new() });
        if self.waiting.len() > MAX_WAITING_EVENTS
            && let Some(front) = self.waiting.front_mut()
        {
            front.open = false;
        }
        self.drain(writer)
    }

    /// Adds a border of a region, after all events so far.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn mark<W: Write>(&mut self, mark: Mark, writer: &mut Writer<W>) -> io::Result<()> {
        match self.waiting.back_mut() {
            Some(last) => {
                last.marks.push(mark);
                Ok(())
            }
            None => writer.mark(&mark),
        }
    }

    /// Completes the event of this number. Does nothing if it has been written incomplete.
    pub fn resolve(&mut self, number: u64, change: impl FnOnce(&mut Event)) {
        let Some(index) = number.checked_sub(self.first) else { return };
        if let Some(waiting) = usize::try_from(index).ok().and_then(|index| self.waiting.get_mut(index)) {
            change(&mut waiting.event);
            waiting.open = false;
        }
    }

    /// Writes events that need not wait any longer.
    fn drain<W: Write>(&mut self, writer: &mut Writer<W>) -> io::Result<()> {
        while let Some(Waiting { event, marks, .. }) = self.waiting.pop_front_if(|waiting| !waiting.open) {
            self.first += 1;
            let result = writer.event(&event).and_then(|()| marks.iter().try_for_each(|mark| writer.mark(mark)));
            if self.spare.len() < 64 {
                self.spare.push(event);
            }
            result?;
        }
        Ok(())
    }

    /// Writes all events, complete or not.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn close<W: Write>(&mut self, writer: &mut Writer<W>) -> io::Result<()> {
        for waiting in &mut self.waiting {
            waiting.open = false;
        }
        self.drain(writer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hayase_trace::{Call, Header, Item, Reader};

    fn written(file: &[u8]) -> Vec<(Call, i32)> {
        let mut reader = Reader::new(file);
        let mut events = Vec::new();
        while let Some(item) = reader.next().unwrap() {
            match item {
                Item::Event(event) => events.push((event.call, event.peer)),
                Item::Mark(_) => events.push((Call::Compute, 99)),
                _ => {}
            }
        }
        events
    }

    #[test]
    fn what_comes_after_an_open_receive_waits_for_it_and_keeps_its_order() {
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file, &Header::new(0, 1)).unwrap();
        let mut queue = Queue::default();
        let event = |call| Event::new(call, 0, 0);
        queue.add(&event(Call::Init), &mut writer).unwrap();
        assert!(queue.is_empty());
        let first = queue.open(0);
        queue.add(&event(Call::Irecv), &mut writer).unwrap();
        let second = queue.open(0);
        queue.add(&event(Call::Irecv), &mut writer).unwrap();
        queue.add(&event(Call::Barrier), &mut writer).unwrap();
        queue.resolve(second, |event| event.peer = 2);
        queue.mark(Mark::default(), &mut writer).unwrap();
        queue.add(&event(Call::Wait), &mut writer).unwrap();
        assert_eq!((queue.len(), writer.events()), (4, 1));
        queue.resolve(first, |event| event.peer = 1);
        queue.add(&event(Call::Wait), &mut writer).unwrap();
        assert_eq!((queue.len(), writer.events()), (0, 6));
        queue.resolve(first, |_| panic!("it has been written"));
        writer.finish().unwrap();
        use Call::{Barrier, Init, Irecv, Wait};
        let marked = (Call::Compute, 99);
        assert_eq!(
            written(&file),
            [(Init, -1), (Irecv, 1), (Irecv, 2), (Barrier, -1), marked, (Wait, -1), (Wait, -1)],
            "a border keeps its place among them"
        );
    }

    #[test]
    fn a_receive_that_never_comes_holds_up_so_many_events_and_no_more() {
        let mut writer = Writer::new(Vec::new(), &Header::new(0, 1)).unwrap();
        let mut queue = Queue::default();
        queue.open(0);
        for _ in 0..2 * MAX_WAITING_EVENTS {
            queue.add(&Event::new(Call::Irecv, 0, 0), &mut writer).unwrap();
        }
        assert!(queue.len() <= MAX_WAITING_EVENTS as u64);
        queue.close(&mut writer).unwrap();
        assert_eq!(writer.events(), 2 * MAX_WAITING_EVENTS as u64);
    }
}
