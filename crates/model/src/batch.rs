//! Rows of a graph, as Arrow columns.
//!
//! A batch belongs to one table of the [`crate::Graph`] from which it was read. Property columns are in the order of the
//! type's properties; a column that was not requested, or contains only nulls, is `None`.

use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, StringArray, UInt32Array, UInt64Array};

use crate::LabelColumn;

/// Property columns, one for each property of the type.
pub type Columns = Vec<Option<ArrayRef>>;

/// Ends of edges, or owners of values: references to elements of a type.
#[derive(Debug, Clone)]
pub enum Ends {
    /// Row numbers in the type's table.
    Rows(UInt64Array),
    /// Keys of the type's key kind.
    Keys(ArrayRef),
}

impl Ends {
    /// Number of ends.
    pub fn len(&self) -> usize {
        match self {
            Ends::Rows(rows) => rows.len(),
            Ends::Keys(keys) => keys.len(),
        }
    }

    /// Whether there are no ends.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns `len` ends from `start` on, without a copy.
    pub fn slice(&self, start: usize, len: usize) -> Ends {
        match self {
            Ends::Rows(rows) => Ends::Rows(rows.slice(start, len)),
            Ends::Keys(keys) => Ends::Keys(keys.slice(start, len)),
        }
    }
}

/// Rows of a node type.
#[derive(Debug, Clone)]
pub struct NodeBatch {
    /// Index of the node type.
    pub ty: usize,
    /// Row number of the first row in the type's table.
    pub start: u64,
    /// Row numbers, if a [narrowed](crate::Narrowing) scan omitted rows of a type whose positions are significant;
    /// otherwise the rows are consecutive. For other types, omitted rows are not counted.
    pub numbers: Option<UInt64Array>,
    /// Number of rows.
    pub rows: usize,
    /// Keys; `None` if the position is the key.
    pub keys: Option<ArrayRef>,
    /// Labels; `None` if no row has any.
    pub labels: Option<LabelColumn>,
    /// Property columns.
    pub properties: Columns,
}

/// The relations of the rows of an edge batch, if they differ by row.
#[derive(Debug, Clone)]
pub struct Relations {
    /// The relation names to which `index` refers; some may be unused.
    pub names: StringArray,
    /// For each row, the index of its relation; never null.
    pub index: UInt32Array,
}

/// Rows of an edge type.
#[derive(Debug, Clone)]
pub struct EdgeBatch {
    /// Index of the edge type.
    pub ty: usize,
    /// Number of rows.
    pub rows: usize,
    /// Relations, if and only if the type's relation is [`crate::Relation::PerRow`].
    pub relations: Option<Relations>,
    /// Source ends.
    pub source: Ends,
    /// Target ends.
    pub target: Ends,
    /// Attributes of the ends, if the type is layered: their layers as lists of labels; or, if ends have signed
    /// coefficients, structs of `layer` (such a list) and `coefficient` (`Float64`), both nullable.
    pub layers: Option<(ArrayRef, ArrayRef)>,
    /// The direction of each row, if it differs by row; null means directed.
    pub directed: Option<BooleanArray>,
    /// Keys, if the type has them.
    pub keys: Option<ArrayRef>,
    /// Property columns.
    pub properties: Columns,
}

/// Rows of a hyperedge type.
#[derive(Debug, Clone)]
pub struct HyperedgeBatch {
    /// Index of the hyperedge type.
    pub ty: usize,
    /// Row number of the first row.
    pub start: u64,
    /// Number of rows.
    pub rows: usize,
    /// Keys.
    pub keys: ArrayRef,
    /// The direction of each row, if it differs by row.
    pub directed: Option<BooleanArray>,
    /// Property columns.
    pub properties: Columns,
}

/// Members of hyperedges.
#[derive(Debug, Clone)]
pub struct MemberBatch {
    /// Index of the hyperedge type.
    pub ty: usize,
    /// The hyperedges.
    pub owner: Ends,
    /// The members.
    pub member: Ends,
    /// `head`, `tail` or `member`.
    pub roles: StringArray,
    /// Layers of the members, lists of labels.
    pub layers: Option<ArrayRef>,
    /// Signed coefficients.
    pub coefficients: Option<Float64Array>,
}

/// Values of a property with several values or with qualifiers.
#[derive(Debug, Clone)]
pub struct ValueBatch {
    /// Index of the value table.
    pub table: usize,
    /// The owners of the values.
    pub owner: Ends,
    /// The values, of the property's type.
    pub values: ArrayRef,
    /// Qualifier columns.
    pub qualifiers: Columns,
}

/// Groups of a kind.
#[derive(Debug, Clone)]
pub struct GroupBatch {
    /// Index of the kind.
    pub kind: usize,
    /// Position of the first group.
    pub start: u64,
    /// Keys.
    pub keys: ArrayRef,
    /// Property columns.
    pub properties: Columns,
}

/// Memberships of elements in groups.
#[derive(Debug, Clone)]
pub struct MembershipBatch {
    /// Index of the group kind.
    pub kind: usize,
    /// Index of the membership table of that kind.
    pub table: usize,
    /// The groups.
    pub group: Ends,
    /// The members.
    pub member: Ends,
    /// Property columns.
    pub properties: Columns,
}

