//! Idioms of messages between two ranks or more.

use super::generate::Builder;
use super::program::{
    BOX, Base, Call, Completion, End, Expression, Guard, Library, Object, Operation, Part, Statement, UNORDERED,
};

pub fn send(part: &Part, to: usize, tag: &Expression, message: Option<usize>) -> Operation {
    let end = End { part: part.clone(), peer: Expression::constant(to), tag: tag.clone(), message };
    Operation::Send { end, synchronous: false }
}

pub fn receive(part: &Part, from: usize, tag: &Expression, message: Option<usize>) -> Operation {
    Operation::Receive(End { part: part.clone(), peer: Expression::constant(from), tag: tag.clone(), message })
}

impl Builder {
    fn tag(&mut self) -> Expression {
        Expression::constant(self.random.below(3))
    }

    /// A message with work around it; wildcards, sections, synchronous sends.
    pub fn plain(&mut self) {
        let (from, to) = self.pair();
        let count = self.length();
        let stride = |builder: &mut Self| if !builder.is_c() && count < 65 && builder.random.one_in(4) { 2 } else { 1 };
        let (out, into) = (stride(self), stride(self));
        let (out, into) = (self.strided(from, count, out), self.strided(to, count, into));
        let message = Some(self.message());
        let mut tag = self.tag();
        let mut receives = receive(&into, from, &tag, message);
        match self.random.below(8) {
            0 => {
                tag = self.own_tag();
                receives = receive(&into, from, &tag, message);
                if let Operation::Receive(end) = &mut receives {
                    end.peer = Expression::plain(Base::AnySource);
                }
            }
            1 => {
                if let Operation::Receive(end) = &mut receives {
                    end.tag = Expression::plain(Base::AnyTag);
                }
            }
            _ => {}
        }
        self.fill(from, &out);
        self.work(from);
        let mut sends = send(&out, to, &tag, message);
        if let Operation::Send { synchronous, .. } = &mut sends {
            *synchronous = self.random.one_in(8);
        }
        // A call that does not block must not be given a copy that the compiler makes.
        self.call(from, sends, &out, Vec::new(), out.stride == 1);
        if self.random.one_in(2) {
            let seed = self.random.below(100);
            if self.pending[from].is_empty() {
                self.push(from, Statement::Fill { part: out, seed, from: None });
            }
        }
        self.work(from);
        self.work(to);
        let then = vec![Statement::Use(into.clone())];
        self.call(to, receives, &into, then, into.stride == 1);
    }

    /// Messages to one rank one after the other.
    pub fn row(&mut self) {
        let (from, to) = self.pair();
        let parts: Vec<(Part, Part)> = (0..2 + self.random.below(2))
            .map(|_| {
                let count = self.random.choose(&[1, 2, 8, 16, 40]);
                let both = (self.part(from, count), self.part(to, count));
                self.reserve(from, &both.0);
                self.reserve(to, &both.1);
                both
            })
            .collect();
        let late = self.random.one_in(3);
        for (out, _) in &parts {
            if !late {
                self.fill(from, out);
            }
        }
        let mut then = Vec::new();
        for (out, into) in &parts {
            let (tag, message) = (self.tag(), Some(self.message()));
            if late {
                self.fill(from, out);
            }
            self.push(from, Statement::Call(Call::new(send(out, to, &tag, message))));
            self.push(to, Statement::Call(Call::new(receive(into, from, &tag, message))));
            match self.random.one_in(3) {
                true => self.push(to, Statement::Use(into.clone())),
                false => then.push(Statement::Use(into.clone())),
            }
        }
        for statement in then {
            self.push(to, statement);
        }
        for (out, into) in &parts {
            self.release(from, out);
            self.release(to, into);
        }
    }

