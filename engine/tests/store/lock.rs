//! One owner of a directory, within a process and between processes.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use memcards::{Error, Remember, Store};

use crate::options;

const DIRECTORY: &str = "MEMCARDS_LOCK_DIRECTORY";

fn owner(directory: &std::path::Path) -> String {
    match Store::open(directory, options()) {
        Err(error @ Error::Locked { .. }) => {
            assert_eq!(error.code(), "locked");
            let Error::Locked { owner, path } = error else { unreachable!() };
            assert_eq!(path, directory);
            owner
        }
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("the directory has two owners"),
    }
}

#[test]
fn a_second_opening_in_one_process_is_refused_and_told_the_owner() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), options()).unwrap();
    let clone = store.clone();
    drop(store);
    assert_eq!(owner(directory.path()), format!("process {}", std::process::id()));
    let tenant = clone.tenant("anna").unwrap();
    drop(clone);
    // A handle of a tenant keeps the store open.
    assert_eq!(owner(directory.path()), format!("process {}", std::process::id()));
    tenant.remember(Remember { content: "still here".into(), ..Remember::default() }).unwrap();
    drop(tenant);
    Store::open(directory.path(), options()).unwrap();
}

/// The child: does nothing when the test suite runs it.
#[test]
fn lock_child() {
    let Some(directory) = std::env::var_os(DIRECTORY) else { return };
    let store = Store::open(directory, options()).unwrap();
    println!("\nREADY");
    // Until the parent closes the pipe.
    let _ = std::io::stdin().lines().next();
    drop(store);
}

#[test]
fn another_process_is_refused_until_the_owner_is_gone() {
    let directory = tempfile::tempdir().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "lock::lock_child", "--nocapture", "--test-threads=1"])
        .env(DIRECTORY, directory.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().ends_with("READY")));
    assert_eq!(owner(directory.path()), format!("process {}", child.id()));
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    drop(lines);
    Store::open(directory.path(), options()).unwrap();
}
