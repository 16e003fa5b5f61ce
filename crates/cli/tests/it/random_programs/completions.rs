//! Completions that write more than a buffer: statuses, indices, return codes; persistent requests.

use super::generate::{Builder, Pending};
use super::messages::{receive, send};
use super::program::{
    Base, Call, Completion, Expression, Guard, Language, Object, Operation, Part, Statement, UNORDERED,
};

impl Builder {
    /// Adds a server that answers the rank which a status names.
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

    /// Adds a receive whose return code is tested; some messages are too long for their receiver.
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

    /// Adds receives whose indices decide which buffer is read and which rank is answered.
    pub fn some(&mut self) {
        // With `mpi_f08`, Open MPI counts indices from 1, MPICH 4.0 from 0.
        if self.program.language == Language::Fortran08 {
            return self.plain();
        }
        let server = self.random.below(self.ranks());
        let clients: Vec<usize> = (0..self.ranks()).filter(|&rank| rank != server).collect();
        let (number, count) = (clients.len(), 1 + self.random.below(16));
        let whole = self.part(server, number * count);
        let block = Part::new(whole.object, whole.offset, count);
        self.reserve(server, &whole);
        let answer = self.part(server, 4);
        self.push(server, Statement::Fill { part: answer.clone(), seed: count, from: None });
        self.reserve(server, &answer);
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

    /// Adds persistent requests, which are started in each iteration.
    pub fn persistent(&mut self) {
        let (one, other) = self.pair();
        let count = self.random.choose(&[1, 8, 64, 3000]);
        let tags = [self.own_number(), self.own_number()];
        let messages = [self.message(), self.message()];
        let both = self.random.one_in(2);
        for (at, (rank, peer)) in [(one, other), (other, one)].into_iter().enumerate() {
            let mut calls = Vec::new();
            let out = self.part(rank, count);
            self.reserve(rank, &out);
            let into = self.part(rank, count);
            self.release(rank, &out);
            if both || at == 0 {
                calls.push((send(&out, peer, &tags[at], Some(messages[at])), out.clone(), Vec::new()));
            }
            if both || at == 1 {
                let from = 1 - at;
                let then = vec![Statement::Use(into.clone())];
                calls.push((receive(&into, peer, &tags[from], Some(messages[from])), into.clone(), then));
            }
            let requests = self.requests(rank, calls.len());
            for ((operation, ..), &request) in calls.iter().zip(&requests) {
                let call = Call { request: Some(request), ..Call::new(operation.clone()) };
                self.program.persistent[rank].push(call);
            }
            self.work(rank);
            if both || at == 0 {
                self.fill(rank, &out);
            }
            for (_, part, _) in &calls {
                self.reserve(rank, part);
            }
            self.push(rank, Statement::Start(requests.clone()));
            self.work(rank);
            for ((_, part, then), request) in calls.into_iter().zip(requests) {
                self.pending[rank].push(Pending { request, part, then });
            }
        }
        for rank in [one, other] {
            if self.random.one_in(2) {
                self.complete(rank);
            }
        }
    }

    fn own_number(&mut self) -> Expression {
        Expression::constant(50 + self.message())
    }
}
