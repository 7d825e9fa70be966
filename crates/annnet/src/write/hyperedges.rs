//! Hyperedges, placeholders and edges with a missing end. They are held until all their members are known.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::builder::{Int64Builder, ListBuilder, StringBuilder};
use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, StringArray, UInt32Array};
use arrow_schema::{DataType, Field};
use isomorph_error::{Error, Result};
use isomorph_model::batch::{HyperedgeBatch, MemberBatch};
use isomorph_model::type_name::{ITEM, list_of};
use isomorph_storage::Reservation;

use super::columns::{column, columns, floats, gather, ids, keys, lost};
use super::edges::{COUPLING, Coefficients, Edges, INTER, INTRA, Rows, directions};
use super::json::push_member;
use super::layers::{LayerIds, list};
use super::matrix::weight_of;
use super::nodes::Nodes;
use super::output::Output;
use super::shape::{Class, Shape};
use super::slices::Slices;
use super::table::TableOut;
use super::{WriteLayout, WriteOptions};
use crate::layout::{column as name, file, word};
use crate::read::ids::{self as hashes, ENTRY_BYTES, IdMap};

/// What was delivered.
pub(super) struct Hyperedges {
    edges: Vec<HyperedgeBatch>,
    members: Vec<MemberBatch>,
    held: Reservation,
    /// Number of real hyperedges.
    pub count: u64,
}

/// One member: where it was delivered, and its layer.
#[derive(Clone, Copy)]
struct Member {
    owner: u32,
    batch: u32,
    row: u32,
    layer: Option<i64>,
}

/// What is written next to.
pub(super) struct Beside<'a, 'o> {
    pub shape: &'a Shape,
    pub nodes: &'a Nodes,
    pub edges: &'a mut Edges,
    pub slices: &'a mut Slices,
    pub layers: &'a mut LayerIds,
    pub output: &'a mut Output<'o>,
    pub options: &'a WriteOptions,
    /// Positions of these edges among all, as the description tells them.
    pub positions: Option<&'a str>,
}

impl Hyperedges {
    /// None yet.
    ///
    /// # Errors
    /// When there is no memory at all.
    pub fn new(options: &WriteOptions) -> Result<Self> {
        Ok(Hyperedges { edges: Vec::new(), members: Vec::new(), held: options.budget.reserve(0)?, count: 0 })
    }

    /// Keeps hyperedges.
    ///
    /// # Errors
    /// When they do not fit the budget.
    pub fn add(&mut self, batch: HyperedgeBatch) -> Result<()> {
        let columns = batch.properties.iter().flatten().map(|column| column.get_array_memory_size()).sum::<usize>();
        let own = batch.keys.get_array_memory_size() + columns;
        self.held.grow(own as u64 + batch.rows as u64 * ENTRY_BYTES)?;
        self.edges.push(batch);
        Ok(())
    }

    /// Keeps members.
    ///
    /// # Errors
    /// When they do not fit the budget.
    pub fn add_members(&mut self, batch: MemberBatch) -> Result<()> {
        let own = keys(&batch.owner)?.get_array_memory_size() + keys(&batch.member)?.get_array_memory_size();
        let layers = batch.layers.as_ref().map_or(0, |layers| layers.get_array_memory_size());
        let rows = batch.roles.len() * size_of::<Member>();
        self.held.grow((own + layers + batch.roles.get_array_memory_size() + rows) as u64)?;
        self.members.push(batch);
        Ok(())
    }

