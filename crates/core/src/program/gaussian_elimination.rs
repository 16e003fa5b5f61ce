//! Gaussian elimination with partial pivoting, as a message-passing program with blocking sends.

mod steps;

use crate::units::Bytes;

/// Bytes of an element: double precision.
const ELEMENT: u64 = 8;
/// Largest matrix: its program has some hundred million operations.
const LARGEST: u32 = 1 << 16;

/// `A x = b` by LU factorisation of a dense n x n matrix with partial pivoting, and back substitution, in double
/// precision.
///
/// Q x Q ranks have rows and columns dealt out cyclically, so that each has `m = (n - b k) / Q` of those that are left
/// before panel k, a panel being b columns. For each panel
///
/// 1. the process column that has it factors it, column by column: the pivot is found ([`PivotSearch`]), its row of the
///    panel goes to all ranks of the process column, the panel's other columns are updated;
/// 2. it sends the panel (`8 b (m - 1)` bytes from each rank) along the process rows, to one rank after the other;
/// 3. every process column swaps rows: those of the diagonal and those of the pivots change places where they are on
///    different ranks ([`Swap`]);
/// 4. the process row that has the diagonal solves for the pivot rows and sends them (`8 b` bytes for each of its
///    columns to the right of the panel) along the process columns;
/// 5. all update what is left, `2 b m^2` operations a rank.
///
/// The process column with the next panel updates that first, factors it and sends it, and only then updates the rest
/// (look-ahead): while the others compute, they are late to receive it, and a sender that has to wait for them is
/// itself late. Computing takes its number of operations over `flops`.
///
/// Then the unknowns are found, from the last to the first: the partial sums of the unknown's row are added up along
/// its process row (8 bytes, binomial tree) at the rank with the diagonal, which divides and sends the unknown along
/// its process column (8 bytes, binomial tree), where all multiply their part of its column by it. Nothing hides this:
/// from an unknown to the next are up to `ceil(log2 Q)` short messages after each other, and as many sums to receive.
/// (The right-hand side is one column more, and left out.)
///
/// Source: the program is that of Ino, Fujimoto, Hagihara: LogGPS, section 4.3, as far as that tells: 16 processors,
/// longest message 65,472 bytes at n = 4096 and 16,320 at n = 1024, and 22.5 MB in messages above 16,383 bytes from
/// each processor at n = 4096, which make 1438 pieces of 16,383 bytes. Panels of 8 columns in double precision on a 4 x
/// 4 grid are what gives these numbers exactly. That rows and columns are dealt out cyclically, pivots are partial,
/// computing and sending overlap, all sends are blocking, and that elimination and back substitution are what is timed,
/// another paper of the same authors tells of the same program (Gordini, section 5.1 and appendix A.1). What neither
/// tells is ours: the pivot search, the swap, the order of steps.
#[derive(Clone, PartialEq, Debug)]
pub struct GaussianElimination {
    /// Number of rows and columns.
    pub n: u32,
    /// Number of ranks, a square.
    pub ranks: u32,
    /// Columns of a panel.
    pub block: u32,
    /// Floating-point operations that a rank does in a second \[1/s\].
    pub flops: f64,
    /// Longest message \[B\]: longer ones are sent in pieces of this size.
    pub fragment: Option<Bytes>,
    /// Whether the next panel is factored before the rest is updated.
    pub look_ahead: bool,
    /// How a pivot is found.
    pub search: PivotSearch,
    /// What of two rows changes places.
    pub swap: Swap,
    /// Whether the unknowns are found after the factorisation.
    pub solve: bool,
    /// The seed of where pivots are found.
    pub seed: u64,
}

/// How the ranks of a process column find a pivot and get its row of the panel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PivotSearch {
    /// As `MPI_Allreduce` with `MPI_MAXLOC` and `MPI_Bcast` do it in MPICH 1: the largest element and where it is (16
    /// bytes) by a binomial tree to the first rank and by another one back to all; then the pivot's row of the panel
    /// from the rank that has it to all, by a third, and the diagonal's row to that rank.
    Allreduce,
    /// Each rank sends its candidate (16 bytes and its row of the panel) to the rank with the diagonal, which sends the
    /// pivot's to one after the other.
    Gather,
}

/// What of the diagonal's row and the pivot's changes places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Swap {
    /// The whole rows (`8 n / Q` bytes each way), as where the factors are kept.
    Rows,
    /// The columns that are left (`8 m` bytes each way), which is all that `A x = b` needs.
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
    /// What is wrong with it, in words; nothing if it can be built.
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

    /// Number of operations, about.
    pub(super) fn operations(&self) -> u64 {
        let (n, side) = (u64::from(self.n), u64::from(self.ranks.isqrt()));
        let panels = n / u64::from(self.block.max(1)) + 1;
        // Panels and pivot rows that go to all, in pieces; a column's pivot search, and its rows' swap.
        let pieces = self.fragment.map_or(1, |size| 8 * u64::from(self.block) * n / side / size.0.max(1) + 1);
        let swap = self.fragment.map_or(1, |size| 8 * n / side / size.0.max(1) + 1);
        // Three trees of a column's pivot search, and the diagonal's row; two trees of an unknown, and what is computed
        // for it.
        let (search, solve) = (3 * side, if self.solve { 2 * side } else { 0 });
        let messages = 2 * side * side * panels * pieces + n * (search + solve + 2 * side * swap);
        2 * messages + n * (side + solve) + 4 * panels * side * side
    }
}

#[cfg(test)]
mod tests;
