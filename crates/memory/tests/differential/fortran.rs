//! Writes programs in Fortran.

use std::fmt::Write as _;

use crate::program::{
    Affine, BOUNDS, Bound, Case, Condition, Element, Home, Index, Object, Place, Program, Statement, content,
};

fn element(element: Element) -> &'static str {
    match element {
        Element::Double => "real(8)",
        Element::Float => "real(4)",
        Element::Int => "integer(4)",
        Element::Short => "integer(2)",
        Element::Char => "integer(1)",
        Element::Struct => unreachable!("not made for Fortran"),
    }
}

const INTERFACES: &str = "\
module marks
  interface
    subroutine begin() bind(c)
    end subroutine
    subroutine next() bind(c)
    end subroutine
    subroutine end_all() bind(c, name='end')
    end subroutine
    subroutine show(object, x) bind(c)
      integer(4), value :: object
      type(*) :: x
    end subroutine
    subroutine gone(object) bind(c)
      integer(4), value :: object
    end subroutine
  end interface
end module
";

/// Returns the text of a program; with `nested`, its cases are within the procedure that has the variables.
pub fn text(program: &Program, nested: bool) -> String {
    let mut out = String::from(INTERFACES);
    out.push_str(if nested { "subroutine all\n  use marks\n" } else { "module objects\n" });
    for Object { name, element: kind, rows, columns, home } in &program.objects {
        let element = element(*kind);
        let _ = match (home, rows) {
            (Home::Heap, _) => writeln!(out, "  {element}, allocatable :: {name}(:)"),
            (_, 1) => writeln!(out, "  {element} :: {name}({columns})"),
            _ => writeln!(out, "  {element} :: {name}({columns}, {rows})"),
        };
    }
    if nested {
        starts(program, &mut out);
        out.push_str("contains\n");
    } else {
        out.push_str("end module\nmodule cases\n  use marks\n  use objects\ncontains\n");
    }
    for (name, kind) in [
        ("double", "real(8)"),
        ("float", "real(4)"),
        ("int", "integer(4)"),
        ("short", "integer(2)"),
        ("char", "integer(1)"),
    ] {
        let _ = writeln!(
            out,
            "  subroutine walk_{name}(p, n, step)\n    {kind} :: p(*)\n    integer :: n, step, i\n    \
             do i = 1, n\n      p((i - 1) * step + 1) = int(p((i - 1) * step + 1) * 0.5 + 1)\n    end do\n  end subroutine"
        );
    }
    out.push_str(
        "  subroutine axpy(to, from, n)\n    integer :: n\n    real(8) :: to(n), from(n)\n    integer :: i\n    \
         do i = 1, n\n      to(i) = to(i) + from(i)\n    end do\n  end subroutine\n",
    );
    let mut shown = program.objects.len();
    for case in &program.cases {
        let mut objects = program.objects.clone();
        objects.extend(case.objects.iter().cloned());
        let mut writer = Writer { out, objects, indent: 2, loops: 0, labels: Vec::new() };
        writer.case(case, shown);
        shown += case.objects.len();
        out = writer.out;
    }
    if nested {
        out.push_str("end subroutine\nprogram main\n  call all\nend program\n");
    } else {
        out.push_str("end module\nprogram main\n  use cases\n");
        starts(program, &mut out);
        out.push_str("end program\n");
    }
    out
}

/// Writes the initialisation, and the calls of all cases.
fn starts(program: &Program, out: &mut String) {
    for (number, Object { name, rows, columns, home, .. }) in program.objects.iter().enumerate() {
        if *home == Home::Heap {
            let _ = writeln!(out, "  allocate({name}({columns}))");
        }
        let first = if *rows > 1 { "(1, 1)" } else { "(1)" };
        let _ = writeln!(out, "  call show({number}, {name}{first})");
        if number <= 2 {
            for i in 0..*columns {
                let _ = writeln!(out, "  {name}({}) = {}", i + 1, content(number, i));
            }
        } else {
            let _ = writeln!(out, "  {name} = 0");
        }
    }
    out.push_str("  call begin()\n");
    for case in &program.cases {
        let by_value = case.objects.iter().any(|object| object.home == Home::Value);
        let _ = writeln!(out, "  call case_{}({})", case.number, if by_value { "1.5d0" } else { "" });
    }
    out.push_str("  call end_all()\n");
}

