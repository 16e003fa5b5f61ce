//! Writes programs in C.

use std::fmt::Write as _;

use crate::program::{
    Affine, BOUNDS, Bound, Case, Condition, Element, FIELDS, Home, Index, Object, Place, Program, Statement, content,
};

fn element(element: Element) -> &'static str {
    match element {
        Element::Double => "double",
        Element::Float => "float",
        Element::Int => "int",
        Element::Short => "short",
        Element::Char => "signed char",
        Element::Struct => "struct s",
    }
}

/// Returns the text of a program.
pub fn text(program: &Program) -> String {
    let mut out = String::from(
        "#include <stdlib.h>\n#include <string.h>\n\
         void begin(void), next(void), end(void), show(int, const void *), gone(int);\n\
         struct s { double a; int n; float v[3]; signed char c; short h; double w[2]; };\n\
         struct s start = {1.5, 2, {3, 4, 5}, 6, 7, {8, 9}};\n",
    );
    for object in &program.objects {
        let Object { name, rows, columns, home, .. } = object;
        let element = element(object.element);
        let _ = match (home, rows) {
            (Home::Heap, _) => writeln!(out, "{element} *{name};"),
            (_, 1) => writeln!(out, "{element} {name}[{columns}];"),
            _ => writeln!(out, "{element} {name}[{rows}][{columns}];"),
        };
    }
    for (name, kind) in
        [("double", "double"), ("float", "float"), ("int", "int"), ("short", "short"), ("char", "signed char")]
    {
        let _ = writeln!(
            out,
            "static inline void walk_{name}({kind} *p, int n, int step) {{\n    \
             for (int i = 0; i < n; i++) p[i * step] = ({kind})(p[i * step] * 0.5 + 1);\n}}"
        );
    }
    out.push_str(
        "static void axpy(double *to, const double *from, int n) {\n    while (n-- > 0) *to++ += *from++;\n}\n",
    );
    let mut shown = program.objects.len();
    for case in &program.cases {
        let mut objects = program.objects.clone();
        objects.extend(case.objects.iter().cloned());
        let mut writer = Writer { out, objects, indent: 1, labels: Vec::new(), count: 0 };
        writer.case(case, shown);
        shown += case.objects.len();
        out = writer.out;
    }
    out.push_str("int main(void) {\n");
    for (number, object) in program.objects.iter().enumerate() {
        let Object { name, columns, home, .. } = object;
        if *home == Home::Heap {
            let _ = writeln!(out, "    {name} = malloc({columns} * sizeof *{name});");
        }
        let _ = writeln!(out, "    show({number}, {name});");
        if number <= 2 {
            for i in 0..*columns {
                let _ = writeln!(out, "    {name}[{i}] = {};", content(number, i));
            }
        }
    }
    out.push_str("    begin();\n");
    for case in &program.cases {
        let argument = match case.objects.iter().find(|object| object.home == Home::Value) {
            Some(object) if object.element == Element::Struct => "start",
            Some(_) => "1.5",
            None => "",
        };
        let _ = writeln!(out, "    case_{}({argument});", case.number);
    }
    out.push_str("    end();\n    return 0;\n}\n");
    out
}

struct Writer {
    out: String,
    objects: Vec<Object>,
    indent: usize,
    /// Labels behind the enclosing loops.
    labels: Vec<usize>,
    count: usize,
}

