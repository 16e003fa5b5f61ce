//! The token: ranks run one at a time.
//!
//! The rank that holds the token runs. It keeps the token when it starts a transfer, and passes it on when it
//! has to wait for a message that has not arrived. So the processor is never shared, and the processor time
//! between calls is that of the undisturbed computation, on any number of cores. Source: MPIETE, section 3.3.
//!
//! A call that blocks is replaced by its form that does not: it is started, then tested, and other ranks run
//! until it is complete (`Recorder::in_turn`). The token is a page that all ranks share (`page`); a waiting
//! rank sleeps. The page also counts the messages that each rank has posted for each other rank. So a rank
//! whose message is not posted is skipped: it could do nothing with the token.
//!
//! Collective operations begin when all members have arrived. MPI lets the ranks wait for each other, so each
//! is tested only as often as necessary. Calls that cannot be split (making communicators, files, one-sided
//! communication) are made outside: the rank gives the token away, calls, and comes back.
//!
//! If no rank makes progress for several rounds, the program is deadlocked: the waiting ranks are reported,
//! all traces are written, and the program ends with code 3.

mod deadlock;
mod page;
mod yielding;

use std::ffi::{c_int, c_void};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::SeqCst;

use hayase_mpi::{Handle, SUCCESS};

use crate::clock;
use crate::recorder::Recorder;
use page::{BLOCKED, DONE, NOT_JOINED, Page, READY, WITHOUT_TOKEN};

/// Event that a blocked rank waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitEvent {
    /// An event that may happen at any time: tested in every round.
    Poll,
    /// The receiver takes this rank's message: tested in every round.
    Send,
    /// A message from this rank of the world, or from any rank.
    Receive(Option<u32>),
    /// The other members of a communicator begin the same collective operation.
    Collective,
}

/// State of the token in this rank.
#[derive(Debug)]
pub struct Token {
    page: Page,
    me: u32,
    /// Number of messages taken from each rank.
    taken: Vec<u64>,
    got_of_all: u64,
    directory: PathBuf,
}

/// Number of tests before the token is passed on. Each advances MPI by one step, at a hundredth of the cost
/// of passing on.
const TESTS_PER_TURN: u32 = 8;
/// Rounds without any progress before a deadlock is suspected, if ranks wait for messages only.
const IDLE_ROUNDS: u64 = 4;
/// Further rounds for each rank, if some are within a collective operation: a round may advance it by one
/// step, and it has as many steps as ranks, or twice as many.
const IDLE_ROUNDS_A_RANK: u64 = 2;
/// Shortest time without progress before a deadlock \[ns\]: messages may be on their way.
const IDLE_TIME: u64 = 1_000_000_000;

impl Token {
    /// Joins the ranks of this run, in the page in their folder; returns when it is this rank's turn.
    ///
    /// # Errors
    /// The page cannot be shared.
    pub fn join(directory: &Path, me: u32, ranks: u32) -> io::Result<Self> {
        let page = Page::open(&directory.join("token"), ranks)?;
        let token = Self { page, me, taken: vec![0; ranks as usize], got_of_all: 0, directory: directory.into() };
        token.page.slot(me).state.store(READY, SeqCst);
        token.take();
        Ok(token)
    }

    /// Returns true if a rank could do something with the token.
    fn eligible(&self, rank: u32) -> bool {
        let slot = self.page.slot(rank);
        match slot.state.load(SeqCst) {
            READY => true,
            BLOCKED => match slot.wait() {
                WaitEvent::Poll | WaitEvent::Send => true,
                WaitEvent::Receive(Some(source)) => self.page.sent(source, rank).load(SeqCst) > slot.need.load(SeqCst),
                WaitEvent::Receive(None) => self.page.inbox(rank).load(SeqCst) > slot.need.load(SeqCst),
                WaitEvent::Collective => slot.ready.load(SeqCst) != 0,
            },
            _ => false,
        }
    }

    fn ranks(&self) -> u32 {
        self.taken.len() as u32
    }

    /// Returns the next rank in the ring for which a condition holds; this rank comes last.
    fn next(&self, holds: impl Fn(u32) -> bool) -> Option<u32> {
        (1..=self.ranks()).map(|i| (self.me + i) % self.ranks()).find(|&rank| holds(rank))
    }

    fn state(&self, rank: u32) -> u32 {
        self.page.slot(rank).state.load(SeqCst)
    }

    /// Waits until this rank has the token.
    fn take(&self) {
        let slot = self.page.slot(self.me);
        loop {
            let seen = slot.futex.load(SeqCst);
            let holder = self.page.holder().load(SeqCst);
            if holder == self.me + 1
                || (holder == 0 && self.page.holder().compare_exchange(0, self.me + 1, SeqCst, SeqCst).is_ok())
            {
                return;
            }
            if self.page.deadlock().load(SeqCst) != 0 {
                return;
            }
            page::sleep(&slot.futex, seen);
        }
    }

    fn hand_to(&self, rank: u32) {
        self.page.holder().store(rank + 1, SeqCst);
        self.wake(rank);
    }

