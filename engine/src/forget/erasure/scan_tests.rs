//! Nothing is missed at any chunking, and nothing is found that is not there.

use std::collections::BTreeSet;
use std::io::{self, Read};

use proptest::prelude::*;

use crate::forget::erasure::fingerprint::{Coverage, WINDOWS, is_distinct, window_within};
use crate::forget::erasure::scan::{KEPT_MATCHES, Match, Report};
use crate::forget::erasure::{CardFingerprints, Fingerprint, Fingerprints, Key, Scanner};

/// SplitMix64, a stream of bytes that no fingerprint is in.
struct Noise(u64);

impl Noise {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..count.div_ceil(8)).flat_map(|_| self.word().to_le_bytes()).collect();
        bytes.truncate(count);
        bytes
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.word() % bound as u64) as usize
    }
}

fn key() -> Key {
    Key::new(11)
}

/// Feeds in pieces of the given lengths, over and over, then what is left.
fn scan(scanner: &mut Scanner, mut bytes: &[u8], pieces: &[usize]) -> Report {
    for length in pieces.iter().cycle() {
        if bytes.is_empty() || pieces.iter().all(|length| *length == 0) {
            break;
        }
        let (now, later) = bytes.split_at((*length).min(bytes.len()));
        scanner.feed(now);
        bytes = later;
    }
    scanner.feed(bytes);
    scanner.finish()
}

/// The same by comparing every window with every fingerprint.
fn slow_scan(fingerprints: &[Fingerprint], bytes: &[u8], key: &Key) -> Report {
    let mut report = Report { bytes: bytes.len() as u64, ..Report::default() };
    let mut found = BTreeSet::new();
    for end in 1..=bytes.len() {
        for length in (1..=end.min(32)).rev() {
            if !fingerprints.iter().any(|fingerprint| fingerprint.window_length() == length) {
                continue;
            }
            let window = Fingerprint::of_window(&bytes[end - length..end], key);
            let equal = || (0..fingerprints.len()).filter(|at| fingerprints[*at] == window);
            if let Some(fingerprint) = equal().next() {
                report.count += 1;
                report.matches.push(Match { offset: (end - length) as u64, fingerprint });
                found.extend(equal());
            }
        }
    }
    report.matches.truncate(KEPT_MATCHES);
    report.found = found.into_iter().collect();
    report
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_content_is_found_at_any_place_and_chunking(
        content in prop::collection::vec(any::<u8>(), 6..300),
        at in 0_usize..9000,
        after in 0_usize..5000,
        pieces in prop::collection::vec(0_usize..4000, 1..8),
        small in any::<bool>(),
        seed: u64,
    ) {
        let pieces: Vec<usize> = pieces.iter().map(|length| if small { length % 50 } else { *length }).collect();
        let key = key();
        let fingerprints = Fingerprints::of(&content, &key);
        let provable = content.windows(window_within(content.len()).unwrap()).any(is_distinct);
        prop_assert_eq!(fingerprints.coverage == Coverage::Windows, provable);
        let mut noise = Noise(seed);
        let file = [noise.bytes(at), content.clone(), noise.bytes(after)].concat();
        let mut scanner = Scanner::new(&fingerprints.list, &key);
        let report = scan(&mut scanner, &file, &pieces);
        prop_assert_eq!(report.bytes, file.len() as u64);
        prop_assert_eq!(&report.found, &(0..fingerprints.list.len()).collect::<Vec<_>>());
        if provable {
            let first = report.matches.iter().find(|found| found.fingerprint == 0).map(|found| found.offset);
            prop_assert!(first.is_some_and(|offset| offset >= at as u64));
        }
        // The same at once, after something else, through a reader.
        scanner.feed(&content);
        prop_assert_eq!(scanner.scan_reader(&file[..])?, report);
    }

    #[test]
    fn any_text_of_a_card_is_found(
        content in "\\PC{6,80}",
        others in prop::collection::vec("\\PC{0,40}", 0..6),
        pieces in prop::collection::vec(1_usize..100, 1..4),
    ) {
        let key = key();
        let mut card = CardFingerprints::new(&content, &key);
        let mut file = content.clone();
        for text in &others {
            card.add(text);
            file.push('\n');
            file.push_str(text);
        }
        file.push_str(&file.to_lowercase());
        let list = card.finish(usize::MAX).list;
        let report = scan(&mut Scanner::new(&list, &key), file.as_bytes(), &pieces);
        prop_assert_eq!(report.found.len(), list.len());
    }

    #[test]
    fn it_finds_what_the_slow_way_finds(
        // Few letters, so that windows come again and overlap.
        file in prop::collection::vec(0_u8..3, 0..5000),
        windows in prop::collection::vec((0_usize..5000, prop::sample::select(WINDOWS.to_vec())), 0..40),
        pieces in prop::collection::vec(0_usize..900, 1..4),
    ) {
        let key = key();
        let fingerprints: Vec<Fingerprint> = windows
            .iter()
            .filter_map(|(start, length)| file.get(*start..start + length))
            .map(|window| Fingerprint::of_window(window, &key))
            .collect();
        let report = scan(&mut Scanner::new(&fingerprints, &key), &file, &pieces);
        prop_assert_eq!(report, slow_scan(&fingerprints, &file, &key));
    }

    #[test]
    fn order_and_repetition_do_not_matter(
        texts in prop::collection::vec("[a-d]{6,40}", 1..10),
        order in any::<u64>(),
        seed: u64,
    ) {
        let key = key();
        let list: Vec<Fingerprint> = texts.iter().flat_map(|text| Fingerprints::of(text, &key).list).collect();
        let mut noise = Noise(order);
        let mut shuffled = [list.clone(), list.clone()].concat();
        for at in (1..shuffled.len()).rev() {
            shuffled.swap(at, noise.below(at + 1));
        }
        let file: Vec<u8> =
            texts.iter().flat_map(|text| [Noise(seed).bytes(100), text.as_bytes().to_vec()].concat()).collect();
        let one = scan(&mut Scanner::new(&list, &key), &file, &[700]);
        let other = scan(&mut Scanner::new(&shuffled, &key), &file, &[13]);
        let places = |report: &Report, list: &[Fingerprint]| -> Vec<(u64, Fingerprint)> {
            report.matches.iter().map(|found| (found.offset, list[found.fingerprint])).collect()
        };
        prop_assert_eq!(places(&one, &list), places(&other, &shuffled));
        prop_assert_eq!(one.count, other.count);
        prop_assert_eq!(one.found.len(), list.len());
        prop_assert_eq!(other.found.len(), shuffled.len());
    }
}