impl Writer {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{:1$}{text}", "", 4 * self.indent);
    }

    fn case(&mut self, case: &Case, shown: usize) {
        let parameter = case.objects.iter().find(|object| object.home == Home::Value);
        let parameter = parameter.map_or("void".to_owned(), |object| format!("{} x", element(object.element)));
        let _ = writeln!(self.out, "static void case_{}({parameter}) {{", case.number);
        for object in case.objects.iter().filter(|object| object.home == Home::Stack) {
            self.line(&format!("{} {}[{}];", element(object.element), object.name, object.columns));
        }
        for (index, object) in case.objects.iter().enumerate() {
            let address = if object.home == Home::Value { "&x" } else { &object.name };
            self.line(&format!("show({}, {address});", shown + index));
        }
        for object in case.objects.iter().filter(|object| object.home == Home::Stack) {
            self.line(&format!("memset({0}, 0, sizeof {0});", object.name));
        }
        self.line("double sum = 0;");
        self.line("next();");
        self.block(&case.body);
        for index in 0..case.objects.len() {
            self.line(&format!("gone({});", shown + index));
        }
        self.out.push_str("}\n");
    }

    fn affine(affine: &Affine) -> String {
        let mut text = affine.constant.to_string();
        for (factor, variable) in &affine.terms {
            let _ = write!(text, " + {factor} * i{variable}");
        }
        match affine.modulo {
            Some(modulo) => format!("({text}) % {modulo}"),
            None => text,
        }
    }

    fn place(&self, place: &Place) -> String {
        let object = &self.objects[place.object];
        let mut text = object.name.clone();
        if object.home != Home::Value {
            if let Some(row) = &place.row {
                let _ = write!(text, "[{}]", Self::affine(row));
            }
            let _ = match &place.index {
                Index::Affine(affine) => write!(text, "[{}]", Self::affine(affine)),
                Index::Through(indices, affine) => {
                    write!(text, "[{}[{}]]", self.objects[*indices].name, Self::affine(affine))
                }
            };
        }
        if let Some((field, index)) = place.field {
            let (name, _, _, length) = FIELDS[field];
            let _ = if length > 0 { write!(text, ".{name}[{index}]") } else { write!(text, ".{name}") };
        }
        text
    }

    fn sum(&self, places: &[Place]) -> String {
        let mut terms: Vec<String> = vec!["1.5".to_owned()];
        terms.extend(places.iter().map(|place| format!("{} * 0.5", self.place(place))));
        terms.join(" + ")
    }

    fn condition(&self, condition: &Condition) -> String {
        match condition {
            Condition::Index(affine, value) => format!("{} == {value}", Self::affine(affine)),
            Condition::Entry(indices, affine, value) => {
                format!("{}[{}] == {value}", self.objects[*indices].name, Self::affine(affine))
            }
            Condition::Both(one, other) => format!("({}) && ({})", self.condition(one), self.condition(other)),
        }
    }

    fn at(&self, (object, index): (usize, usize)) -> String {
        let object = &self.objects[object];
        if object.rows > 1 { format!("&{}[0][{index}]", object.name) } else { format!("&{}[{index}]", object.name) }
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
            Statement::Assign(to, terms) => self.line(&format!("{} = {};", self.place(to), self.sum(terms))),
            Statement::Update(to, terms) => self.line(&format!("{} += {};", self.place(to), self.sum(terms))),
            Statement::Clear => self.line("sum = 0;"),
            Statement::Add(terms) => self.line(&format!("sum += {};", self.sum(terms))),
            Statement::Store(to) => self.line(&format!("{} = sum;", self.place(to))),
            Statement::Unused(place) => {
                self.count += 1;
                self.line(&format!("double unused{} = {};", self.count, self.place(place)));
            }
            Statement::Select(to, condition, one, other) => {
                let (one, other) = (self.place(one), self.place(other));
                self.line(&format!("{} = {} ? {one} : {other};", self.place(to), self.condition(condition)));
            }
            Statement::If(condition, then, otherwise) => {
                self.line(&format!("if ({}) {{", self.condition(condition)));
                self.inner(then);
                if !otherwise.is_empty() {
                    self.line("} else {");
                    self.inner(otherwise);
                }
                self.line("}");
            }
            Statement::Break(condition) => {
                let label = self.labels.last().expect("in a loop");
                self.line(&format!("if ({}) goto out{label};", self.condition(condition)));
            }
            Statement::Switch(affine, ways) => {
                self.line(&format!("switch ({}) {{", Self::affine(affine)));
                for (value, way) in ways.iter().enumerate() {
                    self.line(&format!("case {value}: {{"));
                    self.inner(way);
                    self.line("    break;");
                    self.line("}");
                }
                self.line("}");
            }
            Statement::Loop { variable, from, to, step, down, body } => {
                self.count += 1;
                let label = self.count;
                self.labels.push(label);
                let i = format!("i{variable}");
                let head = match to {
                    Bound::Memory(index) => {
                        format!("int {i} = {from}; {i} < {}[{index}]; {i} += {step}", self.objects[BOUNDS].name)
                    }
                    Bound::Constant(end) if *down => {
                        let last = from + (end - from - 1) / step * step;
                        format!("int {i} = {last}; {i} >= {from}; {i} -= {step}")
                    }
                    Bound::Constant(end) => format!("int {i} = {from}; {i} < {end}; {i} += {step}"),
                };
                self.line(&format!("for ({head}) {{"));
                self.inner(body);
                self.line("}");
                self.labels.pop();
                self.line(&format!("out{label}:;"));
            }
            Statement::Copy { to, from, count } => {
                let (name, other) = (self.at(*to), self.at(*from));
                let function = if count % 2 == 0 { "memcpy" } else { "memmove" };
                let size = self.objects[to.0].element.size() * count;
                self.line(&format!("{function}({name}, {other}, {size});"));
            }
            Statement::Fill { to, count } => {
                let size = self.objects[to.0].element.size() * count;
                self.line(&format!("memset({}, 0, {size});", self.at(*to)));
            }
            Statement::Whole(to, from) => self.line(&format!("{} = {};", self.place(to), self.place(from))),
            Statement::Walk { object, from, count, step, apart } => {
                let kind = element(self.objects[*object].element);
                let name = kind.trim_start_matches("signed ");
                let begin = self.at((*object, *from));
                if *apart {
                    self.line(&format!("walk_{name}({begin}, {count}, {step});"));
                } else {
                    let end = self.at((*object, from + count * step));
                    self.line(&format!("for ({kind} *p = {begin}; p != {end}; p += {step}) *p = *p * 0.5 + 1;"));
                }
            }
            Statement::Axpy { to, from, count } => {
                self.line(&format!("axpy({}, {}, {count});", self.at(*to), self.at(*from)));
            }
            Statement::Mark => self.line("next();"),
        }
    }
}
