//! The digest of what a graph says.
