//! Conversion of graphs: the formats, the plan, the pipeline, and verification.
//!
//! ```text
//! Opened ── Plan ── pipeline ── verify ── Certificate ── published
//!   │                   ▲
//!   └ sidecar ─ mapping ┘
//! ```
//!
//! [`Opened`] is a graph with its sidecar; [`Plan`] describes a conversion; [`convert`] performs it. [`digest`],
//! [`diff`] and [`dump`] read graphs of any format.

#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss))]

mod arrow_limits;
mod as_written;
mod catalogue;
mod conversion;
mod counted;
mod described;
mod destination_name;
mod diff;
mod digested;
mod digests;
mod direct;
mod driver;
mod drivers;
mod dump;
mod ends_by_key;
mod extend;
mod lake;
mod mapping;
pub mod matching;
mod node_keys;
mod open;
mod options;
pub mod parallel;
mod pipeline;
mod plan;
mod progress;
mod rdf_form;
mod read_once;
mod registry;
mod relabelled;
mod render;
mod running;
mod select;
mod settings;
mod shortcut;
pub mod sidecar;
mod spilled_rows;
mod survey;
mod traits;
mod triples;
mod typed;
mod union;

pub use crate::plan::cost::PlanCost;
pub use catalogue::{Catalogue, Listed, catalogue};
pub use conversion::{Certificate, Job, convert, counts};
pub use described::{Beside, Counts, Described, DescribedDocument};
pub use destination_name::{check_apart, check_name, check_replaced};
pub use diff::{Diff, DiffElement, DiffLine, DiffValue, diff, diff_first};
pub use digests::{Digested, Digests, digest};
pub use driver::{Driver, Format, TextCheck, Unprintable};
pub use drivers::RdfOptions;
pub use dump::{dump, dump_first};
pub use extend::{Added, Extended, Extension, GroupOptions, TableColumns, add_columns, add_list, extend_annnet};
pub use lake::{LakeChanges, LakeEdit, LakeLoad, LakeLoaded, LakeStream, LakeText, change_lake, edit_lake, load_lake};
pub use mapping::{Allowed, EdgeProperties, Fusing, IriMap, Mapping, NameRules, NodeTypes, TypesFrom};
pub use open::{Opened, home_of, sidecar_beside, sidecar_of, sound};
pub use options::{ConvertOptions, Hyperedges, OpenOptions, RdfMode, SidecarUse, Typing, WriteOptions};
pub use pipeline::{REPEATED_KEY, run as bring};
pub use plan::{Plan, PlanLine, target_format};
pub use progress::{Counter, Progress, Silent};
pub use rdf_form::RdfForm;
pub use registry::Registry;
pub use relabelled::relabelled;
pub use render::{Element, KeyTexts, LineOf, PropertyTexts, RecordTexts, Renderer};
pub use select::Selecting;
pub use settings::{Setting, Settings};
pub use shortcut::Shortcut;
pub use traits::{Flags, NumberKeys, Shape, Traits};
pub use typed::TypedOptions;
pub use union::{Clash, union};

use isomorph_error::Rule;

/// Rules about conversions, for `explain`.
pub static RULES: &[&Rule] = &[
    &sidecar::CARRY_STALE,
    &sidecar::CARRY_TABLE,
    &sidecar::CARRY_UNREAD,
    &sidecar::CARRY_IN_PART,
    &sidecar::CARRY_OTHER,
    &mapping::CARRY_FITS,
    &pipeline::DANGLING_END,
    &pipeline::EDGE_ORDER,
    &pipeline::REPEATED_KEY,
];
