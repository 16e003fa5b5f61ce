//! The same program with more iterations of its loops.

use super::{Base, Loop, Number, ProgramData, Statement};
use crate::diagnostic::Diagnostic;

/// How many iterations a loop is to have.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Iterations {
    /// So many times those that it has.
    Times(f64),
    /// So many.
    Exactly(u64),
}

/// Gives a loop, wherever it stands, another number of iterations; returns how many it had and has.
///
/// # Errors
/// There is no such loop; its number of iterations changes with a loop around it or from rank to rank, so that it is
/// not a matter of this loop alone; none are left.
pub fn extend(data: &mut ProgramData, name: &str, iterations: Iterations) -> Result<(i64, i64), Diagnostic> {
    let wrong = |message: String, help: String| Err(Diagnostic::new("unknown-loop", message).help(help));
    let number = name.strip_prefix('L').and_then(|number| number.parse::<u32>().ok()?.checked_sub(1));
    let mut found = Vec::new();
    if let Some(number) = number {
        for group in &mut data.groups {
            find(&mut group.body, number, &mut found);
        }
    }
    if found.is_empty() {
        let help = match data.loops {
            0 => "this program has no loops".to_owned(),
            loops => format!("there are L1 to L{loops}; `hayase program show` prints them"),
        };
        return wrong(format!("there is no loop `{name}`"), help);
    }
    let mut change = None;
    for found in found {
        let Number { base: Base::Same(before), .. } = found.count else {
            return wrong(format!("ranks run loop `{name}` differently often"), "extend a loop around it".to_owned());
        };
        if !found.count.steps.is_empty() {
            return wrong(
                format!("the number of iterations of loop `{name}` changes with a loop around it"),
                "extend the loop around it".to_owned(),
            );
        }
        let after = match iterations {
            Iterations::Times(factor) => (before as f64 * factor).round(),
            Iterations::Exactly(count) => count as f64,
        };
        if !(1.0..=1e15).contains(&after) {
            return wrong(
                format!("loop `{name}` would have {after} iterations"),
                format!("it has {before}, and has to have 1 at least"),
            );
        }
        found.count = Number::same(after as i64);
        change = Some((before, after as i64));
    }
    Ok(change.unwrap_or_default())
}

fn find<'a>(steps: &'a mut [Statement], name: u32, found: &mut Vec<&'a mut Loop>) {
    for step in steps {
        if let Statement::Loop(inner) = step {
            if inner.name == name {
                found.push(inner);
            } else {
                find(&mut inner.body, name, found);
            }
        }
    }
}
