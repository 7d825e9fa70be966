//! Aspects, elementary layers, layers, slices, and the placements of nodes in layers.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, StringArray, UInt32Array};
use isomorph_error::{Findings, Place, Result};
use isomorph_model::batch::{GroupBatch, MembershipBatch};
use isomorph_model::{Batch, Columns, Ends, Part, Take, part};
use isomorph_storage::{Budget, Reservation};

use super::Annnet;
use super::attributes::Attributes;
use super::entities::{Entities, Placement};
use super::layers::{Layers, tuples};
use crate::cells::Cells;
use crate::layout::{Words, column, file, word};
use crate::members::Members;
use crate::rules;
use crate::table::Table;

/// Message for attributes that are not a JSON object.
const NO_OBJECT: &str = "expected a JSON object";

fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{')
}

/// What is stated about layers, except who is in them.
#[derive(Default)]
pub(crate) struct LayerGroups {
    /// Existing layers, in the order of their numbers.
    pub layers: Vec<u32>,
    layer_attributes: HashMap<u32, String>,
    placement_attributes: HashMap<Placement, u32>,
    placement_texts: Option<StringArray>,
    pub elementary: Attributes,
    elementary_cells: Option<Cells>,
    elementary_rows: HashMap<(String, String), u32>,
    _held: Vec<Reservation>,
}

impl LayerGroups {
    /// Reads the attributes of layers and placements. A flat graph has none.
    ///
    /// # Errors
    /// Returns an error if a table is malformed or exceeds the budget.
    pub fn read(
        members: &Members,
        words: &Words,
        layers: &Layers,
        entities: &Entities,
        budget: &Budget,
        findings: &mut Findings,
    ) -> Result<LayerGroups> {
        let mut groups = LayerGroups::default();
        if layers.is_flat() {
            return Ok(groups);
        }
        let mut there = vec![false; layers.len()];
        entities.placements.iter().for_each(|placement| there[placement.layer as usize] = true);
        if let Some(bare) = layers.bare().filter(|bare| there.get(*bare as usize) == Some(&true))
            && let Some(what) = layers.misfit(bare as usize)
        {
            findings.push(&rules::LAYER, what, Place::file(file::ENTITY_INDEX));
        }
        if let Some(table) = Table::find(members, file::LAYER_ATTRIBUTES)? {
            let (cells, _) = table.read(&[column::LAYER_ID, column::ATTRIBUTES], budget)?;
            let (ids, texts) = (cells.integers(column::LAYER_ID)?, cells.text(column::ATTRIBUTES)?);
            for row in 0..cells.rows() {
                let place = || Place::file(&table.name).row(row as u64);
                if ids.is_null(row) {
                    findings.push(&rules::LAYER, "the layer is missing: its attributes are ignored", place());
                    continue;
                }
                let layer = layers.at(ids.value(row)).map_err(|error| error.at(place()))?;
                there[layer as usize] = true;
                if let Some(what) = layers.misfit(layer as usize) {
                    findings.push(&rules::LAYER_ATTRIBUTES, what, place());
                }
                match texts.is_valid(row) && is_object(texts.value(row)) {
                    true => drop(groups.layer_attributes.insert(layer, texts.value(row).to_owned())),
                    false => findings.push(&rules::JSON, NO_OBJECT, place().in_field(column::ATTRIBUTES)),
                }
            }
        }
        if let Some(table) = Table::find(members, words.node_layer_attributes)? {
            let (cells, held) = table.read(&[words.node_id, column::LAYER_ID, column::ATTRIBUTES], budget)?;
            let (nodes, ids) = (cells.text(words.node_id)?, cells.integers(column::LAYER_ID)?);
            let texts = cells.text(column::ATTRIBUTES)?;
            for row in (0..cells.rows()).filter(|&row| nodes.is_valid(row)) {
                let place = || Place::file(&table.name).row(row as u64);
                let layer = ids.is_valid(row).then(|| layers.at(ids.value(row))).transpose();
                let layer = layer.map_err(|error| error.at(place()))?;
                if !texts.is_valid(row) || !is_object(texts.value(row)) {
                    findings.push(&rules::JSON, NO_OBJECT, place().in_field(column::ATTRIBUTES));
                    continue;
                }
                match entities.resolve(nodes.value(row), layer) {
                    Some(placement) => {
                        groups.placement_attributes.insert(placement, row as u32);
                    }
                    None => {
                        let message = format!("{:?} is not placed in this layer", nodes.value(row));
                        findings.push(&rules::LAYER, message, place());
                    }
                }
            }
            groups.placement_texts = Some(texts);
            groups._held.push(held);
        }
        groups.layers = (0..layers.len() as u32).filter(|layer| there[*layer as usize]).collect();
        groups.read_elementary(members, layers, budget, findings)?;
        Ok(groups)
    }