    /// All members are known: writes everything.
    ///
    /// # Errors
    /// When a member belongs to nothing, something is said that the format cannot say, or a table cannot be written.
    pub fn write(&mut self, beside: &mut Beside<'_, '_>) -> Result<()> {
        let all = std::mem::take(&mut self.members);
        let edges = std::mem::take(&mut self.edges);
        let mut definitions: Option<TableOut> = None;
        let is_column = |ty: usize| beside.shape.hyperedges.get(ty).is_some_and(|(own, _)| *own != Class::Placeholder);
        let columns_of_these = edges.iter().filter(|batch| is_column(batch.ty)).map(|batch| batch.rows as u64).sum();
        beside.edges.keep_positions(beside.positions, columns_of_these);
        for (ty, (class, valued)) in beside.shape.hyperedges.iter().enumerate() {
            let batches: Vec<&HyperedgeBatch> = edges.iter().filter(|batch| batch.ty == ty).collect();
            let members = members_of(ty, &batches, &all, beside.layers)?;
            let mut start = 0;
            for batch in batches {
                let own = ids(&batch.keys, "ids of hyperedges")?;
                let directed = directions(batch.directed.as_ref(), batch.rows);
                let end = start + batch.rows as u32;
                let from = members.partition_point(|member| member.owner < start);
                let to = members.partition_point(|member| member.owner < end);
                let mut build = Build::new(*class, own, &directed, (beside.shape.is_flat, beside.options.layout));
                let mut rest = members.get(from..to).unwrap_or_default();
                let weights = column(&batch.properties, valued.weight);
                let weights = weights.map(|weights| floats(weights, "weights")).transpose()?;
                let weights = (beside.edges.has_matrix() && *class != Class::Placeholder).then_some(weights);
                for row in 0..batch.rows {
                    let count = rest.partition_point(|member| member.owner <= start + row as u32);
                    let (of_row, others) = rest.split_at(count);
                    build.row(row, of_row, &all, beside.layers)?;
                    if let Some(weights) = &weights {
                        build.add_cells(row, of_row, &all, weight_of(*weights, row), beside.nodes)?;
                    }
                    rest = others;
                }
                if *class == Class::Hyperedge {
                    self.count += batch.rows as u64;
                    build.define(&batch.keys, &mut definitions, beside)?;
                }
                let weights = column(&batch.properties, valued.weight).cloned();
                let attributes = columns(&batch.properties, &valued.attributes);
                build.finish(&batch.keys, weights, attributes, beside)?;
                beside.slices.list_edges(&batch.keys, own, &beside.shape.all)?;
                start = end;
            }
        }
        definitions.map_or(Ok(()), |table| table.finish(beside.output))
    }
}

/// The members of a type, by their owner.
fn members_of(
    ty: usize,
    batches: &[&HyperedgeBatch],
    all: &[MemberBatch],
    layers: &mut LayerIds,
) -> Result<Vec<Member>> {
    let mut rows: IdMap<u32> = IdMap::default();
    for id in batches.iter().map(|batch| ids(&batch.keys, "ids of hyperedges")) {
        for id in id?.iter().flatten() {
            let row = rows.len() as u32;
            rows.insert(hashes::hash(id), row);
        }
    }
    let mut members = Vec::new();
    for (at, batch) in all.iter().enumerate().filter(|(_, batch)| batch.ty == ty) {
        let owners = ids(keys(&batch.owner)?, "hyperedges of members")?;
        let numbers = batch.layers.as_ref().map(|column| layers.column(column)).transpose()?;
        for row in 0..owners.len() {
            let owner = rows.get(&hashes::hash(owners.value(row))).copied();
            let missing = || Error::malformed(format!("members of {:?}, which is no hyperedge", owners.value(row)));
            let layer = numbers.as_ref().filter(|all| all.is_valid(row)).map(|all| all.value(row));
            members.push(Member { owner: owner.ok_or_else(missing)?, batch: at as u32, row: row as u32, layer });
        }
    }
    members.sort_by_key(|member| member.owner);
    Ok(members)
}

/// The rows of one batch in the making.
struct Build<'a> {
    class: Class,
    own: &'a StringArray,
    directed: &'a BooleanArray,
    is_flat: bool,
    layout: WriteLayout,
    lists: [ListBuilder<StringBuilder>; 3],
    ml_kinds: StringBuilder,
    layers: Int64Builder,
    ends: [StringBuilder; 2],
    end_layers: [Int64Builder; 2],
    /// Rows whose layers are stated, with the first and the second.
    layered: (Vec<u32>, Vec<i64>, Vec<Option<i64>>),
    coefficients: Coefficients,
    /// Entities with coefficients.
    entities: StringBuilder,
    seen: HashSet<(u128, Option<i64>)>,
    text: String,
    /// Cells of the matrix, by rows.
    cells: Vec<(u32, i32, f32)>,
}

