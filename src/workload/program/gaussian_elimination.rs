//! Gaussian elimination with partial pivoting, as a message-passing program with blocking sends.

use crate::diagnostic::Diagnostic;
use crate::rng::Mix;
use crate::units::{Bytes, Time};
use crate::workload::program::{Envelope, Op, Program, ProgramBuilder, SequenceBuilder};

/// Bytes of an element: double precision.
const ELEMENT: u64 = 8;
/// Largest matrix: its program has some hundred million operations.
const LARGEST: u32 = 1 << 16;

/// LU factorisation of a dense n x n matrix with partial pivoting, in double precision.
///
/// Q x Q ranks have rows and columns dealt out cyclically, so that each has `m = (n - b k) / Q` of those that are left
/// before panel k, a panel being b columns. For each panel
///
/// 1. the process column that has it factors it, column by column: each of its ranks searches its rows for the pivot, the
///    candidates go to the rank that has the diagonal, the pivot row comes back, the panel's other columns are updated;
/// 2. it sends the panel (`8 b (m - 1)` bytes from each rank) along the process rows, to one rank after the other;
/// 3. every process column swaps rows: those of the diagonal and those of the pivots change places where they are on
///    different ranks (`8 n / Q` bytes each way);
/// 4. the process row that has the diagonal solves for the pivot rows and sends them (`8 b (m - 1)` bytes) along the
///    process columns;
/// 5. all update what is left, `2 b m^2` operations a rank.
///
/// The process column with the next panel updates that first, factors it and sends it, and only then updates the rest
/// (look-ahead): while the others compute, they are late to receive it, and a sender that has to wait for them is itself
/// late. Computing takes its number of operations over `flops`.
///
/// Source: the program is that of Ino, Fujimoto, Hagihara: LogGPS, section 4.3, as far as that tells: 16 processors,
/// longest message 65,472 bytes at n = 4096 and 16,320 at n = 1024, and 22.5 MB in messages above 16,383 bytes from
/// each processor at n = 4096. Panels of 8 columns in double precision on a 4 x 4 grid are what gives these numbers
/// exactly; what the paper does not tell (pivot search, order of steps) is ours.
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
    /// The seed of where pivots are found.
    pub seed: u64,
}

/// What a message is for: its tag.
#[derive(Clone, Copy, Debug)]
enum Purpose {
    Candidate = 1,
    Pivot = 2,
    Panel = 3,
    Swap = 4,
    PivotRows = 5,
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
            Some(format!("{} operations a second; write `flops=90e6` for 90 million", self.flops))
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
        let messages = 2 * side * side * panels * pieces + n * side * (2 + 2 * swap);
        2 * messages + n * side + 4 * panels * side * side
    }

    /// The program. Cost: proportional to its operations.
    ///
    /// # Errors
    /// What [`GaussianElimination::mistake`] says.
    pub fn program(&self) -> Result<Program, Vec<Diagnostic>> {
        if let Some(mistake) = self.mistake() {
            return Err(vec![Diagnostic::new("wrong-program", mistake)]);
        }
        let mut program = ProgramBuilder::new(self.ranks);
        let mut writer = Writer {
            spec: self,
            side: self.ranks.isqrt(),
            pivots: Mix::new(self.seed, "pivots"),
            ranks: (0..self.ranks).map(|rank| program.sequence(rank)).collect(),
        };
        writer.write();
        for rank in writer.ranks {
            program.finish_rank(rank);
        }
        program.build()
    }
}

/// Writes the program, step by step of the algorithm; what a rank does is appended to it.
struct Writer<'a> {
    spec: &'a GaussianElimination,
    /// Q.
    side: u32,
    pivots: Mix,
    ranks: Vec<SequenceBuilder>,
}

/// What is updated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    NextPanel,
    Rest,
    All,
}

