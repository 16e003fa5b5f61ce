//! `hayase trace sites`: places of the program that make calls and access memory.

use serde::Serialize;
use serde_json::Value;

use super::accesses::{self, AccessSite};
use super::args::TraceSitesArgs;
use crate::listing::Listing;
use crate::{End, Failure, Voice, caveats, lines, progress};
use hayase::diagnostic::{Diagnostic, Invalid};
use hayase::program::caveats::Caveats;
use hayase::trace::{BySite, SiteCalls};
use hayase_output::table::{Answer, Cell, Grid, grouped, printable};

/// All sites, as data.
#[derive(Serialize)]
struct Sites {
    schema: &'static str,
    name: String,
    sites: Vec<Site>,
    /// Places that access memory, if recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    accesses: Option<Vec<AccessSite>>,
    #[serde(flatten)]
    caveats: Caveats,
}

/// A call from a site.
#[derive(Serialize)]
struct Site {
    /// Place: `file:line (function)` or whatever else is known of it.
    site: Option<String>,
    /// Callers from the nearest, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    callers: Option<Vec<String>>,
    call: &'static str,
    ranks: u32,
    count: u64,
    bytes: u64,
    time_s: f64,
}

/// Shows the sites, most often called first.
pub fn sites(args: &TraceSitesArgs, voice: Voice) -> Result<End, Failure> {
    let offer = Listing::offer("trace sites");
    args.out.begin(&offer)?;
    let sources = progress::sources(voice.show);
    let trace = args.input.open(&sources)?;
    let mut by_site = BySite::default();
    let read = trace.calls(args.input.options(), &mut by_site);
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
    let site = |SiteCalls { site, callers, call, tally }: SiteCalls| Site {
        site: (!site.is_empty()).then_some(site),
        callers: (args.depth > 0).then_some(callers),
        call: call.name(),
        ranks: tally.ranks,
        count: tally.count,
        bytes: tally.bytes,
        time_s: tally.time.seconds(),
    };
    let sites = sites.into_iter().map(site).collect();
    let (schema, name) = ("hayase-trace-sites-1", trace.name().to_owned());
    let report = Sites { schema, name, sites, accesses, caveats };
    let rows = Listing::new(&Site::COLUMNS, || report.sites.iter().map(Site::row));
    args.out.deliver(args.out.open(&offer)?, || table(&report), &report, &[("x.csv", &|w| rows.csv(w))])?;
    Ok(End::Done)
}

impl Site {
    /// Columns of the table as data.
    const COLUMNS: [&str; 7] = ["site", "call", "ranks", "count", "bytes", "time_s", "callers"];

    /// Returns the cells of a row; callers are joined by ` < `.
    fn row(&self) -> Vec<Value> {
        let callers = self.callers.as_ref().map(|callers| callers.join(" < "));
        vec![
            self.site.as_deref().into(),
            self.call.into(),
            self.ranks.into(),
            self.count.into(),
            self.bytes.into(),
            self.time_s.into(),
            callers.into(),
        ]
    }
}

/// Returns the answer for a terminal.
fn table(report: &Sites) -> Answer {
    let mut grid = Grid::new()
        .text("site")
        .text("call")
        .number("ranks")
        .number("count")
        .number("bytes [B]")
        .time("time inside")
        .keys(2);
    for Site { site, callers, call, ranks, count, bytes, time_s } in &report.sites {
        grid.row([
            Cell::from(site.as_deref().map_or_else(|| "?".to_owned(), printable)),
            (*call).into(),
            (*ranks).into(),
            (*count).into(),
            (*bytes).into(),
            (*time_s).into(),
        ]);
        for caller in callers.iter().flatten() {
            let mut row = vec![Cell::default(); 6];
            row[0] = format!("  called from {}", printable(caller)).into();
            grid.row(row);
        }
    }
    let mut answer = Answer::new();
    answer.table(grid);
    if let Some(accesses) = &report.accesses {
        let mut grid = Grid::new().text("site").text("access").number("ranks").number("count");
        for AccessSite { site, access, ranks, count } in accesses {
            grid.row([printable(site), (*access).to_owned(), ranks.to_string(), grouped(*count)]);
        }
        answer.push_str("\n");
        answer.table(grid);
    }
    answer
}
