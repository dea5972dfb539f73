//! Words that only the watched tenant holds, and the search for them.

/// A beginning that every secret word of one script has, and nothing else in the tests.
pub(crate) const CORES: [&str; 6] =
    ["zqxkryptonight", "жщцкриптоночь", "氪夜隐密鱻", "קריפטולילה", "🗝🦑🕳🗝", "907431168852"];

/// A number that stands in no other vector, as JSON writes it.
pub(crate) const NUMBER: f32 = 0.735_198_5;

/// The secret words of a number, one for each script.
pub(crate) fn secrets(number: usize) -> Vec<String> {
    CORES.iter().map(|core| format!("{core}{number}")).collect()
}

/// The first canary in a text: as it is, in another case, or as hexadecimal digits.
pub(crate) fn find(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let number = NUMBER.to_string();
    let hexadecimal = |core: &str| core.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    let plain = CORES.iter().find(|core| lower.contains(&core.to_lowercase()));
    let coded = || CORES.iter().find(|core| lower.contains(&hexadecimal(core)));
    let found = plain.or_else(coded).map(|core| (*core).to_owned());
    found.or_else(|| text.contains(&number).then_some(number))
}

#[test]
fn canaries_are_found_however_they_are_written() {
    for core in CORES {
        for text in [format!("a {core}7 b"), core.to_uppercase()] {
            assert!(find(&text).is_some(), "{text}");
        }
    }
    assert!(find("7a71786b727970746f6e69676874").is_some());
    assert!(find(&format!("[0.5,{NUMBER}]")).is_some());
    assert_eq!(find("nothing of the kind 0.7351"), None);
}
