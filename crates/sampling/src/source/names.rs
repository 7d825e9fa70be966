//! Keys and ids of nodes; names and numbers of types.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, Int64Array, StringArray, UInt64Array};
use arrow_cast::cast;
use arrow_schema::DataType;
use isomorph_error::{Error, Result, did_you_mean};
use isomorph_model::{Ends, Graph as Model, KeyKind, LabelVocabulary, NodeBatch, Property, well_known};
use isomorph_storage::Reservation;
use isomorph_tables::lookup::{ABSENT, KeyRows, KeyRowsBuilder, Lookup, LookupOptions, RowKeys, RowKeysBuilder};
use serde::{Deserialize, Serialize};

use super::TYPE;
use super::numbers::Numbers;
use super::times::{Clock, clock_of, is_time};
use crate::graph::GraphOptions;

/// The feature with the labels of nodes, a JSON array of texts, unless a property has this name.
pub const LABELS: &str = "labels";

/// Bytes of memory for the id of an implied node.
const IMPLIED: u64 = 32;

/// The keys of ids, and the names of type numbers, of a graph that was read.
pub struct Names {
    types: Vec<TypeNames>,
    features: Numbers,
    edge_features: Numbers,
    /// Names of the types of edges.
    pub(super) edge_types: Vec<String>,
    /// Whether ids are the keys of the one node type.
    plain: bool,
    /// Sources of edges without rows, with the entries created for them.
    implied: HashMap<u64, u64>,
    order: Vec<u64>,
    memory: Reservation,
    building: Option<(KeyRowsBuilder, RowKeysBuilder)>,
    clock: Option<(Clock, bool)>,
    options: GraphOptions,
}

struct TypeNames {
    name: String,
    kind: KeyKind,
    /// For integers, whether they are signed.
    signed: bool,
    first: u64,
    rows: u64,
    keys: Option<(KeyRows, RowKeys)>,
}

/// [`Names`] without the keys of nodes.
#[derive(Serialize, Deserialize)]
pub(super) struct KeptNames {
    types: Vec<KeptType>,
    features: Numbers,
    edge_features: Numbers,
    edge_types: Vec<String>,
    plain: bool,
}

#[derive(Serialize, Deserialize)]
struct KeptType {
    name: String,
    kind: KeyKind,
    signed: bool,
    first: u64,
    rows: u64,
}

impl KeptNames {
    /// Returns the names, which know no keys.
    pub(super) fn names(self, options: &GraphOptions) -> Result<Names> {
        let of = |ty: KeptType| {
            let KeptType { name, kind, signed, first, rows } = ty;
            TypeNames { name, kind, signed, first, rows, keys: None }
        };
        Ok(Names {
            types: self.types.into_iter().map(of).collect(),
            features: self.features,
            edge_features: self.edge_features,
            edge_types: self.edge_types,
            plain: self.plain,
            implied: HashMap::new(),
            order: Vec::new(),
            memory: options.budget.reserve(0)?,
            building: None,
            clock: None,
            options: options.clone(),
        })
    }
}

impl Names {
    /// Returns what is kept of them.
    pub(super) fn kept(&self) -> KeptNames {
        let of = |ty: &TypeNames| {
            let TypeNames { name, kind, signed, first, rows, .. } = ty;
            KeptType { name: name.clone(), kind: *kind, signed: *signed, first: *first, rows: *rows }
        };
        KeptNames {
            types: self.types.iter().map(of).collect(),
            features: self.features.clone(),
            edge_features: self.edge_features.clone(),
            edge_types: self.edge_types.clone(),
            plain: self.plain,
        }
    }

    pub(super) fn of(model: &Model, options: &GraphOptions) -> Result<Names> {
        let plain = matches!(model.nodes.as_slice(), [only] if only.key.kind == KeyKind::Int);
        let types = model.nodes.iter().map(|ty| TypeNames {
            name: ty.name.clone(),
            kind: ty.key.kind,
            signed: ty.key.data_type.is_signed_integer(),
            first: 0,
            rows: 0,
            keys: None,
        });
        // Types, weights and times of DeepGNN are no features of it; a client that asks for a number beyond its features gets none.
        let of_deepgnn = is_of_deepgnn(model);
        let is_own = |property: &Property| {
            matches!(
                property.name.as_str(),
                TYPE | well_known::WEIGHT | well_known::CREATED_AT | well_known::REMOVED_AT
            )
        };
        let mut features =
            Numbers::of(model.nodes.iter().flat_map(|ty| &ty.properties), |property| !(of_deepgnn && is_own(property)));
        if model.nodes.iter().any(|ty| ty.labels != LabelVocabulary::None) {
            features.add(LABELS);
        }
        // A weight with more bits than the engine's is also a feature, and so is a column named like a time that is not one.
        let is_weight =
            |property: &Property| property.name == well_known::WEIGHT && property.data_type == DataType::Float32;
        let edge_features = Numbers::of(model.edges.iter().flat_map(|ty| &ty.properties), |property| {
            !is_weight(property) && !is_time(property)
        });
        Ok(Names {
            types: types.collect(),
            features,
            edge_features,
            edge_types: Vec::new(),
            plain,
            implied: HashMap::new(),
            order: Vec::new(),
            memory: options.budget.reserve(0)?,
            building: None,
            clock: clock_of(model),
            options: options.clone(),
        })
    }

