//! `hayase trace sites`: where in the program calls are made, and memory is accessed.

use serde::Serialize;

use super::accesses::{self, AccessSite};
use super::args::TraceSitesArgs;
use super::{open, options};
use crate::args::RunFormat;
use crate::{End, Failure, Voice, caveats, lines, print_with, progress, show};
use hayase::diagnostic::{Diagnostic, Invalid};
use hayase::workload::caveats::Caveats;
use hayase::workload::trace::{BySite, Calling};
use hayase_output::json;
use hayase_output::table::{Answer, Cell, Grid, grouped, printable};

/// All sites, as data.
#[derive(Serialize)]
struct Sites {
    schema: &'static str,
    name: String,
    sites: Vec<Site>,
    /// Where memory is accessed; only of runs that were recorded so.
    #[serde(skip_serializing_if = "Option::is_none")]
    accesses: Option<Vec<AccessSite>>,
    /// What is not in the trace, and what follows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    incomplete: Vec<String>,
    /// That ranks lacked a core, and what follows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lack_of_cores: Vec<String>,
}

/// A call from a site.
#[derive(Serialize)]
struct Site {
    /// `file:line (function)` or what else is known; nothing where it is not.
    site: Option<String>,
    /// Its callers, the first first, if they are asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    callers: Option<Vec<String>>,
    call: &'static str,
    ranks: u32,
    count: u64,
    bytes: u64,
    time_s: f64,
}

/// Shows them, most often called first.
pub fn sites(args: &TraceSitesArgs, voice: Voice) -> Result<End, Failure> {
    let sources = progress::sources(voice.show);
    let trace = open(&args.input, &sources)?;
    let mut by_site = BySite::default();
    let read = trace.calls(options(&args.input), &mut by_site);
    let read = read.map_err(|diagnostics| Failure::from(Invalid { diagnostics, ..Invalid::default() }))?;
    if !read {
        let message = format!("`{}` is a schedule: it holds no calls", trace.name());
        return Err(Diagnostic::new("no-calls", message).into());
    }
    let caveats = trace.caveats();
    caveats::judge(&caveats, trace.name(), args.input.strictness, voice)?;
    let sites = by_site.sites(args.depth as usize);
    let accesses = accesses::of(&args.input.trace)?.map(|accesses| accesses.sites);
    if let Some(remedy) = lines::remedy_of_places(sites.iter().map(|calling| calling.site.as_str())) {
        voice.hint(printable(&remedy));
    }
    match args.format {
        RunFormat::Json => {
            let site = |Calling { site, callers, call, tally }: Calling| Site {
                site: (!site.is_empty()).then_some(site),
                callers: (args.depth > 0).then_some(callers),
                call: call.name(),
                ranks: tally.ranks,
                count: tally.count,
                bytes: tally.bytes,
                time_s: tally.time.seconds(),
            };
            let sites = sites.into_iter().map(site).collect();
            let Caveats { incomplete, lack_of_cores } = caveats;
            let (schema, name) = ("hayase-trace-sites-1", trace.name().to_owned());
            let report = Sites { schema, name, sites, accesses, incomplete, lack_of_cores };
            print_with(|w| json::write(&report, w))?;
        }
        RunFormat::Table => {
            let mut grid = Grid::new()
                .text("site")
                .text("call")
                .number("ranks")
                .number("count")
                .number("bytes [B]")
                .time("time inside")
                .keys(2);
            for Calling { site, callers, call, tally } in sites {
                let name = if site.is_empty() { "?".to_owned() } else { printable(&site) };
                grid.row([
                    Cell::from(name),
                    call.name().into(),
                    tally.ranks.into(),
                    tally.count.into(),
                    tally.bytes.into(),
                    tally.time.seconds().into(),
                ]);
                for caller in callers {
                    let mut row = vec![Cell::default(); 6];
                    row[0] = format!("  called from {}", printable(&caller)).into();
                    grid.row(row);
                }
            }
            let mut answer = Answer::new();
            answer.table(grid);
            if let Some(accesses) = accesses {
                let mut grid = Grid::new().text("site").text("access").number("ranks").number("count");
                for AccessSite { site, access, ranks, count } in accesses {
                    grid.row([printable(&site), access.to_owned(), ranks.to_string(), grouped(count)]);
                }
                answer.push_str("\n");
                answer.table(grid);
            }
            show(&answer)?;
        }
    }
    Ok(End::Done)
}
