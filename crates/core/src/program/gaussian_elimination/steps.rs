//! The steps of the elimination, appended to the ranks that take part.

use super::{ELEMENT, GaussianElimination, PivotSearch, Swap};
use crate::diagnostic::Diagnostic;
use crate::program::{Envelope, Op, Program, ProgramBuilder, SequenceBuilder, pieces};
use crate::rng::Mix;
use crate::units::Time;

/// Size of a value and its position, as in `MPI_DOUBLE_INT` \[B\].
const LARGEST_AND_WHERE: u64 = 16;

/// Purpose of a message: its tag.
#[derive(Clone, Copy, Debug)]
enum Purpose {
    Candidate = 1,
    Pivot = 2,
    Panel = 3,
    Swap = 4,
    PivotRows = 5,
    PartialSum = 6,
    Unknown = 7,
}

impl GaussianElimination {
    /// Builds the program. Cost: proportional to its operations.
    ///
    /// # Errors
    /// The parameters have a mistake ([`GaussianElimination::mistake`]).
    pub fn program(&self) -> Result<Program, Vec<Diagnostic>> {
        if let Some(mistake) = self.mistake() {
            return Err(vec![Diagnostic::new("wrong-program", mistake)]);
        }
        let mut program = ProgramBuilder::new(self.ranks);
        let ranks = (0..self.ranks).map(|rank| program.sequence(rank)).collect();
        for rank in Writer::new(self, ranks).write() {
            program.finish_rank(rank);
        }
        program.build()
    }
}

/// Writer of the program: goes through the steps of the algorithm and appends to each rank its operations.
struct Writer<'a> {
    spec: &'a GaussianElimination,
    /// Side of the process grid, Q.
    side: u32,
    pivots: Mix,
    ranks: Vec<SequenceBuilder>,
}

/// Part of the matrix that is updated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    NextPanel,
    Rest,
    All,
}

impl<'a> Writer<'a> {
    fn new(spec: &'a GaussianElimination, ranks: Vec<SequenceBuilder>) -> Self {
        Self { spec, side: spec.ranks.isqrt(), pivots: Mix::new(spec.seed, "pivots"), ranks }
    }

    /// Writes the operations of all ranks.
    fn write(mut self) -> Vec<SequenceBuilder> {
        self.factor_all();
        if self.spec.solve {
            (0..self.spec.n).rev().for_each(|unknown| self.solve(unknown));
        }
        self.ranks
    }

