//! Small random programs.

use std::ops::Range;

/// Random numbers that depend only on the seed (splitmix64).
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn within(&mut self, range: Range<usize>) -> usize {
        range.start + self.below(range.len())
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// Type of the elements of an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Element {
    Double,
    Float,
    Int,
    Short,
    Char,
    /// `struct { double a; int n; float v[3]; char c; short h; double w[2]; }`
    Struct,
}

impl Element {
    pub fn size(self) -> usize {
        match self {
            Self::Double => 8,
            Self::Float | Self::Int => 4,
            Self::Short => 2,
            Self::Char => 1,
            Self::Struct => 48,
        }
    }
}

/// Fields of the structure: name, element, offset, length (0 if no array).
pub const FIELDS: [(&str, Element, usize, usize); 6] = [
    ("a", Element::Double, 0, 0),
    ("n", Element::Int, 8, 0),
    ("v", Element::Float, 12, 3),
    ("c", Element::Char, 24, 0),
    ("h", Element::Short, 26, 0),
    ("w", Element::Double, 32, 2),
];

/// Storage of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Home {
    /// A global variable of the program.
    Global,
    /// Memory allocated before all cases.
    Heap,
    /// A variable of the case's function.
    Stack,
    /// A parameter of the case's function, by value.
    Value,
}

/// An object that can be passed to MPI.
#[derive(Clone, Debug)]
pub struct Object {
    pub name: String,
    pub element: Element,
    pub rows: usize,
    pub columns: usize,
    pub home: Home,
}

/// Length of every array, and number of values of `content`.
pub const LEAST: usize = 16;

/// Object that holds bounds of loops; those after it hold indices. They are never written.
pub const BOUNDS: usize = 0;
pub const INDICES: [usize; 2] = [1, 2];

/// Returns the value at an index of an object that is never written.
pub fn content(object: usize, index: usize) -> usize {
    match object {
        BOUNDS => 2 + index % 5,
        _ => (index * (2 * object + 5) + object) % LEAST,
    }
}

/// `constant + sum factor * variable`, with a remainder if that would leave the array.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Affine {
    pub constant: usize,
    pub terms: Vec<(usize, usize)>,
    pub modulo: Option<usize>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Index {
    Affine(Affine),
    /// The index is an entry of an array of indices.
    Through(usize, Affine),
}

/// An element, or a field of one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    pub object: usize,
    pub row: Option<Affine>,
    pub index: Index,
    /// Field, and index in it.
    pub field: Option<(usize, usize)>,
}

#[derive(Clone, Debug)]
pub enum Condition {
    /// `(constant + ...) % modulo == value`
    Index(Affine, usize),
    /// An entry of an array of indices equals a value.
    Entry(usize, Affine, usize),
    /// Both conditions, the second evaluated only if the first holds.
    Both(Box<Self>, Box<Self>),
}

#[derive(Clone, Debug)]
pub enum Bound {
    Constant(usize),
    /// Read from memory in each iteration.
    Memory(usize),
}

#[derive(Clone, Debug)]
pub enum Statement {
    Assign(Place, Vec<Place>),
    Update(Place, Vec<Place>),
    /// Sets a local variable that never leaves its function to 0; `Add` adds to it, `Store` stores it.
    Clear,
    Add(Vec<Place>),
    Store(Place),
    /// A value is read and not used.
    Unused(Place),
    Select(Place, Condition, Place, Place),
    If(Condition, Vec<Statement>, Vec<Statement>),
    /// Leaves the innermost loop.
    Break(Condition),
    Switch(Affine, Vec<Vec<Statement>>),
    Loop {
        variable: usize,
        from: usize,
        to: Bound,
        step: usize,
        down: bool,
        body: Vec<Statement>,
    },
    /// Copies from one array to another: elements, by a function or as a section.
    Copy {
        to: (usize, usize),
        from: (usize, usize),
        count: usize,
    },
    Fill {
        to: (usize, usize),
        count: usize,
    },
    /// Copies a whole structure.
    Whole(Place, Place),
    /// `to[i] = to[i] / 2 + 1` along a pointer; in another function with `apart`.
    Walk {
        object: usize,
        from: usize,
        count: usize,
        step: usize,
        apart: bool,
    },
    /// `to[from + i] += source[other + i]` in another function.
    Axpy {
        to: (usize, usize),
        from: (usize, usize),
        count: usize,
    },
    Mark,
}