    fn read_elementary(
        &mut self,
        members: &Members,
        layers: &Layers,
        budget: &Budget,
        findings: &mut Findings,
    ) -> Result<()> {
        let Some(table) = Table::find(members, file::ELEMENTARY_ATTRIBUTES)? else { return Ok(()) };
        let keys = [column::LAYER_ID, column::ASPECT, column::ELEMENTARY];
        self.elementary = Attributes::of(&table, &keys, &[], findings)?;
        let (cells, held) = table.read(&[], budget)?;
        let (ids, aspects) = (cells.text(column::LAYER_ID)?, cells.text(column::ASPECT)?);
        let labels = cells.text(column::ELEMENTARY)?;
        let (has_aspect, has_label) = (table.has(column::ASPECT), table.has(column::ELEMENTARY));
        if has_aspect != has_label && cells.rows() > 0 {
            let name = if has_aspect { column::ELEMENTARY } else { column::ASPECT };
            findings.push(&rules::COLUMN, "the column is missing", Place::file(&table.name).in_field(name));
        }
        // Older files have only the display name, `aspect_label`, from which the layer must be inferred.
        let is_named = |row: usize, (aspect, label): &(String, String)| {
            let name = ids.is_valid(row).then(|| ids.value(row));
            name.and_then(|name| name.strip_prefix(aspect.as_str())?.strip_prefix('_')) == Some(label)
        };
        for row in 0..cells.rows() {
            let place = || Place::file(&table.name).row(row as u64);
            if has_aspect && has_label && (aspects.is_null(row) || labels.is_null(row)) {
                findings.push(&rules::LAYER, "aspect or label is missing: the attributes are ignored", place());
                continue;
            }
            let key = match has_aspect && has_label {
                true => Some((aspects.value(row).to_owned(), labels.value(row).to_owned())),
                false => pairs(layers).find(|pair| is_named(row, pair)),
            };
            match key {
                Some(key) => {
                    if !pairs(layers).any(|pair| pair == key) {
                        let message = format!("{key:?} is not a declared aspect and label: the attributes are ignored");
                        findings.push(&rules::LAYER, message, place());
                    }
                    self.elementary_rows.insert(key, row as u32);
                }
                None => {
                    findings.push(&rules::LAYER_ATTRIBUTES, "this elementary layer is not declared", place());
                }
            }
        }
        self.elementary_cells = Some(cells);
        self._held.push(held);
        Ok(())
    }

    fn elementary_columns(&self, layers: &Layers) -> Result<Columns> {
        let rows = pairs(layers).map(|key| self.elementary_rows.get(&key).copied()).collect::<UInt32Array>();
        match &self.elementary_cells {
            Some(cells) => self.elementary.take(cells, &rows),
            None => Ok(self.elementary.absent()),
        }
    }
}

/// Returns all elementary layers: aspect and label.
pub(crate) fn pairs(layers: &Layers) -> impl Iterator<Item = (String, String)> + '_ {
    let of = |aspect: &super::layers::Aspect| {
        let name = aspect.name.clone();
        let labels = aspect.labels.clone().into_iter();
        labels.map(move |label| (name.clone(), label))
    };
    layers.aspects.iter().flat_map(of)
}