impl<'a> Build<'a> {
    fn new(
        class: Class,
        own: &'a StringArray,
        directed: &'a BooleanArray,
        (is_flat, layout): (bool, WriteLayout),
    ) -> Self {
        let list = || ListBuilder::new(StringBuilder::new()).with_field(Field::new(ITEM, DataType::Utf8, true));
        Build {
            class,
            own,
            directed,
            is_flat,
            layout,
            lists: [list(), list(), list()],
            ml_kinds: StringBuilder::new(),
            layers: Int64Builder::new(),
            ends: [StringBuilder::new(), StringBuilder::new()],
            end_layers: [Int64Builder::new(), Int64Builder::new()],
            layered: Default::default(),
            coefficients: Coefficients::default(),
            entities: StringBuilder::new(),
            seen: HashSet::new(),
            text: String::new(),
            cells: Vec::new(),
        }
    }

    /// Adds an edge with its members.
    fn row(&mut self, row: usize, members: &[Member], all: &[MemberBatch], layers: &LayerIds) -> Result<()> {
        let directed = self.directed.value(row);
        let id = self.own.value(row);
        let mut sides: [Side; 2] = Default::default();
        let mut ends: [Option<(&str, Option<i64>)>; 2] = [None; 2];
        for member in members {
            let batch = &all[member.batch as usize];
            let at = member.row as usize;
            let entity = ids(keys(&batch.member)?, "members of hyperedges")?.value(at);
            let side = match (batch.roles.value(at), directed) {
                ("member", false) | ("head", true) => 0,
                ("tail", true) => 1,
                (role, _) => return Err(lost(format!("{entity:?} is a {role} of {id:?}, whose direction has none"))),
            };
            sides[side].add(entity, member.layer);
            ends[side] = Some((entity, member.layer));
        }
        if self.class == Class::Hyperedge {
            self.name_members(members, all, layers, &sides)?;
        }
        self.add_coefficients(row, members, all)?;
        match self.class {
            Class::Hyperedge => {
                self.lists[0].append(!directed);
                self.lists[1].append(directed);
                self.lists[2].append(directed);
                self.place(row, &sides);
            }
            Class::Placeholder if !members.is_empty() => {
                return Err(lost(format!("the placeholder {id:?} has members")));
            }
            Class::OneSided if members.len() > 1 => return Err(lost(format!("{id:?} has two ends"))),
            Class::Placeholder | Class::OneSided => {
                self.ml_kinds.append_null();
                self.layers.append_null();
                for (side, end) in ends.into_iter().enumerate() {
                    self.ends[side].append_option(end.map(|(entity, _)| entity));
                    self.end_layers[side].append_option(end.and_then(|(_, layer)| layer).filter(|_| !self.is_flat));
                }
                // The specification's layout names layers of edges in one table, and nowhere else.
                if self.layout == WriteLayout::Specification
                    && let Some(layer) = ends.iter().flatten().find_map(|(_, layer)| *layer).filter(|_| !self.is_flat)
                {
                    self.layered.0.push(row as u32);
                    self.layered.1.push(layer);
                    self.layered.2.push(None);
                }
            }
        }
        Ok(())
    }

    /// Names the members: as JSON, or in the specification's layout by plain ids, unless only the longer form says where they
    /// are because the layers of the edge do not.
    fn name_members(
        &mut self,
        members: &[Member],
        all: &[MemberBatch],
        layers: &LayerIds,
        sides: &[Side; 2],
    ) -> Result<()> {
        let told = self.is_flat || self.told(sides).is_some();
        for member in members {
            let (batch, at) = (&all[member.batch as usize], member.row as usize);
            let entity = ids(keys(&batch.member)?, "members of hyperedges")?.value(at);
            let list = match batch.roles.value(at) {
                "head" => 1,
                "tail" => 2,
                _ => 0,
            };
            self.text.clear();
            if self.layout == WriteLayout::Specification && told {
                self.text.push_str(entity);
            } else {
                let labels = member.layer.filter(|_| !self.is_flat).map(|layer| self::list(layers.labels(layer)));
                push_member(&mut self.text, entity, labels.as_deref());
            }
            self.lists[list].values().append_value(&self.text);
        }
        Ok(())
    }

