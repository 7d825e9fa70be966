//! Building the rows of hyperedges, placeholders and edges with a missing end.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::builder::{Int64Builder, ListBuilder, StringBuilder};
use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, StringArray, UInt32Array};
use arrow_schema::{DataType, Field};
use isomorph_error::Result;
use isomorph_model::batch::MemberBatch;
use isomorph_model::type_name::{ITEM, list_of};

use super::sides::Side;
use super::{Beside, Member};
use crate::explicit::{COUPLING, INTER, INTRA, Own, Said, Stating};
use crate::layout::{column as name, file, word};
use crate::read::ids as hashes;
use crate::write::WriteLayout;
use crate::write::columns::{gather, ids, keys, lost};
use crate::write::edges::{Coefficients, Rows};
use crate::write::json::{push_member, reads_as_something_else};
use crate::write::layers::{LayerIds, PLACEHOLDER, list};
use crate::write::nodes::Nodes;
use crate::write::shape::Class;
use crate::write::table::TableOut;
/// The rows of one batch.
pub(super) struct Build<'a> {
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
    /// Rows whose layers are stated, with the first and the second layer.
    layered: (Vec<u32>, Vec<i64>, Vec<Option<i64>>),
    coefficients: Coefficients,
    /// Entities with coefficients.
    entities: StringBuilder,
    seen: HashSet<(u128, Option<i64>)>,
    text: String,
    /// Cells of the matrix, sorted by row.
    cells: Vec<(u32, i32, f32)>,
}

impl<'a> Build<'a> {
    /// Creates an empty set of rows, for edges with these ids and directions.
    pub fn new(
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
    pub fn row(
        &mut self,
        row: usize,
        (members, all): (&[Member], &[MemberBatch]),
        layers: &LayerIds,
        stating: &Stating,
    ) -> Result<()> {
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
                (role, _) => {
                    return Err(lost(format!(
                        "{entity:?} has the role {role} in hyperedge {id:?}, whose direction does not have this role"
                    )));
                }
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
                self.place(row, &sides, stating.of_edge(id));
            }
            Class::Placeholder if !members.is_empty() => {
                return Err(lost(format!("placeholder {id:?} has members")));
            }
            Class::OneSided if members.len() > 1 => return Err(lost(format!("edge {id:?} has two ends"))),
            Class::Placeholder | Class::OneSided => {
                let stated = stating.of_edge(id);
                self.ml_kinds.append_option(Own::kind_of(stated, None));
                self.layers.append_null();
                if let Some(Said::In(first, second)) = stated.and_then(|own| own.layers) {
                    self.add_layers(row, first, second);
                }
                for (side, end) in ends.into_iter().enumerate() {
                    self.ends[side].append_option(end.map(|(entity, _)| entity));
                    self.end_layers[side].append_option(end.and_then(|(_, layer)| layer).filter(|_| !self.is_flat));
                }
                // The specification's layout names the layers of edges in one table only.
                if self.layout == WriteLayout::Specification
                    && let Some(layer) = ends.iter().flatten().find_map(|(_, layer)| *layer).filter(|_| !self.is_flat)
                {
                    self.add_layers(row, layer, None);
                }
            }
        }
        Ok(())
    }

    /// Writes the members: as JSON, or in the specification's layout as plain ids, unless the layers of the edge do not
    /// determine those of its members, which then need the longer form.
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

    /// Returns the layer of all members, or the layers of both sides, if they have any in common.
    fn told(&self, sides: &[Side; 2]) -> Option<(i64, Option<i64>)> {
        let one = sides[0].with(&sides[1]).layer.one().map(|layer| (layer, None));
        let pair = sides[0].layer.one().zip(sides[1].layer.one());
        one.or(pair.map(|(first, second)| (first, Some(second)))).filter(|_| !self.is_flat)
    }

    /// Records the layers of a hyperedge: those that its members share, or those that are stated.
    fn place(&mut self, row: usize, sides: &[Side; 2], stated: Option<&Own>) {
        let both = sides[0].with(&sides[1]);
        let kind = match (self.is_flat || both.layer.is_one(), both.entity.is_one()) {
            (true, _) => INTRA,
            (false, true) => COUPLING,
            (false, false) => INTER,
        };
        self.ml_kinds.append_option(Own::kind_of(stated, Some(kind)));
        let (one, layers) = match stated.and_then(|own| own.layers) {
            Some(Said::In(layer, None)) => (Some(layer), Some((layer, None))),
            Some(Said::In(first, second)) => (None, Some((first, second))),
            Some(Said::Nowhere) => (None, None),
            Some(Said::Nothing) | None => (both.layer.one(), self.told(sides)),
        };
        self.layers.append_option(one.filter(|_| !self.is_flat));
        if let Some((first, second)) = layers.filter(|_| !self.is_flat) {
            self.add_layers(row, first, second);
        }
    }

    /// Records the layers of an edge.
    fn add_layers(&mut self, row: usize, first: i64, second: Option<i64>) {
        self.layered.0.push(row as u32);
        self.layered.1.push(first);
        self.layered.2.push(second);
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
            let value = of(member).ok_or_else(|| lost(format!("{entity:?} has no coefficient in hyperedge {id:?}")))?;
            if !self.seen.insert((hashes::hash(entity), member.layer)) {
                // An entity in both roles has one coefficient, which applies to each.
                let known = self.coefficients.values.get(start..).unwrap_or_default();
                if known.iter().all(|known| known.to_bits() != value.to_bits()) {
                    return Err(lost(format!("{entity:?} has two coefficients in hyperedge {id:?}")));
                }
                continue;
            }
            self.coefficients.edges.push(row as u32);
            self.coefficients.entities.push(self.coefficients.entities.len() as u32);
            // The published library looks a coefficient up by the member as it has read it: a layer that is named
            // there must be named here.
            let implied =
                self.layout == WriteLayout::V2 && self.class == Class::Hyperedge && reads_as_something_else(entity);
            let named = implied.then_some(PLACEHOLDER);
            self.coefficients.layers.push(member.layer.filter(|_| !self.is_flat).or(named));
            self.coefficients.values.push(value);
            self.entities.append_value(entity);
        }
        Ok(())
    }

    /// Adds the cells of an edge of this weight to the matrix, one for each role.
    pub fn add_cells(
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
    pub fn define(&mut self, keys: &ArrayRef, table: &mut Option<TableOut>, beside: &mut Beside<'_, '_>) -> Result<()> {
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
    pub fn finish(
        mut self,
        keys: &ArrayRef,
        weights: Option<ArrayRef>,
        attributes: Vec<Option<ArrayRef>>,
        beside: &mut Beside<'_, '_>,
    ) -> Result<()> {
        let kind = |id: Option<&str>| match self.class {
            Class::Hyperedge => word::HYPER,
            Class::Placeholder => word::EDGE_PLACEHOLDER,
            Class::OneSided => {
                let id = id.unwrap_or_default();
                beside.edges.stating.edge_kind(id, beside.nodes.is_entity(id))
            }
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
