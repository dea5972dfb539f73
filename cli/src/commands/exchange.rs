//! `import` and `export`.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use memcards::Error;
use memcards::exchange::{Export, Exported, read_conversations};
use memcards::store::Finding;
use memcards::store::io::RealIo;
use memcards::verbs::Format;
use serde_json::json;

use super::admin::show_findings;
use super::{answer, print_answer};
use crate::arguments::{example, json_names};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::render::{self, style};
use crate::store::Door;

#[derive(Args)]
#[command(after_help = example!(
    "memcards import memories.jsonl",
    "memcards import talk.json --format chat --tenant anna"
))]
pub(crate) struct ImportArguments {
    /// The file
    #[arg(value_name = "FILE")]
    from: PathBuf,
    /// What the file is: an export of memcards, chat messages, or LoCoMo samples. Chat goes to
    /// the tenant, LoCoMo samples to tenants of their own names unless --tenant is given; an
    /// export names its tenants itself
    #[arg(long, default_value = "memcards")]
    #[arg(value_parser = json_names::<Format>(&["memcards", "chat", "locomo"]))]
    format: Format,
}

#[derive(Args)]
#[command(after_help = example!(
    "memcards export memories.jsonl",
    "memcards export - --tenant anna > anna.jsonl",
    "memcards export rescued.jsonl --skip-damaged"
))]
pub(crate) struct ExportArguments {
    /// The new file; `-` is standard output
    #[arg(value_name = "FILE")]
    to: PathBuf,
    /// Write vectors of the store's own model too; without them an import computes them anew
    #[arg(long)]
    vectors: bool,
    /// Leave out what is damaged and name it, in place of stopping there
    #[arg(long)]
    skip_damaged: bool,
}

pub(crate) fn import(arguments: &ImportArguments, door: &Door, out: &mut dyn Write) -> Result<(), Failure> {
    let (from, format) = (&arguments.from, arguments.format);
    let tenant = match format {
        // An export names its tenants itself; a tenant that is set for other commands is
        // no reason to refuse it.
        Format::Memcards => None,
        Format::Chat => Some(door.tenant_name().to_owned()),
        Format::Locomo => door.named_tenant.clone(),
    };
    if door.json {
        let request = json!({ "from": from, "format": format });
        return print_answer(&answer(door, "import", request, tenant)?, out);
    }
    match format {
        Format::Memcards => import_export(from, door, out),
        Format::Chat | Format::Locomo => import_conversations(from, format, tenant.as_deref(), door, out),
    }
}

fn import_export(from: &Path, door: &Door, out: &mut dyn Write) -> Result<(), Failure> {
    let progress = Progress::start("lines read");
    let imported = door.store.import_file(from, |done| progress.at(done))?;
    drop(progress);
    let good = style::GOOD;
    writeln!(
        out,
        "{good}imported{good:#} {} versions of cards in {} tenants; {} were known already",
        imported.versions, imported.tenants, imported.known,
    )?;
    Ok(())
}

fn import_conversations(
    from: &Path,
    format: Format,
    tenant: Option<&str>,
    door: &Door,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let (good, warn) = (style::GOOD, style::WARN);
    for conversation in read_conversations(&RealIo, from, format)? {
        let name = tenant.unwrap_or(&conversation.name);
        let progress = Progress::start("turns remembered");
        let done = door.store.ingest(name, &conversation, |done| progress.at(done))?;
        drop(progress);
        write!(
            out,
            "{good}imported{good:#} {} turns of {} into tenant {}",
            done.created,
            render::printable(&conversation.name),
            render::printable(name),
        )?;
        if done.known > 0 {
            write!(out, "; {} were known already", done.known)?;
        }
        if done.without_text > 0 {
            write!(out, "; {} without text left out", done.without_text)?;
        }
        writeln!(out)?;
        for why in &done.refused {
            writeln!(out, "{warn}refused{warn:#} {}", render::printable(why))?;
        }
    }
    Ok(())
}

pub(crate) fn export(arguments: &ExportArguments, door: &Door, out: &mut dyn Write) -> Result<(), Failure> {
    let to = &arguments.to;
    let (vectors, skip_damaged) = (arguments.vectors, arguments.skip_damaged);
    let what = Export { tenant: door.named_tenant.clone(), vectors, skip_damaged };
    let to_output = to.as_os_str() == "-";
    if door.json {
        if to_output {
            return Err(Error::invalid("to", "standard output is taken by the answer; name a file").into());
        }
        let request = json!({ "to": to, "vectors": vectors, "skip_damaged": skip_damaged });
        let answer = answer(door, "export", request, what.tenant)?;
        print_answer(&answer, out)?;
        return if answer["left_out"].is_array() { Err(Failure::Damage) } else { Ok(()) };
    }
    if to_output {
        let mut output = Output { out, failure: None };
        let exported = door.store.export(&mut output, &what, |_| {});
        return match output.failure {
            Some(failure) => Err(failure.into()),
            None => {
                let left_out = exported?.left_out;
                show_left_out(&left_out, &mut anstream::stderr())
            }
        };
    }
    let progress = Progress::start("changes written");
    let exported = door.store.export_file(to, &what, |done| progress.at(done))?;
    let Exported { tenants, versions, left_out, .. } = exported;
    drop(progress);
    let (good, shown) = (style::GOOD, render::printable(&to.display().to_string()));
    writeln!(out, "{good}exported{good:#} {versions} versions of cards of {tenants} tenants to {shown}")?;
    show_left_out(&left_out, out)
}

/// Says what an export does not have; the command ends as one that found damage.
fn show_left_out(left_out: &[Finding], out: &mut dyn Write) -> Result<(), Failure> {
    if left_out.is_empty() {
        return Ok(());
    }
    writeln!(out, "this was left out:")?;
    show_findings(left_out, out)?;
    Err(Failure::Damage)
}

/// Standard output, whose own failure is told apart from one of the store.
struct Output<'a> {
    out: &'a mut dyn Write,
    failure: Option<std::io::Error>,
}

impl Output<'_> {
    fn note<T>(&mut self, result: std::io::Result<T>) -> std::io::Result<T> {
        result.map_err(|error| {
            let kind = error.kind();
            self.failure = Some(error);
            kind.into()
        })
    }
}

impl Write for Output<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let result = self.out.write(bytes);
        self.note(result)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        let result = self.out.flush();
        self.note(result)
    }
}