    /// The layer of all members, or the layers of both sides, where there is such a thing.
    fn told(&self, sides: &[Side; 2]) -> Option<(i64, Option<i64>)> {
        let one = sides[0].with(&sides[1]).layer.one().map(|layer| (layer, None));
        let pair = sides[0].layer.one().zip(sides[1].layer.one());
        one.or(pair.map(|(first, second)| (first, Some(second)))).filter(|_| !self.is_flat)
    }

    /// Says where a hyperedge lies, as far as its members agree.
    fn place(&mut self, row: usize, sides: &[Side; 2]) {
        let both = sides[0].with(&sides[1]);
        let kind = match (self.is_flat || both.layer.is_one(), both.entity.is_one()) {
            (true, _) => INTRA,
            (false, true) => COUPLING,
            (false, false) => INTER,
        };
        self.ml_kinds.append_value(kind);
        let one = both.layer.one().filter(|_| !self.is_flat);
        self.layers.append_option(one);
        if let Some((first, second)) = self.told(sides) {
            self.layered.0.push(row as u32);
            self.layered.1.push(first);
            self.layered.2.push(second);
        }
    }

    fn add_coefficients(&mut self, row: usize, members: &[Member], all: &[MemberBatch]) -> Result<()> {
        let of = |member: &Member| {
            let at = member.row as usize;
            let values = all[member.batch as usize].coefficients.as_ref()?;
            values.is_valid(at).then(|| values.value(at))
        };
        if members.iter().all(|member| of(member).is_none()) {
            return Ok(());
        }
        self.seen.clear();
        let start = self.coefficients.values.len();
        for member in members {
            let entity = ids(keys(&all[member.batch as usize].member)?, "members")?.value(member.row as usize);
            let id = self.own.value(row);
            let value = of(member).ok_or_else(|| lost(format!("{entity:?} has no coefficient in {id:?}")))?;
            if !self.seen.insert((hashes::hash(entity), member.layer)) {
                // In both roles: one coefficient, which is that of each.
                let known = self.coefficients.values.get(start..).unwrap_or_default();
                if known.iter().all(|known| known.to_bits() != value.to_bits()) {
                    return Err(lost(format!("{entity:?} has two coefficients in {id:?}")));
                }
                continue;
            }
            self.coefficients.edges.push(row as u32);
            self.coefficients.entities.push(self.coefficients.entities.len() as u32);
            self.coefficients.layers.push(member.layer.filter(|_| !self.is_flat));
            self.coefficients.values.push(value);
            self.entities.append_value(entity);
        }
        Ok(())
    }

    /// Adds the cells of an edge of this weight to the matrix, one for each role.
    fn add_cells(
        &mut self,
        row: usize,
        members: &[Member],
        all: &[MemberBatch],
        weight: f64,
        nodes: &Nodes,
    ) -> Result<()> {
        for member in members {
            let batch = &all[member.batch as usize];
            let at = member.row as usize;
            let stated = batch.coefficients.as_ref().filter(|all| all.is_valid(at)).map(|all| all.value(at));
            let implied = if batch.roles.value(at) == "tail" { -weight } else { weight };
            let entity = ids(keys(&batch.member)?, "members of hyperedges")?.value(at);
            if let Some(place) = nodes.matrix_row(entity, member.layer) {
                self.cells.push((row as u32, place, stated.unwrap_or(implied) as f32));
            }
        }
        Ok(())
    }

