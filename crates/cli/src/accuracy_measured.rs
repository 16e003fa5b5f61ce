//! `hayase accuracy --measured`: measured collectives compared with predictions.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::files::{Files, outputs};
use super::options::{self, Format, OutputArgs};
use super::progress;
use super::scenario::CommonArgs;
use super::{End, Failure, Voice, asked};
use hayase::diagnostic::Diagnostic;
use hayase::measured::{BenchmarkFacts, MeasuredSweep};
use hayase_output::page::PagePicture;
use hayase_output::{csv, json, svg, table};

outputs! {
    /// Content of an output file, by its name.
    pub enum Kind {
        Map: "x.svg",
        Csv: "x.csv",
        Json: "x.json",
        Page: "x.html",
        Markdown: "x.md",
    }
}

/// Options of measured collectives.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Measured collectives")]
pub struct MeasuredArgs {
    /// Compare predictions with measured collectives instead: CSV files, outputs of OSU micro-benchmarks, IMB or
    /// nccl-tests, or built-in tables: fugaku, leonardo, lumi, marenostrum5, all.
    #[arg(long, value_name = "FILE|NAME,...", value_delimiter = ',', conflicts_with_all = [
        "scenario", "topology", "pattern", "placement", "size", "jitter", "injection", "routing", "vary", "seeds",
        "references", "buffer", "packets_per_message", "keep", "count",
    ])]
    pub measured: Vec<String>,
    /// Folder with the placements that rows name, as NAME.csv.
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath, requires = "measured")]
    pub placements: Option<PathBuf>,
    /// Machine files with a table [measured], before the built-in ones.
    #[arg(short, long, value_name = "FILE,...", value_delimiter = ',', requires = "measured")]
    pub machine: Vec<String>,
    /// Machine of rows that do not name it, such as outputs of benchmarks.
    #[arg(long, value_name = "NAME", requires = "measured")]
    pub system: Option<String>,
    /// Algorithm of outputs of benchmarks, by its name in the library.
    #[arg(long, value_name = "NAME", requires = "measured")]
    pub algorithm: Option<String>,
    /// Operation of outputs of benchmarks that do not name it.
    #[arg(long, value_name = "NAME", requires = "measured")]
    pub operation: Option<String>,
    /// Shape of the nodes of outputs of benchmarks, on a machine whose fabric depends on it: 4x4x4.
    #[arg(long, value_name = "NxN", requires = "measured")]
    pub shape: Option<String>,
    /// Number of nodes of outputs of benchmarks.
    #[arg(long, value_name = "N", requires = "measured")]
    pub nodes: Option<NonZeroU32>,
}

/// Predicts all rows and reports their errors.
pub fn measured(
    args: &MeasuredArgs,
    models: &[String],
    common: &CommonArgs,
    (out, files): (&OutputArgs, Files<Kind>),
    voice: Voice,
) -> Result<End, Failure> {
    if let Some(folder) = args.placements.as_deref().filter(|folder| !folder.is_dir()) {
        let message = format!("`{}` is no folder of placements", folder.display());
        return Err(Diagnostic::new("missing-file", message)
            .help("it holds a file NAME.csv for each placement")
            .into());
    }
    let sweep = MeasuredSweep {
        tables: args.measured.clone(),
        placements: args.placements.clone(),
        machines: args.machine.clone(),
        models: models.to_vec(),
        facts: BenchmarkFacts {
            system: args.system.clone(),
            algorithm: args.algorithm.clone(),
            shape: args.shape.clone(),
            nodes: args.nodes.map(NonZeroU32::get),
            operation: args.operation.clone(),
        },
        most_messages: None,
        base: common.on(asked::loader()),
    };
    let rows = sweep.read()?;
    let found = progress::over_runs(voice.show, "", |control| rows.run(control));
    for (kind, file) in files {
        file.write(|w| match kind {
            Kind::Map => std::io::Write::write_all(w, svg::measured(&found).as_bytes()),
            Kind::Csv => csv::measured(&found, w),
            Kind::Json => json::write(&found, w),
            Kind::Page => {
                let answer = table::measured(&found);
                let map = PagePicture::new("x.svg", svg::measured(&found));
                options::page("Predictions beside measured collectives", &answer, &[map], &found, w)
            }
            Kind::Markdown => std::io::Write::write_all(w, table::measured(&found).to_markdown().as_bytes()),
        })?;
    }
    if !found.complete && (out.format == Format::Csv || !out.output.is_empty()) {
        voice.say(format_args!("{} runs are missing, so predictions are missing", found.missing_runs));
    }
    out.print_rows(|| table::measured(&found), &found, |w| csv::measured(&found, w))?;
    Ok(if found.complete { End::Done } else { End::Interrupted })
}
