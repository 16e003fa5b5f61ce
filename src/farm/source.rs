//! Tasks from files: tables of executed tasks, lists of times, and rules.

use super::generate::{ConstantSpec, ExponentialSpec, HeavyTailSpec, MandelbrotSpec, UniformSpec};
use super::grid::{Executed, MOST_DIMENSIONS, TaskGrid};
use super::interpolate::{Outside, interpolate};
use super::plan::ReplayedPlan;
use super::tasks::{Size, Sizes, Tasks};
use crate::diagnostic::{Diagnostic, Invalid, Located, Sources};
use crate::reading::Input;
use crate::reading::csv::{self, Column};
use crate::reading::{names, whole};
use crate::units::{Bytes, Time};

/// Tasks file: the tasks, and their grid.
#[spec]
pub struct TasksFile {
    /// Grid of all tasks, some of which were executed (default: the tasks given are all).
    pub grid: Option<Located<String>>,
    /// Set to give tasks beyond the executed ones the time of the nearest one (default: such tasks are an
    /// error).
    #[serde(default)]
    pub clamp: bool,
    /// Set if a plan proposed the executed tasks, so that they form no product grid.
    #[serde(default)]
    pub refined: bool,
    /// Bytes sent to the worker with each task, if the table has no column for them (default 0).
    pub bytes_in: Option<Bytes>,
    /// Bytes sent back with each result, if the table has no column for them (default 0).
    pub bytes_out: Option<Bytes>,
    /// The tasks.
    pub tasks: TasksSpec,
}

/// Source of the tasks.
#[spec]
pub enum TasksSpec {
    /// Table of executed tasks (CSV).
    File(FileSpec),
    /// Executed tasks, listed in place.
    Executed(ExecutedSpec),
    /// Equal times.
    Constant(ConstantSpec),
    /// Uniformly distributed times.
    Uniform(UniformSpec),
    /// Exponentially distributed times.
    Exponential(ExponentialSpec),
    /// Times with a heavy tail.
    HeavyTail(HeavyTailSpec),
    /// Points of the Mandelbrot set.
    Mandelbrot(MandelbrotSpec),
}

impl TasksSpec {
    /// True if a text is the name of a rule with its parameters: `exponential:count=100,mean=1ms`.
    pub fn is_rule(text: &str) -> bool {
        text.split_once(':').is_some_and(|(name, _)| names::choices::<Self>().contains(&name))
    }
}

/// Table of executed tasks.
#[spec]
#[cfg_attr(test, schemars(rename = "TasksTable"))]
pub struct FileSpec {
    /// Path of the CSV file.
    pub path: Located<String>,
}

/// Executed tasks, listed in place.
#[spec]
pub struct ExecutedSpec {
    /// Executed tasks, each with its coordinates and its time.
    pub points: Vec<Located<PointSpec>>,
}

/// One executed task.
#[spec]
pub struct PointSpec {
    /// Coordinates of the task.
    #[serde(default)]
    pub at: Vec<i64>,
    /// Time of the task.
    pub time: Time,
    /// Bytes sent to the worker.
    pub bytes_in: Option<Bytes>,
    /// Bytes sent back.
    pub bytes_out: Option<Bytes>,
}

/// Tasks that were read: the executed ones of a grid, or all of them.
#[derive(Clone, PartialEq, Debug)]
pub enum Given {
    /// Some of the tasks of a grid.
    Executed(Executed, Option<TaskGrid>),
    /// All tasks.
    All(Tasks),
}

impl TasksSpec {
    /// Returns the description that is shown to users: a file, or a rule with its parameters.
    pub(super) fn title(&self) -> String {
        match self {
            Self::File(file) => (*file.path).clone(),
            Self::Executed(listed) => format!("{} executed ones", listed.points.len()),
            rule => {
                let json = serde_json::to_value(rule).unwrap_or_default();
                let rules = json.as_object().into_iter().flatten();
                let texts = rules.map(|(name, keys)| {
                    let keys = keys.as_object().into_iter().flatten();
                    let keys: Vec<String> = keys
                        .map(|(key, value)| match value.as_str() {
                            Some(text) => format!("{key}={}", text.replace(' ', "")),
                            None => format!("{key}={value}"),
                        })
                        .collect();
                    format!("{name}:{}", keys.join(","))
                });
                texts.collect()
            }
        }
    }
}

