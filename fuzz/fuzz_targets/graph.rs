//! Any text is read: names, statements, chains, concepts, shapes and the asker's aim.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memcards::graph::{
    Aim, Kind, Names, asked, concepts, content_shape, intent, mentions, referents, shape, statements,
};

fuzz_target!(|texts: (String, String)| {
    let (text, name) = texts;
    let names = Names::from_iter([(name.as_str(), Kind::Person), ("anna", Kind::Person)]);
    let mut free = 0;
    for mention in mentions(&text, &names) {
        assert!(mention.range.start >= free && mention.range.start < mention.range.end);
        assert!(text.get(mention.range.clone()).is_some());
        free = mention.range.end;
    }
    let mut free = 0;
    for reference in referents(&text, Some(&name)) {
        assert!(reference.range.start >= free && text.get(reference.range.clone()).is_some());
        free = reference.range.end;
    }
    let _ = (statements(&text, Some(&name)), concepts(&text), asked(&text), shape(&text));
    if content_shape(&text).small_talk {
        assert_eq!(intent(&text).aim, Aim::None);
    }
});
