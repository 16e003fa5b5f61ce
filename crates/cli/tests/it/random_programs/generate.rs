//! Builder of random programs, used by all idioms.
//!
//! A program is a sequence of pieces of communication, in the same order for all ranks. Each rank does its part of a
//! piece at the place of the piece. So every wait ends, and every receive that names its message gets it. A
//! non-blocking call is completed at a later place, and its memory is left alone until then.

use super::program::{
    BOX, Base, Call, Completion, Expression, Guard, Item, Language, Object, Operation, Part, Program, REQUESTS, Random,
    STATUSES, Statement, VARIABLES,
};

/// Operation under way on a rank.
#[derive(Clone)]
pub struct Pending {
    pub request: usize,
    pub part: Part,
    /// Statements that use the received data.
    pub then: Vec<Statement>,
}

/// Builder of a program.
pub struct Builder {
    pub random: Random,
    pub program: Program,
    variables: Vec<usize>,
    requests: Vec<usize>,
    statuses: Vec<usize>,
    heaps: Vec<usize>,
    scopes: usize,
    messages: usize,
    pub pending: Vec<Vec<Pending>>,
    /// Memory in use, by rank.
    busy: Vec<Vec<Part>>,
}

/// Returns the program of a seed.
pub fn program(seed: u64, language: Language) -> Program {
    let mut random = Random(seed);
    let ranks = 2 + random.below(3);
    let program = Program {
        language,
        ranks,
        iterations: random.choose(&[1, 2, 2, 3, 4]),
        bodies: vec![Vec::new(); ranks],
        persistent: vec![Vec::new(); ranks],
        idioms: Vec::new(),
        window: false,
        errors_return: random.one_in(4),
    };
    let mut builder = Builder {
        random,
        program,
        variables: vec![0; ranks],
        requests: vec![0; ranks],
        statuses: vec![0; ranks],
        heaps: vec![0; ranks],
        scopes: 0,
        messages: 0,
        pending: vec![Vec::new(); ranks],
        busy: vec![Vec::new(); ranks],
    };
    for _ in 0..2 + builder.random.below(4) {
        builder.idiom();
        for rank in 0..ranks {
            if builder.random.one_in(3) {
                builder.complete(rank);
            }
        }
    }
    for rank in 0..ranks {
        while !builder.pending[rank].is_empty() {
            builder.complete(rank);
        }
    }
    while !(0..ranks).all(|rank| builder.has_two_calls(rank)) {
        builder.ring();
    }
    builder.program
}

impl Builder {
    /// Returns true if the rank always has two calls, so that the order of calls tells iterations apart.
    fn has_two_calls(&self, rank: usize) -> bool {
        let always = |item: &&Item| item.guard.is_none() && matches!(item.statement, Statement::Call(_));
        self.program.bodies[rank].iter().filter(always).count() > 1
    }

    pub fn is_c(&self) -> bool {
        self.program.language == Language::C
    }

    pub fn ranks(&self) -> usize {
        self.program.ranks
    }

    pub fn variable(&mut self, rank: usize) -> usize {
        self.variables[rank] += 1;
        (self.variables[rank] - 1) % VARIABLES
    }

    pub fn requests(&mut self, rank: usize, count: usize) -> Vec<usize> {
        let first = self.requests[rank];
        assert!(first + count <= REQUESTS, "a program has few requests");
        self.requests[rank] += count;
        (first..first + count).collect()
    }

    pub fn statuses(&mut self, rank: usize, count: usize) -> usize {
        let first = self.statuses[rank] % (STATUSES - count);
        self.statuses[rank] = first + count;
        first
    }

    pub fn heap_of(&mut self, rank: usize) -> usize {
        self.heaps[rank] += 1;
        (self.heaps[rank] - 1) % 6
    }

    pub fn scope(&mut self) -> usize {
        self.scopes += 1;
        self.scopes - 1
    }

    /// Returns the number of a new message or collective operation.
    pub fn message(&mut self) -> usize {
        self.messages += 1;
        self.messages - 1
    }

    /// Returns a tag that no other message of the iteration or of another has.
    pub fn own_tag(&mut self) -> Expression {
        Expression { base: Base::Iteration, modulo: None, plus: 100 + 16 * self.message() as i32 }
    }

    /// Returns two ranks that differ.
    pub fn pair(&mut self) -> (usize, usize) {
        let (from, other) = (self.random.below(self.ranks()), self.random.below(self.ranks() - 1));
        (from, if other >= from { other + 1 } else { other })
    }

    pub fn length(&mut self) -> usize {
        if self.random.one_in(9) { 3000 } else { self.random.choose(&[1, 2, 4, 8, 9, 24, 64]) }
    }

    /// Returns memory of a rank that is not in use.
    pub fn part(&mut self, rank: usize, count: usize) -> Part {
        self.strided(rank, count, 1)
    }

    pub fn strided(&mut self, rank: usize, count: usize, stride: usize) -> Part {
        for attempt in 0_usize.. {
            let array = self.random.below(BOX);
            let object = if self.random.one_in(5) { Object::Alias(array) } else { Object::Array(array) };
            let offset = if attempt < 20 { 40 * self.random.below(3) } else { self.random.below(1000) };
            let part = Part { stride, ..Part::new(object, offset, count) };
            if !self.busy[rank].iter().any(|busy| overlap(busy, &part)) {
                return part;
            }
            assert!(attempt < 1000, "memory is not all in use");
        }
        unreachable!("an attempt succeeds or the last one says so")
    }

