//! Exchanges of all ranks, and collective operations.

use super::generate::{Builder, Pending};
use super::program::{Base, Call, Collective, CollectiveKind, End, Expression, Operation, Part, Statement};

impl Builder {
    /// Adds an exchange of all ranks with their neighbours, by one call.
    pub fn ring(&mut self) {
        let ranks = self.ranks();
        let count = self.length();
        let replaces = self.random.one_in(4);
        let tag = self.own_tag();
        let messages: Vec<usize> = (0..ranks).map(|_| self.message()).collect();
        for rank in 0..ranks {
            let (left, right) = ((rank + ranks - 1) % ranks, (rank + 1) % ranks);
            let out = self.part(rank, count);
            self.reserve(rank, &out);
            let into = if replaces { out.clone() } else { self.part(rank, count) };
            self.release(rank, &out);
            let end = |part: &Part, peer: usize, message: usize| End {
                part: part.clone(),
                peer: Expression::constant(peer),
                tag: tag.clone(),
                message: Some(message),
            };
            let (sends, receives) = (end(&out, right, messages[rank]), end(&into, left, messages[left]));
            self.fill(rank, &out);
            self.work(rank);
            let operation = match replaces {
                true => Operation::Replace { send: sends, receive: receives },
                false => Operation::Exchange { send: sends, receive: receives },
            };
            self.push(rank, Statement::Call(Call::new(operation)));
            self.work(rank);
            self.push(rank, Statement::Use(into));
        }
    }

    /// Returns the ranks of a communicator: all of them, or those that are even or odd.
    fn members(&mut self) -> (Vec<usize>, bool) {
        let parity = self.random.below(2);
        let half: Vec<usize> = (0..self.ranks()).filter(|rank| rank % 2 == parity).collect();
        if half.len() > 1 && self.random.one_in(3) { (half, true) } else { ((0..self.ranks()).collect(), false) }
    }

    fn kind(&mut self) -> CollectiveKind {
        self.random.choose(&[
            CollectiveKind::Allreduce,
            CollectiveKind::Allreduce,
            CollectiveKind::Reduce,
            CollectiveKind::Bcast,
            CollectiveKind::Bcast,
            CollectiveKind::Allgather,
            CollectiveKind::Alltoall,
            CollectiveKind::Scan,
            CollectiveKind::Barrier,
        ])
    }

    /// Returns the buffers of a rank.
    fn buffers(
        &mut self,
        rank: usize,
        members: usize,
        kind: CollectiveKind,
        count: usize,
        in_place: bool,
    ) -> (Option<Part>, Part) {
        let (sent, got) = match kind {
            CollectiveKind::Allgather => (count, members * count),
            CollectiveKind::Alltoall => (members * count, members * count),
            _ => (count, count),
        };
        let output = self.part(rank, got);
        if in_place || kind == CollectiveKind::Bcast {
            return (None, Part::new(output.object, output.offset, count));
        }
        self.reserve(rank, &output);
        let input = self.part(rank, sent);
        self.release(rank, &output);
        (Some(input), Part::new(output.object, output.offset, count))
    }

    /// Adds a collective operation, which at times does not block.
    pub fn collective(&mut self) {
        let (members, half) = self.members();
        let (kind, root) = (self.kind(), self.random.below(members.len()));
        let in_place = self.random.one_in(4) && kind == CollectiveKind::Allreduce;
        let waits = self.random.one_in(3);
        let count = self.random.choose(&[1, 2, 8, 24, 64, 900]);
        let number = self.message();
        for (at, &rank) in members.iter().enumerate() {
            let (input, output) = self.buffers(rank, members.len(), kind, count, in_place);
            let result = self.result(&output, members.len(), kind);
            match &input {
                Some(input) => self.fill(rank, input),
                None if kind != CollectiveKind::Bcast || at == root => self.fill(rank, &output),
                None => {}
            }
            self.work(rank);
            let whole = self.hull(input.as_ref(), &result);
            let collective = Collective { kind, input, output, root, counts: None, number };
            let mut call = Call { half, ..Call::new(Operation::Collective(collective)) };
            let used = vec![Statement::Use(result)];
            if waits {
                let request = self.requests(rank, 1)[0];
                call.request = Some(request);
                self.reserve(rank, &whole[0]);
                self.push(rank, Statement::Call(call));
                let part = whole[0].clone();
                self.pending[rank].push(Pending { request, part, then: used });
                if whole.len() > 1 {
                    // The other buffer is free again when the operation is complete: soon.
                    self.reserve(rank, &whole[1]);
                    self.work(rank);
                    while self.pending[rank].iter().any(|one| one.request == request) {
                        self.complete(rank);
                    }
                    self.release(rank, &whole[1]);
                }
            } else {
                self.push(rank, Statement::Call(call));
                self.work(rank);
                for statement in used {
                    self.push(rank, statement);
                }
            }
        }
    }

    fn result(&self, output: &Part, members: usize, kind: CollectiveKind) -> Part {
        let blocks = match kind {
            CollectiveKind::Allgather | CollectiveKind::Alltoall => members,
            _ => 1,
        };
        Part::new(output.object, output.offset, output.least * blocks)
    }

    /// Returns the buffers that are in use while it is under way.
    fn hull(&self, input: Option<&Part>, result: &Part) -> Vec<Part> {
        std::iter::once(result.clone()).chain(input.cloned()).collect()
    }

