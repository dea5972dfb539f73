//! One schema of verbs: what each takes and answers, in every way in.

mod answer;
mod request;

pub use answer::{
    Affected, CardView, Corrected, FieldChange, Forgotten, HistoryAnswer, Hit, Outcome, Page, Recalled,
    Remembered, Restored, Searched, Skipped, VersionView,
};
pub use request::{
    Correct, Count, Forget, Get, History, How, Include, List, Order, Recall, Remember, Restore,
};
