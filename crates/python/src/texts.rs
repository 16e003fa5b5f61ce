//! Scenarios from arguments of Python: a name, tables as dicts, files in memory.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use hayase::plan::{self, Columns, Plan, RunControl, Shard};
use hayase::scenario::{Loaded, Loader, settings_as_toml};
use hayase::sweep::seeds_from;
use hayase_cli::Inside;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rayon::prelude::*;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::mistake;
use crate::outcome::Played;
use crate::play::{Wishes, play};
use crate::work::Asker;

/// Name of settings in messages about mistakes.
const SETTINGS: &str = "settings";
/// Name of a report in messages about mistakes.
const REPORT: &str = "report.json";

/// Parts of a scenario, as JSON.
#[derive(Deserialize, Clone, Default)]
#[serde(default, deny_unknown_fields)]
struct Said {
    preset: Option<String>,
    /// Path of a scenario file.
    file: Option<String>,
    /// TOML text with its name.
    text: Option<(String, String)>,
    /// Report, as JSON.
    report: Option<String>,
    machine: Option<String>,
    /// Tables of a scenario; numbers are in base units.
    settings: Map<String, Value>,
    /// Keys of the workload, for any kind of work.
    size: Option<Value>,
    size_of: Option<String>,
    injection: Option<String>,
    order: Option<String>,
    jitter: Option<Value>,
    barrier_cost: Option<Value>,
    jobs: Vec<String>,
    noise: Option<String>,
    stragglers: Vec<String>,
    faults: Option<String>,
    /// Dotted keys, as in `--set`.
    set: Vec<(String, Value)>,
}

/// Texts of a scenario.
#[pyclass(frozen, module = "hayase._hayase")]
pub struct Texts {
    /// Texts from Python, not yet read.
    pub(crate) loader: Loader,
    /// Scenario built from the texts, once it was requested.
    loaded: Mutex<Option<Arc<Loaded>>>,
}

/// Returns the nested tables that a dotted key stands for.
fn nested(key: &str, value: &Value) -> Map<String, Value> {
    let (first, rest) = key.split_once('.').unwrap_or((key, ""));
    let value = if rest.is_empty() { value.clone() } else { Value::Object(nested(rest, value)) };
    Map::from_iter([(first.to_owned(), value)])
}

/// Returns the value of a key of any workload as text of the command line; a number gets its unit.
fn written(key: &str, value: &Value) -> String {
    let Value::String(text) = value else {
        let toml = settings_as_toml(&nested(&format!("workload.all-to-all.{key}"), value));
        return toml.split_once(" = ").map_or(String::new(), |(_, value)| value.trim().trim_matches('"').to_owned());
    };
    text.clone()
}

impl Said {
    fn loader(&self) -> Loader {
        let mut loader = Loader::new();
        if let Some(preset) = &self.preset {
            loader = loader.preset(preset);
        }
        if let Some(file) = &self.file {
            loader = loader.file(Path::new(file));
        }
        if let Some((name, text)) = &self.text {
            loader = loader.text(name, text);
        }
        if let Some(report) = &self.report {
            loader = loader.attach(REPORT, report.as_bytes()).file(Path::new(REPORT));
        }
        if let Some(machine) = &self.machine {
            loader = loader.machine(machine);
        }
        loader = self.jobs.iter().fold(loader, |loader, job| loader.job(job));
        if !self.settings.is_empty() {
            loader = loader.over(SETTINGS, settings_as_toml(&self.settings));
        }
        if let Some(size) = &self.size {
            loader = loader.size(&written("size", size));
        }
        if let Some(size_of) = &self.size_of {
            loader = loader.size_of(size_of);
        }
        if let Some(injection) = &self.injection {
            loader = loader.injection(injection);
        }
        if let Some(order) = &self.order {
            loader = loader.order(order);
        }
        if let Some(jitter) = &self.jitter {
            loader = loader.jitter(&written("message-jitter", jitter));
        }
        if let Some(cost) = &self.barrier_cost {
            loader = loader.barrier_cost(&written("barrier-cost", cost));
        }
        if let Some(noise) = &self.noise {
            loader = loader.noise(noise);
        }
        if let Some(faults) = &self.faults {
            loader = loader.faults(faults);
        }
        loader = self.stragglers.iter().fold(loader, |loader, straggler| loader.straggler(straggler));
        for (key, value) in &self.set {
            loader = match value {
                Value::String(text) => loader.set(SETTINGS, &format!("{key}={text}")),
                other => loader.over(SETTINGS, settings_as_toml(&nested(key, other))),
            };
        }
        loader
    }
}

