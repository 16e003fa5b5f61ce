//! Memory that MPI's own functions, the library of the language or other ranks write; memory that ends.

use super::generate::Builder;
use super::messages::{receive, send};
use super::program::{BOX, Call, Expression, Library, Object, Part, Statement, WINDOW};

impl Builder {
    /// Adds a message of packed data.
    pub fn pack(&mut self) {
        let (from, to) = self.pair();
        let (count, both) = (1 + self.random.below(40), self.random.one_in(2));
        let (position, read) = (self.variable(from), self.variable(to));
        let whole = Part::new(Object::Array(BOX), 0, 4000);
        for rank in [from, to] {
            while self.pending[rank].iter().any(|one| one.part.object == whole.object) {
                self.complete(rank);
            }
        }
        let zero = |variable| Statement::Set { variable, value: Expression::constant(0) };
        self.push(from, zero(position));
        let times = if both { 2 } else { 1 };
        for _ in 0..times {
            let part = self.part(from, count);
            self.fill(from, &part);
            self.work(from);
            self.push(from, Statement::Pack { part, position });
        }
        let bytes = 4 * count * times;
        let packed = Part { packed: true, ..whole.clone() };
        let sent = packed.clone().of(Expression::variable(position), bytes);
        let (tag, message) = (self.tag(), Some(self.message()));
        self.call(from, send(&sent, to, &tag, message), &whole, Vec::new(), true);
        self.work(from);
        self.work(to);
        let into = packed.of(Expression::constant(16000), bytes);
        let then = (0..times).flat_map(|_| {
            let part = self.part(to, count);
            [Statement::Unpack { part: part.clone(), position: read }, Statement::Work(2), Statement::Use(part)]
        });
        let then: Vec<Statement> = std::iter::once(zero(read)).chain(then).collect();
        self.call(to, receive(&into, from, &tag, message), &whole, then, true);
    }

    /// Adds a message whose data `MPI_Reduce_local` combines at either end.
    pub fn reduce_local(&mut self) {
        let (from, to) = self.pair();
        let count = 1 + self.random.below(40);
        let parts = [(from, true), (to, false)].map(|(rank, sends)| {
            let (one, other) = (self.part(rank, count), self.part(rank, count));
            let apart = one.object.memory() != other.object.memory() || one.offset.abs_diff(other.offset) >= count;
            let reduce = apart.then(|| match sends {
                true => Statement::ReduceLocal { from: other.clone(), to: one.clone() },
                false => Statement::ReduceLocal { from: one.clone(), to: other.clone() },
            });
            (one, other, reduce)
        });
        let [(out, _, before), (into, total, behind)] = parts;
        let (tag, message) = (self.tag(), Some(self.message()));
        self.fill(from, &out);
        self.work(from);
        if let Some(before) = before {
            self.push(from, before);
        }
        self.call(from, send(&out, to, &tag, message), &out, Vec::new(), true);
        self.work(from);
        self.work(to);
        let then = behind.into_iter().chain([Statement::Use(total)]).collect();
        self.call(to, receive(&into, from, &tag, message), &into, then, true);
    }

    /// Adds a message whose data pass through the library of the language.
    pub fn library(&mut self) {
        let (from, to) = self.pair();
        let (out, into) = (self.part(from, 24), self.part(to, 24));
        let (tag, message) = (self.tag(), Some(self.message()));
        let kinds: &[Library] = match self.is_c() {
            true => &[Library::Sort, Library::Scan, Library::Load, Library::Thread, Library::Signal],
            false => &[Library::Sort, Library::Scan, Library::Load],
        };
        let kind = self.random.choose(kinds);
        self.fill(from, &out);
        self.reserve(from, &out);
        let source = self.part(from, 24);
        match kind {
            Library::Scan => self.push(from, Statement::Library(Library::Print, source)),
            Library::Load => self.push(from, Statement::Library(Library::Save, source)),
            _ => {}
        }
        self.work(from);
        self.push(from, Statement::Library(kind, out.clone()));
        self.release(from, &out);
        self.call(from, send(&out, to, &tag, message), &out, Vec::new(), true);
        self.work(from);
        self.work(to);
        let mut then = vec![Statement::Use(into.clone())];
        let read = self.part(to, 24);
        match self.random.below(3) {
            0 => then.insert(0, Statement::Library(Library::Sort, into.clone())),
            1 => {
                then = vec![
                    Statement::Library(Library::Print, into.clone()),
                    Statement::Work(2),
                    Statement::Library(Library::Scan, read.clone()),
                    Statement::Use(read),
                ]
            }
            _ => {
                then = vec![
                    Statement::Library(Library::Save, into.clone()),
                    Statement::Work(2),
                    Statement::Library(Library::Load, read.clone()),
                    Statement::Use(read),
                ]
            }
        }
        self.call(to, receive(&into, from, &tag, message), &into, then, true);
    }