struct Writer {
    out: String,
    objects: Vec<Object>,
    indent: usize,
    loops: usize,
    labels: Vec<usize>,
}

impl Writer {
    fn line(&mut self, text: &str) {
        // A line has at most 132 characters.
        let mut text = text;
        let mut indent = 2 * self.indent;
        while text.len() + indent > 120 {
            let end = text[..110 - indent].rfind(' ').expect("a blank");
            let _ = writeln!(self.out, "{:indent$}{} &", "", &text[..end]);
            text = &text[end..];
            indent = 2 * self.indent + 4;
        }
        let _ = writeln!(self.out, "{:indent$}{text}", "");
    }

    fn case(&mut self, case: &Case, shown: usize) {
        let by_value = case.objects.iter().any(|object| object.home == Home::Value);
        let _ = writeln!(self.out, "  subroutine case_{}({})", case.number, if by_value { "x" } else { "" });
        for Object { name, element: kind, columns, home, .. } in &case.objects {
            match home {
                Home::Value => self.line("real(8), value :: x"),
                _ => self.line(&format!("{} :: {name}({columns})", element(*kind))),
            }
        }
        self.line("real(8) :: total, unused");
        self.line("integer :: i0, i1, i2, i3");
        for (index, object) in case.objects.iter().enumerate() {
            let first = if object.home == Home::Value { "" } else { "(1)" };
            self.line(&format!("call show({}, {}{first})", shown + index, object.name));
            if object.home == Home::Stack {
                self.line(&format!("{} = 0", object.name));
            }
        }
        self.line("call next()");
        self.block(&case.body);
        for index in 0..case.objects.len() {
            self.line(&format!("call gone({})", shown + index));
        }
        self.out.push_str("  end subroutine\n");
    }

    fn affine(affine: &Affine, base: usize) -> String {
        let mut text = affine.constant.to_string();
        for (factor, variable) in &affine.terms {
            let _ = write!(text, " + {factor} * i{variable}");
        }
        match affine.modulo {
            Some(modulo) => format!("mod({text}, {modulo}) + {base}"),
            None => format!("{text} + {base}"),
        }
    }

    fn place(&self, place: &Place) -> String {
        let object = &self.objects[place.object];
        if object.home == Home::Value {
            return object.name.clone();
        }
        let index = match &place.index {
            Index::Affine(affine) => Self::affine(affine, 1),
            Index::Through(indices, affine) => {
                format!("{}({}) + 1", self.objects[*indices].name, Self::affine(affine, 1))
            }
        };
        match &place.row {
            Some(row) => format!("{}({index}, {})", object.name, Self::affine(row, 1)),
            None => format!("{}({index})", object.name),
        }
    }

    /// Returns a sum in the form of the value that it is stored into.
    fn sum(&self, to: Option<&Place>, first: &str, places: &[Place]) -> String {
        let mut terms: Vec<String> = vec![first.to_owned()];
        terms.extend(places.iter().map(|place| format!("{} * 0.5d0", self.place(place))));
        let text = terms.join(" + ");
        match to.map(|to| self.objects[to.object].element) {
            Some(Element::Int | Element::Short | Element::Char) => format!("int({text})"),
            _ => text,
        }
    }

    fn condition(&self, condition: &Condition) -> String {
        match condition {
            Condition::Index(affine, value) => format!("{} == {value}", Self::affine(affine, 0)),
            Condition::Entry(indices, affine, value) => {
                format!("{}({}) == {value}", self.objects[*indices].name, Self::affine(affine, 1))
            }
            Condition::Both(..) => unreachable!("Fortran may evaluate both"),
        }
    }

    fn section(&self, (object, index): (usize, usize), count: usize) -> String {
        let object = &self.objects[object];
        let row = if object.rows > 1 { ", 1" } else { "" };
        format!("{}({}:{}{row})", object.name, index + 1, index + count)
    }

