//! Converting graphs: which formats there are, what a conversion will do, the pipeline that does it, and the proof.
//!
//! ```text
//! Opened ── Plan ── pipeline ── read back ── Certificate ── published
//!   │                  ▲
//!   └ carry ─ mapping ─┘
//! ```
//!
//! [`Opened`] is a graph with what travels beside it; [`Plan`] says what will happen; [`convert`] does it. [`digest`],
//! [`diff`] and [`dump`] look at graphs of any format.

#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss))]

pub mod carry;
mod catalogue;
mod conversion;
mod counted;
mod described;
mod diff;
mod digests;
mod direct;
mod driver;
mod drivers;
mod dump;
mod extend;
mod keyed;
mod lake;
mod mapping;
pub mod matching;
mod named;
mod narrow;
mod open;
mod options;
pub mod parallel;
mod pipeline;
mod plan;
mod plan_cost;
mod plan_fitting;
mod plan_fusion;
mod plan_gathering;
mod plan_leaving;
mod plan_lifting;
mod plan_merging;
mod plan_number;
mod plan_relation;
mod plan_texts;
mod progress;
mod registry;
mod relabelled;
mod render;
mod running;
mod select;
mod settings;
mod shortcut;
mod survey;
mod tapped;
mod triples;
mod written;

pub use catalogue::{Catalogue, Listed, catalogue};
pub use conversion::{Certificate, Job, convert, counts};
pub use described::{Beside, Counts, Described, DescribedDocument};
pub use diff::{Diff, DiffElement, DiffLine, DiffValue, diff, diff_first};
pub use digests::{Digested, Digests, digest};
pub use driver::{Driver, Flags, Format, Shape, TextCheck, Unprintable};
pub use drivers::RdfOptions;
pub use dump::{dump, dump_first};
pub use extend::{Added, Extended, Extension, GroupOptions, TableColumns, add_columns, add_list, extend_annnet};
pub use lake::{LakeChanges, LakeEdit, LakeLoad, LakeLoaded, LakeStream, LakeText, change_lake, edit_lake, load_lake};
pub use mapping::{Allowed, Fusing, Mapping, NameRules, NodeTypes, TypesFrom};
pub use named::{check_apart, check_name, check_replaced};
pub use open::{Opened, carry_beside, carry_of, home_of, sound};
pub use options::{CarryUse, ConvertOptions, Hyperedges, OpenOptions, RdfMode, Typing, WriteOptions};
pub use pipeline::run as bring;
pub use plan::{Plan, PlanLine, target_format};
pub use plan_cost::PlanCost;
pub use progress::{Counter, Progress, Silent};
pub use registry::Registry;
pub use relabelled::relabelled;
pub use render::{Element, KeyTexts, LineOf, PropertyTexts, Renderer};
pub use select::Selecting;
pub use settings::{Setting, Settings};
pub use shortcut::Shortcut;

use isomorph_error::Rule;

/// Rules of conversions themselves, for `explain`.
pub static RULES: &[&Rule] = &[
    &carry::CARRY_STALE,
    &carry::CARRY_UNREAD,
    &carry::CARRY_IN_PART,
    &carry::CARRY_OTHER,
    &mapping::CARRY_FITS,
    &pipeline::DANGLING_END,
    &pipeline::EDGE_ORDER,
    &pipeline::REPEATED_KEY,
];