impl Texts {
    fn known(&self) -> Option<Arc<Loaded>> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Builds the scenario, once.
    ///
    /// # Errors
    /// All mistakes of the texts, as one exception.
    fn loaded(&self, asker: Asker<'_, '_>) -> PyResult<Arc<Loaded>> {
        if let Some(loaded) = self.known() {
            return Ok(loaded);
        }
        let loader = self.loader.clone();
        let built = Asker { progress: None, ..asker }.wait(move |_| loader.load_all())?;
        let loaded = Arc::new(built.map_err(|invalid| mistake::invalid(asker.py, &invalid))?);
        *self.loaded.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&loaded));
        Ok(loaded)
    }
}

/// Runs each of the scenarios, as many at once as there are threads; returns an outcome or an exception for
/// each.
#[pyfunction]
#[pyo3(signature = (texts, tables, *, progress=None, threads=None))]
pub fn run_many(
    py: Python<'_>,
    texts: Vec<Bound<'_, Texts>>,
    tables: Vec<String>,
    progress: Option<Bound<'_, PyAny>>,
    threads: Option<usize>,
) -> PyResult<Vec<Py<PyAny>>> {
    let wishes = Wishes::of(&tables);
    let loaders: Vec<Loader> = texts.iter().map(|texts| texts.get().loader.clone()).collect();
    let played = Asker { py, threads, progress: progress.as_ref() }.wait(move |looking| {
        let (done, total) = (AtomicU64::new(0), loaders.len() as u64);
        let one = |loader: Loader| {
            let raw =
                loader.load_all().and_then(|loaded| play(&loaded, &[first_seed(&loaded)], wishes, &looking.part()));
            looking.tell(done.fetch_add(1, Ordering::Relaxed) + 1, total);
            raw
        };
        loaders.into_par_iter().map(one).collect::<Vec<_>>()
    })?;
    let of_each = |raw| match Played::new(py, raw) {
        Ok(played) => Ok(Py::new(py, played)?.into_any()),
        Err(error) => Ok(error.into_value(py).into_any()),
    };
    played.into_iter().map(of_each).collect()
}

/// Returns the first seed of a scenario.
fn first_seed(loaded: &Loaded) -> u64 {
    match loaded {
        Loaded::Pattern(scenario) => scenario.seed(),
        Loaded::Program(scenario) => scenario.seed(),
        Loaded::Jobs(scenario) => scenario.seed(),
        Loaded::Farm(farm) => farm.seed(),
    }
}

#[pymethods]
impl Texts {
    #[new]
    fn new(said: &str, files: Vec<(String, Vec<u8>)>) -> PyResult<Self> {
        let said: Said = serde_json::from_str(said).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let loader = files.into_iter().fold(said.loader(), |loader, (name, content)| loader.attach(name, content));
        Ok(Self { loader, loaded: Mutex::default() })
    }

    /// Runs the scenario with `seeds` seeds and records the requested tables.
    #[pyo3(signature = (tables, *, seeds=1, progress=None, threads=None))]
    fn run(
        &self,
        py: Python<'_>,
        tables: Vec<String>,
        seeds: u64,
        progress: Option<Bound<'_, PyAny>>,
        threads: Option<usize>,
    ) -> PyResult<Played> {
        let asker = Asker { py, threads, progress: progress.as_ref() };
        let loaded = self.loaded(asker)?;
        let wishes = Wishes::of(&tables);
        let seeds = seeds_from(first_seed(&loaded), seeds).map_err(|mistake| mistake::invalid(py, &mistake.into()))?;
        Played::new(py, asker.wait(move |looking| play(&loaded, &seeds, wishes, looking))?)
    }