impl Writer<'_> {
    fn write(&mut self) {
        let panels = self.spec.n.div_ceil(self.spec.block);
        self.factor(0);
        self.send_panel(0);
        for panel in 0..panels {
            (0..self.side).for_each(|column| self.swap_rows(panel, column));
            (0..self.side).for_each(|column| self.send_pivot_rows(panel, column));
            if panel + 1 == panels {
                break;
            }
            let next = (panel + 1) % self.side;
            if self.spec.look_ahead {
                self.update(panel, next, Part::NextPanel);
                self.factor(panel + 1);
                (0..self.side)
                    .filter(|&column| column != next)
                    .for_each(|column| self.update(panel, column, Part::All));
                self.send_panel(panel + 1);
                self.update(panel, next, Part::Rest);
            } else {
                (0..self.side).for_each(|column| self.update(panel, column, Part::All));
                self.factor(panel + 1);
                self.send_panel(panel + 1);
            }
        }
    }

    fn rank(&self, row: u32, column: u32) -> u32 {
        row * self.side + column
    }

    /// Columns of this panel.
    fn width(&self, panel: u32) -> u32 {
        (self.spec.block).min(self.spec.n - panel * self.spec.block)
    }

    /// Rows (and columns) of each rank that are left before this panel.
    fn left(&self, panel: u32) -> f64 {
        f64::from((self.spec.n).saturating_sub(panel * self.spec.block)) / f64::from(self.side)
    }

    /// A rank's part of a panel, or of the pivot rows \[B\].
    fn piece(&self, panel: u32) -> u64 {
        let left = (self.spec.n - panel * self.spec.block) / self.side;
        ELEMENT * u64::from(self.width(panel)) * u64::from(left.saturating_sub(1))
    }

    fn compute(&mut self, rank: u32, operations: f64) {
        if operations > 0.0 {
            let time = Time::from_seconds(operations / self.spec.flops);
            self.ranks[rank as usize].push(Op::calc(time));
        }
    }

    /// A message, in pieces if it is long; none if it is empty.
    fn message(&mut self, from: u32, to: u32, bytes: u64, purpose: Purpose) {
        let most = self.spec.fragment.map_or(u64::MAX, |size| size.0);
        let mut rest = bytes;
        while rest > 0 {
            let piece = rest.min(most);
            self.ranks[from as usize].push(Op::send(Envelope::world(to, purpose as u32), piece));
            self.ranks[to as usize].push(Op::recv(Envelope::world(from, purpose as u32), piece));
            rest -= piece;
        }
    }

    fn factor(&mut self, panel: u32) {
        let column = panel % self.side;
        let (width, left) = (self.width(panel), self.left(panel));
        // A candidate is its value, its row's number and the panel's part of the row.
        let candidate = 2 * ELEMENT + ELEMENT * u64::from(width);
        for within in 0..width {
            let diagonal = (panel * self.spec.block + within) % self.side;
            let others: Vec<u32> = (0..self.side).filter(|&row| row != diagonal).collect();
            // Search, scaling, and the update of the panel's columns to the right.
            let operations = left * (1.0 + 2.0 * f64::from(width - within));
            (0..self.side).for_each(|row| self.compute(self.rank(row, column), operations));
            for &row in &others {
                self.message(self.rank(row, column), self.rank(diagonal, column), candidate, Purpose::Candidate);
            }
            for &row in &others {
                self.message(self.rank(diagonal, column), self.rank(row, column), candidate, Purpose::Pivot);
            }
        }
    }

    fn send_panel(&mut self, panel: u32) {
        let (column, bytes) = (panel % self.side, self.piece(panel));
        for row in 0..self.side {
            for ahead in 1..self.side {
                let to = self.rank(row, (column + ahead) % self.side);
                self.message(self.rank(row, column), to, bytes, Purpose::Panel);
            }
        }
    }

    fn swap_rows(&mut self, panel: u32, column: u32) {
        let bytes = ELEMENT * u64::from(self.spec.n / self.side);
        for within in 0..self.width(panel) {
            let number = panel * self.spec.block + within;
            let (here, there) = (number % self.side, (self.pivots.one(number.into()) % u64::from(self.side)) as u32);
            if here != there {
                let (here, there) = (self.rank(here, column), self.rank(there, column));
                self.message(here, there, bytes, Purpose::Swap);
                self.message(there, here, bytes, Purpose::Swap);
            }
        }
    }

    fn send_pivot_rows(&mut self, panel: u32, column: u32) {
        let (diagonal, bytes, width) = (panel % self.side, self.piece(panel), f64::from(self.width(panel)));
        let from = self.rank(diagonal, column);
        self.compute(from, width * width * self.left(panel + 1));
        for ahead in 1..self.side {
            let to = self.rank((diagonal + ahead) % self.side, column);
            self.message(from, to, bytes, Purpose::PivotRows);
        }
    }

    fn update(&mut self, panel: u32, column: u32, part: Part) {
        let (width, left) = (f64::from(self.width(panel)), self.left(panel + 1));
        let next = f64::from(self.width(panel + 1));
        let columns = match part {
            Part::NextPanel => next,
            Part::Rest => (left - next).max(0.0),
            Part::All => left,
        };
        (0..self.side).for_each(|row| self.compute(self.rank(row, column), 2.0 * width * left * columns));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::workload::program::{Action, OpKind};

    fn spec(n: u32) -> GaussianElimination {
        GaussianElimination { n, ranks: 16, block: 8, flops: 1e6, fragment: None, look_ahead: true, seed: 1 }
    }

    /// Sizes of what each rank sends.
    fn sizes(program: &Program) -> Vec<Vec<u64>> {
        let sends = |op: &Op| (op.kind == OpKind::Send).then_some(op.size);
        program.iter().map(|(_, rank)| rank.ops.iter().filter_map(sends).collect()).collect()
    }

    /// "The longest message at n = 1024 is 16,320 bytes, just below S", 65,472 bytes at n = 4096, and 22.5 MB a processor in
    /// messages above S.
    #[test]
    fn messages_are_as_long_and_as_many_as_published() {
        for (n, longest) in [(1024, 16_320), (4096, 65_472)] {
            let sizes = sizes(&spec(n).program().unwrap());
            assert_eq!(sizes.iter().flatten().max(), Some(&longest));
            let long: u64 = sizes.iter().flatten().filter(|&&size| size > 16_383).sum();
            assert_eq!(long, if n == 1024 { 0 } else { 16 * 45 * (1 << 20) / 2 });
        }
    }

    #[test]
    fn every_message_has_its_receive_and_pieces_add_up() {
        let whole = spec(500);
        let pieces = GaussianElimination { fragment: Some(Bytes(1000)), ..whole.clone() };
        let mut bytes = Vec::new();
        for spec in [whole, pieces] {
            let program = spec.program().unwrap();
            let mut open: BTreeMap<(u32, u32, u32, u64), i64> = BTreeMap::new();
            for (rank, ops) in program.iter() {
                for op in &ops.ops {
                    match op.action() {
                        Action::Send { to, bytes, .. } => {
                            *open.entry((rank.0, to.peer, to.tag, bytes)).or_default() += 1;
                            assert!(spec.fragment.is_none() || bytes <= 1000);
                        }
                        Action::Recv { from, bytes, .. } => {
                            *open.entry((from.peer, rank.0, from.tag, bytes)).or_default() -= 1;
                        }
                        _ => {}
                    }
                }
            }
            assert!(open.values().all(|&count| count == 0));
            bytes.push(sizes(&program).iter().flatten().sum::<u64>());
        }
        assert_eq!(bytes[0], bytes[1]);
    }

    /// 2/3 n^3 operations, and lower orders.
    #[test]
    fn as_much_is_computed_as_elimination_takes() {
        for look_ahead in [true, false] {
            let n = 2048.0;
            let program = GaussianElimination { look_ahead, ..spec(2048) }.program().unwrap();
            let calc = |op: &Op| if op.kind == OpKind::Calc { op.duration().seconds() } else { 0.0 };
            let total: f64 = program.iter().flat_map(|(_, rank)| &rank.ops).map(calc).sum();
            let operations = total * 1e6;
            assert!((operations / (2.0 / 3.0 * n * n * n) - 1.0).abs() < 0.02, "{operations}");
        }
    }

    #[test]
    fn odd_sizes_are_as_good_as_round_ones() {
        for (n, ranks, block) in [(1, 1, 1), (1, 16, 8), (7, 4, 8), (33, 9, 8), (100, 25, 7), (64, 1, 64)] {
            let spec = GaussianElimination { ranks, block, ..spec(n) };
            let program = spec.program().unwrap();
            assert!(program.operations() <= spec.operations(), "{spec:?}: {}", program.operations());
        }
        let large = GaussianElimination { fragment: Some(Bytes(4096)), ..spec(2048) };
        let (exact, estimate) = (large.program().unwrap().operations(), large.operations());
        assert!((exact..3 * exact).contains(&estimate), "{estimate} instead of {exact}");
    }

    #[test]
    fn what_makes_no_program_is_told() {
        let good = spec(64);
        assert_eq!(good.mistake(), None);
        for wrong in [
            GaussianElimination { n: 0, ..good.clone() },
            GaussianElimination { ranks: 12, ..good.clone() },
            GaussianElimination { block: 0, ..good.clone() },
            GaussianElimination { flops: f64::NAN, ..good.clone() },
            GaussianElimination { fragment: Some(Bytes(0)), ..good.clone() },
        ] {
            assert!(wrong.program().is_err(), "{wrong:?}");
        }
    }
}
