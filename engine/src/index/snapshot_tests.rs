//! Snapshot files whose checksum fits and that no build has written so.

use super::*;
use crate::{Options, Remember, Store};

/// A partition of two rows, as a file without its checksum.
fn body() -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), Options { embedder: None, ..Options::default() }).unwrap();
    let tenant = store.tenant("anna").unwrap();
    for content in ["a red lamp", "Tom's sister is called Ann"] {
        tenant.remember(Remember { content: content.into(), ..Remember::default() }).unwrap();
    }
    let id = tenant.id().unwrap().unwrap();
    let slot = store.cache().partition(store.database(), id, crate::card::Track::Semantic).unwrap();
    let mut bytes = encode(&slot.read().unwrap(), 0).unwrap();
    bytes.truncate(bytes.len() - 8);
    bytes
}

fn refusal(body: &[u8]) -> String {
    let sealed = [body, &xxh3_64(body).to_le_bytes()].concat();
    decode(&sealed).map(|(partition, ..)| partition.len()).unwrap_err()
}

#[test]
fn what_no_build_has_written_is_refused_by_name() {
    let sound = body();
    assert_eq!(decode(&[&sound[..], &xxh3_64(&sound).to_le_bytes()].concat()).unwrap().0.len(), 2);
    // Magic and versions, then change, checksum, rows, vectors, generation; then the rows.
    let (layout, rows, first_row) = (8, 8 + 3 * 4 + 2 * 8, 8 + 3 * 4 + 5 * 8 + 8);
    let with = |at: usize, byte: u8| {
        let mut body = sound.clone();
        body[at] = byte;
        refusal(&body)
    };
    assert_eq!(with(0, b'm'), "no snapshot magic");
    assert!(with(layout, 99).ends_with("is of another build"));
    assert_eq!(with(rows + 2, 1), "more rows than bytes");
    assert_eq!(with(first_row, 7), "a row begins with 7");
    // One row fewer, or more, than there are bytes of.
    assert_eq!(with(rows, 1), "sections of the wrong length");
    assert_eq!(with(rows, 3), "cut short");
    assert_eq!(refusal(&[&sound[..], b"x"].concat()), "sections of the wrong length");
    for length in 0..sound.len() {
        refusal(&sound[..length]);
    }
    assert_eq!(
        applied(&sound[..HEADER]).unwrap(),
        (2, u64::from_le_bytes(*sound[28..].first_chunk().unwrap()))
    );
    assert_eq!(applied(&sound[..HEADER - 1]).unwrap_err(), "cut short");
}