    /// Returns the scenario in one line, as `hayase check` prints it.
    #[pyo3(signature = (*, threads=None))]
    fn check(&self, py: Python<'_>, threads: Option<usize>) -> PyResult<String> {
        Ok(hayase_cli::in_words(&*self.loaded(Asker { py, threads, progress: None })?))
    }

    /// Returns the scenario with all defaults filled in, as JSON.
    #[pyo3(signature = (*, threads=None))]
    fn to_json(&self, py: Python<'_>, threads: Option<usize>) -> PyResult<String> {
        let loaded = self.loaded(Asker { py, threads, progress: None })?;
        let scenario = match &*loaded {
            Loaded::Pattern(scenario) => scenario.to_json(),
            Loaded::Program(scenario) => scenario.to_json(),
            Loaded::Jobs(scenario) => scenario.to_json(),
            Loaded::Farm(farm) => match &farm.points[..] {
                [point] => point.to_json(),
                _ => return Err(PyValueError::new_err("a farm that is tried in several ways is several scenarios")),
            },
        };
        Ok(scenario.to_string())
    }

    /// Runs a command of the command line with these texts as its base, below its words. Returns its output
    /// and, on request, its table as HTML.
    #[pyo3(signature = (words, *, html=false, progress=None, threads=None))]
    fn verb(
        &self,
        py: Python<'_>,
        words: Vec<String>,
        html: bool,
        progress: Option<Bound<'_, PyAny>>,
        threads: Option<usize>,
    ) -> PyResult<(Py<PyBytes>, String)> {
        let base = self.loader.clone();
        let answer = Asker { py, threads, progress: progress.as_ref() }.wait(move |looking| {
            let told = Arc::clone(looking);
            let tell = Arc::new(move |done, total| told.tell(done, total));
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            Inside { base, stop: looking.stop, tell: Some(tell), html }.answer(&words)
        })?;
        mistake::answered(py, &answer)?;
        Ok((PyBytes::new(py, &answer.kept.printed).unbind(), answer.kept.html))
    }

    /// Runs the missing points of a plan, which is a file or one of the attached files; returns the numbers
    /// of points.
    #[expect(clippy::too_many_arguments, reason = "they are those of the function in Python")]
    #[pyo3(signature = (plan, folder, *, shard=None, retry_failed=false, progress=None, threads=None))]
    fn sweep<'py>(
        &self,
        py: Python<'py>,
        plan: PathBuf,
        folder: PathBuf,
        shard: Option<(u32, u32)>,
        retry_failed: bool,
        progress: Option<Bound<'py, PyAny>>,
        threads: Option<usize>,
    ) -> PyResult<(u64, u64, u64, bool)> {
        let shard = match shard {
            None => Shard::ALL,
            Some((index, of)) => format!("{index}/{of}").parse().map_err(PyValueError::new_err)?,
        };
        let loader = self.loader.clone();
        let ran = Asker { py, threads, progress: progress.as_ref() }.wait(move |looking| {
            let tell = |progress: plan::Progress| {
                looking.tell(progress.rows.min(progress.points), progress.points);
            };
            let control =
                RunControl { progress: Some(&tell), cancel: Some(looking.stop), retry_failed, ..RunControl::default() };
            let plan = Plan::read(&plan, loader)?;
            plan::run(&plan, &folder, shard, control)
        })?;
        let ran = ran.map_err(|error| mistake::store(py, error))?;
        Ok((ran.run, ran.there, ran.failed, ran.interrupted))
    }

    /// Returns the finished rows of a plan, in its order, as JSON.
    #[pyo3(signature = (plan, folder, *, threads=None))]
    fn rows(&self, py: Python<'_>, plan: PathBuf, folder: PathBuf, threads: Option<usize>) -> PyResult<Py<PyBytes>> {
        let loader = self.loader.clone();
        let rows = Asker { py, threads, progress: None }.wait(move |_| {
            let plan = Plan::read(&plan, loader)?;
            let mut rows = Vec::new();
            plan::merge(&plan, &folder, Columns::Json, &mut rows).map(|_| rows)
        })?;
        let rows = rows.map_err(|error| mistake::store(py, error))?;
        Ok(PyBytes::new(py, &rows).unbind())
    }
}