    /// Whoever wrote gets an answer.
    pub fn status_reply(&mut self) {
        let server = self.random.below(self.ranks());
        let tag = self.own_tag();
        let back = Expression { plus: tag.plus + 8, ..tag.clone() };
        let (count, answer) = (1 + self.random.below(40), 1 + self.random.below(20));
        let reply = self.part(server, answer);
        self.reserve(server, &reply);
        let seed = self.random.below(100);
        self.push(server, Statement::Fill { part: reply.clone(), seed, from: None });
        let clients: Vec<usize> = (0..self.ranks()).filter(|&rank| rank != server).collect();
        for &client in &clients {
            let (out, into) = (self.part(client, count), self.part(client, answer));
            self.push(client, Statement::Fill { part: out.clone(), seed: client, from: None });
            self.work(client);
            self.push(client, Statement::Call(Call::new(send(&out, server, &tag, None))));
            self.work(client);
            self.push(client, Statement::Call(Call::new(receive(&into, server, &back, None))));
            self.push(client, Statement::Use(into));
        }
        let same = self.random.one_in(2);
        for place in 0..clients.len() {
            let into = Part::new(Object::Array(UNORDERED), if same { 0 } else { 40 * place }, count);
            let status = self.statuses(server, 1);
            let mut call = Call::new(receive(&into, 0, &tag, None));
            if let Operation::Receive(end) = &mut call.operation {
                end.peer = Expression::plain(Base::AnySource);
            }
            call.status = Some(status);
            self.work(server);
            self.push(server, Statement::Call(call));
            let number = self.variable(server);
            self.push(server, Statement::Count { status, variable: number });
            if self.random.one_in(2) {
                self.work(server);
            }
            let mut answers = Call::new(send(&reply, 0, &back, None));
            if let Operation::Send { end, .. } = &mut answers.operation {
                end.peer = Expression::plain(Base::Source(status));
                end.tag = Expression { base: Base::Tag(status), modulo: None, plus: 8 };
            }
            self.push(server, Statement::Call(answers));
            self.work(server);
            let counted = into.clone().of(Expression::variable(number), count);
            self.push(server, Statement::Sum { part: counted, index: None });
        }
        self.release(server, &reply);
    }

    /// The length of a message is known when it has come, or by a probe; it decides how much goes on.
    pub fn counted(&mut self) {
        let (from, to) = self.pair();
        let (out, into) = (self.part(from, 40), self.part(to, 40));
        let (length, number, status) = (self.variable(from), self.variable(to), self.statuses(to, 1));
        let (tag, message) = (self.own_tag(), Some(self.message()));
        self.fill(from, &out);
        let value = Expression { base: Base::Element(out.object, out.offset), modulo: Some(30), plus: 2 };
        self.reserve(from, &out);
        self.push(from, Statement::Set { variable: length, value });
        let sent = out.clone().of(Expression::variable(length), 2);
        self.push(from, Statement::Call(Call::new(send(&sent, to, &tag, message))));
        self.release(from, &out);
        self.work(to);
        self.reserve(to, &into);
        let came = into.clone().of(Expression::variable(number), 2);
        if self.random.one_in(2) {
            let peer = Expression::constant(from);
            let polling = self.random.one_in(2);
            self.push(to, Statement::Probe { peer, tag: tag.clone(), status, polling });
            self.push(to, Statement::Count { status, variable: number });
            self.push(to, Statement::Call(Call::new(receive(&came, from, &tag, message))));
        } else {
            let mut call = Call::new(receive(&into.clone().of(Expression::constant(40), 2), from, &tag, message));
            call.status = Some(status);
            self.push(to, Statement::Call(call));
            self.push(to, Statement::Count { status, variable: number });
        }
        self.work(to);
        if self.random.one_in(2) {
            let (tag, message) = (self.own_tag(), Some(self.message()));
            let back = self.part(from, 40);
            self.push(to, Statement::Call(Call::new(send(&came, from, &tag, message))));
            let number = Expression::variable(length);
            let mut call = Call::new(receive(&back.clone().of(number.clone(), 2), from, &tag, message));
            if let Operation::Receive(end) = &mut call.operation {
                end.peer = Expression::constant(to);
            }
            self.push(from, Statement::Call(call));
            self.push(from, Statement::Use(back.of(number, 2)));
        }
        self.push(to, Statement::Use(came));
        self.release(to, &into);
    }

