//! NOCK
