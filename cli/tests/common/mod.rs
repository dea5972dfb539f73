//! Runs the built program in a directory of its own.
#![allow(dead_code, reason = "each test file uses a part")]

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

/// A place for stores and files, gone afterwards.
pub(crate) struct Place {
    directory: tempfile::TempDir,
}

/// What a run of the program gave.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// The one JSON value on standard output.
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.out.lines().count(), 1, "one line: {self:?}");
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The same, of a run that succeeded.
    pub(crate) fn ok(&self) -> Value {
        let value = self.json();
        assert_eq!((self.code, &value["ok"]), (0, &Value::Bool(true)), "{self:?}");
        value
    }

    /// Every line as JSON.
    pub(crate) fn lines(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
    }

    /// Code of the error that is the answer.
    pub(crate) fn error(&self) -> String {
        let value = self.json();
        assert_eq!(value["ok"], Value::Bool(false), "{self:?}");
        assert!(!value["error"]["message"].as_str().expect("a message").is_empty());
        value["error"]["code"].as_str().expect("a code").to_owned()
    }
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().expect("a temporary directory") }
    }

    /// A path in here.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Writes a file in here.
    pub(crate) fn file(&self, name: &str, content: &str) -> String {
        std::fs::write(self.path(name), content).expect("a file");
        self.path(name).display().to_string()
    }

    /// The program, without any setting of this machine.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memcards"));
        command.args(arguments).current_dir(self.directory.path()).env_clear();
        command.env("HOME", self.directory.path()).env("TMPDIR", self.directory.path());
        command
    }

    /// Runs it.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, "")
    }

    /// Runs it with this standard input.
    pub(crate) fn run_with(&self, arguments: &[&str], input: impl AsRef<[u8]>) -> Ran {
        finish(self.command(arguments), input.as_ref())
    }

    /// Runs it on the store `store` with a clock that stands at a time.
    pub(crate) fn at(&self, now: &str, arguments: &[&str]) -> Ran {
        let global = ["--store", "store", "--clock", "manual", "--now", now];
        self.run(&[&global, arguments].concat())
    }

    /// The same with `--json`.
    pub(crate) fn json_at(&self, now: &str, arguments: &[&str]) -> Ran {
        self.at(now, &[arguments, &["--json"]].concat())
    }

    /// Runs the shell on the store `store`, with requests as its input.
    pub(crate) fn shell(&self, requests: impl AsRef<[u8]>) -> Ran {
        let ran = self.run_with(&["--store", "store", "--clock", "manual", "shell"], requests);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
        ran
    }
}

/// Runs a command to its end.
pub(crate) fn finish(mut command: Command, input: &[u8]) -> Ran {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut stdin = child.stdin.take().expect("an input");
    let input = input.to_vec();
    // The program may answer before it has read everything.
    let writer = std::thread::spawn(move || {
        // It may also end before that.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().expect("the program ends");
    writer.join().expect("the input is written");
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).expect("UTF-8"),
        err: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}
