//! Disks that fail, for tests of everything that writes.
//!
//! [`MemoryDisk`] remembers what is durable and what is not, and gives every state in which a stopped machine could
//! find itself. [`FaultDisk`] stands before any disk and lets one step fail, or all from one step on.
//! Use them through [`Location::on_disk`](crate::Location::on_disk).

mod inject;
mod memory;
mod tree;

pub use crate::disk::{Disk, DiskFile, Guard, Lock, Node, NodeKind, RealDisk};
pub use inject::{Fault, FaultDisk};
pub use memory::MemoryDisk;
