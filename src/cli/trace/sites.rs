//! `hayase trace sites`: where in the program calls are made, and memory is accessed.

use serde::Serialize;

use super::accesses::{self, AccessSite};
use super::args::TraceInfoArgs;
use super::{open, options};
use crate::cli::args::RunFormat;
use crate::cli::{End, Failure, Voice, print, print_with, progress};
use crate::diagnostic::{Diagnostic, Invalid};
use crate::output::json;
use crate::output::table::{Grid, grouped, printable};
use crate::workload::trace::BySite;

/// All sites, as data.
#[derive(Serialize)]
struct Sites {
    schema: &'static str,
    name: String,
    sites: Vec<Site>,
    /// Where memory is accessed; only of runs that were recorded so.
    #[serde(skip_serializing_if = "Option::is_none")]
    accesses: Option<Vec<AccessSite>>,
}

/// A call from a site.
#[derive(Serialize)]
struct Site {
    /// `file:line (function)` or what else is known; nothing where it is not.
    site: Option<String>,
    call: &'static str,
    ranks: u32,
    count: u64,
    bytes: u64,
    time_s: f64,
}

/// Shows them, most often called first.
pub fn sites(args: &TraceInfoArgs, voice: Voice) -> Result<End, Failure> {
    let sources = progress::sources(voice.show);
    let trace = open(&args.input, &sources)?;
    let mut by_site = BySite::default();
    let read = trace.calls(options(&args.input), &mut by_site);
    let read = read.map_err(|diagnostics| Failure::from(Invalid { diagnostics, ..Invalid::default() }))?;
    if !read {
        let message = format!("`{}` is a schedule: it holds no calls", trace.name());
        return Err(Diagnostic::new("no-calls", message).into());
    }
    let sites = by_site.sites();
    let accesses = accesses::of(&args.input.trace)?.map(|accesses| accesses.sites);
    match args.format {
        RunFormat::Json => {
            let site = |(name, call, tally): (
                String,
                crate::workload::trace::calls::Call,
                crate::workload::trace::SiteTally,
            )| Site {
                site: (!name.is_empty()).then_some(name),
                call: call.name(),
                ranks: tally.ranks,
                count: tally.count,
                bytes: tally.bytes,
                time_s: tally.time.seconds(),
            };
            let sites = sites.into_iter().map(site).collect();
            let report = Sites { schema: "hayase-trace-sites-1", name: trace.name().to_owned(), sites, accesses };
            print_with(|w| json::write(&report, w))?;
        }
        RunFormat::Table => {
            let mut grid = Grid::new()
                .text("site")
                .text("call")
                .number("ranks")
                .number("count")
                .number("bytes")
                .number("time inside");
            for (name, call, tally) in sites {
                let name = if name.is_empty() { "?".to_owned() } else { printable(&name) };
                let (count, bytes) = (grouped(tally.count), grouped(tally.bytes));
                grid.row([name, call.name().to_owned(), tally.ranks.to_string(), count, bytes, tally.time.to_string()]);
            }
            print(&grid.to_text())?;
            if let Some(accesses) = accesses {
                let mut grid = Grid::new().text("site").text("access").number("ranks").number("count");
                for AccessSite { site, access, ranks, count } in accesses {
                    grid.row([printable(&site), access.to_owned(), ranks.to_string(), grouped(count)]);
                }
                print(&format!("\n{}", grid.to_text()))?;
            }
        }
    }
    Ok(End::Done)
}
