//! `demo`: what memcards does, told on a bundled conversation. Everything shown is what the
//! engine answers; the clock is the conversation's, so that every run is the same.

mod conversation;

use std::io::{self, Write};
use std::sync::Arc;

use memcards::card::{CardId, Fact};
use memcards::{
    Apply, Clock, Correct, Error, Forget, History, MakePlan, ManualClock, Options, Recall, Recalled, Restore,
    Store, Tenant, Timestamp, Undo,
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::arguments::{ClockKind, Global};
use crate::commands::change::{show_corrected, show_forgotten, show_restored};
use crate::commands::forgetting::{show_applied, show_undone};
use crate::commands::read::show_history;
use crate::failure::Failure;
use crate::render::{self, style};
use crate::store::{self, DEFAULT_TENANT};

/// Hits shown of an answer.
const SHOWN: usize = 2;
/// The morning after the last session.
const NOW: &str = "2025-04-15T10:00:00+08:00";
/// When the reminder for 20 April is over, and nothing else is.
const LATER: &str = "2025-05-15T10:00:00+08:00";

/// Tells the story in a store of its own, or in a new one that is kept.
pub(crate) fn run(global: &Global, out: &mut dyn Write) -> Result<(), Failure> {
    if global.clock == ClockKind::Manual || global.now.is_some() {
        return Err(Error::invalid("clock", "the demo has a clock of its own").into());
    }
    let temporary = match global.store {
        Some(_) => None,
        None => Some(tempfile::tempdir().map_err(|error| {
            Error::Unavailable(format!("a temporary directory cannot be made ({error}); try --store DIR"))
        })?),
    };
    let directory = match &temporary {
        Some(temporary) => temporary.path().to_owned(),
        None => store::directory(global)?,
    };
    let clock = Arc::new(ManualClock::new(Timestamp::default()));
    let options = Options { clock: clock.clone(), seed: 0, ..store::options(global)? };
    let store = Store::open(&directory, options)?;
    if !store.tenants()?.is_empty() {
        let message = format!("{} holds memories already; the demo wants a new store", directory.display());
        return Err(Error::Conflict { message }.into());
    }
    let tenant = global.tenant.as_deref().unwrap_or(DEFAULT_TENANT);
    let mut nowhere = io::sink();
    let shown: &mut dyn Write = if global.json { &mut nowhere } else { &mut *out };
    let mut story = Story { out: shown, tenant: store.tenant(tenant)?, clock, steps: Vec::new() };
    story.tell(&store)?;
    story.end(global)?;
    let steps = story.steps;
    if global.json {
        writeln!(out, "{}", json!({ "ok": true, "steps": steps }))?;
    }
    Ok(())
}

struct Story<'a> {
    out: &'a mut dyn Write,
    tenant: Tenant,
    clock: Arc<ManualClock>,
    /// What was asked and answered, for `--json`.
    steps: Vec<Value>,
}

