//! [`Traits`], what holds for a format in every layout.

use isomorph_error::Rule;

use crate::mapping::Fusing;

/// How a format models properties and types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Types with typed columns.
    Typed,
    /// One table of nodes and one of edges, with bags of properties.
    Bundled,
    /// Triples: resources and literals.
    Triples,
}

/// The command-line flags that apply to a format. Flags of other formats are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags {
    /// Flags of reading.
    pub opening: &'static [&'static str],
    /// Flags of writing.
    pub writing: &'static [&'static str],
    /// Flags that select the format if neither `--from`, `--to` nor a file name does. Files of such a format may have any name.
    pub telling: &'static [&'static str],
}

/// The only keys of nodes that a format has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberKeys {
    /// The numbers 1 to the number of nodes.
    FromOne,
    /// Any integers of 64 bits.
    Any,
}

/// What holds for a format in every layout. [`Traits::of`] suits a format that stores any graph of its shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traits {
    /// The rules that `validate` checks.
    pub rules: &'static [&'static Rule],
    /// Typical file names, for `isomorph formats`.
    pub usual_names: &'static [&'static str],
    /// The command-line flags that apply to it.
    pub flags: Flags,
    /// Name of the property that holds the key when a graph without a schema is typed.
    pub key: &'static str,
    /// Whether a graph is always one file, so that neighbouring files are not part of it.
    pub is_single_file: bool,
    /// Whether node ids, types and properties are numbers. Other graphs are numbered when they are written.
    pub has_numbers_only: bool,
    /// The numbers that keys of nodes must be, if other keys cannot be stored.
    pub number_keys: Option<NumberKeys>,
    /// How several types become one, for a format with typed columns and one node type.
    pub fusing: Fusing,
    /// Whether nodes without edges can be stored.
    pub holds_lone_nodes: bool,
    /// Whether it stores less than nodes, edges and properties, although it has several types: [`Driver::not_stored`](crate::Driver::not_stored) lists what.
    pub is_partial: bool,
    /// Whether tables of the sidecar hold what it does not store: all but [`Driver::stored`](crate::Driver::stored).
    pub detaches: bool,
    /// Whether edges are sorted by their source or target when they are written.
    pub sorts_edges: bool,
    /// Properties that every element must have: they stay in any selection of columns.
    pub inseparable: &'static [&'static str],
    /// Whether the files do not say which types and columns a graph has, so that the sidecar keeps them: see
    /// [`Driver::shown`](crate::Driver::shown).
    pub needs_schema: bool,
    /// Whether graphs are read from it. A drawing is written only.
    pub is_read: bool,
    /// Whether nodes are identified by key alone, without their type.
    pub knows_nodes_by_key: bool,
}

impl Traits {
    /// The traits of a format of this shape that stores any such graph, and sorts its edges.
    pub const fn of(shape: Shape) -> Self {
        Traits {
            rules: &[],
            usual_names: &[],
            flags: Flags { opening: &[], writing: &[], telling: &[] },
            key: "id",
            is_single_file: false,
            has_numbers_only: false,
            number_keys: None,
            fusing: Fusing::Plain,
            holds_lone_nodes: true,
            is_partial: false,
            detaches: false,
            sorts_edges: true,
            inseparable: &[],
            needs_schema: false,
            is_read: true,
            knows_nodes_by_key: !matches!(shape, Shape::Typed),
        }
    }
}
