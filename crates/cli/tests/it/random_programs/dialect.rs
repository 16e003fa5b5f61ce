//! Differences between C and Fortran.

use super::program::{Base, Expression, Guard, LIMIT, Language, Object, Part};

/// Language of a source.
#[derive(Clone, Copy, Debug)]
pub struct Dialect(pub Language);

impl Dialect {
    pub fn is_c(self) -> bool {
        self.0 == Language::C
    }

    /// Returns an element of an object.
    pub fn at(self, object: Object, index: &str) -> String {
        let name = match object {
            Object::Array(number) => format!("b{number}"),
            Object::Alias(number) => format!("p{number}"),
            Object::Heap(number) => format!("h{number}"),
            Object::Scope(number) => format!("t{number}"),
            Object::Indices => "ids".to_owned(),
            Object::Variable(number) => return format!("v{number}"),
        };
        if self.is_c() { format!("{name}[{index}]") } else { format!("{name}({index})") }
    }

    /// Returns the entry of a part with this index.
    pub fn entry(self, part: &Part, index: &str) -> String {
        let index = if part.stride == 1 { index.to_owned() } else { format!("{} * ({index})", part.stride) };
        self.at(part.object, &format!("{} + {index}", part.offset))
    }

    pub fn modulo(self, value: &str, divisor: impl std::fmt::Display) -> String {
        if self.is_c() { format!("({value}) % {divisor}") } else { format!("mod({value}, {divisor})") }
    }

    pub fn expression(self, expression: &Expression) -> String {
        let base = match &expression.base {
            Base::Constant => return expression.plus.to_string(),
            Base::Iteration => "k".to_owned(),
            Base::Element(object, index) => self.at(*object, &index.to_string()),
            Base::Source(status) => self.field(*status, "MPI_SOURCE"),
            Base::Tag(status) => self.field(*status, "MPI_TAG"),
            Base::AnySource => return "MPI_ANY_SOURCE".to_owned(),
            Base::AnyTag => return "MPI_ANY_TAG".to_owned(),
        };
        let rest = expression.modulo.map_or(base.clone(), |modulo| self.modulo(&base, modulo));
        match expression.plus {
            0 => rest,
            plus => format!("{plus} + {rest}"),
        }
    }

    fn field(self, status: usize, field: &str) -> String {
        match self.0 {
            Language::C => format!("st[{status}].{field}"),
            Language::Fortran => format!("st({field}, {status})"),
            Language::Fortran08 => format!("st({status})%{field}"),
        }
    }

    /// Returns the address of a part, as a call of MPI gets it.
    pub fn buffer(self, part: &Part) -> String {
        if part.stride > 1 {
            let count = part.count.known().expect("sections have a known length");
            let last = part.offset + part.stride * (count - 1);
            return self.at(part.object, &format!("{}:{last}:{}", part.offset, part.stride));
        }
        self.address(&self.at(part.object, &part.offset.to_string()))
    }

    pub fn address(self, place: &str) -> String {
        if self.is_c() { format!("&{place}") } else { place.to_owned() }
    }

    /// Returns a part as buffer, count and datatype.
    pub fn message(self, part: &Part) -> [String; 3] {
        [self.buffer(part), self.expression(&part.count), self.datatype(part).to_owned()]
    }