    fn factor_all(&mut self) {
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

    /// Returns the ranks of a process column, beginning at `row`.
    fn column_from(&self, row: u32, column: u32) -> Vec<u32> {
        (0..self.side).map(|ahead| self.rank((row + ahead) % self.side, column)).collect()
    }

    /// Returns the ranks of a process row, beginning at `column`.
    fn row_from(&self, row: u32, column: u32) -> Vec<u32> {
        (0..self.side).map(|ahead| self.rank(row, (column + ahead) % self.side)).collect()
    }

    /// Returns the process row that has this row of the matrix after the swap.
    fn diagonal(&self, number: u32) -> u32 {
        number % self.side
    }

    /// Returns the process row that has the pivot of this column: at random, as the largest element of a
    /// random matrix.
    fn pivot(&self, number: u32) -> u32 {
        (self.pivots.one(number.into()) % u64::from(self.side)) as u32
    }

    /// Number of columns of a panel.
    fn width(&self, panel: u32) -> u32 {
        (self.spec.block).min(self.spec.n - panel * self.spec.block)
    }

    /// Number of rows (and columns) of each rank that are left before this panel.
    fn left(&self, panel: u32) -> f64 {
        f64::from((self.spec.n).saturating_sub(panel * self.spec.block)) / f64::from(self.side)
    }

    /// Number of rows (and columns) of each rank that are left before this panel, rounded down.
    fn whole_left(&self, panel: u32) -> u64 {
        u64::from(self.spec.n.saturating_sub(panel * self.spec.block) / self.side)
    }

    /// Size of a rank's part of a panel \[B\].
    fn panel_bytes(&self, panel: u32) -> u64 {
        ELEMENT * u64::from(self.width(panel)) * self.whole_left(panel).saturating_sub(1)
    }

    /// Size of a rank's part of the pivot rows \[B\].
    fn pivot_row_bytes(&self, panel: u32) -> u64 {
        ELEMENT * u64::from(self.width(panel)) * self.whole_left(panel + 1)
    }

    fn compute(&mut self, rank: u32, operations: f64) {
        if operations > 0.0 {
            let time = Time::from_seconds(operations / self.spec.flops);
            self.ranks[rank as usize].push(Op::calc(time));
        }
    }

    /// Appends a message, in pieces if it is long; an empty message is left out.
    fn message(&mut self, from: u32, to: u32, bytes: u64, purpose: Purpose) {
        let most = self.spec.fragment.map_or(u64::MAX, |size| size.0);
        for piece in pieces(bytes, most).filter(|&piece| piece > 0) {
            self.ranks[from as usize].push(Op::send(Envelope::world(to, purpose as u32), piece));
            self.ranks[to as usize].push(Op::recv(Envelope::world(from, purpose as u32), piece));
        }
    }

    /// Sends from the first of these ranks to all by a binomial tree, to the farthest first.
    fn spread(&mut self, ranks: &[u32], bytes: u64, purpose: Purpose) {
        let mut distance = ranks.len().next_power_of_two() / 2;
        while distance > 0 {
            for from in (0..ranks.len().saturating_sub(distance)).step_by(2 * distance) {
                self.message(ranks[from], ranks[from + distance], bytes, purpose);
            }
            distance /= 2;
        }
    }

    /// Sends from all of these ranks to the first by a binomial tree, from the nearest first.
    fn collect(&mut self, ranks: &[u32], bytes: u64, purpose: Purpose) {
        let mut distance = 1;
        while distance < ranks.len() {
            for to in (0..ranks.len() - distance).step_by(2 * distance) {
                self.message(ranks[to + distance], ranks[to], bytes, purpose);
            }
            distance *= 2;
        }
    }

    fn factor(&mut self, panel: u32) {
        let column = panel % self.side;
        let (width, left) = (self.width(panel), self.left(panel));
        for within in 0..width {
            // The pivot search, the scaling, and the update of the panel's columns to the right.
            let operations = left * (1.0 + 2.0 * f64::from(width - within));
            (0..self.side).for_each(|row| self.compute(self.rank(row, column), operations));
            let number = panel * self.spec.block + within;
            match self.spec.search {
                PivotSearch::Allreduce => self.reduce_pivot(number, column, width),
                PivotSearch::Gather => self.gather_pivot(number, column, width),
            }
        }
    }

    fn reduce_pivot(&mut self, number: u32, column: u32, width: u32) {
        let (here, there) = (self.diagonal(number), self.pivot(number));
        let row = ELEMENT * u64::from(width);
        let all = self.column_from(0, column);
        self.collect(&all, LARGEST_AND_WHERE, Purpose::Candidate);
        self.spread(&all, LARGEST_AND_WHERE, Purpose::Pivot);
        let from_pivot = self.column_from(there, column);
        self.spread(&from_pivot, row, Purpose::Pivot);
        if here != there {
            self.message(self.rank(here, column), self.rank(there, column), row, Purpose::Pivot);
        }
    }

    fn gather_pivot(&mut self, number: u32, column: u32, width: u32) {
        let candidate = LARGEST_AND_WHERE + ELEMENT * u64::from(width);
        let diagonal = self.diagonal(number);
        let others: Vec<u32> = (0..self.side).filter(|&row| row != diagonal).collect();
        for &row in &others {
            self.message(self.rank(row, column), self.rank(diagonal, column), candidate, Purpose::Candidate);
        }
        for &row in &others {
            self.message(self.rank(diagonal, column), self.rank(row, column), candidate, Purpose::Pivot);
        }
    }

    fn send_panel(&mut self, panel: u32) {
        let (column, bytes) = (panel % self.side, self.panel_bytes(panel));
        for row in 0..self.side {
            for ahead in 1..self.side {
                let to = self.rank(row, (column + ahead) % self.side);
                self.message(self.rank(row, column), to, bytes, Purpose::Panel);
            }
        }
    }

    fn swap_rows(&mut self, panel: u32, column: u32) {
        let columns = match self.spec.swap {
            Swap::Rest => self.whole_left(panel),
            Swap::Rows => self.whole_left(0),
        };
        for within in 0..self.width(panel) {
            let number = panel * self.spec.block + within;
            let (here, there) = (self.diagonal(number), self.pivot(number));
            if here != there {
                let (here, there) = (self.rank(here, column), self.rank(there, column));
                self.message(here, there, ELEMENT * columns, Purpose::Swap);
                self.message(there, here, ELEMENT * columns, Purpose::Swap);
            }
        }
    }

    fn send_pivot_rows(&mut self, panel: u32, column: u32) {
        let (diagonal, bytes, width) = (panel % self.side, self.pivot_row_bytes(panel), f64::from(self.width(panel)));
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

    fn solve(&mut self, unknown: u32) {
        let (row, column) = (self.diagonal(unknown), unknown / self.spec.block % self.side);
        let sums = self.row_from(row, column);
        self.collect(&sums, ELEMENT, Purpose::PartialSum);
        // One subtraction, one division.
        self.compute(sums[0], 2.0);
        let to = self.column_from(row, column);
        self.spread(&to, ELEMENT, Purpose::Unknown);
        // Rows above are distributed cyclically.
        for rank in to {
            self.compute(rank, 2.0 * f64::from(unknown / self.side));
        }
    }
}