impl TasksFile {
    /// Creates a tasks file with these tasks and defaults for everything else.
    pub fn of(tasks: TasksSpec) -> Self {
        Self { grid: None, clamp: false, refined: false, bytes_in: None, bytes_out: None, tasks }
    }

    /// True if a file of this name is a tasks file rather than a table.
    pub fn is_tasks_file(path: &str) -> bool {
        path.to_ascii_lowercase().ends_with(".toml")
    }

    /// Reads a file: `.toml` is a tasks file, anything else a table. Tables that it names are not read yet.
    ///
    /// # Errors
    /// A file that cannot be read or understood, with the place of each mistake.
    pub fn read(path: &Located<String>, sources: &mut Sources) -> Result<Self, Vec<Diagnostic>> {
        if !Self::is_tasks_file(path) {
            return Ok(Self::of(TasksSpec::File(FileSpec { path: path.clone() })));
        }
        let (base, text) = sources.read_text(path).map_err(|mistake| vec![mistake])?;
        let helped = |mistake: Diagnostic| match mistake.help {
            None => mistake.help("`hayase master-slave --help` describes tasks files"),
            Some(_) => mistake,
        };
        whole::from_text(&text, base).map_err(|mistakes| mistakes.into_iter().map(helped).collect())
    }

    /// Returns the bytes sent for a task that does not give its own.
    fn size(&self) -> Size {
        Size { input: self.bytes_in.map_or(0, |bytes| bytes.0), output: self.bytes_out.map_or(0, |bytes| bytes.0) }
    }

    /// Reads the tasks themselves.
    ///
    /// # Errors
    /// All mistakes in the tables and rules.
    pub fn read_tasks(&self, seed: u64, sources: &mut Sources) -> Result<Given, Vec<Diagnostic>> {
        let one = |diagnostic| vec![diagnostic];
        let grid = self.grid.as_ref().map(TaskGrid::read).transpose().map_err(one)?;
        let executed = match &self.tasks {
            TasksSpec::File(file) => read_table(sources.open(&file.path).map_err(one)?, self.size())?,
            TasksSpec::Executed(listed) => self.listed(listed).map_err(one)?,
            rule => {
                if let Some(text) = &self.grid {
                    let message = "tasks by a rule are all there are, and stand in no grid";
                    let diagnostic = Diagnostic::new("unused-option", message).at_value(text);
                    return Err(one(diagnostic.help("leave out the grid (--grid), or name a table of executed tasks")));
                }
                let times = match rule {
                    TasksSpec::Constant(rule) => rule.times(),
                    TasksSpec::Uniform(rule) => rule.times(seed),
                    TasksSpec::Exponential(rule) => rule.times(seed),
                    TasksSpec::HeavyTail(rule) => rule.times(seed),
                    TasksSpec::Mandelbrot(rule) => rule.times(),
                    TasksSpec::File(_) | TasksSpec::Executed(_) => Ok(Vec::new()),
                };
                return Ok(Given::All(Tasks::new(times.map_err(one)?, Sizes::Same(self.size()))));
            }
        };
        if executed.is_empty() {
            let mistake = Diagnostic::new("no-tasks", "there are no tasks")
                .help("a table of tasks has a line for each, below the one that names the columns");
            return Err(one(self.of_file(mistake)));
        }
        Ok(Given::Executed(executed, grid))
    }

    /// Returns all tasks, interpolated if only some were executed.
    ///
    /// # Errors
    /// All mistakes in the tables and rules, and executed tasks that cannot be interpolated.
    pub fn load(&self, seed: u64, sources: &mut Sources) -> Result<Tasks, Invalid> {
        let invalid = |diagnostics, sources: &Sources| Invalid { diagnostics, sources: sources.clone() };
        let given = self.read_tasks(seed, sources).map_err(|diagnostics| invalid(diagnostics, sources))?;
        let tasks = match given {
            Given::All(tasks) => Ok(tasks),
            Given::Executed(executed, Some(grid)) if self.refined => {
                ReplayedPlan::new(&executed, &grid).map(|played| played.tasks(0))
            }
            Given::Executed(executed, Some(grid)) => {
                interpolate(&executed, &grid, if self.clamp { Outside::Clamp } else { Outside::Refuse })
            }
            Given::Executed(executed, None) => Ok(executed.into_tasks()),
        };
        tasks.map_err(|diagnostic| Invalid::one(self.of_file(diagnostic), sources))
    }