/// A function of a program.
#[derive(Clone, Debug)]
pub struct Case {
    pub number: usize,
    /// Objects of the case; their numbers follow those of the global ones.
    pub objects: Vec<Object>,
    pub body: Vec<Statement>,
}

/// A program of many cases.
pub struct Program {
    pub objects: Vec<Object>,
    pub cases: Vec<Case>,
}

/// Generator of programs.
pub struct Maker {
    random: Random,
    /// True for a language with structures, pointers and the like.
    c: bool,
    objects: Vec<Object>,
    /// Variables of the enclosing loops and their ranges.
    variables: Vec<Range<usize>>,
}

impl Program {
    pub fn new(seed: u64, cases: usize, c: bool) -> Self {
        let mut maker = Maker { random: Random(seed), c, objects: Vec::new(), variables: Vec::new() };
        let object =
            |name: &str, element, rows, columns, home| Object { name: name.into(), element, rows, columns, home };
        use Element::{Char, Double, Float, Int, Short, Struct};
        let mut objects = vec![
            object("bounds", Int, 1, 16, Home::Global),
            object("k1", Int, 1, 40, Home::Global),
            object("k2", Int, 1, 40, Home::Global),
            object("ga", Double, 1, 40, Home::Global),
            object("gb", Double, 1, 33, Home::Global),
            object("gm", Double, 6, 17, Home::Global),
            object("gf", Float, 1, 35, Home::Global),
            object("gi", Int, 1, 24, Home::Global),
            object("gh", Short, 1, 21, Home::Global),
            object("gc", Char, 1, 50, Home::Global),
            object("ha", Double, 1, 32, Home::Heap),
            object("hi", Int, 1, 30, Home::Heap),
        ];
        if c {
            objects.push(object("gs", Struct, 1, 16, Home::Global));
        }
        maker.objects = objects.clone();
        let cases = (0..cases).map(|number| maker.case(number)).collect();
        Self { objects, cases }
    }
}

impl Maker {
    fn case(&mut self, number: usize) -> Case {
        let globals = self.objects.len();
        let mut objects = Vec::new();
        for _ in 0..self.random.below(3) {
            let elements = [Element::Double, Element::Int, Element::Float, Element::Struct];
            let element = elements[self.random.below(if self.c { 4 } else { 3 })];
            let columns = self.random.within(LEAST..24);
            let name = format!("s{}", objects.len());
            objects.push(Object { name, element, rows: 1, columns, home: Home::Stack });
        }
        if self.random.one_in(3) {
            let element = if self.c && self.random.one_in(2) { Element::Struct } else { Element::Double };
            objects.push(Object { name: "x".into(), element, rows: 1, columns: 1, home: Home::Value });
        }
        self.objects.extend(objects.iter().cloned());
        let mut body = Vec::new();
        for _ in 0..self.random.within(2..5) {
            for _ in 0..self.random.within(1..4) {
                let statement = self.statement(3);
                body.extend(statement);
            }
            body.push(Statement::Mark);
        }
        self.objects.truncate(globals);
        Case { number, objects, body }
    }

    fn affine(&mut self, length: usize) -> Affine {
        let mut terms = Vec::new();
        let mut constant = self.random.below(length.min(8));
        if length == 1 {
            return Affine { constant: 0, terms, modulo: None };
        }
        for variable in 0..self.variables.len() {
            if !self.random.one_in(3) {
                terms.push((self.random.within(1..4), variable));
            }
        }
        let most = |constant: usize, terms: &[(usize, usize)], variables: &[Range<usize>]| {
            constant + terms.iter().map(|&(factor, v)| factor * (variables[v].end - 1)).sum::<usize>()
        };
        if most(constant, &terms, &self.variables) >= length {
            constant = 0;
        }
        let modulo = (most(constant, &terms, &self.variables) >= length).then_some(length);
        Affine { constant, terms, modulo }
    }