    /// A message says how long the next one is, which tag it has, and from whom it comes.
    pub fn header(&mut self) {
        let (from, to) = self.pair();
        let length = self.random.choose(&[2, 3, 12]);
        let (out, into) = (self.part(from, length), self.part(to, length));
        self.reserve(from, &out);
        self.reserve(to, &into);
        let (data, room) = (self.part(from, 40), self.part(to, 40));
        self.reserve(to, &room);
        let (tag, message) = (self.tag(), Some(self.message()));
        self.fill(from, &out);
        self.fill(from, &data);
        self.work(from);
        self.push(from, Statement::Call(Call::new(send(&out, to, &tag, message))));
        self.push(to, Statement::Call(Call::new(receive(&into, from, &tag, message))));
        let element = |part: &Part, index| Base::Element(part.object, part.offset + index);
        let varies = self.random.one_in(2);
        let message = Some(self.message());
        let mut ends = [(from, &out, &data, to), (to, &into, &room, from)].map(|(rank, header, part, peer)| {
            let mut count = Expression { base: element(header, 0), modulo: Some(30), plus: 2 };
            if varies {
                let variable = self.variable(rank);
                self.push(rank, Statement::Set { variable, value: count });
                count = Expression::variable(variable);
            }
            let tag = Expression { base: element(header, 1), modulo: Some(5), plus: 20 };
            End { part: part.clone().of(count, 2), peer: Expression::constant(peer), tag, message }
        });
        let used = ends[1].part.clone();
        // Half of the times the tag is fixed, and only the length varies.
        if self.random.one_in(2) {
            ends[0].tag = Expression::constant(20);
            ends[1].tag = Expression::constant(20);
        }
        let [sends, receives] = ends;
        self.work(from);
        self.push(from, Statement::Call(Call::new(Operation::Send { end: sends, synchronous: false })));
        self.work(to);
        self.push(to, Statement::Call(Call::new(Operation::Receive(receives))));
        self.work(to);
        self.push(to, Statement::Use(used));
        self.release(from, &out);
        self.release(to, &into);
        self.release(to, &room);
    }

    /// A message is answered if its contents say so, or goes on to a rank that they name.
    pub fn conditional(&mut self) {
        let (from, to) = self.pair();
        let (asks, asked) = (self.variable(from), self.variable(to));
        let seed = self.random.below(1000);
        let (tag, message) = (self.own_tag(), Some(self.message()));
        self.push(from, Statement::Fill { part: Part::variable(asks), seed, from: None });
        self.push(from, Statement::Call(Call::new(send(&Part::variable(asks), to, &tag, message))));
        self.work(from);
        self.work(to);
        self.push(to, Statement::Call(Call::new(receive(&Part::variable(asked), from, &tag, message))));
        let count = 1 + self.random.below(30);
        let (out, into) = (self.part(to, count), self.part(from, count));
        self.reserve(from, &into);
        let (tag, message) = (self.own_tag(), Some(self.message()));
        let even = |variable| Some(Guard::Even(Expression::variable(variable)));
        self.work(to);
        self.push_if(to, even(asked), Statement::Call(Call::new(send(&out, from, &tag, message))));
        self.push_if(from, even(asks), Statement::Call(Call::new(receive(&into, to, &tag, message))));
        self.work(from);
        self.push_if(from, even(asks), Statement::Use(into.clone()));
        self.release(from, &into);
        // The next one comes from the first or from the third.
        let Some(third) = (0..self.ranks()).find(|rank| ![from, to].contains(rank)) else { return };
        let told = self.variable(third);
        let (tag, message) = (self.own_tag(), Some(self.message()));
        self.push(from, Statement::Call(Call::new(send(&Part::variable(asks), third, &tag, message))));
        self.push(third, Statement::Call(Call::new(receive(&Part::variable(told), from, &tag, message))));
        let tag = self.own_tag();
        for (rank, guard) in
            [(from, Guard::Even(Expression::variable(asks))), (third, Guard::Odd(Expression::variable(told)))]
        {
            let out = self.part(rank, count);
            self.work(rank);
            self.push_if(rank, Some(guard), Statement::Call(Call::new(send(&out, to, &tag, None))));
        }
        let into = self.part(to, count);
        let mut call = Call::new(receive(&into, 0, &tag, None));
        if let Operation::Receive(end) = &mut call.operation {
            let distance = third as i32 - from as i32;
            end.peer = match distance {
                1 => Expression { base: Base::Element(Object::Variable(asked), 0), modulo: Some(2), plus: from as i32 },
                _ => Expression::plain(Base::AnySource),
            };
        }
        self.push(to, Statement::Call(call));
        self.push(to, Statement::Use(into));
    }

    /// MPI's own functions write what is sent, and read what has come.
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

    /// What comes, or goes, is combined by MPI.
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

    /// What goes, or comes, passes through the library of the language.
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