    fn wake(&self, rank: u32) {
        let slot = self.page.slot(rank);
        slot.futex.fetch_add(1, SeqCst);
        page::wake(&slot.futex);
    }

    /// Gives the token away: to a rank that can use it, else to a blocked one, else to nobody.
    fn give_up(&self) {
        let others = |rank: u32| rank != self.me;
        let next = self
            .next(|rank| others(rank) && self.eligible(rank))
            .or_else(|| self.next(|rank| others(rank) && self.state(rank) == BLOCKED));
        if let Some(next) = next {
            self.hand_to(next);
            return;
        }
        self.page.holder().store(0, SeqCst);
        // A rank may have come back meanwhile and seen that the token was held.
        if let Some(next) = self.next(|rank| others(rank) && matches!(self.state(rank), READY | BLOCKED))
            && self.page.holder().compare_exchange(0, next + 1, SeqCst, SeqCst).is_ok()
        {
            self.wake(next);
        }
    }

    /// Withdraws this rank from the ring.
    pub fn done(&self) {
        self.progress();
        self.page.slot(self.me).state.store(DONE, SeqCst);
        self.give_up();
    }

    /// Notes progress: no rank is deadlocked.
    fn progress(&self) {
        self.page.idle().store(0, SeqCst);
    }

    /// Blocks this rank after a test that found nothing: other ranks run until it is worth a look. Returns
    /// false for a deadlock.
    fn block(&self, wait: WaitEvent) -> bool {
        let slot = self.page.slot(self.me);
        let need = match wait {
            WaitEvent::Receive(Some(source)) => self.taken[source as usize],
            _ => self.got_of_all,
        };
        slot.block(wait, need);
        slot.state.store(BLOCKED, SeqCst);
        let idle = self.page.idle().fetch_add(1, SeqCst) + 1;
        if idle == 1 {
            self.page.idle_since().store(clock::monotonic(), SeqCst);
        }
        let ranks = self.ranks();
        let apart = (0..ranks).any(|rank| matches!(self.state(rank), WITHOUT_TOKEN | NOT_JOINED));
        let running = (0..ranks).any(|rank| rank != self.me && self.state(rank) == READY);
        if idle > IDLE_ROUNDS * u64::from(ranks) && !running {
            // No rank makes progress: slow down.
            page::nap(50_000);
            let since = self.page.idle_since().load(SeqCst);
            let long = clock::monotonic().saturating_sub(since) > IDLE_TIME;
            if !apart && long && idle > self.patience() * u64::from(ranks) {
                return false;
            }
        }
        let next = self
            .next(|rank| self.eligible(rank))
            // No rank should be able to continue: each gets a chance to prove us wrong.
            .or_else(|| self.next(|rank| self.state(rank) == BLOCKED));
        match next {
            Some(next) if next != self.me => {
                self.hand_to(next);
                self.take();
            }
            _ => {}
        }
        if self.page.deadlock().load(SeqCst) != 0 {
            // The rank stays blocked: so it is in the report, and the rank that ends the program waits for
            // its trace.
            return false;
        }
        slot.state.store(READY, SeqCst);
        true
    }

    /// Returns the number of rounds without progress that are not yet a deadlock.
    fn patience(&self) -> u64 {
        let polls = |rank| self.state(rank) == BLOCKED && self.page.slot(rank).wait() == WaitEvent::Poll;
        let steps = if (0..self.ranks()).any(polls) { IDLE_ROUNDS_A_RANK * u64::from(self.ranks()) } else { 0 };
        IDLE_ROUNDS + steps
    }

    /// Passes the token round once, for a rank that continues to poll.
    fn give_way(&self) {
        self.progress();
        if let Some(next) = self.next(|rank| self.eligible(rank))
            && next != self.me
        {
            self.hand_to(next);
            self.take();
        }
    }

    /// Notes that this rank begins a collective operation; returns true if it is the last of the members.
    fn all_have_come(&self, comm: u64, sequence: u64, members: u64) -> bool {
        let slot = self.page.slot(self.me);
        slot.comm.store(comm, SeqCst);
        slot.sequence.store(sequence, SeqCst);
        slot.ready.store(0, SeqCst);
        let there = |rank: &u32| {
            let slot = self.page.slot(*rank);
            *rank == self.me
                || (matches!(slot.state.load(SeqCst), BLOCKED)
                    && slot.wait() == WaitEvent::Collective
                    && (slot.comm.load(SeqCst), slot.sequence.load(SeqCst)) == (comm, sequence))
        };
        let present: Vec<u32> = (0..self.ranks()).filter(there).collect();
        if (present.len() as u64) < members {
            return false;
        }
        for rank in present {
            self.page.slot(rank).ready.store(1, SeqCst);
        }
        true
    }
}