    /// Returns an element of an object that has no structures.
    fn place(&mut self, write: bool) -> Place {
        let first = if write { 3 } else { 1 };
        let object = self.random.within(first..self.objects.len());
        self.place_in(object)
    }

    /// Returns an element whose index is not in memory. Otherwise the compiler would choose the number of
    /// reads of the index for an element that is read and written.
    fn direct(&mut self) -> Place {
        loop {
            let place = self.place(true);
            if matches!(place.index, Index::Affine(_)) {
                return place;
            }
        }
    }

    fn place_in(&mut self, object: usize) -> Place {
        let Object { element, rows, columns, .. } = self.objects[object];
        let row = (rows > 1).then(|| self.affine(rows));
        let index = if columns >= LEAST && self.random.one_in(6) {
            let indices = INDICES[self.random.below(2)];
            Index::Through(indices, self.affine(self.objects[indices].columns))
        } else {
            Index::Affine(self.affine(columns))
        };
        let field = (element == Element::Struct).then(|| {
            let field = self.random.below(FIELDS.len());
            (field, self.random.below(FIELDS[field].3.max(1)))
        });
        Place { object, row, index, field }
    }

    fn terms(&mut self) -> Vec<Place> {
        let mut terms: Vec<Place> = Vec::new();
        for _ in 0..self.random.below(4) {
            let term = self.place(false);
            // A value that occurs twice in an expression may be read once.
            if !terms.contains(&term) {
                terms.push(term);
            }
        }
        terms
    }

    fn condition(&mut self, deep: bool) -> Condition {
        let modulo = self.random.within(2..4);
        let affine = Affine { modulo: Some(modulo), ..self.affine(1 << 20) };
        match self.random.below(if self.c && deep { 4 } else { 3 }) {
            // A constant condition would be decided before anything is read.
            0 | 1 if affine.terms.iter().any(|&(factor, _)| factor % modulo != 0) => {
                Condition::Index(affine, self.random.below(modulo))
            }
            0..=2 => {
                let indices = INDICES[self.random.below(2)];
                let affine = self.affine(self.objects[indices].columns);
                Condition::Entry(indices, affine, self.random.below(LEAST))
            }
            _ => {
                let (one, other) = (self.condition(false), self.condition(false));
                match (&one, &other) {
                    // An entry compared twice may be known before it is read.
                    (Condition::Entry(indices, at, _), Condition::Entry(others, elsewhere, _))
                        if indices == others && at == elsewhere =>
                    {
                        one
                    }
                    _ => Condition::Both(Box::new(one), Box::new(other)),
                }
            }
        }
    }

    fn block(&mut self, depth: usize) -> Vec<Statement> {
        (0..self.random.within(1..3)).flat_map(|_| self.statement(depth)).collect()
    }

    /// Returns two arrays of one simple element, and places in them.
    fn two(&mut self) -> ((usize, usize), (usize, usize), usize) {
        loop {
            let (to, from) = (self.random.within(3..self.objects.len()), self.random.within(1..self.objects.len()));
            let (one, other) = (&self.objects[to], &self.objects[from]);
            if one.element == other.element && to != from && one.columns.min(other.columns) >= LEAST {
                let count = self.random.within(1..9);
                return ((to, self.random.below(8)), (from, self.random.below(8)), count);
            }
        }
    }

    fn numbers(&mut self) -> usize {
        loop {
            let object = self.random.within(3..self.objects.len());
            let Object { element, rows, columns, .. } = self.objects[object];
            if element != Element::Struct && rows == 1 && columns >= LEAST {
                return object;
            }
        }
    }

