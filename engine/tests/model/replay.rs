//! Export and import carry everything: the copy has the same bytes when it is exported
//! again, and gives the same answers in the same order.

use memcards::Store;
use memcards::exchange::Export;
use proptest::prelude::*;

use crate::indexes::{answers, compare};
use crate::sequences::cases;
use crate::steps::steps;
use crate::world::World;

fn export(store: &Store, vectors: bool) -> Vec<u8> {
    let mut out = Vec::new();
    store.export(&mut out, &Export { vectors, ..Export::default() }, |_| {}).unwrap();
    // Where nothing is damaged nothing is left out.
    let mut careful = Vec::new();
    let answer = store
        .export(&mut careful, &Export { vectors, skip_damaged: true, ..Export::default() }, |_| {})
        .unwrap();
    assert!(careful == out && answer.left_out.is_empty());
    out
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        max_shrink_iters: 300,
        ..ProptestConfig::with_cases(cases(24))
    })]

    #[test]
    fn an_import_is_the_store_again((caller, steps) in steps(50), vectors in any::<bool>()) {
        let directory = tempfile::tempdir().unwrap();
        let mut world = World::new(directory.path(), caller);
        for step in &steps {
            world.run(step);
        }
        let file = export(world.store(), vectors);
        let elsewhere = tempfile::tempdir().unwrap();
        let copy = Store::open(elsewhere.path(), world.options()).unwrap();
        let imported = copy.import(&mut file.as_slice(), |_| {}).unwrap();
        prop_assert_eq!(imported.known, 0);
        for vectors in [false, true] {
            let (ours, theirs) = (export(world.store(), vectors), export(&copy, vectors));
            prop_assert!(ours == theirs, "\n{}\n{}", String::from_utf8_lossy(&ours), String::from_utf8_lossy(&theirs));
        }
        let report = copy.verify(|_| {}).unwrap();
        prop_assert!(report.is_sound(), "{:?}", report.findings);
        compare("the copy", &answers(world.store()), &answers(&copy));
        // The model follows the copy: it goes on like the original.
        let again = copy.import(&mut file.as_slice(), |_| {}).unwrap();
        prop_assert_eq!((again.versions, again.changes), (0, 0));
        prop_assert!(export(&copy, vectors) == file);
        drop(copy);
        let mut world = world.moved_to(elsewhere.path());
        for step in steps.iter().take(10) {
            world.run(step);
        }
        world.compare_all();
    }
}