    /// Writes the definitions of hyperedges.
    fn define(&mut self, keys: &ArrayRef, table: &mut Option<TableOut>, beside: &mut Beside<'_, '_>) -> Result<()> {
        let columns = [
            (name::EDGE_ID, DataType::Utf8),
            (name::DIRECTED, DataType::Boolean),
            (name::MEMBERS, list_of(DataType::Utf8)),
            (name::HEAD, list_of(DataType::Utf8)),
            (name::TAIL, list_of(DataType::Utf8)),
        ];
        let table = match table {
            Some(table) => table,
            none => none.insert(TableOut::create(beside.output, file::HYPEREDGES, &columns, beside.options)?),
        };
        let lists = self.lists.each_mut().map(|list| Some(Arc::new(list.finish()) as ArrayRef));
        let first: [Option<ArrayRef>; 2] = [Some(Arc::clone(keys)), Some(Arc::new(self.directed.clone()))];
        table.push(keys.len(), first.into_iter().chain(lists).collect())
    }

    /// Writes the rows of the table of edges.
    fn finish(
        mut self,
        keys: &ArrayRef,
        weights: Option<ArrayRef>,
        attributes: Vec<Option<ArrayRef>>,
        beside: &mut Beside<'_, '_>,
    ) -> Result<()> {
        let kind = |id: Option<&str>| match self.class {
            Class::Hyperedge => word::HYPER,
            Class::Placeholder => word::EDGE_PLACEHOLDER,
            Class::OneSided if id.is_some_and(|id| beside.nodes.is_entity(id)) => word::NODE_EDGE,
            Class::OneSided => word::BINARY,
        };
        let kinds = StringArray::from_iter_values(self.own.iter().map(kind));
        let (layered, first, second) = std::mem::take(&mut self.layered);
        if !layered.is_empty() {
            let ids = gather(keys, &UInt32Array::from(layered))?;
            let both = (Int64Array::from(first), Int64Array::from(second));
            beside.edges.push_layers(ids, both, beside.layers, beside.options)?;
        }
        let entities = self.entities.finish();
        let files = (&*beside.output, beside.options);
        let coefficients = std::mem::take(&mut self.coefficients);
        beside.edges.push_coefficients(self.own, &entities, coefficients, beside.layers, files)?;
        let has_ends = self.class == Class::OneSided;
        let mut end = |side: usize| match has_ends {
            true => {
                let ends: ArrayRef = Arc::new(self.ends[side].finish());
                (Some(ends), Some(self.end_layers[side].finish()))
            }
            false => (None, None),
        };
        let (source, target) = (end(0), end(1));
        beside.edges.push(Rows {
            ids: Arc::clone(keys),
            are_columns: self.class != Class::Placeholder,
            are_first: true,
            weights,
            directed: Some(self.directed.clone()),
            kinds,
            source,
            target,
            ml_kinds: Some(self.ml_kinds.finish()),
            hyper_layers: Some(self.layers.finish()),
            attributes,
        })?;
        if self.class == Class::Placeholder {
            return Ok(());
        }
        beside.edges.push_cells(&self.cells, true, beside.output)
    }
}

/// Whether values are all the same.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
enum Agreed<T> {
    #[default]
    None,
    One(T),
    Several,
}

impl<T: Copy + PartialEq> Agreed<T> {
    fn with(self, other: Agreed<T>) -> Agreed<T> {
        match (self, other) {
            (Agreed::None, one) | (one, Agreed::None) => one,
            (Agreed::One(left), Agreed::One(right)) if left == right => self,
            _ => Agreed::Several,
        }
    }

    fn is_one(self) -> bool {
        matches!(self, Agreed::One(_))
    }

    fn one(self) -> Option<T> {
        match self {
            Agreed::One(value) => Some(value),
            _ => None,
        }
    }
}

/// What the members of one side have in common.
#[derive(Default)]
struct Side {
    entity: Agreed<u128>,
    layer: Agreed<i64>,
}

impl Side {
    fn add(&mut self, entity: &str, layer: Option<i64>) {
        self.entity = self.entity.with(Agreed::One(hashes::hash(entity)));
        self.layer = self.layer.with(layer.map_or(Agreed::Several, Agreed::One));
    }

    fn with(&self, other: &Side) -> Side {
        Side { entity: self.entity.with(other.entity), layer: self.layer.with(other.layer) }
    }
}
