//! Commands and answers of the comparison, one JSON object per line each.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::runner::Runner;

/// A command. What it does not need of a line is ignored.
#[derive(Debug, Deserialize)]
#[serde(tag = "cmd", rename_all = "lowercase")]
pub(crate) enum Request {
    /// Names the folder of the data; first command of all.
    Init {
        data: PathBuf,
        #[serde(default)]
        params: Parameters,
        threads: Option<usize>,
    },
    /// Makes the index of all rows, or of the first `n` when that is not 0.
    Build {
        base: PathBuf,
        #[serde(default)]
        n: usize,
    },
    /// Writes the index into a folder.
    Save { dir: PathBuf },
    /// Opens what `save` wrote.
    Load { dir: PathBuf },
    /// Answers queries.
    Search(Search),
    /// Inserts or replaces vectors.
    Add(Add),
    /// Removes vectors.
    Delete { ids: PathBuf },
    /// Runs background work to its end.
    Finish,
    /// Tells memory.
    Stat,
    /// Ends the program.
    Quit,
}

/// Parameters of an index; those of other indexes are ignored.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(crate) struct Parameters {
    pub(crate) seed: Option<u64>,
}

/// A search: `n` queries from row `from` on.
#[derive(Debug, Deserialize)]
pub(crate) struct Search {
    pub(crate) queries: PathBuf,
    #[serde(default)]
    pub(crate) from: usize,
    pub(crate) n: Option<usize>,
    pub(crate) k: usize,
    pub(crate) ef: Option<usize>,
    #[serde(default)]
    pub(crate) mode: Mode,
    pub(crate) filter: Option<Filter>,
    /// Where the ids go: rows of `k`, -1 for none.
    pub(crate) out: PathBuf,
}

/// Whether each query is timed on its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Mode {
    #[default]
    Batch,
    Single,
}

/// What results must be.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Filter {
    /// Rows whose flag in `attr_NAME` is 1.
    Attr(String),
    /// Rows of the query's tenant in `qtenant_NAME`.
    Tenant(String),
}

/// Vectors to add: the rows `ids` of a file under these ids, or `n` rows from `from` on under
/// the ids from `id0` on.
#[derive(Debug, Deserialize)]
pub(crate) struct Add {
    pub(crate) vecs: PathBuf,
    pub(crate) ids: Option<PathBuf>,
    #[serde(default)]
    pub(crate) from: usize,
    pub(crate) n: Option<usize>,
    #[serde(default)]
    pub(crate) id0: u32,
}

/// Carries out a line; the answer, and whether it is the last.
pub(crate) fn answer(runner: &mut Runner, line: &str) -> (Value, bool) {
    let request = match serde_json::from_str::<Request>(line) {
        Ok(request) => request,
        Err(error) => return (json!({"ok": false, "error": format!("not a command: {error}")}), false),
    };
    let outcome = match request {
        Request::Init { data, params, threads } => runner.init(data, params, threads),
        Request::Build { base, n } => runner.build(&base, n),
        Request::Save { dir } => runner.save(&dir),
        Request::Load { dir } => runner.load(&dir),
        Request::Search(search) => runner.search(&search),
        Request::Add(add) => runner.add(&add),
        Request::Delete { ids } => runner.delete(&ids),
        Request::Finish => runner.finish(),
        Request::Stat => runner.stat(),
        Request::Quit => return (json!({"ok": true}), true),
    };
    let answer = match outcome {
        Ok(mut answer) => {
            answer["ok"] = Value::Bool(true);
            answer
        }
        Err(error) => json!({"ok": false, "error": error.to_string()}),
    };
    (answer, false)
}
