//! `hayase calibrate`: parameters of LogGPS from measured round trips.

use std::path::Path;

use super::args::{CalibrateArgs, RunFormat};
use super::files::{self, unknown};
use super::{End, Failure, Voice, extension, print_with, progress, show};
use hayase::diagnostic::{Diagnostic, Invalid, Located, file_names};
use hayase::node::calibrate::{self, Options};
use hayase::units::Bytes;
use hayase_output::{json, svg, table};

/// What a file holds, by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Machine,
    Json,
    Picture,
}

impl Kind {
    fn of(path: &Path) -> Result<Self, Diagnostic> {
        match extension(path).as_str() {
            "toml" => Ok(Self::Machine),
            "json" => Ok(Self::Json),
            "svg" => Ok(Self::Picture),
            _ => Err(unknown(path, "x.toml (the machine), x.json or x.svg")),
        }
    }
}

/// Finds the parameters, prints them and writes the machine.
pub fn calibrate(args: &CalibrateArgs, voice: Voice) -> Result<End, Failure> {
    files::check_names(&args.output, Kind::of)?;
    let options = Options {
        short: size(args.short.as_deref(), "--short")?,
        sync: size(args.eager.as_deref(), "--eager")?,
        percentile: f64::from(args.percentile),
    };
    let sources = progress::sources(voice.show);
    let named: Located<String> = file_names::text_of(&args.file).into();
    let input = sources.open(&named).map_err(|mistake| Invalid::one(mistake, &sources))?;
    let invalid = |diagnostics| Invalid { diagnostics, sources: sources.clone() };
    let samples = calibrate::read(input).map_err(invalid)?;
    let found = calibrate::calibrate(&samples, &options)?;
    let title = format!("LogGPS parameters from {}", args.file.display());
    let missing = found.missing().join(", ");
    let wants_machine = args.output.iter().any(|path| Kind::of(path).ok() == Some(Kind::Machine));
    for (kind, file) in files::open(&args.output, Kind::of)? {
        match kind {
            Kind::Json => file.write(|w| json::write(&found, w))?,
            Kind::Picture => file.write(files::text(&svg::calibration(&found, &title)))?,
            // Not written at all where a parameter is missing.
            Kind::Machine => {
                if let Some(machine) = found.machine(&args.file.display().to_string()) {
                    file.write(files::text(&machine))?;
                }
            }
        }
    }
    match args.format {
        RunFormat::Table => show(&table::calibration(&title, &found))?,
        RunFormat::Json => print_with(|w| json::write(&found, w))?,
    }
    for advice in found.advice() {
        voice.hint(advice);
    }
    if wants_machine && !missing.is_empty() {
        let message = format!("no machine file is written: the measurements do not tell {missing}");
        return Err(Diagnostic::new("not-identifiable", message).help("the hints above say what to measure").into());
    }
    Ok(End::Done)
}

fn size(text: Option<&str>, option: &str) -> Result<Option<Bytes>, Failure> {
    let parse = |text: &str| {
        Bytes::from_cell(text).map_err(|error| Diagnostic::new("bad-quantity", format!("{option}: {error}")).into())
    };
    text.map(parse).transpose()
}