    /// Adds the keys of the next nodes of a type.
    pub(super) fn push(&mut self, ty: usize, keys: Option<&ArrayRef>, rows: usize) -> Result<()> {
        let first = self.types[..ty].iter().map(|ty| ty.rows).sum();
        self.types[ty].first = first;
        self.types[ty].rows += rows as u64;
        let Some(keys) = keys else { return Ok(()) };
        let (budget, scratch) = (&self.options.budget, &self.options.scratch);
        let (rows, texts) = self.building.get_or_insert_with(|| {
            let texts = RowKeysBuilder::new(budget, scratch, budget.limit() / 8);
            (KeyRowsBuilder::new(LookupOptions::new(budget, scratch)), texts)
        });
        rows.push(keys.as_ref())?;
        texts.push(keys.as_ref())
    }

    /// Ends the keys of a type.
    pub(super) fn end_of_type(&mut self) -> Result<()> {
        let Some((rows, keys)) = self.building.take() else { return Ok(()) };
        let Lookup::Memory(rows) = rows.finish()? else {
            let error = Error::new(isomorph_error::Kind::TooLarge, "the keys of the nodes need more memory");
            return Err(error.hint("use --memory to allow more"));
        };
        // The type whose keys were added last.
        if let Some(ty) = self.types.iter_mut().rfind(|ty| ty.rows > 0 && ty.keys.is_none() && ty.kind != KeyKind::Row)
        {
            ty.keys = Some((rows, keys.finish()?));
        }
        Ok(())
    }

    /// Returns the ids of the nodes of a batch.
    pub(super) fn ids_of(&self, batch: &NodeBatch) -> Result<Vec<i64>> {
        match (self.plain, &batch.keys) {
            (true, Some(keys)) => Ok(integers(keys)?.iter().map(|key| key.cast_signed()).collect()),
            _ => {
                let first = (self.types[batch.ty].first + batch.start).cast_signed();
                Ok((first..).take(batch.rows).collect())
            }
        }
    }

    /// Adds the entries of the sources of edges.
    pub(super) fn entries(&mut self, ty: usize, ends: &Ends, out: &mut Vec<u64>) -> Result<()> {
        let from = out.len();
        self.rows(ty, ends, out)?;
        if !out[from..].contains(&ABSENT) {
            return Ok(());
        }
        let keys = match ends {
            Ends::Keys(keys) if self.plain => integers(keys)?,
            _ => return Err(no_node()),
        };
        let rows = self.types[ty].rows;
        for (entry, key) in out[from..].iter_mut().zip(keys).filter(|(entry, _)| **entry == ABSENT) {
            let next = rows + self.implied.len() as u64;
            *entry = match self.implied.get(&key) {
                Some(entry) => *entry,
                None => {
                    self.memory.grow(IMPLIED)?;
                    self.implied.insert(key, next);
                    self.order.push(key);
                    next
                }
            };
        }
        Ok(())
    }

    /// Adds the ids of the targets of edges.
    pub(super) fn targets(&self, ty: usize, ends: &Ends, out: &mut Vec<u64>) -> Result<()> {
        match ends {
            Ends::Keys(keys) if self.plain => out.extend(integers(keys)?),
            Ends::Rows(rows) if self.plain => {
                let keys = self.types[ty].keys.as_ref().ok_or_else(no_node)?.1.gather(rows.values())?;
                out.extend(integers(&keys)?);
            }
            _ => {
                let from = out.len();
                self.rows(ty, ends, out)?;
                if out[from..].contains(&ABSENT) {
                    return Err(no_node());
                }
            }
        }
        Ok(())
    }

