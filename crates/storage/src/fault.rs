//! Failing disks, for tests of all writers.
//!
//! [`MemoryDisk`] records what is durable, and enumerates every state in which a stopped machine could be left.
//! [`FaultDisk`] wraps any disk and makes one step fail, or all steps from one on.
//! Use them through [`Location::on_disk`](crate::Location::on_disk).

mod inject;
mod memory;
mod tree;

pub use crate::disk::{Disk, DiskFile, Guard, Lock, Node, NodeKind, RealDisk};
pub use inject::{Fault, FaultDisk};
pub use memory::MemoryDisk;