    pub fn datatype(self, part: &Part) -> &'static str {
        match (part.packed, self.is_c()) {
            (true, _) => "MPI_PACKED",
            (_, true) => "MPI_INT",
            _ => "MPI_INTEGER",
        }
    }

    /// Returns a status argument.
    pub fn status(self, status: Option<usize>) -> String {
        match (status, self.0) {
            (None, _) => "MPI_STATUS_IGNORE".to_owned(),
            (Some(status), Language::C) => format!("&st[{status}]"),
            (Some(status), Language::Fortran) => format!("st(:, {status})"),
            (Some(status), Language::Fortran08) => format!("st({status})"),
        }
    }

    pub fn statuses(self, first: Option<usize>, count: usize) -> String {
        match (first, self.0) {
            (None, _) => "MPI_STATUSES_IGNORE".to_owned(),
            (Some(first), Language::C) => format!("&st[{first}]"),
            (Some(first), Language::Fortran) => format!("st(:, {first}:{})", first + count - 1),
            (Some(first), Language::Fortran08) => format!("st({first}:{})", first + count - 1),
        }
    }

    pub fn request(self, request: usize) -> String {
        if self.is_c() { format!("&q[{request}]") } else { format!("q({request})") }
    }

    pub fn requests(self, first: usize, count: usize) -> String {
        if self.is_c() { format!("&q[{first}]") } else { format!("q({first}:{})", first + count - 1) }
    }

    /// Returns a call of MPI whose return code goes to a variable.
    pub fn mpi(self, name: &str, arguments: &[String], code: Option<usize>) -> String {
        let mut arguments = arguments.to_vec();
        match (self.is_c(), code) {
            (true, None) => format!("MPI_{name}({});", arguments.join(", ")),
            (true, Some(code)) => format!("v{code} = MPI_{name}({});", arguments.join(", ")),
            (false, code) => {
                arguments.push(code.map_or("e".to_owned(), |code| format!("v{code}")));
                format!("call MPI_{name}({})", arguments.join(", "))
            }
        }
    }

    /// Returns a call of a function outside MPI.
    pub fn call(self, name: &str, arguments: &[String]) -> String {
        let arguments = arguments.join(", ");
        if self.is_c() { format!("{name}({arguments});") } else { format!("call {name}({arguments})") }
    }

    pub fn assign(self, to: &str, value: &str) -> String {
        if self.is_c() { format!("{to} = {value};") } else { format!("{to} = {value}") }
    }

    /// Returns statements one after the other on a line.
    pub fn chain(self, statements: &[String]) -> String {
        statements.join(if self.is_c() { " " } else { "; " })
    }

    /// Returns a loop over `0..count`.
    pub fn each(self, index: &str, count: &str, body: &str) -> String {
        if self.is_c() {
            format!("for ({index} = 0; {index} < {count}; {index}++) {{ {body} }}")
        } else {
            format!("do {index} = 0, {count} - 1; {body}; end do")
        }
    }

    pub fn guarded(self, condition: &str, body: &str) -> String {
        if self.is_c() {
            format!("if ({condition}) {{ {body} }}")
        } else {
            format!("if ({condition}) then; {body}; end if")
        }
    }

    pub fn equal(self, left: &str, right: impl std::fmt::Display) -> String {
        format!("{left} == {right}")
    }

    pub fn guard(self, guard: &Guard) -> String {
        match guard {
            Guard::Above(value, limit) => format!("{} > {limit}", self.expression(value)),
            Guard::Even(value) => self.equal(&self.modulo(&self.expression(value), 2), 0),
            Guard::Odd(value) => self.equal(&self.modulo(&self.expression(value), 2), 1),
        }
    }

    /// Returns a condition that holds in the iterations of a mask.
    pub fn in_iterations(self, mask: u32) -> String {
        if self.is_c() { format!("{mask} >> k & 1") } else { format!("btest({mask}, k)") }
    }

    pub fn otherwise(self, mask: u32) -> String {
        if self.is_c() { format!("!({mask} >> k & 1)") } else { format!(".not. btest({mask}, k)") }
    }

    /// Returns the statement that adds to the checksum.
    pub fn check(self, value: &str) -> String {
        self.assign("chk", &self.modulo(&format!("chk * 31 + {value}"), "1000003"))
    }

    /// Returns the statement that adds to the sum without order.
    pub fn sum(self, value: &str, index: &str) -> String {
        let weight = self.modulo(index, 7);
        self.assign("sum", &self.modulo(&format!("sum + {value} * (1 + {weight})"), "1000003"))
    }

    pub fn limited(self, value: &str) -> String {
        self.modulo(value, LIMIT)
    }
}
