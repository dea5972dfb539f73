//! What a campaign has shown: text for a terminal, and one HTML page.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Instant;

use parking_lot::Mutex;

/// Kinds of failures, and failures, after which a mode stops.
const ENOUGH: (usize, u64) = (20, 2000);

/// Something that must not be, and how to see it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// What.
    pub what: String,
    /// The command that shows it again.
    pub command: String,
    /// How often it was seen, numbers and names aside.
    pub times: u64,
}

/// What one mode has shown.
#[derive(Clone, Debug)]
pub struct ModeReport {
    /// Its name on the command line.
    pub mode: &'static str,
    /// What it checks.
    pub promise: &'static str,
    /// How much of what was done.
    pub figures: BTreeMap<String, u64>,
    /// What went wrong.
    pub failures: Vec<Found>,
    /// Wall time.
    pub seconds: f64,
    /// Why it was not done.
    pub skipped: Option<String>,
}

/// Figures and failures while a mode is at work; shared by its threads.
#[derive(Debug)]
pub struct Tally {
    started: Instant,
    figures: Mutex<BTreeMap<String, u64>>,
    failures: Mutex<BTreeMap<String, Found>>,
}

impl Default for Tally {
    fn default() -> Self {
        Self { started: Instant::now(), figures: Mutex::default(), failures: Mutex::default() }
    }
}

impl ModeReport {
    /// How many failures there were.
    fn failed(&self) -> u64 {
        self.failures.iter().map(|found| found.times).sum()
    }
}

impl Tally {
    /// Counts something.
    pub fn add(&self, what: &str, count: u64) {
        *self.figures.lock().entry(what.to_owned()).or_default() += count;
    }

    /// Notes a failure; of those that differ in numbers and names only, the first one is told.
    pub fn fail(&self, what: String, command: String) {
        let kind: Vec<&str> =
            what.split_whitespace().filter(|word| !word.contains(|c: char| c.is_ascii_digit())).collect();
        let mut failures = self.failures.lock();
        failures.entry(kind.join(" ")).or_insert(Found { what, command, times: 0 }).times += 1;
    }

    /// True when there is no use in going on.
    pub fn is_enough(&self) -> bool {
        let failures = self.failures.lock();
        failures.len() >= ENOUGH.0 || failures.values().map(|found| found.times).sum::<u64>() >= ENOUGH.1
    }

    /// The report of a mode that has ended.
    pub fn into_report(self, mode: &'static str, promise: &'static str) -> ModeReport {
        ModeReport {
            mode,
            promise,
            figures: self.figures.into_inner(),
            failures: self.failures.into_inner().into_values().collect(),
            seconds: self.started.elapsed().as_secs_f64(),
            skipped: None,
        }
    }
}

/// As text.
pub fn text(reports: &[ModeReport]) -> String {
    let mut out = String::new();
    for report in reports {
        let end = match (&report.skipped, report.failed()) {
            (Some(why), _) => format!("skipped: {why}"),
            (None, 0) => "nothing found".into(),
            (None, count) => format!("{count} FAILURES"),
        };
        // Writing to a string does not fail.
        let _ = writeln!(out, "{:<12} {:>7.1} s  {end}", report.mode, report.seconds);
        for (what, count) in &report.figures {
            let _ = writeln!(out, "    {count:>10}  {what}");
        }
        for found in &report.failures {
            let Found { what, command, times } = found;
            let _ = writeln!(out, "    FAILED  {what} (seen {times} times)\n            {command}");
        }
    }
    out
}

/// As one page that needs nothing else.
pub fn html(reports: &[ModeReport], title: &str) -> String {
    let mut rows = String::new();
    for report in reports {
        let (class, end) = match (&report.skipped, report.failed()) {
            (Some(why), _) => ("skipped", format!("skipped: {}", escape(why))),
            (None, 0) => ("good", "nothing found".to_owned()),
            (None, count) => ("bad", format!("{count} failures")),
        };
        let figures: String = report
            .figures
            .iter()
            .map(|(what, count)| {
                format!("<tr><td class=n>{}</td><td>{}</td></tr>", grouped(*count), escape(what))
            })
            .collect();
        let failures: String = report
            .failures
            .iter()
            .map(|found| {
                format!(
                    "<li>{} ({} times)<pre>{}</pre></li>",
                    escape(&found.what),
                    found.times,
                    escape(&found.command)
                )
            })
            .collect();
        let _ = write!(
            rows,
            "<section class={class}><h2>{} <small>{:.1} s</small><span>{end}</span></h2><p>{}</p>\
             <table>{figures}</table><ul>{failures}</ul></section>",
            report.mode,
            report.seconds,
            escape(report.promise)
        );
    }
    format!(
        "<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title><style>\
         body{{font:16px/1.5 system-ui,sans-serif;max-width:54rem;margin:2rem auto;padding:0 1rem;color:#222}}\
         section{{border-left:.4rem solid #999;padding:.1rem 1rem;margin:1rem 0;background:#f7f7f7}}\
         .good{{border-color:#2a7d46}}.bad{{border-color:#b3261e}}h2{{font-size:1.1rem}}\
         h2 span{{float:right;font-weight:400}}small{{color:#666;font-weight:400}}\
         td{{padding:0 .6rem}}.n{{text-align:right;font-variant-numeric:tabular-nums}}\
         pre{{white-space:pre-wrap}}ul:empty{{display:none}}</style><h1>{title}</h1>{rows}</html>\n"
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// With a thin space between thousands.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push('\u{2009}');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_told_with_its_command() {
        let tally = Tally::default();
        tally.add("images", 1_234_567);
        tally.fail("a card <is> lost".into(), "campaign images --seed 5".into());
        tally.fail("at 17: a card <is> lost".into(), "campaign images --seed 6".into());
        tally.fail("at 23: a card <is> lost".into(), "campaign images --seed 7".into());
        let report = [tally.into_report("images", "nothing is lost")];
        assert!(text(&report).contains("3 FAILURES") && text(&report).contains("--seed 5"));
        assert!(text(&report).contains("seen 2 times") && !text(&report).contains("--seed 7"));
        let page = html(&report, "Campaign");
        assert!(page.contains("a card &lt;is&gt; lost") && page.contains("1\u{2009}234\u{2009}567"));
    }
}