impl Story<'_> {
    fn tell(&mut self, store: &Store) -> Result<(), Failure> {
        let strong = style::STRONG;
        writeln!(
            self.out,
            "{strong}Paper Heron{strong:#}: Mira (English) and 阿禾 (Chinese) open a pottery studio."
        )?;
        let loaded = conversation::load(store, self.tenant.name(), &self.clock)?;
        self.say(&format!(
            "Loaded: {} conversations from 3 March to 14 April 2025, {} turns, and {} notes that \
             their assistant took; {} of the notes replaced an earlier one. Everything runs on \
             this machine, without a network and without a language model.",
            loaded.sessions, loaded.turns, loaded.notes, loaded.replaced
        ))?;
        self.step("load", &loaded)?;
        self.clock.set(NOW.parse()?)?;
        self.questions()?;
        self.times()?;
        self.correction()?;
        self.forgetting()?;
        self.isolation(store)?;
        self.aging()?;
        self.soundness(store)
    }

    fn questions(&mut self) -> Result<(), Failure> {
        self.heading("1. Ask in your own words")?;
        self.say("The kiln's order, not the glaze's, though their numbers look alike:")?;
        self.ask(Recall { query: query("What is the order number of the kiln?"), ..Recall::default() })?;
        self.say("Glaze G-270, not G-207:")?;
        self.ask(Recall { query: query("At what temperature is G-270 fired?"), ..Recall::default() })?;
        self.say("In Chinese; the note is pinned and marked as an exclusion:")?;
        self.ask(Recall { query: query("阿禾对什么过敏？"), ..Recall::default() })?;
        self.say("What must not be done is found too. One question, answers in both languages:")?;
        self.ask(Recall { query: query("which kiln should never be suggested?"), ..Recall::default() })?;
        Ok(())
    }

    fn times(&mut self) -> Result<(), Failure> {
        self.heading("2. Ask what was true when")?;
        self.say("The opening was moved on 5 April. Today's answer:")?;
        let opening = || Recall {
            query: query("When does Paper Heron open?"),
            categories: vec!["decision".into()],
            top: Some(1),
            ..Recall::default()
        };
        self.ask(opening())?;
        self.say("The same question, as of 20 March:")?;
        self.ask(Recall { as_of: Some("2025-03-20T00:00:00Z".parse()?), ..opening() })?;
        Ok(())
    }

    fn correction(&mut self) -> Result<(), Failure> {
        self.heading("3. Put something right, and keep the history")?;
        self.say("North Hill delivers on Thursdays now. Somebody corrects the note:")?;
        let question = || Recall {
            query: query("On which day does North Hill deliver clay?"),
            top: Some(1),
            ..Recall::default()
        };
        let before = self.find(question())?;
        let id = first(&before)?;
        self.later(5)?;
        let request = Correct {
            id,
            content: Some("North Hill delivers clay on Thursdays.".into()),
            fact: Some(Fact {
                entity: "North Hill".into(),
                attribute: "delivery day".into(),
                value: "Thursday".into(),
            }),
            actor: Some("Mira".into()),
            reason: Some("new route of their van".into()),
            ..Correct::default()
        };
        self.command(&format!(
            "correct {id} --content \"North Hill delivers clay on Thursdays.\" --fact \"North Hill\" \
             \"delivery day\" Thursday --actor Mira --reason \"new route of their van\""
        ))?;
        let corrected = self.tenant.correct(request)?;
        self.step("correct", &corrected)?;
        show_corrected(&corrected, self.out)?;
        writeln!(self.out)?;
        self.say("Who, when, why, and what it changed:")?;
        self.command(&format!("history {}", corrected.id))?;
        let history = self.tenant.history(&History { id: corrected.id })?;
        self.step("history", &history)?;
        show_history(&history, self.out)?;
        writeln!(self.out)?;
        self.later(5)?;
        self.say("The answer today, and as of 1 April:")?;
        self.ask(question())?;
        self.ask(Recall { as_of: Some("2025-04-01T00:00:00Z".parse()?), ..question() })?;
        Ok(())
    }

    fn forgetting(&mut self) -> Result<(), Failure> {
        self.heading("4. Forget, and take it back")?;
        let question = || Recall {
            query: query("where is the spare key?"),
            tracks: vec![memcards::card::Track::Semantic],
            min_score: Some(0.5),
            top: Some(1),
            ..Recall::default()
        };
        self.say("The note about the key, before, after forgetting it, and restored:")?;
        let found = self.ask(question())?;
        let id = first(&found)?;
        self.later(5)?;
        let (actor, reason) = (Some("Mira".to_owned()), Some("the baker moved".to_owned()));
        self.command(&format!("forget {id} --actor Mira --reason \"the baker moved\""))?;
        let forgotten =
            self.tenant.forget(Forget { id: Some(id), actor: actor.clone(), reason, ..Forget::default() })?;
        self.step("forget", &forgotten)?;
        show_forgotten(&forgotten, "memcards ", self.out)?;
        writeln!(self.out)?;
        self.ask(question())?;
        self.later(5)?;
        self.command(&format!("restore {id} --actor Mira"))?;
        let restored = self.tenant.restore(Restore { id: Some(id), actor, ..Restore::default() })?;
        self.step("restore", &restored)?;
        show_restored(&restored, self.out)?;
        writeln!(self.out)?;
        self.ask(question())?;
        Ok(())
    }

    fn isolation(&mut self, store: &Store) -> Result<(), Failure> {
        self.heading("5. Nobody else sees it")?;
        self.say("The same question by another tenant of the same store:")?;
        let visitor = store.tenant("visitor")?;
        let own = std::mem::replace(&mut self.tenant, visitor);
        self.ask(Recall { query: query("where is the spare key?"), ..Recall::default() })?;
        self.tenant = own;
        Ok(())
    }

    fn aging(&mut self) -> Result<(), Failure> {
        self.heading("6. Let go of what is over, and see why")?;
        self.say(
            "A month later. The rules say what they would take out of active memory, and why; \
             the reminder for 20 April is over:",
        )?;
        self.clock.set(LATER.parse()?)?;
        let question = || Recall {
            query: query("向消防报备什么？"),
            categories: vec!["task_state".into()],
            top: Some(1),
            ..Recall::default()
        };
        self.command("plan")?;
        let planned = self.tenant.plan(&MakePlan::default())?;
        self.step("plan", &planned)?;
        render::plan::planned(&planned, false, "memcards ", self.out)?;
        writeln!(self.out)?;
        self.command(&format!("apply {}", planned.plan))?;
        let request = Apply { plan: Some(planned.plan), ..Apply::default() };
        let applied = self.tenant.apply(request)?;
        self.step("apply", &applied)?;
        show_applied(&applied, "memcards ", self.out)?;
        writeln!(self.out)?;
        self.ask(question())?;
        self.say("Too early? It comes back as it was:")?;
        self.command(&format!("undo {}", applied.run))?;
        let undone = self.tenant.undo(Undo { run: Some(applied.run), ..Undo::default() })?;
        self.step("undo", &undone)?;
        show_undone(&undone, self.out)?;
        writeln!(self.out)?;
        self.ask(question())?;
        Ok(())
    }

    fn soundness(&mut self, store: &Store) -> Result<(), Failure> {
        self.heading("7. Check every byte")?;
        self.command("verify")?;
        let report = store.verify(|_| {})?;
        self.step("verify", &report)?;
        let good = style::GOOD;
        if !report.is_sound() {
            return Err(Failure::Damage);
        }
        writeln!(
            self.out,
            "{good}sound{good:#}: {} cards, {} earlier versions, {} vectors, {} changes\n",
            report.cards, report.versions, report.vectors, report.changes
        )?;
        Ok(())
    }

    fn end(&mut self, global: &Global) -> Result<(), Failure> {
        self.heading("Try next")?;
        let name = match &global.store {
            Some(directory) => quoted(&render::printable(&directory.display().to_string())),
            None => {
                writeln!(self.out, "  memcards demo --store ./heron    # the same, and keep the store")?;
                "./heron".to_owned()
            }
        };
        let tenant = match &global.tenant {
            Some(tenant) => format!(" --tenant {}", quoted(&render::printable(tenant))),
            None => String::new(),
        };
        for line in [
            "recall \"儿童班多少钱？\" --explain",
            "list --filter '{\"field\":\"polarity\",\"eq\":\"excluded\"}'",
            "shell",
        ] {
            writeln!(self.out, "  memcards --store {name}{tenant} {line}")?;
        }
        writeln!(self.out, "  memcards remember \"…\"    # your own memory, in your own store")?;
        Ok(())
    }

    /// Asks, and shows the best hits with why.
    fn ask(&mut self, request: Recall) -> Result<Recalled, Failure> {
        self.command(&recall_line(&request))?;
        let answer = self.find(request)?;
        let dim = style::DIM;
        for (number, hit) in answer.hits.iter().take(SHOWN).enumerate() {
            render::short_hit(number + 1, hit, self.out)?;
            writeln!(self.out, "   {dim}{}{dim:#}", render::parts_line(hit))?;
        }
        if answer.hits.is_empty() {
            writeln!(self.out, "nothing found")?;
        }
        writeln!(self.out)?;
        Ok(answer)
    }

    /// Asks without showing.
    fn find(&mut self, request: Recall) -> Result<Recalled, Failure> {
        let request = Recall { explain: true, ..request };
        let answer = self.tenant.recall(request.clone())?;
        self.steps.push(json!({
            "verb": "recall", "tenant": self.tenant.name(), "request": request, "answer": answer,
        }));
        Ok(answer)
    }

    fn step(&mut self, verb: &str, answer: &impl Serialize) -> Result<(), Failure> {
        self.steps.push(json!({ "verb": verb, "answer": answer }));
        Ok(())
    }

    /// Lets minutes pass.
    fn later(&mut self, minutes: i64) -> Result<(), Failure> {
        let minutes = memcards::Duration::from_micros(minutes * 60_000_000);
        Ok(self.clock.set(self.clock.now().plus(minutes))?)
    }

    fn heading(&mut self, text: &str) -> io::Result<()> {
        let heading = style::HEADING;
        writeln!(self.out, "{heading}── {text} {}{heading:#}", "─".repeat(60 - render::width(text).min(60)))
    }

    fn say(&mut self, text: &str) -> io::Result<()> {
        for line in render::wrap(text, render::COLUMNS) {
            writeln!(self.out, "{line}")?;
        }
        writeln!(self.out)
    }

    /// Shows the command that does the same.
    fn command(&mut self, line: &str) -> io::Result<()> {
        let strong = style::STRONG;
        let name = self.tenant.name();
        let tenant =
            if name == DEFAULT_TENANT { String::new() } else { format!("--tenant {} ", quoted(name)) };
        let lines = broken_at_flags(&format!("memcards {tenant}{line}"), render::COLUMNS - 6);
        let last = lines.len().saturating_sub(1);
        for (number, line) in lines.iter().enumerate() {
            let prompt = if number == 0 { "$ " } else { "" };
            let more = if number == last { "" } else { " \\" };
            writeln!(self.out, "{prompt}{strong}{line}{strong:#}{more}")?;
        }
        Ok(())
    }
}

