#![doc = include_str!("../README.md")]

mod cache;
mod capability;
mod cells;
mod checksum;
mod inherited;
mod kept;
pub mod layout;
mod matrix;
mod members;
mod options;
mod order;
mod read;
pub mod rules;
mod stated;
mod table;
mod trail;
pub mod update;
mod v1;
mod validate;
mod write;
mod zarr;

pub use cache::{LookUps, write_cache};
pub use capability::{CAPABILITY, holds};
pub use inherited::forget_rows;
pub use kept::{Unknown, unknown};
pub use layout::{Layout, detect};
pub use options::OpenOptions;
pub use read::Annnet;
pub use stated::stated;
pub use trail::Conversion;
pub use write::{AnnnetWriter, WriteLayout, WriteOptions};