    /// Adds a message in buffers that are allocated for it.
    pub fn heap(&mut self) {
        let (from, to) = self.pair();
        let count = self.length();
        let (tag, message) = (self.own_tag(), Some(self.message()));
        for (rank, sends) in [(from, true), (to, false)] {
            if self.random.one_in(3) {
                let part = self.part(rank, count);
                match sends {
                    true => {
                        self.fill(rank, &part);
                        self.call(rank, send(&part, to, &tag, message), &part, Vec::new(), true);
                    }
                    false => {
                        self.call(
                            rank,
                            receive(&part, from, &tag, message),
                            &part,
                            vec![Statement::Use(part.clone())],
                            true,
                        );
                    }
                }
                continue;
            }
            let heap = self.heap_of(rank);
            let part = Part::new(Object::Heap(heap), 0, count);
            self.push(rank, Statement::Allocate { heap, entries: count });
            match sends {
                true => {
                    self.fill(rank, &part);
                    self.push(rank, Statement::Call(Call::new(send(&part, to, &tag, message))));
                }
                false => {
                    self.work(rank);
                    self.push(rank, Statement::Call(Call::new(receive(&part, from, &tag, message))));
                    self.push(rank, Statement::Use(part.clone()));
                }
            }
            if self.random.one_in(2) {
                self.work(rank);
            }
            if self.random.one_in(3) {
                let entries = 2 * count;
                self.push(rank, Statement::Reallocate { heap, entries });
                let part = Part::new(Object::Heap(heap), 0, entries);
                self.push(rank, Statement::Fill { part, seed: 5, from: None });
            }
            self.push(rank, Statement::Free { heap });
            // Another takes its place, and stays there for a while.
            let other = self.heap_of(rank);
            self.push(rank, Statement::Allocate { heap: other, entries: count });
            let part = Part::new(Object::Heap(other), 0, count);
            self.push(rank, Statement::Fill { part, seed: 9, from: None });
            self.work(rank);
            self.push(rank, Statement::Free { heap: other });
        }
    }

    /// Adds a message in buffers of a block.
    pub fn scope_of_buffer(&mut self) {
        let (from, to) = self.pair();
        let count = self.random.choose(&[2, 8, 60]);
        let (tag, message) = (self.own_tag(), Some(self.message()));
        for (rank, sends) in [(from, true), (to, false)] {
            let scope = self.scope();
            let part = Part::new(Object::Scope(scope), 0, count);
            self.push(rank, Statement::ScopeOpen { scope, entries: count });
            match sends {
                true => {
                    self.fill(rank, &part);
                    self.push(rank, Statement::Call(Call::new(send(&part, to, &tag, message))));
                }
                false => {
                    self.work(rank);
                    self.push(rank, Statement::Call(Call::new(receive(&part, from, &tag, message))));
                    self.push(rank, Statement::Use(part));
                }
            }
            self.push(rank, Statement::ScopeClose { scope, entries: count });
            self.work(rank);
        }
    }

    /// Adds data that a rank puts into the memory of another, which sends it on.
    pub fn window(&mut self) {
        let (from, owner) = self.pair();
        let count = 1 + self.random.below(30);
        self.program.window = true;
        let windows = self.program.idioms.iter().filter(|&&name| name == "window").count();
        let offset = 100 * windows;
        let there = Part::new(Object::Array(WINDOW), offset, count);
        let out = self.part(from, count);
        self.fill(from, &out);
        self.push(from, Statement::Put { part: out, target: owner, offset });
        self.work(owner);
        self.barrier();
        self.work(owner);
        let reader = (0..self.ranks()).find(|&rank| rank != owner && rank != from).unwrap_or(from);
        let into = self.part(reader, count);
        let (tag, message) = (self.own_tag(), Some(self.message()));
        self.push(owner, Statement::Call(Call::new(send(&there, reader, &tag, message))));
        self.work(reader);
        self.push(reader, Statement::Call(Call::new(receive(&into, owner, &tag, message))));
        self.push(reader, Statement::Use(into));
        self.push(owner, Statement::Use(there));
        self.barrier();
    }
}
