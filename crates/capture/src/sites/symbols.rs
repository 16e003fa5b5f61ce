//! Functions of a program or library from its symbol tables, which exist without debug information.

use hayase::base::Arrange;
use object::{Object, ObjectSymbol, SymbolKind};

/// Functions by address.
#[derive(Clone, Debug, Default)]
pub struct Symbols(Vec<Symbol>);

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Symbol {
    start: u64,
    /// One past the last byte; equal to `start` if unknown.
    end: u64,
    name: String,
}

impl Symbols {
    /// Reads the functions of a file: from its whole table or, if that was stripped, from its exports.
    pub fn of(object: &object::File<'_>) -> Self {
        let functions = |symbol: object::Symbol<'_, '_>| {
            let is_function = symbol.kind() == SymbolKind::Text && symbol.is_definition();
            let name = symbol.name().ok().filter(|name| is_function && !name.is_empty())?;
            let (start, length) = (symbol.address(), symbol.size());
            // `name@@VERSION` of libraries.
            let name = name.split('@').next().unwrap_or(name);
            Some(Symbol { start, end: start.saturating_add(length), name: name.to_owned() })
        };
        let mut symbols: Vec<Symbol> = object.symbols().filter_map(functions).collect();
        symbols.extend(object.dynamic_symbols().filter_map(functions));
        // Of several names, the first in the alphabet: the same on every machine. Of symbols with the same
        // begin, the longest is the function.
        symbols.arrange_by(|a, b| a.start.cmp(&b.start).then(b.end.cmp(&a.end)).then(a.name.cmp(&b.name)));
        symbols.dedup_by_key(|symbol| symbol.start);
        Self(symbols)
    }

    /// Returns `function+0x12`; `None` if no function is known there.
    pub fn name(&self, address: u64) -> Option<String> {
        let after = self.0.partition_point(|symbol| symbol.start <= address);
        let symbol = self.0[..after].last()?;
        let within = if symbol.end > symbol.start { address < symbol.end } else { after < self.0.len() };
        within.then(|| format!("{}+{:#x}", demangled(&symbol.name), address - symbol.start))
    }
}

/// Returns the name of a function as in the source, without the parts that make names of C++ long.
pub fn demangled(name: &str) -> String {
    // The name of a C function may look like a mangled type of C++: `f` is not `float`.
    if !["_Z", "__Z", "_R"].iter().any(|start| name.starts_with(start)) {
        return name.to_owned();
    }
    shortened(&addr2line::demangle_auto(name.into(), None))
}

/// Template arguments longer than this number of characters are left out.
const LONG: usize = 24;

/// Returns a name without types: no arguments, no result, long template arguments as `<...>`.
fn shortened(name: &str) -> String {
    if !name.contains(['(', '<']) {
        return name.to_owned();
    }
    let bytes = name.as_bytes();
    let mut short = String::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &name[at..];
        if let Some(operator) = operator(short.as_str(), rest) {
            short += operator;
            at += operator.len();
        } else if rest.starts_with("(anonymous namespace)") {
            short += "(anonymous namespace)";
            at += "(anonymous namespace)".len();
        } else if rest.starts_with('<') {
            let length = closing(rest, '<', '>');
            short += if length > LONG { "<...>" } else { &rest[..length] };
            at += length;
        } else if rest.starts_with('(') {
            // Arguments: after those of a lambda comes its number; those of a function end the name, since
            // nothing encloses them.
            at += closing(rest, '(', ')');
            if !name[at..].contains("::") && !name[at..].starts_with('#') {
                break;
            }
        } else {
            let next = rest.chars().next().unwrap_or(' ');
            short.push(next);
            at += next.len_utf8();
        }
    }
    // Functions of templates are preceded by their result.
    let mut depth = 0_i32;
    let mut begin = 0;
    for (at, character) in short.char_indices() {
        match character {
            '<' | '(' | '{' => depth += 1,
            '>' | ')' | '}' => depth -= 1,
            ' ' if depth == 0 && !short[..at].ends_with("operator") => begin = at + 1,
            _ => {}
        }
    }
    short.split_off(begin)
}

/// Returns the operator at the begin of `rest` if the name so far ends with `operator`: its brackets are not
/// brackets.
fn operator<'a>(before: &str, rest: &'a str) -> Option<&'a str> {
    const ALL: [&str; 12] = ["()", "<<=", ">>=", "<=>", "<<", ">>", "<=", ">=", "->*", "->", "<", ">"];
    let found = ALL.iter().find(|operator| rest.starts_with(**operator))?;
    before.ends_with("operator").then(|| &rest[..found.len()])
}

/// Returns the length up to and including the bracket that closes the first one.
fn closing(text: &str, open: char, close: char) -> usize {
    let mut depth = 0;
    for (at, character) in text.char_indices() {
        match character {
            _ if character == open => depth += 1,
            // Not the bracket of an arrow.
            _ if character == close && !text[..at].ends_with('-') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + character.len_utf8();
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_functions_lose_their_types() {
        for (name, short) in [
            ("main", "main"),
            ("cegterg_", "cegterg_"),
            ("LAMMPS_NS::CommBrick::forward_comm(LAMMPS_NS::Compute*)", "LAMMPS_NS::CommBrick::forward_comm"),
            ("solver::size() const", "solver::size"),
            ("(anonymous namespace)::f(int (*)(double))", "(anonymous namespace)::f"),
            ("void apply<int>(std::vector<int> const&)", "apply<int>"),
            (
                "std::vector<int> ns::run<Kokkos::RangePolicy<Kokkos::Serial>, int>(int)::operator()(int) const",
                "ns::run<...>::operator()",
            ),
            ("a::operator<<(b&, int)", "a::operator<<"),
            ("operator new(unsigned long)", "operator new"),
            ("a::operator bool() const", "a::operator bool"),
            ("run(int)::{lambda(int)#1}::operator()(int) const", "run::{lambda#1}::operator()"),
            ("f(int, (cut off", "f"),
        ] {
            assert_eq!(shortened(name), short, "{name}");
        }
        assert_eq!((demangled("f").as_str(), demangled("exchange_").as_str()), ("f", "exchange_"));
        assert_eq!(demangled("_ZN9LAMMPS_NS9CommBrick12forward_commEi"), "LAMMPS_NS::CommBrick::forward_comm");
    }

    #[test]
    fn an_address_belongs_to_the_function_around_it() {
        let symbol = |start, end, name: &str| Symbol { start, end, name: name.into() };
        let symbols = Symbols(vec![symbol(16, 32, "a"), symbol(48, 48, "start"), symbol(64, 80, "b")]);
        let name = |address| symbols.name(address);
        assert_eq!((name(16).as_deref(), name(31).as_deref()), (Some("a+0x0"), Some("a+0xf")));
        assert_eq!((name(15), name(32), name(80)), (None, None, None), "before, between and behind functions");
        assert_eq!(name(50).as_deref(), Some("start+0x2"), "one whose length is not known reaches to the next");
    }
}