    /// Reserves memory until [`Self::release`].
    pub fn reserve(&mut self, rank: usize, part: &Part) {
        self.busy[rank].push(part.clone());
    }

    pub fn release(&mut self, rank: usize, part: &Part) {
        if let Some(at) = self.busy[rank].iter().position(|busy| busy == part) {
            self.busy[rank].remove(at);
        }
    }

    /// Adds a statement, and at times another that has nothing to do with it.
    pub fn push(&mut self, rank: usize, statement: Statement) {
        self.push_if(rank, None, statement);
    }

    pub fn push_if(&mut self, rank: usize, guard: Option<Guard>, statement: Statement) {
        self.add(rank, guard, statement);
        if self.random.one_in(4) {
            self.noise(rank);
        }
    }

    fn add(&mut self, rank: usize, guard: Option<Guard>, statement: Statement) {
        let idiom = self.program.idioms.last().copied().unwrap_or("ring");
        self.program.bodies[rank].push(Item { statement, guard, idiom });
    }

    pub fn work(&mut self, rank: usize) {
        let times = 1 + self.random.below(3);
        self.add(rank, None, Statement::Work(times));
    }

    pub fn fill(&mut self, rank: usize, part: &Part) {
        let (seed, count) = (self.random.below(1000), 1 + self.random.below(16));
        let from = self.random.one_in(3).then(|| self.part(rank, count));
        self.push(rank, Statement::Fill { part: part.clone(), seed, from });
    }

    fn noise(&mut self, rank: usize) {
        let count = 1 + self.random.below(60);
        let part = self.part(rank, count);
        let seed = self.random.below(1000);
        let statement = match self.random.below(8) {
            0 => Statement::Use(part),
            1 => Statement::Fill { part, seed, from: None },
            2 => {
                let to = self.part(rank, count);
                match overlap(&to, &part) {
                    true => Statement::Work(2),
                    false => Statement::Copy { to, from: part },
                }
            }
            _ => Statement::Work(1 + seed % 3),
        };
        self.add(rank, None, statement);
    }

    /// Adds a call, which at times does not block; `then` is what is done when it is complete.
    pub fn call(&mut self, rank: usize, operation: Operation, part: &Part, then: Vec<Statement>, may_wait: bool) {
        let mut call = Call::new(operation);
        if may_wait && self.random.one_in(3) && self.requests[rank] < REQUESTS - 8 {
            let request = self.requests(rank, 1)[0];
            call.request = Some(request);
            self.reserve(rank, part);
            self.push(rank, Statement::Call(call));
            self.pending[rank].push(Pending { request, part: part.clone(), then });
            if self.random.one_in(3) {
                self.complete(rank);
            }
            return;
        }
        if self.random.one_in(4) && matches!(call.operation, Operation::Receive(_)) {
            let status = self.statuses(rank, 1);
            call.status = Some(status);
            self.reserve(rank, part);
            self.push(rank, Statement::Call(call));
            let variable = self.variable(rank);
            self.push(rank, Statement::Count { status, variable });
            self.push(rank, Statement::Use(Part::variable(variable)));
            self.release(rank, part);
        } else {
            self.reserve(rank, part);
            self.push(rank, Statement::Call(call));
            self.release(rank, part);
        }
        self.follow(rank, part, then);
    }

    fn follow(&mut self, rank: usize, part: &Part, then: Vec<Statement>) {
        self.reserve(rank, part);
        for statement in then {
            if self.random.one_in(2) {
                self.work(rank);
            }
            self.push(rank, statement);
        }
        self.release(rank, part);
    }

    /// Completes one operation under way, or all of them.
    pub fn complete(&mut self, rank: usize) {
        let pending = &self.pending[rank];
        let (Some(first), Some(last)) = (pending.first(), pending.last()) else { return };
        let in_a_row = last.request - first.request + 1 == pending.len();
        let first = first.request;
        if pending.len() > 1 && in_a_row && !self.random.one_in(3) {
            let all = std::mem::take(&mut self.pending[rank]);
            let requests: Vec<usize> = all.iter().map(|one| one.request).collect();
            let status = self.random.one_in(3).then(|| self.statuses(rank, requests.len()));
            debug_assert_eq!(requests[0], first, "they are in a row");
            let complete = Statement::Complete { completion: Completion::All, requests, status, code: None };
            self.push(rank, complete);
            for one in all {
                self.release(rank, &one.part);
                self.follow(rank, &one.part, one.then);
            }
            return;
        }
        let at = self.random.below(pending.len());
        let one = self.pending[rank].remove(at);
        let completion = if self.random.one_in(5) { Completion::Test } else { Completion::Wait };
        let status = self.random.one_in(3).then(|| self.statuses(rank, 1));
        let code = self.random.one_in(4).then(|| self.variable(rank));
        if let Some(variable) = code {
            self.push(rank, Statement::Set { variable, value: Expression::constant(7) });
        }
        let complete = Statement::Complete { completion, requests: vec![one.request], status, code };
        self.push(rank, complete);
        self.release(rank, &one.part);
        if let Some(code) = code {
            // MPI_SUCCESS is even, what was there before is not.
            let used = self.part(rank, 1);
            self.push_if(rank, Some(Guard::Even(Expression::variable(code))), Statement::Use(used));
        }
        self.follow(rank, &one.part, one.then);
    }
}

fn overlap(one: &Part, other: &Part) -> bool {
    let end =
        |part: &Part| part.offset + part.stride * (part.count.known().unwrap_or(part.least.max(64)).max(part.least));
    one.object.memory() == other.object.memory() && one.offset < end(other) && other.offset < end(one)
}