    /// Adds row numbers across all types.
    fn rows(&self, ty: usize, ends: &Ends, out: &mut Vec<u64>) -> Result<()> {
        let from = out.len();
        let of = &self.types[ty];
        match (ends, &of.keys) {
            (Ends::Rows(rows), _) => {
                out.extend(rows.values().iter().map(|row| if *row < of.rows { *row } else { ABSENT }))
            }
            (Ends::Keys(keys), Some((rows, _))) => {
                rows.translate(keys.as_ref(), out)?;
            }
            (Ends::Keys(keys), None) => out.resize(from + keys.len(), ABSENT),
        }
        out[from..].iter_mut().filter(|row| **row != ABSENT).for_each(|row| *row += of.first);
        Ok(())
    }

    /// Returns the ids of nodes that only edges mention, in the order of their entries.
    pub(super) fn implied(&self) -> &[u64] {
        &self.order
    }

    /// Returns the clock of the times of edges, if they have any, and whether all columns have its unit: otherwise a number alone
    /// does not determine a time.
    pub fn clock(&self) -> Option<(Clock, bool)> {
        self.clock
    }

    /// Returns the names of edge types, by number.
    pub fn edge_types(&self) -> &[String] {
        &self.edge_types
    }

    /// Returns the names of node types, by number; empty if rows state their own types.
    pub fn node_types(&self) -> Vec<&str> {
        self.types.iter().map(|ty| ty.name.as_str()).collect()
    }

    /// Returns the id of the node with a key, of type `ty` if several types have keys.
    ///
    /// # Errors
    /// Returns [`Kind::NotFound`](isomorph_error::Kind::NotFound) if there is none, [`Kind::Usage`](isomorph_error::Kind::Usage)
    /// if several types have the key and `ty` is `None`.
    pub fn id(&self, ty: Option<&str>, key: &str) -> Result<i64> {
        if self.plain {
            let wrong = || Error::usage(format!("{key:?} is not a key: keys are integers"));
            let missing = || Error::new(isomorph_error::Kind::NotFound, format!("there is no node {key}"));
            let number: i128 = key.parse().map_err(|_| wrong())?;
            return match self.types.iter().any(|ty| ty.signed) {
                true => i64::try_from(number).map_err(|_| missing()),
                false => u64::try_from(number).map(|key| key.cast_signed()).map_err(|_| missing()),
            };
        }
        if let Some(ty) = ty.filter(|ty| !self.types.iter().any(|of| of.name == *ty)) {
            let near = did_you_mean(ty, self.types.iter().map(|of| of.name.as_str()));
            return Err(Error::usage(format!("there is no node type {ty}{near}")));
        }
        let mut found = Vec::new();
        for of in self.types.iter().filter(|of| ty.is_none_or(|ty| of.name == ty)) {
            let mut rows = Vec::new();
            match (&of.keys, of.kind) {
                (None, KeyKind::Row) => rows.extend(key.parse::<u64>().ok().filter(|row| *row < of.rows)),
                (Some((keys, _)), KeyKind::Int) => {
                    // A signed number is not an unsigned key, and vice versa. A text that is not an integer is not a key.
                    let number: Option<ArrayRef> = match of.signed {
                        true => key.parse().ok().map(|key| Arc::new(Int64Array::from_value(key, 1)) as ArrayRef),
                        false => key.parse().ok().map(|key| Arc::new(UInt64Array::from_value(key, 1)) as ArrayRef),
                    };
                    if let Some(number) = number {
                        keys.translate(number.as_ref(), &mut rows)?;
                    }
                }
                (Some((keys, _)), _) => {
                    keys.translate(&StringArray::from(vec![key]), &mut rows)?;
                }
                (None, _) => {}
            }
            found.extend(rows.into_iter().filter(|row| *row != ABSENT).map(|row| (of, row)));
        }
        match found.as_slice() {
            [(of, row)] => Ok((of.first + row).cast_signed()),
            [] => {
                // Integers are shown as such, texts in quotes.
                let is_text = self.types.iter().any(|of| !matches!(of.kind, KeyKind::Int | KeyKind::Row));
                let shown = if is_text { format!("{key:?}") } else { key.to_owned() };
                Err(Error::new(isomorph_error::Kind::NotFound, format!("there is no node {shown}")))
            }
            _ => {
                let types: Vec<&str> = found.iter().map(|(of, _)| of.name.as_str()).collect();
                Err(Error::usage(format!("nodes of several types have the key {key:?}"))
                    .hint(format!("--type {}", types.join(", --type "))))
            }
        }
    }

