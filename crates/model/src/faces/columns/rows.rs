//! The rows of a graph from collected quads.

use std::ops::Range;

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, BooleanArray, StringArray, UInt32Array, UInt64Array};
use arrow_select::take::take;
use isomorph_error::{Error, Result};

use super::super::from_rdf::{position, row};
use super::super::lexical::{read, read_column, to_json};
use super::super::node_order::{Place, numbers, place};
use super::super::{MARKS, Names, RDF_JSON, decoded, unsaid};
use super::terms::{NONE, Terms};
use super::values::{Value, Values};
use super::{Group, POSITIONED, QuadColumns, TYPE, UNDIRECTED};
use crate::json::push_string;
use crate::label::LabelBuilder;
use crate::{
    Cardinality, Columns, Direction, EdgeBatch, Ends, Graph, KeyKind, LabelVocabulary, NodeBatch, Property, Relation,
    Relations, ValueKind,
};

/// The rows of a graph, which can be read repeatedly, on any thread.
pub struct QuadRows {
    graph: Graph,
    base: String,
    terms: Terms,
    predicates: Terms,
    datatypes: Terms,
    values: Vec<Values>,
    groups: Vec<Group>,
    /// By node type: the terms of its nodes, in the order of its rows.
    nodes: Vec<Vec<u32>>,
    /// By node type: the keys of all terms that are nodes or ends; rows if it has no key.
    keys: Vec<Ends>,
    /// By term: the position of its key among those of its type.
    places: Vec<u32>,
    /// By node type and by edge type: the predicates of its properties.
    of_nodes: Vec<Vec<u32>>,
    of_edges: Vec<Vec<u32>>,
}

/// Some edges of one type.
#[derive(Debug, Clone)]
pub struct EdgeRange {
    group: usize,
    is_reified: bool,
    rows: Range<usize>,
}

impl EdgeRange {
    /// The number of edges.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }
}

impl QuadRows {
    pub(super) fn new(columns: QuadColumns) -> Result<Self> {
        let (of_nodes, of_edges, columns) = predicates(columns);
        let by_keys = columns.by_keys;
        let QuadColumns { graph, base, mut terms, types, predicates, mut values, datatypes, mut groups, .. } = columns;
        terms.close();
        values.iter_mut().for_each(Values::close);
        groups.iter_mut().for_each(Group::close);
        let mut rows = QuadRows {
            nodes: vec![Vec::new(); graph.nodes.len()],
            keys: Vec::new(),
            places: Vec::new(),
            graph,
            base,
            terms,
            predicates,
            datatypes,
            values,
            groups,
            of_nodes,
            of_edges,
        };
        rows.find_nodes(&types);
        rows.number_keys(&types)?;
        rows.order_nodes(by_keys)?;
        Ok(rows)
    }

