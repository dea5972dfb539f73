//! The one error type of the engine.
//!
//! Every variant is something a caller can act on, and maps to one stable code
//! ([`Error::code`]) that is the same in the Rust API, the shell and every protocol.

use std::path::PathBuf;

/// Result of an engine call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, in terms a caller can act on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A field of the request has a value that is not allowed; nothing was changed.
    #[error("{field}: {message}")]
    InvalidArgument {
        /// The request field, dotted for nested ones.
        field: String,
        /// What is wrong and what would be right.
        message: String,
    },
    /// No such card, run or tenant (the same answer for another tenant's identifier).
    #[error("{what} not found")]
    NotFound {
        /// What was looked for, as the caller named it.
        what: String,
    },
    /// The stored state is not the one the request expects; read again and retry.
    #[error("conflict: {message}")]
    Conflict {
        /// What the request expected and what was found.
        message: String,
    },
    /// The words were forgotten or erased, and come from a time before that: an old conversation that is read
    /// again. `restore` with the card's identifier lets them in.
    #[error("this was forgotten or erased at {at} (card {id}); restore that card to let it in again")]
    Erased {
        /// The card that was erased.
        id: String,
        /// When.
        at: String,
    },
    /// It tells of a time before the tenant was wiped. `tenant.create` lets such things in again.
    #[error("the tenant was wiped at {at}, after this was told; `tenant.create` lets it in again")]
    Wiped {
        /// When.
        at: String,
    },
    /// A field is larger than its limit; nothing was changed.
    #[error("{field} is {actual} {unit}, the limit is {limit}")]
    TooLarge {
        /// The request field.
        field: String,
        /// The size found.
        actual: u64,
        /// The largest size allowed.
        limit: u64,
        /// Unit of both figures (`bytes`, `items`, `dimensions`).
        unit: &'static str,
    },
    /// A setting bounds how many of something there may be.
    #[error("{what}: the limit of {limit} is reached")]
    LimitExceeded {
        /// What is bounded.
        what: String,
        /// The bound.
        limit: u64,
    },
    /// The store does not accept writes: an earlier write or fsync failed, or the
    /// directory is not writable. Reads go on; reopen the store to write again.
    #[error("the store is read-only: {reason}")]
    ReadOnly {
        /// Why writes are refused.
        reason: String,
    },
    /// The write queue is full. Nothing was written; retry after the given time.
    #[error("busy: the write queue is full, retry after {retry_after_ms} ms")]
    Busy {
        /// A sensible pause before the next try, in milliseconds.
        retry_after_ms: u64,
    },
    /// Another process owns the store directory.
    #[error("the store {} is in use by {owner}; use that process, or run one server that all clients share", path.display())]
    Locked {
        /// The store directory.
        path: PathBuf,
        /// The owner as it registered itself.
        owner: String,
    },
    /// The store was made with another embedding model.
    #[error(
        "the store's vectors come from {stored}, the store was opened with {offered}; open it with the model it was made with, or re-embed it"
    )]
    ModelMismatch {
        /// Model and dimension recorded in the store.
        stored: String,
        /// Model and dimension offered.
        offered: String,
    },
    /// Stored bytes are not what was written. The rest of the store stays readable.
    #[error("corrupt data in {place}: {detail}")]
    Corrupt {
        /// File, table and key of the damaged bytes.
        place: String,
        /// What does not fit.
        detail: String,
    },
    /// Something the request needs is not there (a model, a feature).
    #[error("unavailable: {0}")]
    Unavailable(String),
    /// The operating system refused a file operation.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The operating system's error.
        #[source]
        source: std::io::Error,
    },
    /// A defect of memcards itself.
    #[error("internal error: {0}")]
    Internal(String),
}

impl Error {
    /// The stable code of this error, as used by every way in.
    pub fn code(&self) -> &'static str {
        match self {
            Error::InvalidArgument { .. } => "invalid_argument",
            Error::NotFound { .. } => "not_found",
            Error::Conflict { .. } | Error::Erased { .. } | Error::Wiped { .. } => "conflict",
            Error::TooLarge { .. } => "too_large",
            Error::LimitExceeded { .. } => "limit_exceeded",
            Error::ReadOnly { .. } => "read_only",
            Error::Busy { .. } => "busy",
            Error::Locked { .. } => "locked",
            Error::ModelMismatch { .. } => "model_mismatch",
            Error::Corrupt { .. } => "corrupt",
            Error::Unavailable(_) => "unavailable",
            Error::Io { .. } => "unavailable",
            Error::Internal(_) => "internal",
        }
    }

    /// The request field that is to blame, where one is.
    pub fn field(&self) -> Option<&str> {
        match self {
            Error::InvalidArgument { field, .. } | Error::TooLarge { field, .. } => Some(field),
            _ => None,
        }
    }

    /// What is wrong, without the field where there is one.
    pub fn message(&self) -> String {
        match self {
            Error::InvalidArgument { message, .. } => message.clone(),
            other => other.to_string(),
        }
    }

    /// Shorthand for [`Error::InvalidArgument`].
    pub fn invalid(field: impl Into<String>, message: impl Into<String>) -> Self {
        Error::InvalidArgument { field: field.into(), message: message.into() }
    }

    /// Shorthand for [`Error::Corrupt`].
    pub fn corrupt(place: impl Into<String>, detail: impl Into<String>) -> Self {
        Error::Corrupt { place: place.into(), detail: detail.into() }
    }
}