/// Rows of one table of a graph.
#[derive(Debug, Clone)]
pub enum Batch {
    /// Nodes.
    Nodes(NodeBatch),
    /// Edges.
    Edges(EdgeBatch),
    /// Hyperedges.
    Hyperedges(HyperedgeBatch),
    /// Members of hyperedges.
    Members(MemberBatch),
    /// Values in long form.
    Values(ValueBatch),
    /// Groups.
    Groups(GroupBatch),
    /// Memberships in groups.
    Memberships(MembershipBatch),
}

impl Batch {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Batch::Nodes(batch) => batch.rows,
            Batch::Edges(batch) => batch.rows,
            Batch::Hyperedges(batch) => batch.rows,
            Batch::Members(batch) => batch.member.len(),
            Batch::Values(batch) => batch.values.len(),
            Batch::Groups(batch) => batch.keys.len(),
            Batch::Memberships(batch) => batch.member.len(),
        }
    }
}

impl NodeBatch {
    /// `rows` nodes of type `ty` from row `start` on, of which nothing else is said.
    pub fn of(ty: usize, start: u64, rows: usize) -> NodeBatch {
        NodeBatch { ty, start, numbers: None, rows, keys: None, labels: None, properties: Vec::new() }
    }

    /// Returns `rows` rows from `start` on. Only labels are copied.
    pub fn slice(&self, start: usize, rows: usize) -> NodeBatch {
        NodeBatch {
            ty: self.ty,
            start: self
                .numbers
                .as_ref()
                .and_then(|numbers| numbers.values().get(start))
                .copied()
                .unwrap_or(self.start + start as u64),
            numbers: self.numbers.as_ref().map(|numbers| numbers.slice(start, rows)),
            rows,
            keys: self.keys.as_ref().map(|keys| keys.slice(start, rows)),
            labels: self.labels.as_ref().map(|labels| labels.slice(start, rows)),
            properties: slice_columns(&self.properties, start, rows),
        }
    }
}

impl EdgeBatch {
    /// Edges of type `ty` with these ends, of which nothing else is said.
    pub fn between(ty: usize, source: Ends, target: Ends) -> EdgeBatch {
        EdgeBatch {
            ty,
            rows: source.len(),
            relations: None,
            source,
            target,
            layers: None,
            directed: None,
            keys: None,
            properties: Vec::new(),
        }
    }

    /// Returns `rows` rows from `start` on, without a copy.
    pub fn slice(&self, start: usize, rows: usize) -> EdgeBatch {
        EdgeBatch {
            ty: self.ty,
            rows,
            relations: self
                .relations
                .as_ref()
                .map(|all| Relations { names: all.names.clone(), index: all.index.slice(start, rows) }),
            source: self.source.slice(start, rows),
            target: self.target.slice(start, rows),
            layers: self.layers.as_ref().map(|(source, target)| (source.slice(start, rows), target.slice(start, rows))),
            directed: self.directed.as_ref().map(|directed| directed.slice(start, rows)),
            keys: self.keys.as_ref().map(|keys| keys.slice(start, rows)),
            properties: slice_columns(&self.properties, start, rows),
        }
    }
}

impl Batch {
    /// Returns `rows` rows from `start` on. Only the indexes of labels are copied.
    pub fn slice(&self, start: usize, rows: usize) -> Batch {
        match self {
            Batch::Nodes(batch) => Batch::Nodes(batch.slice(start, rows)),
            Batch::Edges(batch) => Batch::Edges(batch.slice(start, rows)),
            Batch::Hyperedges(batch) => Batch::Hyperedges(HyperedgeBatch {
                ty: batch.ty,
                start: batch.start + start as u64,
                rows,
                keys: batch.keys.slice(start, rows),
                directed: batch.directed.as_ref().map(|directed| directed.slice(start, rows)),
                properties: slice_columns(&batch.properties, start, rows),
            }),
            Batch::Members(batch) => Batch::Members(MemberBatch {
                ty: batch.ty,
                owner: batch.owner.slice(start, rows),
                member: batch.member.slice(start, rows),
                roles: batch.roles.slice(start, rows),
                layers: batch.layers.as_ref().map(|layers| layers.slice(start, rows)),
                coefficients: batch.coefficients.as_ref().map(|all| all.slice(start, rows)),
            }),
            Batch::Values(batch) => Batch::Values(ValueBatch {
                table: batch.table,
                owner: batch.owner.slice(start, rows),
                values: batch.values.slice(start, rows),
                qualifiers: slice_columns(&batch.qualifiers, start, rows),
            }),
            Batch::Groups(batch) => Batch::Groups(GroupBatch {
                kind: batch.kind,
                start: batch.start + start as u64,
                keys: batch.keys.slice(start, rows),
                properties: slice_columns(&batch.properties, start, rows),
            }),
            Batch::Memberships(batch) => Batch::Memberships(MembershipBatch {
                kind: batch.kind,
                table: batch.table,
                group: batch.group.slice(start, rows),
                member: batch.member.slice(start, rows),
                properties: slice_columns(&batch.properties, start, rows),
            }),
        }
    }
}

/// Returns `rows` rows of every column from `start` on, without a copy.
pub fn slice_columns(columns: &Columns, start: usize, rows: usize) -> Columns {
    columns.iter().map(|column| column.as_ref().map(|column| column.slice(start, rows))).collect()
}