    fn names(&self) -> Names<'_> {
        Names { graph: &self.graph, base: self.base.clone() }
    }

    /// Finds the subjects that are stated to be nodes.
    fn find_nodes(&mut self, types: &[u32]) {
        let names = self.names();
        let classes: Vec<(String, bool)> =
            self.graph.nodes.iter().map(|ty| (names.below(&ty.name), ty.implied)).collect();
        let mut exists = vec![false; types.len()];
        let is_implied = classes.iter().any(|(_, implied)| *implied);
        for (values, predicate) in self.values.iter().zip(0..) {
            if predicate != TYPE && !is_implied {
                continue;
            }
            for (subject, value) in values.all() {
                let ty = types.get(subject as usize).copied().unwrap_or(NONE);
                let Some((class, implied)) = classes.get(ty as usize) else { continue };
                let is_node = match value.datatype {
                    NONE => predicate == TYPE && (*implied || value.text == class),
                    _ => *implied,
                };
                if let Some(exists) = exists.get_mut(subject as usize).filter(|_| is_node) {
                    *exists = true;
                }
            }
        }
        for ((exists, ty), number) in exists.iter().zip(types).zip(0..) {
            if let Some(nodes) = self.nodes.get_mut(*ty as usize).filter(|_| *exists) {
                nodes.push(number);
            }
        }
    }

    /// Parses the keys of nodes and of ends.
    fn number_keys(&mut self, types: &[u32]) -> Result<()> {
        let mut used = vec![false; types.len()];
        let ends = |group: &Group| -> Vec<u32> {
            let reified = group.reified.iter().flat_map(|[_, source, target]| [*source, *target]);
            group.plain.iter().flatten().copied().chain(reified).collect()
        };
        let all = self.nodes.iter().flatten().copied();
        for number in all.chain(self.groups.iter().flat_map(ends)) {
            if let Some(used) = used.get_mut(number as usize) {
                *used = true;
            }
        }
        let mut texts: Vec<StringBuilder> = self.graph.nodes.iter().map(|_| StringBuilder::new()).collect();
        let mut counts = vec![0u32; texts.len()];
        self.places = vec![NONE; types.len()];
        let prefixes: Vec<String> = (0..texts.len()).map(|ty| self.names().prefix(ty)).collect();
        for ((number, ty), place) in (0..).zip(types).zip(&mut self.places) {
            let at = *ty as usize;
            let (Some(texts), Some(count), Some(prefix)) = (texts.get_mut(at), counts.get_mut(at), prefixes.get(at))
            else {
                continue;
            };
            if !used.get(number as usize).copied().unwrap_or_default() {
                continue;
            }
            let term = self.terms.text(number);
            match term.strip_prefix(prefix.as_str()).filter(|key| !key.contains('%')) {
                Some(key) => texts.append_value(key),
                None => {
                    let names = Names { graph: &self.graph, base: self.base.clone() };
                    texts.append_value(names.node(term).map(|(_, key)| key).unwrap_or_default());
                }
            }
            (*place, *count) = (*count, *count + 1);
        }
        let mut keys = Vec::with_capacity(texts.len());
        for (ty, mut texts) in self.graph.nodes.iter().zip(texts) {
            keys.push(match ty.key.kind {
                KeyKind::Row => {
                    let rows: Result<Vec<u64>> = texts.finish().iter().flatten().map(row).collect();
                    Ends::Rows(rows?.into())
                }
                _ => Ends::Keys(read_column(&ty.key.data_type, texts.finish())?),
            });
        }
        self.keys = keys;
        Ok(())
    }

    /// Sorts nodes by their positions, if positions have a meaning.
    fn order_nodes(&mut self, by_keys: bool) -> Result<()> {
        let mut nodes = std::mem::take(&mut self.nodes);
        for ((nodes, ty), keys) in nodes.iter_mut().zip(&self.graph.nodes).zip(&self.keys) {
            match keys {
                Ends::Rows(rows) => {
                    let row = |term: &u32| rows.values().get(*self.places.get(*term as usize)? as usize);
                    nodes.sort_by_key(|term| row(term).copied());
                    // Ends of edges refer to rows, and would mean another node if an earlier one is missing.
                    let mut moved = nodes.iter().filter_map(row).zip(0..).filter(|(row, place)| **row != *place);
                    if let Some((row, place)) = moved.next() {
                        let message = format!("node {row} of {} is at the position of node {place}", ty.name);
                        return Err(Error::malformed(message));
                    }
                }
                Ends::Keys(keys) if ty.ordered => {
                    let mut near = 0;
                    let numbers = if by_keys { numbers(keys) } else { None };
                    let number_of = |term: u32| {
                        let place = *self.places.get(term as usize)?;
                        numbers.as_ref()?.get(place as usize).copied()
                    };
                    let mut position_of = |term: u32| {
                        let positions = self.values.get(POSITIONED as usize).into_iter();
                        let mut said = positions.flat_map(|values| values.of(term, &mut near));
                        let stated = said.find(|value| value.datatype != NONE);
                        stated.map(|value| position(value.text)).transpose()
                    };
                    let mut placed: Vec<(Place, u32)> = nodes
                        .iter()
                        .map(|term| Ok((place(position_of(*term)?, number_of(*term)), *term)))
                        .collect::<Result<_>>()?;
                    placed.sort_by_key(|(place, _)| *place);
                    *nodes = placed.into_iter().map(|(_, term)| term).collect();
                }
                Ends::Keys(_) => {}
            }
        }
        self.nodes = nodes;
        Ok(())
    }

    /// Returns the number of nodes of a type.
    pub fn node_rows(&self, ty: usize) -> usize {
        self.nodes.get(ty).map_or(0, Vec::len)
    }

    /// Returns nodes of a type.
    ///
    /// # Errors
    /// Returns an error if a literal does not match the type in the description.
    pub fn nodes(&self, at: usize, rows: Range<usize>) -> Result<NodeBatch> {
        let ty = self.graph.nodes.get(at).ok_or_else(|| Error::usage("no such node type"))?;
        let start = rows.start as u64;
        let terms = self.nodes.get(at).and_then(|nodes| nodes.get(rows)).unwrap_or_default();
        let labels = (ty.labels != LabelVocabulary::None).then(|| {
            let (names, mut labels, mut near) = (self.names(), LabelBuilder::default(), 0);
            let class = names.below(&ty.name);
            for term in terms {
                let classes = self.values.get(TYPE as usize).into_iter().flat_map(|types| types.of(*term, &mut near));
                let others = classes.filter(|value| value.datatype == NONE && value.text != class);
                let others: Vec<String> = others.filter_map(|value| names.label_of(value.text)).collect();
                labels.push(others.iter().map(String::as_str));
            }
            labels.finish()
        });
        let keys = match self.ends(at, terms.iter().copied())? {
            Ends::Keys(keys) => Some(keys),
            Ends::Rows(_) => None,
        };
        let predicates = self.of_nodes.get(at).map(Vec::as_slice).unwrap_or_default();
        let properties = self.columns(&ty.properties, predicates, terms)?;
        Ok(NodeBatch { ty: at, start, numbers: None, rows: terms.len(), keys, labels, properties })
    }

    /// Divides the edges of a type into ranges of at most `at_once` edges.
    pub fn edge_ranges(&self, ty: usize, at_once: usize) -> Vec<EdgeRange> {
        let at_once = at_once.max(1);
        let groups = self.groups.iter().enumerate().filter(|(_, group)| group.ty as usize == ty);
        let tables = groups.flat_map(|(at, group)| [(at, true, group.reified.len()), (at, false, group.plain.len())]);
        let ranges = tables.flat_map(|(group, is_reified, all)| {
            let starts = (0..all).step_by(at_once);
            starts.map(move |start| EdgeRange { group, is_reified, rows: start..all.min(start + at_once) })
        });
        ranges.collect()
    }

    /// Returns some edges.
    ///
    /// # Errors
    /// Returns an error if a literal does not match the type in the description.
    pub fn edges(&self, range: &EdgeRange) -> Result<EdgeBatch> {
        let missing = || Error::usage("no such edges");
        let group = self.groups.get(range.group).ok_or_else(missing)?;
        let at = group.ty as usize;
        let ty = self.graph.edges.get(at).ok_or_else(missing)?;
        let rows: Vec<[u32; 3]> = match range.is_reified {
            true => group.reified.get(range.rows.clone()).ok_or_else(missing)?.to_vec(),
            false => {
                let plain = group.plain.get(range.rows.clone()).ok_or_else(missing)?;
                plain.iter().map(|[source, target]| [NONE, *source, *target]).collect()
            }
        };
        let reifiers: Vec<u32> = rows.iter().map(|[reifier, ..]| *reifier).collect();
        let directed = (ty.direction == Direction::PerRow).then(|| {
            let mut near = 0;
            let undirected = self.values.get(UNDIRECTED as usize);
            let is_directed =
                |reifier: &u32| undirected.is_none_or(|said| said.of(*reifier, &mut near).next().is_none());
            BooleanArray::from(reifiers.iter().map(is_directed).collect::<Vec<bool>>())
        });
        let keys = ty.key.as_ref().map(|key| {
            let text = |reifier: &u32| decoded(self.terms.text(*reifier).rsplit_once(MARKS)?.1);
            read(&key.data_type, &reifiers.iter().map(text).collect::<Vec<_>>())
        });
        let relations = (ty.relation == Relation::PerRow).then(|| {
            let name = self.predicates.text(group.predicate).strip_prefix(&self.base).and_then(decoded);
            let index = UInt32Array::from(vec![0; rows.len()]);
            Relations { names: StringArray::from(vec![name.unwrap_or_default()]), index }
        });
        let predicates = self.of_edges.get(at).map(Vec::as_slice).unwrap_or_default();
        Ok(EdgeBatch {
            ty: at,
            rows: rows.len(),
            relations,
            source: self.ends(ty.source, rows.iter().map(|[_, source, _]| *source))?,
            target: self.ends(ty.target, rows.iter().map(|[.., target]| *target))?,
            layers: None,
            directed,
            keys: keys.transpose()?,
            properties: self.columns(&ty.properties, predicates, &reifiers)?,
        })
    }

    /// Returns the keys of terms of a type, or rows if it has no key.
    fn ends(&self, ty: usize, terms: impl Iterator<Item = u32>) -> Result<Ends> {
        let place = |term: u32| self.places.get(term as usize).copied().unwrap_or(NONE);
        let places = UInt32Array::from_iter_values(terms.map(place));
        let taken = |array: &dyn arrow_array::Array| {
            take(array, &places, None).map_err(|error| Error::malformed(error.to_string()))
        };
        Ok(match self.keys.get(ty) {
            Some(Ends::Keys(keys)) => Ends::Keys(taken(keys.as_ref())?),
            Some(Ends::Rows(rows)) => {
                let at = |place: &u32| rows.values().get(*place as usize).copied().unwrap_or_default();
                Ends::Rows(UInt64Array::from_iter_values(places.values().iter().map(at)))
            }
            None => return Err(Error::usage("no such node type")),
        })
    }

    /// Returns the property columns of elements; [`NONE`] means elements without values.
    fn columns(&self, properties: &[Property], predicates: &[u32], owners: &[u32]) -> Result<Columns> {
        let column = |(property, predicate): (&Property, &u32)| {
            self.column(property, self.values.get(*predicate as usize), owners).map(Some)
        };
        properties.iter().zip(predicates).map(column).collect()
    }

    fn column(&self, property: &Property, values: Option<&Values>, owners: &[u32]) -> Result<ArrayRef> {
        let mut near = 0;
        let mut said =
            |owner: &u32| values.into_iter().flat_map(|values| values.of(*owner, &mut near)).collect::<Few<'_>>();
        let datatype = |value: &Value<'_>| self.datatypes.text(value.datatype);
        match (&property.kind, property.cardinality) {
            (ValueKind::Json, _) => {
                let json = |owner: &u32| {
                    let value = said(owner).first?;
                    (value.datatype != NONE).then(|| to_json(value.text, datatype(&value)))
                };
                read_column(&property.data_type, owners.iter().map(json).collect())
            }
            (ValueKind::Plain, Cardinality::Set) => {
                let list = |owner: &u32| {
                    let few = said(owner);
                    let first = few.first?;
                    if few.others.is_empty() && first.datatype != NONE && datatype(&first) == RDF_JSON {
                        return Some(first.text.to_owned());
                    }
                    let mut list = String::new();
                    for value in std::iter::once(&first).chain(&few.others) {
                        list.push(if list.is_empty() { '[' } else { ',' });
                        push_string(&mut list, value.text);
                    }
                    Some(list + "]")
                };
                read_column(&property.data_type, owners.iter().map(list).collect())
            }
            _ => {
                let unsaid = unsaid(property);
                let mut texts = StringBuilder::with_capacity(owners.len(), 8 * owners.len());
                let mut near = 0;
                for owner in owners {
                    let first = values.and_then(|values| values.of(*owner, &mut near).next());
                    texts.append_option(first.map(|value| value.text).or(unsaid));
                }
                read_column(&property.data_type, texts.finish())
            }
        }
    }
}

