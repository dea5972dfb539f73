//! Inputs on which memory systems have failed their users, each as a kind with the law
//! that rules it out.
//!
//! | Kind | Law | Tests |
//! |---|---|---|
//! | "X is allowed", then "X is not allowed"; love, then hate | of two statements that cannot both hold the later one does, the earlier is history | [`contradiction`] |
//! | "do not forget to", "not impossible" | a negated negation is none | [`contradiction`] |
//! | "now it is red"; one correction among many facts | a correction reaches its fact, and only that | [`contradiction`] |
//! | numbers, dates, names, order of words differ | what only looks alike is never merged | [`likeness`] |
//! | the same text from a hundred threads | the same statement is one card per tenant | [`likeness`] |
//! | recalled text fed back | an echo is no evidence | [`likeness`] |
//! | forgetting by tenant, session, name; twice; unknown | what is forgotten is gone from every read, and nothing else is | [`deletion`] |
//! | unsegmented scripts, empty questions, identifiers | words find what holds them, and only that | [`words`] |
//! | hostile names and texts, blank and huge contents | byte for byte, or refused with the field's name | [`hostile`] |
//! | a large tenant beside a small one; canaries | a tenant answers as though it were alone | [`tenants`] |
//! | random filters on random cards | every read agrees with brute force, `k` of `k` | [`filters`] |
//! | expiry, offsets, as-of reads | time is a parameter, and an instant is one everywhere | [`times`] |
//! | retries, merge keys, typed facts, stale versions | a write happens once and replaces what it names | [`writes`] |
//! | several openers; another model | one owner, one kind of vectors | [`owners`] |

#![allow(clippy::unwrap_used)]

mod contradiction;
mod deletion;
mod filters;
mod hostile;
mod likeness;
#[path = "../filter/naive.rs"]
mod naive;
mod owners;
#[path = "../filter/random.rs"]
mod random;
mod support;
mod tenants;
mod times;
mod words;
mod writes;