    /// Adds the name of the tasks' file to a mistake.
    fn of_file(&self, mistake: Diagnostic) -> Diagnostic {
        match &self.tasks {
            TasksSpec::File(file) => mistake.of_file(&file.path),
            _ => mistake,
        }
    }

    fn listed(&self, listed: &ExecutedSpec) -> Result<Executed, Diagnostic> {
        let dimensions = listed.points.first().map_or(0, |point| point.at.len());
        let mut executed = Executed::new(dimensions);
        for point in &listed.points {
            if point.at.len() != dimensions {
                let message = format!("this task has {} coordinates, the first one {dimensions}", point.at.len());
                return Err(Diagnostic::new("wrong-dimensions", message).at_value(point));
            }
            let usual = self.size();
            let size = Size {
                input: point.bytes_in.map_or(usual.input, |bytes| bytes.0),
                output: point.bytes_out.map_or(usual.output, |bytes| bytes.0),
            };
            executed.push(&point.at, point.time, size);
        }
        Ok(executed)
    }
}

/// Columns of coordinates, then time and sizes.
pub(crate) const COLUMNS: [Column; MOST_DIMENSIONS + 3] = [
    Column::optional("i1"),
    Column::optional("i2"),
    Column::optional("i3"),
    Column::optional("i4"),
    Column::optional("i5"),
    Column::optional("i6"),
    Column::optional("i7"),
    Column::optional("i8"),
    Column::optional("i9"),
    Column::optional("i10"),
    Column::optional("i11"),
    Column::optional("i12"),
    Column::required("time"),
    Column::optional("bytes_in"),
    Column::optional("bytes_out"),
];
const TIME: usize = MOST_DIMENSIONS;
const BYTES_IN: usize = MOST_DIMENSIONS + 1;
const BYTES_OUT: usize = MOST_DIMENSIONS + 2;

/// Reads a table of tasks: `i1, i2, ...` (coordinates; none in a plain list), `time`, `bytes_in`, `bytes_out`.
///
/// # Errors
/// All mistakes, each with its line and column.
pub fn read_table(input: Input, usual: Size) -> Result<Executed, Vec<Diagnostic>> {
    let mut executed = Executed::default();
    let mut dimensions = None;
    let mut point = [0i64; MOST_DIMENSIONS];
    csv::read(input, &COLUMNS, |row| {
        let n = *dimensions.get_or_insert_with(|| {
            let n = (0..MOST_DIMENSIONS).take_while(|&i| row.has(i)).count();
            executed = Executed::new(n);
            if let Some(gap) = (n..MOST_DIMENSIONS).find(|&i| row.has(i)) {
                row.mistake(
                    gap,
                    Diagnostic::new(
                        "missing-column",
                        format!("there is a column `i{}` but none `i{}`", gap + 1, n + 1),
                    ),
                );
            }
            n
        });
        let mut good = true;
        for (i, at) in point[..n].iter_mut().enumerate() {
            match row.integer(i) {
                Some(number) => *at = number,
                None => good = false,
            }
        }
        let time = row.time(TIME);
        let input = if row.has(BYTES_IN) { row.size(BYTES_IN) } else { Some(usual.input) };
        let output = if row.has(BYTES_OUT) { row.size(BYTES_OUT) } else { Some(usual.output) };
        if let (Some(time), Some(input), Some(output), true) = (time, input, output, good) {
            if executed.len() == u32::MAX as usize >> 1 {
                row.mistake(TIME, Diagnostic::new("too-many-tasks", "there are more than 2^31 tasks"));
                row.stop();
                return;
            }
            executed.push(&point[..n], time, Size { input, output });
        }
    })?;
    Ok(executed)
}