    /// Returns the keys of nodes: a column of integers if all types have integer keys, otherwise of texts; [`Names::is_number`] tells which
    /// of these are integers.
    ///
    /// # Errors
    /// Returns an error if temporary files cannot be read.
    pub fn keys(&self, ids: &[i64]) -> Result<ArrayRef> {
        let signed = self.types.iter().any(|ty| ty.signed);
        if self.plain {
            return Ok(match signed {
                true => Arc::new(Int64Array::from(ids.to_vec())),
                false => Arc::new(ids.iter().map(|id| id.cast_unsigned()).collect::<UInt64Array>()),
            });
        }
        let texts = self.texts(ids)?;
        if !self.types.iter().all(|ty| ty.kind == KeyKind::Int) {
            return Ok(Arc::new(StringArray::from(texts)));
        }
        // Signed keys may be mixed with unsigned ones, some of which are too large for a signed integer.
        let numbers: Option<Vec<i64>> = texts.iter().map(|text| text.parse().ok()).collect();
        if let Some(numbers) = numbers {
            return Ok(Arc::new(Int64Array::from(numbers)));
        }
        let numbers: Option<Vec<u64>> = texts.iter().map(|text| text.parse().ok()).collect();
        Ok(match numbers {
            Some(numbers) => Arc::new(UInt64Array::from(numbers)),
            None => Arc::new(StringArray::from(texts)),
        })
    }

    /// Returns whether the key of a node is an integer.
    pub fn is_number(&self, id: i64) -> bool {
        self.type_of(id).is_none_or(|of| of.kind == KeyKind::Int)
    }

    /// Returns the type name of a node; `None` for a node that only edges mention.
    pub fn node_type(&self, id: i64) -> Option<&str> {
        self.type_of(id).map(|of| of.name.as_str())
    }

    /// Returns the type that has a row with this id.
    fn type_of(&self, id: i64) -> Option<&TypeNames> {
        let of = self.types.iter().rfind(|of| of.rows > 0 && of.first <= id.cast_unsigned());
        of.filter(|of| self.plain || id.cast_unsigned() < of.first + of.rows)
    }

    fn texts(&self, ids: &[i64]) -> Result<Vec<String>> {
        let text = |id: &i64| -> Result<String> {
            let Some(of) = self.type_of(*id) else { return Ok(id.to_string()) };
            let row = id.cast_unsigned() - of.first;
            let Some((_, keys)) = &of.keys else { return Ok(format!("{} {row}", of.name)) };
            let key = cast(&keys.gather(&[row])?, &DataType::Utf8)
                .map_err(|error| Error::usage("a key has no text form").caused_by(error))?;
            Ok(key.as_string::<i32>().value(0).to_owned())
        };
        ids.iter().map(text).collect()
    }

    /// Returns the names of the properties of node features, by number, including [`LABELS`]; empty for numbers that no property has,
    /// and for ids of several types. A property that states a feature id has it as its number.
    pub fn features(&self) -> &[String] {
        self.features.names()
    }

    /// Returns the names of the properties of edge features, by number, as [`Names::features`].
    pub fn edge_features(&self) -> &[String] {
        self.edge_features.names()
    }

    /// Returns the numbers of features of nodes and edges that a server states: ids, if properties state any.
    pub fn stated_features(&self) -> [u64; 2] {
        [&self.features, &self.edge_features].map(|numbers| numbers.stated() as u64)
    }

    pub(super) fn node_numbers(&self) -> &Numbers {
        &self.features
    }

    pub(super) fn edge_numbers(&self) -> &Numbers {
        &self.edge_features
    }
}

/// Whether a graph has the nodes of DeepGNN: of one kind, which edges may imply, each with a number as its type.
fn is_of_deepgnn(model: &Model) -> bool {
    let has_type = |property: &Property| {
        property.name == TYPE
            && property.feature.is_none()
            && !property.nullable
            && property.data_type == DataType::Int32
    };
    matches!(model.nodes.as_slice(), [only] if only.implied && only.properties.iter().any(has_type))
}

fn no_node() -> Error {
    Error::malformed("an end of an edge is not a node")
}

/// Returns the bits of integer keys.
fn integers(keys: &ArrayRef) -> Result<Vec<u64>> {
    let cast =
        |to: &DataType| cast(keys, to).map_err(|error| Error::malformed("keys must fit into 64 bits").caused_by(error));
    Ok(match keys.data_type() {
        DataType::UInt64 => keys.as_primitive::<UInt64Type>().values().to_vec(),
        _ => {
            cast(&DataType::Int64)?.as_primitive::<Int64Type>().values().iter().map(|key| key.cast_unsigned()).collect()
        }
    })
}
