#![doc = include_str!("../README.md")]

mod cache;
mod capability;
mod cells;
mod checksum;
mod explicit;
mod inherited;
pub mod layout;
mod matrix;
mod members;
mod options;
mod order;
mod preserved;
mod provenance;
mod read;
pub mod rules;
mod table;
pub mod update;
mod v1;
mod validate;
mod write;
mod zarr;

pub use cache::{LookUps, write_cache};
pub use capability::{CAPABILITY, holds};
pub use explicit::stated;
pub use inherited::forget_rows;
pub use layout::{Layout, detect};
pub use options::OpenOptions;
pub use preserved::{Unknown, unknown};
pub use provenance::Conversion;
pub use read::Annnet;
pub use write::{AnnnetWriter, WriteLayout, WriteOptions};
