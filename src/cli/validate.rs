//! `hayase validate`: the simulator against closed forms, other simulators and published figures.

use serde_json::json;

use super::args::{RunFormat, ValidateArgs};
use super::{End, Failure, Voice, print, print_with};
use crate::diagnostic::{Diagnostic, closest};
use crate::output::json;
use crate::validation::{Case, Context, Effort, Outcome, Verdict, cases};

/// Runs the cases, one after another, each reported when it is done.
pub fn validate(args: &ValidateArgs, voice: Voice) -> Result<End, Failure> {
    let context = Context { effort: if args.full { Effort::Full } else { Effort::Quick } };
    let chosen = chosen(args)?;
    if args.list {
        let lines: String = chosen.iter().map(|case| format!("{}  {}\n", case.name, case.expected)).collect();
        return print(&lines).map(|()| End::Done);
    }
    let (mut verdicts, mut records) = (Vec::new(), Vec::new());
    for (done, case) in chosen.iter().enumerate() {
        let outcome = case.run(&context);
        verdicts.push(outcome.verdict);
        match args.format {
            RunFormat::Table => print(&text(case, &outcome))?,
            RunFormat::Json => {
                voice.say(format_args!("{} of {}: {}: {}", done + 1, chosen.len(), case.name, outcome.verdict));
                records.push(record(case, &outcome));
            }
        }
    }
    let count = |wanted| verdicts.iter().filter(|verdict| **verdict == wanted).count();
    let failed = count(Verdict::Fail);
    match args.format {
        RunFormat::Table => print(&format!(
            "{} cases: {} pass, {} differ from a published figure, {failed} fail\n",
            chosen.len(),
            count(Verdict::Pass),
            count(Verdict::Differs)
        ))?,
        RunFormat::Json => print_with(|w| json::write(&records, w))?,
    }
    Ok(if failed == 0 { End::Done } else { End::Failed })
}

/// The cases whose names contain one of the words given, all where there are none.
fn chosen(args: &ValidateArgs) -> Result<Vec<Case>, Failure> {
    let cases = cases();
    for word in &args.cases {
        if !cases.iter().any(|case| case.name.contains(word.as_str())) {
            let near = closest(word, cases.iter().map(|case| case.name.as_str()));
            let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
            return Err(Diagnostic::new("unknown-case", format!("no case has `{word}` in its name"))
                .help(format!("{near}`hayase validate --list` shows all"))
                .into());
        }
    }
    let wanted = |case: &Case| args.cases.is_empty() || args.cases.iter().any(|word| case.name.contains(word.as_str()));
    Ok(cases.into_iter().filter(wanted).collect())
}

/// A case with its outcome, for people.
fn text(case: &Case, outcome: &Outcome) -> String {
    let mut text = format!("{:<8} {}\n", outcome.verdict.to_string(), case.name);
    let mut line = |what: &str, value: &str| text.push_str(&format!("         {what:<10}{value}\n"));
    line("source", &case.source);
    line("expected", &format!("{} (tolerance: {})", case.expected, case.tolerance));
    line("ours", &outcome.got);
    for note in outcome.note.lines() {
        line("", note);
    }
    text.push('\n');
    text
}

/// A case with its outcome, for programs.
fn record(case: &Case, outcome: &Outcome) -> serde_json::Value {
    json!({
        "case": case.name,
        "source": case.source,
        "expected": case.expected,
        "tolerance": case.tolerance,
        "ours": outcome.got,
        "verdict": outcome.verdict.to_string().to_lowercase(),
        "note": outcome.note,
    })
}
