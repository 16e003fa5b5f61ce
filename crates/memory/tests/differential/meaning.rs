//! Expected accesses of a program, statement by statement, according to its source.

use crate::program::{
    Affine, BOUNDS, Bound, Case, Condition, Element, FIELDS, Index, Object, Place, Program, Statement, content,
};

/// Bytes of an object: number, first byte, length.
pub type Bytes = (usize, usize, usize);

/// Accesses of one statement, or of one evaluation of a condition. The compiler chooses their order.
#[derive(Clone, Debug, Default)]
pub struct Group {
    pub reads: Vec<Bytes>,
    pub writes: Vec<Bytes>,
}

/// Accesses between two marks.
#[derive(Clone, Debug, Default)]
pub struct Interval {
    pub case: usize,
    pub groups: Vec<Group>,
}

/// Returns the accesses of a program between its marks: an interval before each mark. Objects are numbered as
/// the program shows them.
pub fn intervals(program: &Program) -> Vec<Interval> {
    let mut walk = Walk { objects: program.objects.clone(), ..Walk::default() };
    let mut shown = program.objects.len();
    let globals = program.objects.len();
    for case in &program.cases {
        walk.case(case, shown);
        shown += case.objects.len();
        walk.objects.truncate(globals);
    }
    walk.intervals
}

#[derive(Default)]
struct Walk {
    objects: Vec<Object>,
    /// Offset added to the number of an object that is not global.
    shift: usize,
    globals: usize,
    variables: Vec<usize>,
    intervals: Vec<Interval>,
    now: Interval,
}

impl Walk {
    fn case(&mut self, case: &Case, shown: usize) {
        self.globals = self.objects.len();
        self.shift = shown - self.globals;
        self.objects.extend(case.objects.iter().cloned());
        self.now.case = case.number;
        // Before the first mark objects become known, and parameters get their values.
        self.mark(case.number);
        self.block(&case.body);
    }

    fn mark(&mut self, case: usize) {
        self.intervals.push(std::mem::replace(&mut self.now, Interval { case, groups: Vec::new() }));
    }

    fn affine(&self, affine: &Affine) -> usize {
        let value = affine.constant + affine.terms.iter().map(|&(f, v)| f * self.variables[v]).sum::<usize>();
        affine.modulo.map_or(value, |modulo| value % modulo)
    }

    fn bytes(&self, object: usize, index: usize, offset: usize, length: usize) -> Bytes {
        let shown = if object < self.globals { object } else { object + self.shift };
        (shown, index * self.objects[object].element.size() + offset, length)
    }

    /// Returns the bytes of a place; adds the reads needed to find them.
    fn place(&self, place: &Place, reads: &mut Vec<Bytes>) -> Bytes {
        let object = &self.objects[place.object];
        let row = place.row.as_ref().map_or(0, |row| self.affine(row));
        let column = match &place.index {
            Index::Affine(affine) => self.affine(affine),
            Index::Through(indices, affine) => {
                let at = self.affine(affine);
                reads.push(self.bytes(*indices, at, 0, 4));
                content(*indices, at)
            }
        };
        let (offset, length) = match place.field {
            Some((field, index)) => {
                let (_, element, offset, _) = FIELDS[field];
                (offset + index * element.size(), element.size())
            }
            None => (0, object.element.size()),
        };
        assert!(column < object.columns && row < object.rows, "{place:?} leaves {object:?}");
        self.bytes(place.object, row * object.columns + column, offset, length)
    }

    fn read(&self, places: &[Place]) -> Vec<Bytes> {
        let mut reads = Vec::new();
        for place in places {
            let bytes = self.place(place, &mut reads);
            reads.push(bytes);
        }
        reads
    }

    fn group(&mut self, reads: Vec<Bytes>, writes: Vec<Bytes>) {
        if !(reads.is_empty() && writes.is_empty()) {
            self.now.groups.push(Group { reads, writes });
        }
    }

