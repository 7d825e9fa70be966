//! Apache GraphAr
