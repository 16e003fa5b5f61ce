//! Upper bound on the size of an unfolded program, computed before unfolding.
//!
//! ```text
//! operations of a rank <= sum over its operations of the product of (most iterations of each loop around it)
//! ```
//! The number of iterations of a loop grows evenly with the indices of the loops around it. So it is largest
//! where each index that makes it grow is at its last value. For triangular loops the bound is a few times
//! the actual number. It serves to refuse programs that are far too large, not to count.

use super::{Group, Number, ProgramData, Statement};
use crate::base::memory;
use crate::diagnostic::Diagnostic;

/// Largest number of operations of a rank: positions have 31 bits, and a tenth of them is 5 GB.
pub(super) const MOST_OPERATIONS: usize = 1 << 28;
/// Memory of an operation in a program, including its side data \[B\].
const PER_OPERATION: u64 = 32;
/// Factor by which the bound may exceed the limit before a program is refused.
const SLACK: u128 = 16;

/// Refuses a program whose loops have more iterations than memory can hold operations.
///
/// # Errors
/// The number of operations, and the number that fits in memory.
pub fn check(data: &ProgramData) -> Result<(), Diagnostic> {
    let operations = data.groups.iter().map(group).fold(0_u128, u128::saturating_add);
    let room = memory::free().map_or(u64::MAX, |free| free / PER_OPERATION);
    let most = u128::from(room).min(MOST_OPERATIONS as u128 * u128::from(data.ranks.max(1))) * SLACK;
    if operations <= most {
        return Ok(());
    }
    let message = format!(
        "the program has up to {operations:.1e} operations, and at most {room:.1e} fit in the memory that is free"
    );
    Err(Diagnostic::new("too-large", message).help("give its loops fewer iterations"))
}

/// Bounds the operations and iterations of all ranks of a group.
fn group(group: &Group) -> u128 {
    let of_rank = |position| steps(&group.body, position, &mut Vec::new());
    (0..group.ranks.len()).map(of_rank).fold(0, u128::saturating_add)
}

/// Bounds the operations and iterations of these steps, in loops whose indices end at `last`.
fn steps(body: &[Statement], position: usize, last: &mut Vec<u64>) -> u128 {
    body.iter().fold(0, |sum: u128, step| {
        let of_step = match step {
            Statement::Op(_) => 1,
            Statement::Loop(inner) => {
                let iterations = most(&inner.count, position, last);
                last.push(iterations.saturating_sub(1));
                let once = steps(&inner.body, position, last);
                last.pop();
                // An iteration without operations takes time to unfold, too.
                u128::from(iterations).saturating_mul(once.max(1))
            }
        };
        sum.saturating_add(of_step)
    })
}

/// Returns the largest value of a number of iterations.
fn most(count: &Number, position: usize, last: &[u64]) -> u64 {
    let base = i128::from(count.value(position, &[]));
    let growth = count.steps.iter().map(|&(depth, step)| {
        let last = last.get(usize::from(depth)).copied().unwrap_or_default();
        i128::from(step.max(0)).saturating_mul(i128::from(last))
    });
    let most = growth.fold(base, i128::saturating_add);
    u64::try_from(most.max(0)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::{Base, Number};
    use super::*;

    #[test]
    fn most_iterations_are_those_of_the_last_values_that_make_them_grow() {
        let number = Number { base: Base::Same(10), steps: [(0, -1), (1, 2)].into_iter().collect() };
        assert_eq!(most(&number, 0, &[9, 4]), 18);
        assert_eq!(most(&Number::same(-3), 0, &[]), 0);
        let beyond = Number { base: Base::Same(i64::MAX), steps: [(0, i64::MAX)].into_iter().collect() };
        assert_eq!(most(&beyond, 0, &[u64::MAX]), u64::MAX);
    }
}
