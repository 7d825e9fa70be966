//! Results for people and tables: nodes by key, types by name, features as columns of their own types.

mod columns;
mod declared;
mod draw;
mod exact;
mod feature;
mod features;
mod keyed;
mod question;
mod time;
mod values;

pub use columns::Drawn;
pub use declared::has_several_types;
pub use feature::Feature;
pub use keyed::KeyedGraph;
pub use question::{Drawing, ElementsOf, FeaturesOf, NeighborsOf, Question, Strategy, WalksOf};
pub use time::Moment;