    /// Adds operations of one kind in a row, of which the second at times needs the first.
    pub fn collectives(&mut self) {
        let (members, half) = self.members();
        let kind = self.random.choose(&[CollectiveKind::Allreduce, CollectiveKind::Bcast, CollectiveKind::Reduce]);
        let root = self.random.below(members.len());
        let in_place = self.random.one_in(3) && kind == CollectiveKind::Allreduce;
        let needs = self.random.one_in(3);
        // The second is as long as the first says, on all ranks.
        let counted = kind != CollectiveKind::Reduce && self.random.one_in(4);
        let counts: Vec<usize> =
            (0..2 + self.random.below(2)).map(|_| self.random.choose(&[1, 2, 8, 12, 30])).collect();
        let numbers: Vec<usize> = counts.iter().map(|_| self.message()).collect();
        for (at, &rank) in members.iter().enumerate() {
            let mut buffers = Vec::new();
            for &count in &counts {
                let count = if counted && !buffers.is_empty() { 40 } else { count };
                let (input, output) = self.buffers(rank, members.len(), kind, count, in_place);
                for part in input.iter().chain([&output]) {
                    self.reserve(rank, part);
                }
                buffers.push((input, output));
            }
            let gives = kind != CollectiveKind::Bcast || at == root;
            for (input, output) in buffers.iter().filter(|_| gives) {
                self.fill(rank, &input.clone().unwrap_or(output.clone()));
            }
            self.work(rank);
            let mut before: Option<Part> = None;
            let mut used = Vec::new();
            let mut length = Expression::constant(0);
            for ((input, output), &number) in buffers.iter().zip(&numbers) {
                let (mut given, mut result) = (input.clone(), output.clone());
                if let Some(before) = &before {
                    if needs && gives {
                        let part = input.clone().unwrap_or(output.clone());
                        self.push(rank, Statement::Fill { part, seed: 3, from: Some(before.clone()) });
                    }
                    if counted {
                        given = given.map(|part| part.of(length.clone(), 2));
                        result = result.of(length.clone(), 2);
                    }
                } else if counted {
                    let variable = self.variable(rank);
                    length =
                        Expression { base: Base::Element(output.object, output.offset), modulo: Some(30), plus: 2 };
                    let collective = Collective { kind, input: given, output: result, root, counts: None, number };
                    self.push(rank, Statement::Call(Call { half, ..Call::new(Operation::Collective(collective)) }));
                    self.push(rank, Statement::Set { variable, value: length });
                    length = Expression::variable(variable);
                    before = Some(output.clone());
                    used.push(output.clone());
                    continue;
                }
                let collective = Collective { kind, input: given, output: result.clone(), root, counts: None, number };
                self.push(rank, Statement::Call(Call { half, ..Call::new(Operation::Collective(collective)) }));
                if kind != CollectiveKind::Reduce {
                    before = Some(output.clone());
                }
                used.push(result);
            }
            self.work(rank);
            for part in used {
                self.push(rank, Statement::Use(part));
            }
            for (input, output) in &buffers {
                for part in input.iter().chain([output]) {
                    self.release(rank, part);
                }
            }
        }
    }

    /// Adds a gathering of counts, and of the data that they count.
    pub fn gathered(&mut self) {
        let ranks = self.ranks();
        let numbers = [self.message(), self.message()];
        for rank in 0..ranks {
            let (own, counts) = (self.variable(rank), self.part(rank, 4));
            self.reserve(rank, &counts);
            let places = self.part(rank, 4);
            self.reserve(rank, &places);
            let data = self.part(rank, 20);
            self.reserve(rank, &data);
            let all = self.part(rank, 20 * ranks);
            self.reserve(rank, &all);
            let of = self.part(rank, 1);
            self.fill(rank, &data);
            let value = Expression { base: Base::Element(of.object, of.offset), modulo: Some(18), plus: 2 };
            self.push(rank, Statement::Set { variable: own, value });
            let block = |part: &Part| Part::new(part.object, part.offset, 1);
            let call = |collective| Statement::Call(Call::new(Operation::Collective(collective)));
            self.push(
                rank,
                call(Collective {
                    kind: CollectiveKind::Allgather,
                    input: Some(Part::variable(own)),
                    output: block(&counts),
                    root: 0,
                    counts: None,
                    number: numbers[0],
                }),
            );
            self.work(rank);
            let used = Part::new(counts.object, counts.offset, ranks);
            self.push(rank, Statement::Places { counts: counts.clone(), places: places.clone() });
            self.work(rank);
            self.push(
                rank,
                call(Collective {
                    kind: CollectiveKind::Allgatherv,
                    input: Some(data.clone().of(Expression::variable(own), 2)),
                    output: all.clone(),
                    root: 0,
                    counts: Some([(counts.object, counts.offset), (places.object, places.offset)]),
                    number: numbers[1],
                }),
            );
            self.work(rank);
            self.push(rank, Statement::Use(Part::new(all.object, all.offset, 2 * ranks)));
            self.push(rank, Statement::Use(used));
            for part in [counts, places, data, all] {
                self.release(rank, &part);
            }
        }
    }

    pub fn barrier(&mut self) {
        let number = self.message();
        for rank in 0..self.ranks() {
            let output = Part::variable(0);
            let kind = CollectiveKind::Barrier;
            let collective = Collective { kind, input: None, output, root: 0, counts: None, number };
            self.push(rank, Statement::Call(Call::new(Operation::Collective(collective))));
        }
    }
}
