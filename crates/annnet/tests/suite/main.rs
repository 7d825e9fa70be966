//! The tests of this crate, in one program: it takes less time to link than one for each file.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod cache_annnet;
mod common;
mod hostile_annnet;
mod kept_annnet;
mod matrix_annnet;
mod members_annnet;
mod read_annnet;
mod reading_rules_annnet;
mod rules_annnet;
mod spec_annnet;
mod specification_annnet;
mod stated_annnet;
mod types_annnet;
mod update_annnet;
mod update_attributes_annnet;
mod update_layouts_annnet;
mod update_stores_annnet;
mod update_twice_annnet;
mod validate_annnet;
mod write_annnet;
