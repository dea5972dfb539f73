//! The vector index: compact codes of vectors, and the search over them.

pub mod kernels;