    fn statement(&mut self, depth: usize) -> Vec<Statement> {
        let inside = !self.variables.is_empty();
        let choice = self.random.below(if depth == 0 { 10 } else { 17 });
        vec![match choice {
            0..=2 => Statement::Assign(self.place(true), self.terms()),
            3 | 4 => Statement::Update(self.direct(), self.terms()),
            5 => {
                // Two writes, or two reads, with nothing in between that a compiler must keep.
                let place = self.place(true);
                let (one, other) = (self.terms(), self.terms());
                return vec![Statement::Assign(place.clone(), one), Statement::Assign(place, other)];
            }
            6 => {
                let place = self.place(false);
                let (one, other) = (self.place(true), self.place(true));
                return vec![Statement::Assign(one, vec![place.clone()]), Statement::Assign(other, vec![place])];
            }
            7 => Statement::Unused(self.place(false)),
            8 if self.c => {
                let condition = self.condition(true);
                let (to, one, other) = (self.place(true), self.place(false), self.place(false));
                if one == other { Statement::Mark } else { Statement::Select(to, condition, one, other) }
            }
            8 => Statement::Update(self.direct(), self.terms()),
            9 if inside && depth < 3 => Statement::Break(self.condition(true)),
            9 => Statement::Assign(self.place(true), self.terms()),
            10 => {
                let condition = self.condition(true);
                let other = if self.random.one_in(2) { self.block(depth - 1) } else { Vec::new() };
                Statement::If(condition, self.block(depth - 1), other)
            }
            11 => match self.random.below(4) {
                0 => {
                    let (to, from, count) = self.two();
                    Statement::Copy { to, from, count }
                }
                1 => {
                    let to = self.numbers();
                    Statement::Fill { to: (to, self.random.below(8)), count: self.random.within(1..9) }
                }
                2 => {
                    let (to, from, count) = self.two();
                    if self.objects[to.0].element == Element::Double {
                        Statement::Axpy { to, from, count }
                    } else {
                        Statement::Copy { to, from, count }
                    }
                }
                _ => {
                    let object = self.numbers();
                    let (from, apart) = (self.random.below(4), self.random.one_in(2));
                    Statement::Walk {
                        object,
                        from,
                        count: self.random.within(1..7),
                        step: self.random.within(1..3),
                        apart,
                    }
                }
            },
            12 if self.c => {
                let structures: Vec<usize> =
                    (3..self.objects.len()).filter(|&object| self.objects[object].element == Element::Struct).collect();
                let mut whole = || {
                    let object = structures[self.random.below(structures.len())];
                    Place { field: None, ..self.place_in(object) }
                };
                let (to, from) = (whole(), whole());
                if to == from { Statement::Mark } else { Statement::Whole(to, from) }
            }
            13 if self.c => {
                let ways = self.random.within(2..5);
                let affine = Affine { modulo: Some(ways), ..self.affine(1 << 20) };
                Statement::Switch(affine, (0..ways).map(|_| self.block(depth - 1)).collect())
            }
            _ => return self.round(depth),
        }]
    }

    /// Returns a loop, perhaps with a sum around it.
    fn round(&mut self, depth: usize) -> Vec<Statement> {
        let from = self.random.below(3);
        let (step, down) = (self.random.within(1..3), self.random.one_in(4));
        let memory = self.random.one_in(4) && !down;
        let (to, end) = if memory {
            let index = self.random.below(16);
            (Bound::Memory(index), content(BOUNDS, index))
        } else {
            let end = from + self.random.within(1..7);
            (Bound::Constant(end), end)
        };
        let variable = self.variables.len();
        self.variables.push(from..end.max(from + 1));
        let sum = depth == 3 && self.random.one_in(3);
        let mut body = self.block(depth - 1);
        if sum {
            body.push(Statement::Add(self.terms()));
        }
        self.variables.pop();
        let mut all = vec![Statement::Loop { variable, from, to, step, down, body }];
        if sum {
            all.insert(0, Statement::Clear);
            all.push(Statement::Store(self.place(true)));
        }
        all
    }
}
