//! Moving memories in and out of a store: whole stores as JSON Lines, and conversations
//! written by other programs.
//!
//! Reading a foreign format gives plain [`Remember`] requests, which go the same way as any
//! other; nothing here writes around the rules, except that an export carries versions,
//! identifiers and change numbers, which an import must keep.

mod chat;
mod export;
mod import;
mod locomo;
mod rescue;

use std::io::{BufReader, BufWriter};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::card::{Card, CardId};
use crate::engine::Store;
use crate::store::io::{Io, Reader, Writer, at, parent, read_file};
use crate::store::{LookupChange, LookupKey, ModelRecord};
use crate::time::Timestamp;
use crate::verbs::{Format, Outcome, Remember};
use crate::{Error, Result};

pub use chat::read_chat;
pub use export::{Export, Exported};
pub use import::Imported;
pub use locomo::read_locomo;

/// Version of the export format.
const FORMAT: u32 = 1;

/// One line of an export.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum Line {
    /// First line: what the file is.
    Header {
        format: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<ModelRecord>,
    },
    /// A tenant; its changes follow.
    Tenant { tenant: String, created_at: Timestamp },
    /// One change, in order. The first change to a version carries that version.
    Change(Box<ChangeLine>),
    /// Last line: how many changes the file has. Without it the file was cut short.
    End { changes: u64 },
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ChangeLine {
    seq: u64,
    kind: Kind,
    id: CardId,
    version: u32,
    at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    card: Option<Card>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    vector: Option<Vec<f32>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    lookups: Vec<LookupLine>,
}

/// An exact look-up that a change pointed at a card, or took away.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LookupLine {
    /// Kind and hash in hexadecimal.
    key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<CardId>,
}

impl LookupLine {
    fn of(change: &LookupChange) -> Self {
        let key = change.key.iter().map(|byte| format!("{byte:02x}")).collect();
        Self { key, id: change.card }
    }

    /// What the line says; `None` when its key is not 34 hexadecimal digits.
    fn read(&self) -> Option<LookupChange> {
        let mut key = LookupKey::default();
        if self.key.len() != 2 * key.len() || !self.key.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        for (i, byte) in key.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&self.key[2 * i..2 * i + 2], 16).ok()?;
        }
        Some(LookupChange { key, card: self.id })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Version,
    Touch,
    Lookups,
    Vector,
}

/// A conversation of another program, as requests in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Conversation {
    /// Its name in the file, or a number.
    pub name: String,
    /// One request per turn.
    pub turns: Vec<Remember>,
    /// Messages that hold no text and were left out.
    pub without_text: usize,
}

/// What became of the turns of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Ingested {
    /// Turns that became new cards.
    pub created: u64,
    /// Turns that were known already.
    pub known: u64,
    /// Messages without text.
    pub without_text: u64,
    /// Turns whose words were erased since they were said; they stay away.
    #[serde(skip_serializing_if = "is_none")]
    pub erased: u64,
    /// Turns that were refused, with why.
    pub refused: Vec<String>,
}

/// True for what an answer need not mention.
fn is_none(count: &u64) -> bool {
    *count == 0
}

impl Store {
    /// Remembers a conversation in a tenant, turn by turn, in commits of a thousand turns.
    /// Doing it again changes nothing. `progress` is told how many turns are done.
    ///
    /// # Errors
    /// When the store cannot be written; single turns that are refused are in the answer.
    pub fn ingest(
        &self,
        tenant: &str,
        conversation: &Conversation,
        mut progress: impl FnMut(u64),
    ) -> Result<Ingested> {
        let tenant = self.tenant(tenant)?;
        let mut answer = Ingested { without_text: conversation.without_text as u64, ..Ingested::default() };
        let mut done = 0;
        for chunk in conversation.turns.chunks(self.limits().batch) {
            for (request, result) in chunk.iter().zip(tenant.remember_all(chunk.to_vec())?) {
                match result {
                    Ok(remembered) if matches!(remembered.outcome, Outcome::Duplicate | Outcome::Merged) => {
                        answer.known += 1;
                    }
                    Ok(_) => answer.created += 1,
                    Err(Error::Erased { .. } | Error::Wiped { .. }) => answer.erased += 1,
                    Err(error @ (Error::InvalidArgument { .. } | Error::TooLarge { .. })) => {
                        let session = request.session.as_deref().unwrap_or("-");
                        answer.refused.push(format!("session {session} turn {:?}: {error}", request.turn));
                    }
                    Err(error) => return Err(error),
                }
            }
            done += chunk.len() as u64;
            progress(done);
        }
        Ok(answer)
    }
}

impl Store {
    /// [`Store::export`] into a new file, which appears only when it is complete.
    ///
    /// # Errors
    /// As [`Store::export`], and [`Error::InvalidArgument`] on `to` when something is there.
    pub fn export_file(&self, to: &Path, what: &Export, progress: impl FnMut(u64)) -> Result<Exported> {
        let io = self.database().io();
        if io.exists(to) {
            return Err(Error::invalid("to", format!("{} exists already", to.display())));
        }
        let mut partial = to.as_os_str().to_owned();
        partial.push(".partial");
        let partial = Path::new(&partial);
        let mut out = BufWriter::new(Writer::create(io, partial)?);
        let exported = self.export(&mut out, what, progress).and_then(|exported| {
            let file = at(partial, out.into_inner().map_err(std::io::IntoInnerError::into_error))?;
            at(partial, file.sync())?;
            at(to, io.rename(partial, to))?;
            at(parent(to), io.sync_directory(parent(to)))?;
            Ok(exported)
        });
        if exported.is_err() && io.exists(partial) {
            // Ours, and of no use to anybody; the error that matters is the first one.
            let _ = io.remove(partial);
        }
        exported
    }

    /// [`Store::import`] from a file.
    ///
    /// # Errors
    /// As [`Store::import`].
    pub fn import_file(&self, from: &Path, progress: impl FnMut(u64)) -> Result<Imported> {
        self.import(&mut BufReader::new(Reader::open(self.database().io(), from)?), progress)
    }
}

/// Reads the conversations of a foreign file.
///
/// # Errors
/// [`Error::InvalidArgument`] on `from` when the file does not fit the format.
pub fn read_conversations(io: &dyn Io, from: &Path, format: Format) -> Result<Vec<Conversation>> {
    let bytes = read_file(io, from)?
        .ok_or_else(|| Error::invalid("from", format!("there is no file {}", from.display())))?;
    let text = String::from_utf8(bytes).map_err(|e| Error::invalid("from", e.to_string()))?;
    match format {
        Format::Locomo => read_locomo(&text),
        Format::Chat => {
            let name = from.file_stem().and_then(|stem| stem.to_str()).unwrap_or("conversation");
            read_chat(&text, name)
        }
        Format::Memcards => Err(Error::invalid("format", "an export is not a conversation")),
    }
}

/// A JSON error of a foreign file, as an invalid argument.
fn not_read(format: &str, detail: impl std::fmt::Display) -> Error {
    Error::invalid("from", format!("not a {format} file: {detail}"))
}
