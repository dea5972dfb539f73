//! Any two texts are judged, and relations without a direction hold both ways.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memcards::judge::{Relation, analyze, relation, relation_to_previous};

fuzz_target!(|texts: (String, String)| {
    let (old, new) = (analyze(&texts.0), analyze(&texts.1));
    let (forth, back) = (relation(&old, &new), relation(&new, &old));
    match (forth, back) {
        (Relation::ValueChanged { .. }, Relation::ValueChanged { .. }) => {}
        _ => assert_eq!(forth, back),
    }
    assert_eq!(relation(&old, &old), Relation::Identical);
    let _ = relation_to_previous(&old, &new);
    // Whatever relates is found by its hashes.
    if forth != Relation::Different {
        let (ours, theirs) = (old.lookup_hashes(), new.lookup_hashes());
        assert!(ours.iter().flatten().any(|hash| theirs.contains(&Some(*hash))), "{forth:?}");
    }
});
