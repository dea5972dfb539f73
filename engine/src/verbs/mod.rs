//! One schema of verbs: what each takes and answers, in every way in.

mod answer;
mod dispatch;
mod request;

pub use answer::{
    Affected, CardView, Corrected, FieldChange, Forgotten, HistoryAnswer, Hit, Outcome, Page, Recalled,
    Remembered, Restored, Searched, Skipped, VersionView, Withheld,
};
pub use dispatch::{Format, VERBS, Verb, error_answer, execute, execute_all, import};
pub use request::{
    Correct, Count, Forget, Get, History, How, Include, List, Order, Recall, Remember, Restore,
};
