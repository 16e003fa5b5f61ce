//! Writing of messages in a thread of its own during a run.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use super::{Messages, messages};
use hayase::report::MessageRecord;

/// Messages in a batch.
const BATCH: usize = 1 << 12;

/// Largest number of batches that wait to be written; the run waits when there are more.
const WAITING: usize = 16;

/// Table [`Messages`] that a thread of its own formats and writes during the run. The bytes are the same.
///
/// On a machine with one core, the calling thread writes them.
pub struct MessagesBeside<W: Write + Send + 'static>(Option<Writer<W>>);

enum Writer<W> {
    Here(Messages<W>),
    Beside {
        batch: Vec<MessageRecord>,
        batches: SyncSender<Vec<MessageRecord>>,
        /// Thread that writes; it returns the writer after the last batch.
        thread: JoinHandle<io::Result<W>>,
        failed: Arc<AtomicBool>,
    },
}

impl<W: Write + Send + 'static> MessagesBeside<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// Failures of `writer`, or a failure to start the thread.
    pub fn new(writer: W) -> io::Result<Self> {
        let mut table = messages(writer)?;
        if hayase::base::threads::count() < 2 {
            return Ok(Self(Some(Writer::Here(table))));
        }
        let (batches, arriving) = sync_channel::<Vec<MessageRecord>>(WAITING);
        let failed = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&failed);
        let thread = thread::Builder::new().name("messages".to_owned()).spawn(move || {
            for batch in arriving {
                batch.iter().for_each(|message| table.write(message));
                if table.failed() {
                    seen.store(true, Ordering::Relaxed);
                }
            }
            table.finish()
        })?;
        Ok(Self(Some(Writer::Beside { batch: Vec::with_capacity(BATCH), batches, thread, failed })))
    }

    /// Writes one line, now or later. The first failure is kept for [`finish`](Self::finish), and nothing is
    /// written after it.
    #[inline]
    pub fn write(&mut self, message: &MessageRecord) {
        match &mut self.0 {
            Some(Writer::Here(table)) => table.write(message),
            Some(Writer::Beside { batch, batches, .. }) => {
                batch.push(*message);
                if batch.len() == BATCH {
                    hand_over(batch, batches);
                }
            }
            None => {}
        }
    }

    /// True if a write is known to have failed. Further messages are then not written.
    pub fn failed(&self) -> bool {
        match &self.0 {
            Some(Writer::Here(table)) => table.failed(),
            Some(Writer::Beside { failed, .. }) => failed.load(Ordering::Relaxed),
            None => true,
        }
    }

    /// Writes the remaining lines and returns the writer.
    ///
    /// # Errors
    /// The first failure of the writer.
    pub fn finish(mut self) -> io::Result<W> {
        self.end().unwrap_or_else(|| Err(io::Error::other("nothing is written any more")))
    }

    fn end(&mut self) -> Option<io::Result<W>> {
        Some(match self.0.take()? {
            Writer::Here(table) => table.finish(),
            Writer::Beside { mut batch, batches, thread, .. } => {
                hand_over(&mut batch, &batches);
                drop(batches);
                thread
                    .join()
                    .unwrap_or_else(|_| Err(io::Error::other("the thread that writes messages has ended early")))
            }
        })
    }
}

/// Hands over a batch and begins the next one.
fn hand_over(batch: &mut Vec<MessageRecord>, batches: &SyncSender<Vec<MessageRecord>>) {
    // (Sending fails if the thread has ended; `finish` reports that.)
    let _ = batches.send(std::mem::replace(batch, Vec::with_capacity(BATCH)));
}

/// Waits until the thread has ended, so that the file is no longer written.
impl<W: Write + Send + 'static> Drop for MessagesBeside<W> {
    fn drop(&mut self) {
        drop(self.end());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(index: u32) -> MessageRecord {
        let start_s = f64::from(index) * 1e-7;
        MessageRecord {
            src: index % 7,
            dst: index % 5,
            index,
            bytes: 3 * u64::from(index),
            start_s,
            end_s: start_s + 1e-6,
        }
    }

    #[test]
    fn messages_written_beside_are_the_same_bytes() {
        for count in [0, 1, BATCH as u32 - 1, BATCH as u32, 3 * BATCH as u32 + 17] {
            let (mut here, mut beside) = (messages(Vec::new()).unwrap(), MessagesBeside::new(Vec::new()).unwrap());
            for message in (0..count).map(message) {
                here.write(&message);
                beside.write(&message);
            }
            assert!(!beside.failed());
            assert!(here.finish().unwrap() == beside.finish().unwrap(), "{count} messages");
        }
    }

    #[test]
    fn a_writer_that_fails_says_so_at_the_end_and_keeps_nobody_waiting() {
        #[derive(Debug)]
        struct Full(usize);
        impl Write for Full {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut beside = MessagesBeside::new(Full(1000)).unwrap();
        (0..200 * BATCH as u32).map(message).for_each(|message| beside.write(&message));
        assert!(beside.failed());
        assert_eq!(beside.finish().err().map(|error| error.kind()), Some(io::ErrorKind::StorageFull));
    }
}