/// All groups and placements.
pub(crate) struct GroupPart<'a> {
    pub annnet: &'a Annnet,
    pub batch_rows: usize,
}

impl GroupPart<'_> {
    fn kind(&self, kind: &str) -> Option<usize> {
        self.annnet.graph.groups.iter().position(|own| own.kind == kind)
    }

    fn groups(&self, kind: &str, keys: ArrayRef, properties: Columns, take: Take<'_>) -> Result<()> {
        match self.kind(kind) {
            Some(kind) if !keys.is_empty() => take(Batch::Groups(GroupBatch { kind, start: 0, keys, properties })),
            _ => Ok(()),
        }
    }
}

impl<'a> GroupPart<'a> {
    /// Returns it as a part of a scan.
    pub fn part(self) -> Box<dyn Part + 'a> {
        let open = || Ok(None);
        part::stepped(None, open, move |placements, take| match placements {
            None => {
                self.all(take)?;
                *placements = Some(self.annnet.entities.placements.chunks(self.batch_rows.max(1)));
                Ok(true)
            }
            Some(placements) => match placements.next() {
                Some(some) => self.placed(some, take).map(|()| true),
                None => Ok(false),
            },
        })
    }

    /// Delivers all groups.
    fn all(&self, take: Take<'_>) -> Result<()> {
        let (slices, attributes) = self.annnet.slices.groups()?;
        self.groups(word::SLICE, Arc::new(slices), attributes, take)?;
        let (layers, groups) = (&self.annnet.layers, &self.annnet.layer_groups);
        if layers.is_flat() {
            return Ok(());
        }
        let names = StringArray::from_iter_values(layers.aspects.iter().map(|aspect| &aspect.name));
        let ordered: BooleanArray = layers.aspects.iter().map(|aspect| Some(aspect.ordered)).collect();
        let texts: StringArray = layers.aspects.iter().map(|aspect| aspect.attributes.as_deref()).collect();
        self.groups(word::ASPECT, Arc::new(names), vec![Some(Arc::new(ordered)), Some(Arc::new(texts))], take)?;
        let keys: Vec<Vec<String>> = pairs(layers).map(|(aspect, label)| vec![aspect, label]).collect();
        let keys = tuples(keys.iter().map(Vec::as_slice));
        self.groups(word::ELEMENTARY, Arc::new(keys), groups.elementary_columns(layers)?, take)?;
        let keys = self.annnet.layer_columns.column(&UInt32Array::from(groups.layers.clone()))?;
        let texts = groups.layers.iter().map(|layer| groups.layer_attributes.get(layer).map(String::as_str));
        self.groups(word::LAYER, keys, vec![Some(Arc::new(texts.collect::<StringArray>()))], take)
    }

    /// Delivers the placements.
    fn placed(&self, placements: &[Placement], take: Take<'_>) -> Result<()> {
        let groups = &self.annnet.layer_groups;
        let Some(kind) = self.kind(word::LAYER).filter(|_| !self.annnet.layers.is_flat()) else { return Ok(()) };
        let nodes: UInt32Array = placements.iter().map(|placement| Some(placement.node)).collect();
        let own: UInt32Array = placements.iter().map(|placement| Some(placement.layer)).collect();
        let text = |placement: &Placement| {
            let row = *groups.placement_attributes.get(placement)? as usize;
            groups.placement_texts.as_ref().filter(|texts| texts.is_valid(row)).map(|texts| texts.value(row))
        };
        let texts: StringArray = placements.iter().map(text).collect();
        take(Batch::Memberships(MembershipBatch {
            kind,
            table: 0,
            group: Ends::Keys(self.annnet.layer_columns.column(&own)?),
            member: Ends::Keys(self.annnet.entities.keys_of(&nodes)?),
            properties: vec![Some(Arc::new(texts))],
        }))
    }
}