    fn at(&self, (object, index): (usize, usize)) -> String {
        let object = &self.objects[object];
        let row = if object.rows > 1 { ", 1" } else { "" };
        format!("{}({}{row})", object.name, index + 1)
    }

    fn block(&mut self, block: &[Statement]) {
        for statement in block {
            self.statement(statement);
        }
    }

    fn inner(&mut self, block: &[Statement]) {
        self.indent += 1;
        self.block(block);
        self.indent -= 1;
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Assign(to, terms) => {
                self.line(&format!("{} = {}", self.place(to), self.sum(Some(to), "1.5d0", terms)));
            }
            Statement::Update(to, terms) => {
                let place = self.place(to);
                self.line(&format!("{place} = {}", self.sum(Some(to), &format!("{place} + 1.5d0"), terms)));
            }
            Statement::Clear => self.line("total = 0"),
            Statement::Add(terms) => self.line(&format!("total = {}", self.sum(None, "total + 1.5d0", terms))),
            Statement::Store(to) => self.line(&format!("{} = {}", self.place(to), self.sum(Some(to), "total", &[]))),
            Statement::Unused(place) => self.line(&format!("unused = {}", self.place(place))),
            Statement::If(condition, then, otherwise) => {
                self.line(&format!("if ({}) then", self.condition(condition)));
                self.inner(then);
                if !otherwise.is_empty() {
                    self.line("else");
                    self.inner(otherwise);
                }
                self.line("end if");
            }
            Statement::Break(condition) => {
                let label = self.labels.last().expect("in a loop");
                self.line(&format!("if ({}) exit loop{label}", self.condition(condition)));
            }
            Statement::Loop { variable, from, to, step, down, body } => {
                self.loops += 1;
                let label = self.loops;
                self.labels.push(label);
                let i = format!("i{variable}");
                match to {
                    Bound::Memory(index) => {
                        self.line(&format!("{i} = {from}"));
                        let bound = format!("{}({})", self.objects[BOUNDS].name, index + 1);
                        self.line(&format!("loop{label}: do while ({i} < {bound})"));
                    }
                    Bound::Constant(end) if *down => {
                        let last = from + (end - from - 1) / step * step;
                        self.line(&format!("loop{label}: do {i} = {last}, {from}, -{step}"));
                    }
                    Bound::Constant(end) => {
                        self.line(&format!("loop{label}: do {i} = {from}, {}, {step}", end - 1));
                    }
                }
                self.inner(body);
                if matches!(to, Bound::Memory(_)) {
                    self.line(&format!("  {i} = {i} + {step}"));
                }
                self.line(&format!("end do loop{label}"));
                self.labels.pop();
            }
            Statement::Copy { to, from, count } => {
                self.line(&format!("{} = {}", self.section(*to, *count), self.section(*from, *count)));
            }
            Statement::Fill { to, count } => self.line(&format!("{} = 0", self.section(*to, *count))),
            Statement::Walk { object, from, count, step, apart } => {
                let begin = self.at((*object, *from));
                let name = match self.objects[*object].element {
                    Element::Double => "double",
                    Element::Float => "float",
                    Element::Int => "int",
                    Element::Short => "short",
                    _ => "char",
                };
                if *apart {
                    self.line(&format!("call walk_{name}({begin}, {count}, {step})"));
                } else {
                    let Object { name, .. } = self.objects[*object].clone();
                    let (first, last) = (from + 1, from + 1 + (count - 1) * step);
                    self.line(&format!("do i3 = {first}, {last}, {step}"));
                    self.line(&format!("  {name}(i3) = int({name}(i3) * 0.5 + 1)"));
                    self.line("end do");
                }
            }
            Statement::Axpy { to, from, count } => {
                self.line(&format!("call axpy({}, {}, {count})", self.at(*to), self.at(*from)));
            }
            Statement::Mark => self.line("call next()"),
            Statement::Select(..) | Statement::Whole(..) | Statement::Switch(..) => unreachable!("of C alone"),
        }
    }
}
