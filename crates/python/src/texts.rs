//! Scenarios from what Python says: a name, tables as dicts, files in memory.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use hayase::diagnostic::Invalid;
use hayase::scenario::{Loaded, Loader, settings_as_toml};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::mistake;
use crate::outcome::Played;
use crate::work::{Looking, outside};

/// What mistakes in settings call their text.
const SETTINGS: &str = "settings";

/// What a scenario is made of, as JSON.
#[derive(Deserialize, Clone, Default)]
#[serde(default, deny_unknown_fields)]
struct Said {
    preset: Option<String>,
    /// A file by its path.
    file: Option<String>,
    /// A TOML text with its name.
    text: Option<(String, String)>,
    machine: Option<String>,
    /// Tables of a scenario; numbers are in base units.
    settings: Map<String, Value>,
    /// Keys of the workload, whatever it is.
    size: Option<Value>,
    injection: Option<String>,
    jitter: Option<Value>,
    jobs: Vec<String>,
    noise: Option<String>,
    stragglers: Vec<String>,
    faults: Option<String>,
    /// Dotted keys, as `--set` has them.
    set: Vec<(String, Value)>,
}

/// The texts of a scenario.
#[pyclass(frozen, module = "hayase._hayase")]
pub struct Texts {
    loader: Loader,
    /// What they came to, where that was asked for.
    loaded: Mutex<Option<Arc<Loaded>>>,
}

/// A value of a setting as a text of the command line; numbers get the unit that stands for them.
fn written(key: &str, value: &Value) -> String {
    let map = Map::from_iter([(
        "workload".to_owned(),
        Value::Object(Map::from_iter([(
            "all-to-all".to_owned(),
            Value::Object(Map::from_iter([(key.to_owned(), value.clone())])),
        )])),
    )]);
    match value {
        Value::String(text) => text.clone(),
        _ => {
            let toml = settings_as_toml(&map);
            toml.split_once(" = ").map_or(String::new(), |(_, value)| value.trim().trim_matches('"').to_owned())
        }
    }
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
        if let Some(injection) = &self.injection {
            loader = loader.injection(injection);
        }
        if let Some(jitter) = &self.jitter {
            loader = loader.jitter(&written("message-jitter", jitter));
        }
        if let Some(noise) = &self.noise {
            loader = loader.noise(noise);
        }
        if let Some(faults) = &self.faults {
            loader = loader.faults(faults);
        }
        loader = self.stragglers.iter().fold(loader, |loader, straggler| loader.straggler(straggler));
        for (key, value) in &self.set {
            let value = match value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            loader = loader.set("settings", &format!("{key}={value}"));
        }
        loader
    }
}

impl Texts {
    fn known(&self) -> Option<Arc<Loaded>> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What the texts come to; built once.
    ///
    /// # Errors
    /// All their mistakes, as one exception.
    pub fn loaded(&self, py: Python<'_>, threads: Option<usize>) -> PyResult<Arc<Loaded>> {
        if let Some(loaded) = self.known() {
            return Ok(loaded);
        }
        let loader = self.loader.clone();
        let built: Result<Loaded, Invalid> =
            outside(py, threads, None, &Arc::default(), move |_: &Looking| loader.load_all())?;
        let loaded = Arc::new(built.map_err(|invalid| mistake::invalid(py, &invalid))?);
        *self.loaded.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&loaded));
        Ok(loaded)
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

    /// Runs what the texts say.
    #[pyo3(signature = (*, messages=false, links=false, ranks=false, progress=None, threads=None))]
    fn run(
        &self,
        py: Python<'_>,
        messages: bool,
        links: bool,
        ranks: bool,
        progress: Option<Bound<'_, PyAny>>,
        threads: Option<usize>,
    ) -> PyResult<Played> {
        let loaded = self.loaded(py, threads)?;
        Played::play(py, &loaded, [messages, links, ranks], progress.as_ref(), threads)
    }
}
