//! Messages between two or three ranks, whose contents determine what follows.

use super::generate::Builder;
use super::program::{Base, Call, End, Expression, Guard, Object, Operation, Part, Statement};

pub fn send(part: &Part, to: usize, tag: &Expression, message: Option<usize>) -> Operation {
    let end = End { part: part.clone(), peer: Expression::constant(to), tag: tag.clone(), message };
    Operation::Send { end, synchronous: false }
}

pub fn receive(part: &Part, from: usize, tag: &Expression, message: Option<usize>) -> Operation {
    Operation::Receive(End { part: part.clone(), peer: Expression::constant(from), tag: tag.clone(), message })
}

impl Builder {
    /// Returns one of a few tags.
    pub fn tag(&mut self) -> Expression {
        Expression::constant(self.random.below(3))
    }

    /// Adds a message with work around it: wildcards, sections, synchronous sends.
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

    /// Adds messages to one rank one after the other.
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

    /// Adds a message whose length is known from its status or a probe, and decides how much is sent on.
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

    /// Adds a message that says the length and the tag of the next one.
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

    /// Adds messages that exist, or come from a rank, only if another one says so.
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
}
