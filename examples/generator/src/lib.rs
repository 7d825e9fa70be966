//! What the generators share: draws by counter.

pub mod draw;
