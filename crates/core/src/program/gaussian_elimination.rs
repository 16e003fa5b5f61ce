//! Gaussian elimination with partial pivoting, as a message-passing program with blocking sends.

mod steps;

use crate::units::Bytes;

/// Size of a matrix element, in double precision \[B\].
const ELEMENT: u64 = 8;
/// Largest matrix: its program has a few hundred million operations.
const LARGEST: u32 = 1 << 16;

/// `A x = b` by LU factorisation of a dense n x n matrix with partial pivoting, and back substitution, in
/// double precision.
///
/// Rows and columns are distributed cyclically over Q x Q ranks. A panel is b columns, so that each rank has
/// `m = (n - b k) / Q` rows and columns left before panel k. For each panel
///
/// 1. the process column that owns it factors it, column by column: the pivot is found ([`PivotSearch`]), its row of
///    the panel goes to all ranks of the process column, and the panel's other columns are updated;
/// 2. it sends the panel (`8 b (m - 1)` bytes from each rank) along the process rows, to one rank after the other;
/// 3. every process column swaps rows: the diagonal's and the pivots' rows change places if they are on different
///    ranks ([`Swap`]);
/// 4. the process row that has the diagonal solves for the pivot rows and sends them (`8 b` bytes for each of its
///    columns to the right of the panel) along the process columns;
/// 5. all ranks update the remaining matrix, with `2 b m^2` operations each.
///
/// The process column with the next panel updates that panel first, factors it and sends it, and only then
/// updates the rest (look-ahead). The other ranks still compute and receive it late, and a sender that has to
/// wait for them is itself late. A computation takes its number of operations divided by `flops`.
///
/// Then the unknowns are found, from the last to the first. The partial sums of the unknown's row are added
/// up along its process row (8 bytes, binomial tree) at the rank with the diagonal. That rank divides and
/// sends the unknown along its process column (8 bytes, binomial tree), where all ranks multiply their part
/// of its column by it. No computation hides this: from one unknown to the next there are up to `ceil(log2
/// Q)` short messages in sequence, and as many sums to receive. (The right-hand side is one more column, and
/// left out.)
///
/// Source: the program is that of Ino, Fujimoto, Hagihara: LogGPS, section 4.3. The paper has 16 processors, and
/// messages of at most 65,472 bytes at n = 4096 and 16,320 at n = 1024. Each processor sends 22.5 MB in messages above
/// 16,383 bytes at n = 4096, which make 1438 pieces of 16,383 bytes. Panels of 8 columns in double precision on a
/// 4 x 4 grid give exactly these numbers. Another paper of the same authors (Gordini, section 5.1 and appendix A.1)
/// describes the rest of the program. Rows and columns are distributed cyclically, pivots are partial, computing and
/// sending overlap, and all sends are blocking; elimination and back substitution are timed. The pivot search, the swap
/// and the order of steps are in neither paper; we chose them.
#[derive(Clone, PartialEq, Debug)]
pub struct GaussianElimination {
    /// Number of rows and columns.
    pub n: u32,
    /// Number of ranks, a square number.
    pub ranks: u32,
    /// Number of columns of a panel.
    pub block: u32,
    /// Floating-point rate of a rank \[1/s\].
    pub flops: f64,
    /// Longest message \[B\]: longer ones are sent in pieces of this size.
    pub fragment: Option<Bytes>,
    /// True if the next panel is factored before the rest is updated.
    pub look_ahead: bool,
    /// Algorithm of the pivot search.
    pub search: PivotSearch,
    /// Part of the two rows that is swapped.
    pub swap: Swap,
    /// True if back substitution follows the factorisation.
    pub solve: bool,
    /// Seed for the positions of the pivots.
    pub seed: u64,
}

/// Algorithm by which the ranks of a process column find a pivot and get its row of the panel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PivotSearch {
    /// As `MPI_Allreduce` with `MPI_MAXLOC` and `MPI_Bcast` do it in MPICH 1. The largest element and its
    /// position (16 bytes) go by a binomial tree to the first rank and by another one back to all. Then the
    /// pivot's row of the panel goes by a third tree from the rank that has it to all, and the diagonal's row
    /// to that rank.
    Allreduce,
    /// Each rank sends its candidate (16 bytes and its row of the panel) to the rank with the diagonal, which
    /// sends the pivot's to one rank after the other.
    Gather,
}

/// Part of the diagonal's row and the pivot's that is swapped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Swap {
    /// The whole rows (`8 n / Q` bytes each way), as in programs that keep the factors.
    Rows,
    /// The remaining columns (`8 m` bytes each way), which is all that `A x = b` needs.
    Rest,
}

/// The published program, n = 1024.
impl Default for GaussianElimination {
    fn default() -> Self {
        Self {
            n: 1024,
            ranks: 16,
            block: 8,
            flops: 96e6,
            fragment: None,
            look_ahead: true,
            search: PivotSearch::Allreduce,
            swap: Swap::Rows,
            solve: true,
            seed: 1,
        }
    }
}

impl GaussianElimination {
    /// Describes the mistake in the parameters; `None` if the program can be built.
    pub fn mistake(&self) -> Option<String> {
        let side = self.ranks.isqrt();
        if self.ranks == 0 || side * side != self.ranks || side > 256 {
            Some(format!("{} ranks make no square grid; 1, 4, 9, 16 ... 65536 do", self.ranks))
        } else if self.block == 0 {
            Some("a panel has 1 column or more".into())
        } else if self.n == 0 || self.n > LARGEST {
            Some(format!("a matrix has from 1 to {LARGEST} rows, not {}", self.n))
        } else if !self.flops.is_finite() || self.flops <= 0.0 {
            Some(format!("{} operations a second; write `flops=96e6` for 96 million", self.flops))
        } else if self.fragment == Some(Bytes(0)) {
            Some("messages cannot be sent in pieces of no bytes".into())
        } else {
            None
        }
    }

    /// Approximate number of operations.
    pub(super) fn operations(&self) -> u64 {
        let (n, side) = (u64::from(self.n), u64::from(self.ranks.isqrt()));
        let panels = n / u64::from(self.block.max(1)) + 1;
        // Panels and pivot rows go to all, in pieces; each column has a pivot search and a swap of rows.
        let pieces = self.fragment.map_or(1, |size| 8 * u64::from(self.block) * n / side / size.0.max(1) + 1);
        let swap = self.fragment.map_or(1, |size| 8 * n / side / size.0.max(1) + 1);
        // A column's pivot search has three trees and sends the diagonal's row; an unknown has two trees and
        // its computation.
        let (search, solve) = (3 * side, if self.solve { 2 * side } else { 0 });
        let messages = 2 * side * side * panels * pieces + n * (search + solve + 2 * side * swap);
        2 * messages + n * (side + solve) + 4 * panels * side * side
    }
}

#[cfg(test)]
mod tests;