/// Fingerprints of random texts, the windows of every length.
fn many(count: usize, key: &Key) -> Vec<Fingerprint> {
    let mut noise = Noise(1);
    (0..count).map(|at| Fingerprint::of_window(&noise.bytes(WINDOWS[at % WINDOWS.len()]), key)).collect()
}

#[test]
fn nothing_is_found_in_noise() {
    let key = key();
    let mut scanner = Scanner::new(&many(10_000, &key), &key);
    let mut noise = Noise(2);
    // An unoptimised scanner takes half a minute for what an optimised one does in a second.
    let count = if cfg!(debug_assertions) { 1 } else { 64 };
    for _ in 0..count {
        scanner.feed(&noise.bytes(1 << 20));
    }
    let report = scanner.finish();
    assert_eq!(report, Report { bytes: count << 20, ..Report::default() });
    assert!(report.found.is_empty());
}

#[test]
fn an_empty_set_finds_nothing_and_counts_the_bytes() {
    let key = key();
    let mut scanner = Scanner::new(&[], &key);
    let report = scan(&mut scanner, &[b'a'; 100_000], &[4096]);
    assert_eq!(report, Report { bytes: 100_000, ..Report::default() });
}

#[test]
fn many_matches_are_counted_and_the_first_are_listed() {
    let key = key();
    let list = Fingerprints::of("abcabc", &key).list;
    let file = b"abc".repeat(50_000);
    let report = scan(&mut Scanner::new(&list, &key), &file, &[9999]);
    assert_eq!(report.count, 49_999);
    assert_eq!(report.matches.len(), KEPT_MATCHES);
    assert!(report.matches.iter().enumerate().all(|(at, found)| found.offset == 3 * at as u64));
    assert_eq!(report.found, [0]);
}

#[test]
fn one_stream_does_not_run_into_the_next() {
    let key = key();
    let mut scanner = Scanner::new(&Fingerprints::of("two halves", &key).list, &key);
    scanner.feed(b"two ha");
    assert!(scanner.finish().found.is_empty());
    scanner.feed(b"lves");
    assert!(scanner.finish().found.is_empty());
    scanner.feed(b"two halves");
    let report = scanner.finish();
    assert_eq!((report.count, report.matches[0].offset), (1, 0));
}

/// Gives a part, is interrupted, and may break.
struct Flaky<'a>(&'a [u8], usize, bool);

impl Read for Flaky<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.1 += 1;
        if self.1.is_multiple_of(3) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        if self.0.is_empty() && self.2 {
            return Err(io::Error::other("broken"));
        }
        let count = buffer.len().min(7);
        self.0.read(&mut buffer[..count])
    }
}

#[test]
fn a_reader_may_be_interrupted_but_must_reach_its_end() {
    let key = key();
    let text = b"only read to its end does a file prove anything";
    let mut scanner = Scanner::new(&Fingerprints::of(text, &key).list, &key);
    let report = scanner.scan_reader(Flaky(text, 0, false)).unwrap();
    assert_eq!((report.bytes, report.found.len()), (text.len() as u64, 3));
    assert!(scanner.scan_reader(Flaky(text, 0, true)).is_err());
    assert_eq!(scanner.finish(), Report::default());
}
