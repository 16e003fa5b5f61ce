//! Program data with more iterations of its loops.

use super::{Base, Loop, Number, ProgramData, Statement};
use crate::diagnostic::Diagnostic;

/// New number of iterations of a loop.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Iterations {
    /// Multiple of the present number.
    Times(f64),
    /// Exact number.
    Exactly(u64),
}

/// Changes the number of iterations of a loop, wherever it stands. Returns the old number and the new one.
///
/// # Errors
/// There is no such loop, or no iterations are left. Also a loop whose number of iterations changes with a
/// loop around it or from rank to rank, because the number then does not depend on this loop alone.
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