impl Recorder {
    /// Calls `test` until it sets its flag; between tests other ranks run.
    #[cold]
    pub(crate) fn in_turn(&mut self, wait: WaitEvent, mut test: impl FnMut(&mut Self, &mut c_int) -> c_int) -> c_int {
        self.note_progress();
        loop {
            for _ in 0..TESTS_PER_TURN {
                let mut flag = 0;
                let result = test(self, &mut flag);
                if result != SUCCESS || flag != 0 {
                    self.note_progress();
                    return result;
                }
            }
            self.block_in_turn(wait);
        }
    }

    /// Notes progress of this rank: it comes to a call in which it may wait, or has finished it.
    fn note_progress(&self) {
        if let Some(token) = &self.token {
            token.progress();
        }
    }

    /// Lets other ranks run; a deadlock ends the program here.
    fn block_in_turn(&mut self, wait: WaitEvent) {
        let Some(token) = &self.token else { return };
        let slot = token.page.slot(token.me);
        slot.describe(&self.event);
        let going_on = self.call(|_| token.block(wait));
        if !going_on {
            deadlock::end(self);
        }
    }

    /// Tests for a request until it is complete.
    ///
    /// # Safety
    /// `request` points to a request, `status` to room for a status, or is the constant for none.
    pub(crate) unsafe fn test_in_turn(&mut self, request: *mut c_void, status: *mut c_void, wait: WaitEvent) -> c_int {
        self.in_turn(wait, |recorder, flag| {
            // SAFETY: promised by the caller.
            recorder.call(|mpi| unsafe { (mpi.test)(request, flag, status) })
        })
    }

    /// Makes a call that cannot be split, without the token.
    pub(crate) fn outside<R>(&mut self, call: impl FnOnce(&mut Self) -> R) -> R {
        let Some(token) = &self.token else { return call(self) };
        token.progress();
        token.page.slot(token.me).state.store(WITHOUT_TOKEN, SeqCst);
        token.give_up();
        let result = call(self);
        if let Some(token) = &self.token {
            token.page.slot(token.me).state.store(READY, SeqCst);
            self.call(|_| token.take());
            token.progress();
        }
        result
    }

    /// Makes a call like [`outside`](Self::outside) in which ranks wait for each other, in some MPIs busily.
    pub(crate) fn without_token_together<R>(&mut self, call: impl FnOnce(&mut Self) -> R) -> R {
        match self.token {
            Some(_) => self.outside(|recorder| yielding::while_waiting(|| call(recorder))),
            None => call(self),
        }
    }

    /// Waits until all members of a communicator have arrived at this collective operation.
    pub(crate) fn meet(&mut self, comm: Handle) {
        if self.token.is_none() {
            return;
        }
        let comm = self.abi.handle(comm);
        let Some(known) = self.communicators.get(comm) else { return };
        known.collectives += 1;
        let (id, sequence) = (known.id, known.collectives);
        let members = (known.members.len() + known.remote.len()) as u64;
        let Some(token) = &self.token else { return };
        if members <= 1 || token.all_have_come(id, sequence, members) {
            return;
        }
        self.note_progress();
        loop {
            self.block_in_turn(WaitEvent::Collective);
            let Some(token) = &self.token else { return };
            if token.page.slot(token.me).ready.load(SeqCst) != 0 {
                token.progress();
                return;
            }
        }
    }

    /// Counts a message posted for a rank of a communicator.
    #[inline]
    pub(crate) fn count_posted(&mut self, comm: Handle, dest: c_int) {
        if self.token.is_some() {
            self.count_posted_for(comm, dest);
        }
    }

    fn count_posted_for(&mut self, comm: Handle, dest: c_int) {
        let comm = self.abi.handle(comm);
        let to = self.communicators.get(comm).and_then(|known| known.world(dest));
        if let (Some(token), Some(to)) = (&self.token, to) {
            token.page.sent(token.me, to).fetch_add(1, SeqCst);
            token.page.inbox(to).fetch_add(1, SeqCst);
            token.progress();
        }
    }

    /// Counts a message taken from a rank of a communicator.
    #[inline]
    pub(crate) fn count_taken(&mut self, comm: Handle, source: c_int) {
        if self.token.is_some() {
            let comm = self.abi.handle(comm);
            let from = self.communicators.get(comm).and_then(|known| known.world(source));
            if let (Some(token), Some(from)) = (&mut self.token, from) {
                token.taken[from as usize] += 1;
                token.got_of_all += 1;
            }
        }
    }

    /// Returns the event that a receive waits for.
    pub(crate) fn wait_for(&mut self, comm: Handle, source: c_int) -> WaitEvent {
        if source < 0 {
            return if source == self.abi.proc_null { WaitEvent::Poll } else { WaitEvent::Receive(None) };
        }
        let comm = self.abi.handle(comm);
        let from = self.communicators.get(comm).and_then(|known| known.world(source));
        from.map_or(WaitEvent::Poll, |from| WaitEvent::Receive(Some(from)))
    }

    /// Lets other ranks run after a test that found nothing.
    #[inline]
    pub(crate) fn give_way(&mut self) {
        if let Some(token) = &self.token {
            self.call(|_| token.give_way());
            if token.page.deadlock().load(SeqCst) != 0 {
                deadlock::end(self);
            }
        }
    }
}
