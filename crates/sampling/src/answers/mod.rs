//! Answers for people and tables: nodes by their keys, types by their names, features as columns of their own types.

mod declared;
mod draw;
mod drawn;
mod exact;
mod feature;
mod features;
mod keyed;
mod moment;
mod question;
mod values;

pub use declared::has_several_types;
pub use drawn::Drawn;
pub use feature::Feature;
pub use keyed::KeyedGraph;
pub use moment::Moment;
pub use question::{Drawing, ElementsOf, FeaturesOf, NeighborsOf, Question, Strategy, WalksOf};