/// A command line in lines of its own, broken before flags only: a text must stay whole.
fn broken_at_flags(line: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (number, part) in line.split(" --").enumerate() {
        let part = if number == 0 { part.to_owned() } else { format!("--{part}") };
        match lines.last_mut() {
            Some(last) if render::width(last) + render::width(&part) < columns => {
                last.push(' ');
                last.push_str(&part);
            }
            Some(_) => lines.push(format!("    {part}")),
            None => lines.push(part),
        }
    }
    lines
}

fn query(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn first(answer: &Recalled) -> Result<CardId, Failure> {
    match answer.hits.first() {
        Some(hit) => Ok(hit.card.id),
        None => Err(Error::Internal("the demo's memory is not found".into()).into()),
    }
}

/// The command line of a question, as far as the demo uses it.
fn recall_line(request: &Recall) -> String {
    let mut line = format!("recall {}", quoted(request.query.as_deref().unwrap_or_default()));
    for track in &request.tracks {
        line.push_str(&format!(" --tracks {track}"));
    }
    for category in &request.categories {
        line.push_str(&format!(" --categories {category}"));
    }
    if let Some(score) = request.min_score {
        line.push_str(&format!(" --min-score {score}"));
    }
    if let Some(top) = request.top {
        line.push_str(&format!(" --top {top}"));
    }
    if let Some(at) = request.as_of {
        line.push_str(&format!(" --as-of {at}"));
    }
    line
}

/// A word of a command line, in quotes where a shell would want them.
fn quoted(word: &str) -> String {
    let plain = !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "-_./:".contains(c));
    if plain { word.to_owned() } else { format!("\"{}\"", word.replace(['"', '\\', '$', '`'], "")) }
}
