//! `hayase rates`: how fast the messages of the first step would be, all of them under way at once.

use std::path::Path;

use super::args::{RatesArgs, TableFormat};
use super::files::{self, unknown};
use super::{End, Failure, Voice, extension, pictures, print_with, progress, show};
use hayase::diagnostic::Diagnostic;
use hayase_output::{csv, json, table};

/// What a file holds, by its name.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Csv,
    Json,
    Picture,
}

impl Kind {
    fn of(path: &Path) -> Result<Self, Diagnostic> {
        match extension(path).as_str() {
            "csv" => Ok(Self::Csv),
            "json" => Ok(Self::Json),
            "svg" => Ok(Self::Picture),
            _ => Err(unknown(path, "x.csv, x.json or x.svg")),
        }
    }
}

/// Prints rates and bottlenecks.
pub fn rates(args: &RatesArgs, voice: Voice) -> Result<End, Failure> {
    files::check_names(&args.output, Kind::of)?;
    let scenario = args.scenario.loader().on_read(progress::reading(voice.show)).load_pattern()?;
    let rates = scenario.work().rates(scenario.system());
    let title = format!(
        "first step of {} on {}, sharing {}",
        scenario.work().name,
        scenario.network().map_or("no fabric", |network| network.fabric.name()),
        scenario.network().map_or("none", |network| network.sharing.name())
    );
    for (kind, file) in files::open(&args.output, Kind::of)? {
        file.write(|w| match kind {
            Kind::Csv => csv::rates(&rates, w),
            Kind::Json => json::write(&rates, w),
            Kind::Picture => pictures::rates(&rates, &title, w),
        })?;
    }
    match args.format {
        TableFormat::Table => show(&table::rates(&title, &rates))?,
        TableFormat::Json => print_with(|w| json::write(&rates, w))?,
        TableFormat::Csv => print_with(|w| csv::rates(&rates, w))?,
    }
    Ok(End::Done)
}