/// Usually one value, or none.
struct Few<'v> {
    first: Option<Value<'v>>,
    others: Vec<Value<'v>>,
}

impl<'v> FromIterator<Value<'v>> for Few<'v> {
    fn from_iter<I: IntoIterator<Item = Value<'v>>>(values: I) -> Self {
        let mut values = values.into_iter();
        Few { first: values.next(), others: values.collect() }
    }
}

/// Returns the predicates of all properties, by node type and by edge type.
fn predicates(mut columns: QuadColumns) -> (Vec<Vec<u32>>, Vec<Vec<u32>>, QuadColumns) {
    let names = columns.names();
    let of = |properties: &[Property]| properties.iter().map(|property| names.below(&property.name)).collect();
    let nodes: Vec<Vec<String>> = columns.graph.nodes.iter().map(|ty| of(&ty.properties)).collect();
    let edges: Vec<Vec<String>> = columns.graph.edges.iter().map(|ty| of(&ty.properties)).collect();
    let mut numbers = |texts: Vec<Vec<String>>| -> Vec<Vec<u32>> {
        let number = |texts: &Vec<String>| texts.iter().map(|text| columns.predicate(text)).collect();
        texts.iter().map(number).collect()
    };
    let (nodes, edges) = (numbers(nodes), numbers(edges));
    (nodes, edges, columns)
}

impl Group {
    /// Removes repeated triples, and triples that have a reifier.
    fn close(&mut self) {
        // Repeated quads count once.
        if !self.reified.is_sorted_by(|one, other| one < other) {
            self.reified.sort_unstable();
            self.reified.dedup();
        }
        self.reified.shrink_to_fit();
        self.plain.sort_unstable();
        self.plain.dedup();
        if self.reified.is_empty() {
            return;
        }
        let mut said: Vec<[u32; 2]> = self.reified.iter().map(|[_, source, target]| [*source, *target]).collect();
        said.sort_unstable();
        let mut at = 0;
        self.plain.retain(|ends| {
            while said.get(at).is_some_and(|other| other < ends) {
                at += 1;
            }
            said.get(at) != Some(ends)
        });
        self.plain.shrink_to_fit();
    }
}