    /// Returns true if a condition holds; adds the reads for it.
    fn holds(&self, condition: &Condition, reads: &mut Vec<Bytes>) -> bool {
        match condition {
            Condition::Index(affine, value) => self.affine(affine) == *value,
            Condition::Entry(indices, affine, value) => {
                let at = self.affine(affine);
                reads.push(self.bytes(*indices, at, 0, 4));
                content(*indices, at) == *value
            }
            Condition::Both(one, other) => self.holds(one, reads) && self.holds(other, reads),
        }
    }

    fn decide(&mut self, condition: &Condition) -> bool {
        let mut reads = Vec::new();
        let holds = self.holds(condition, &mut reads);
        self.group(reads, Vec::new());
        holds
    }

    /// Executes a block; returns `true` if a loop is left.
    fn block(&mut self, block: &[Statement]) -> bool {
        block.iter().any(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &Statement) -> bool {
        match statement {
            Statement::Assign(to, terms) => {
                let mut reads = self.read(terms);
                let write = self.place(to, &mut reads);
                self.group(reads, vec![write]);
            }
            Statement::Update(to, terms) => {
                let mut reads = self.read(terms);
                let write = self.place(to, &mut reads);
                reads.push(write);
                self.group(reads, vec![write]);
            }
            Statement::Clear => {}
            Statement::Add(terms) => self.group(self.read(terms), Vec::new()),
            Statement::Store(to) => {
                let mut reads = Vec::new();
                let write = self.place(to, &mut reads);
                self.group(reads, vec![write]);
            }
            Statement::Unused(place) => self.group(self.read(std::slice::from_ref(place)), Vec::new()),
            Statement::Select(to, condition, one, other) => {
                let mut reads = Vec::new();
                let chosen = if self.holds(condition, &mut reads) { one } else { other };
                reads.extend(self.read(std::slice::from_ref(chosen)));
                let write = self.place(to, &mut reads);
                self.group(reads, vec![write]);
            }
            Statement::If(condition, then, otherwise) => {
                let block = if self.decide(condition) { then } else { otherwise };
                return self.block(block);
            }
            Statement::Break(condition) => return self.decide(condition),
            Statement::Switch(affine, ways) => return self.block(&ways[self.affine(affine)]),
            Statement::Loop { variable, from, to, step, down, body } => {
                let end = match to {
                    Bound::Constant(end) => *end,
                    Bound::Memory(index) => content(BOUNDS, *index),
                };
                let mut values: Vec<usize> = (*from..end).step_by(*step).collect();
                if *down {
                    values.reverse();
                }
                self.variables.truncate(*variable);
                self.variables.push(0);
                let mut left = false;
                for value in values {
                    if let Bound::Memory(index) = to {
                        self.group(vec![self.bytes(BOUNDS, *index, 0, 4)], Vec::new());
                    }
                    self.variables[*variable] = value;
                    left = self.block(body);
                    if left {
                        break;
                    }
                }
                if let (Bound::Memory(index), false) = (to, left) {
                    self.group(vec![self.bytes(BOUNDS, *index, 0, 4)], Vec::new());
                }
            }
            Statement::Copy { to, from, count } => {
                let size = self.objects[to.0].element.size() * count;
                self.group(vec![self.bytes(from.0, from.1, 0, size)], vec![self.bytes(to.0, to.1, 0, size)]);
            }
            Statement::Fill { to, count } => {
                let size = self.objects[to.0].element.size() * count;
                self.group(Vec::new(), vec![self.bytes(to.0, to.1, 0, size)]);
            }
            Statement::Whole(to, from) => {
                let mut reads = self.read(std::slice::from_ref(from));
                let write = self.place(to, &mut reads);
                self.group(reads, vec![write]);
            }
            Statement::Walk { object, from, count, step, .. } => {
                let size = self.objects[*object].element.size();
                for i in 0..*count {
                    let bytes = self.bytes(*object, from + i * step, 0, size);
                    self.group(vec![bytes], vec![bytes]);
                }
            }
            Statement::Axpy { to, from, count } => {
                for i in 0..*count {
                    let write = self.bytes(to.0, to.1 + i, 0, Element::Double.size());
                    self.group(vec![self.bytes(from.0, from.1 + i, 0, 8), write], vec![write]);
                }
            }
            Statement::Mark => self.mark(self.now.case),
        }
        false
    }
}