    /// Codes that calls return are tested; some messages are too long for their receiver.
    pub fn codes(&mut self) {
        let (from, to) = self.pair();
        self.program.errors_return = true;
        let (long, room) = (8, self.random.choose(&[4, 8]));
        let (out, heap) = (self.part(from, long), self.heap_of(to));
        let (code, answer, back) = (self.variable(to), self.variable(to), self.variable(from));
        let (tag, message) = (self.own_tag(), Some(self.message()));
        self.fill(from, &out);
        self.push(from, Statement::Call(Call::new(send(&out, to, &tag, message))));
        self.work(from);
        let into = Part::new(Object::Heap(heap), 0, room);
        self.push(to, Statement::Allocate { heap, entries: long });
        self.push(to, Statement::Set { variable: code, value: Expression::constant(0) });
        self.push(to, Statement::Set { variable: answer, value: Expression::constant(3) });
        self.work(to);
        let mut call = Call::new(receive(&into, from, &tag, message));
        call.code = Some(code);
        self.push(to, Statement::Call(call));
        self.work(to);
        let failed = Some(Guard::Above(Expression::variable(code), 0));
        self.push_if(to, failed, Statement::Set { variable: answer, value: Expression::constant(5) });
        self.push(to, Statement::Free { heap });
        let (tag, message) = (self.own_tag(), Some(self.message()));
        self.push(to, Statement::Call(Call::new(send(&Part::variable(answer), from, &tag, message))));
        self.push(from, Statement::Call(Call::new(receive(&Part::variable(back), to, &tag, message))));
        self.push(from, Statement::Use(Part::variable(back)));
    }

    /// Several receives of which it matters which is complete: indices decide on what is read and who is answered.
    pub fn some(&mut self) {
        let server = self.random.below(self.ranks());
        let clients: Vec<usize> = (0..self.ranks()).filter(|&rank| rank != server).collect();
        let (number, count) = (clients.len(), 1 + self.random.below(16));
        let whole = self.part(server, number * count);
        let block = Part::new(whole.object, whole.offset, count);
        let answer = self.part(server, 4);
        self.push(server, Statement::Fill { part: answer.clone(), seed: count, from: None });
        self.reserve(server, &answer);
        self.reserve(server, &whole);
        let requests = self.requests(server, number);
        let (tag, back) = (self.own_tag(), self.own_tag());
        for (at, &client) in clients.iter().enumerate() {
            let message = Some(self.message());
            let out = self.part(client, count);
            self.fill(client, &out);
            self.work(client);
            self.push(client, Statement::Call(Call::new(send(&out, server, &tag, message))));
            let into = Part::new(whole.object, whole.offset + at * count, count);
            let mut call = Call::new(receive(&into, client, &tag, message));
            call.request = Some(requests[at]);
            self.push(server, Statement::Call(call));
        }
        let replies = self.random.one_in(2);
        let first = if self.is_c() { 0 } else { 1 };
        let waits_for_some = self.random.one_in(2);
        // Clients in ascending order, without the server: only a server at either end leaves no gap.
        let answers = replies && (server == 0 || server == self.ranks() - 1);
        let base = if server == 0 { 1 } else { 0 };
        self.work(server);
        for _ in 0..number {
            let status = self.random.one_in(2).then(|| self.statuses(server, number));
            let variable = self.variable(server);
            let completion = if waits_for_some { Completion::Some(variable) } else { Completion::Any(variable) };
            let requests = requests.clone();
            self.push(server, Statement::Complete { completion, requests, status, code: None });
            let index = |base: Base, plus: i32| Expression { base, modulo: None, plus: plus - first };
            let named: Vec<(Option<Guard>, Base)> = match waits_for_some {
                false => vec![(None, Base::Element(Object::Variable(variable), 0))],
                true => (0..number)
                    .map(|at| {
                        let more = Guard::Above(Expression::variable(variable), at as i32);
                        (Some(more), Base::Element(Object::Indices, at))
                    })
                    .collect(),
            };
            if self.random.one_in(2) {
                self.work(server);
            }
            match waits_for_some {
                false => {
                    let index = Some(index(named[0].1.clone(), 0));
                    self.push(server, Statement::Sum { part: block.clone(), index });
                }
                true => self
                    .push(server, Statement::SumIndexed { part: block.clone(), count: Expression::variable(variable) }),
            }
            for (guard, base_of) in named.into_iter().filter(|_| answers) {
                let mut call = Call::new(send(&answer, 0, &back, None));
                if let Operation::Send { end, .. } = &mut call.operation {
                    end.peer = index(base_of, base);
                }
                self.push_if(server, guard, Statement::Call(call));
            }
            self.work(server);
        }
        for client in clients.into_iter().filter(|_| answers) {
            let into = self.part(client, 4);
            self.work(client);
            self.push(client, Statement::Call(Call::new(receive(&into, server, &back, None))));
            self.push(client, Statement::Use(into));
        }
        self.release(server, &whole);
        self.release(server, &answer);
    }
}
