//! Converts batches to quads.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, ListArray, StringArray, UInt32Array};
use arrow_buffer::ArrowNativeType;
use arrow_schema::DataType;
use isomorph_error::{Error, Result};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::lexical::{JsonDigits, of_json, write, write_with};
use super::node_order::Ascending;
use super::{
    BASE, DIRECTED, MEMBER, Names, Object, POSITION, Quad, RDF_JSON, RDF_REIFIES, RDF_TYPE, push_encoded, push_mark,
    unsaid,
};
use crate::batch::ValueBatch;
use crate::digest::is_directed;
use crate::json::Members;
use crate::schema::Owner;
use crate::{
    Batch, Cardinality, Columns, Direction, EdgeBatch, Ends, Graph, KeyKind, NodeBatch, Property, ValueKind, term,
    well_known, xsd,
};

/// Receives quads.
type Take<'t> = dyn FnMut(Quad<'_>) -> Result<()> + 't;

/// Converts batches of nodes, edges and values to quads. Edges without keys that connect the same nodes must be
/// adjacent, also across batches, as in every sorted order: if several edges are the same triple, each gets a
/// reifier, and a single edge without properties gets none.
pub struct Quads<'g> {
    names: Names<'g>,
    /// Subject and object of the last edge.
    ends: (String, String),
    /// The triples that connect these.
    open: HashMap<u128, Open>,
    /// Buffers for one edge.
    words: Words,
    digits: JsonDigits,
    /// By node type, if keys tell the order of nodes.
    ascending: Option<Vec<Ascending>>,
}

/// Reused buffers for the quads of an edge.
#[derive(Default)]
struct Words {
    triple: String,
    reifier: String,
    content: Vec<u8>,
    /// The number of equal edges so far, by the hash for reifier names, for triples with several edges.
    equal: HashMap<u128, u64>,
}

/// A triple for which more edges may follow.
struct Open {
    /// The number of edges so far.
    edges: u64,
    /// The first edge, as long as it is the only one, because it is not yet known whether it needs a reifier.
    first: Option<(Arc<Edges>, usize)>,
}

impl<'g> Quads<'g> {
    /// Creates a converter of `graph`, with IRIs below `base`, or [`BASE`].
    pub fn new(graph: &'g Graph, base: Option<&str>) -> Self {
        let base = base.unwrap_or(BASE).to_owned();
        let (ends, open, words, digits) = Default::default();
        Quads { names: Names { graph, base }, ends, open, words, digits, ascending: None }
    }

    /// Leaves out positions of nodes that follow from integer keys. Nodes of a type must come in their order, and readers must
    /// know it: [`FromQuads::ordered_by_keys`](super::FromQuads::ordered_by_keys).
    pub fn ordered_by_keys(mut self, ordered: bool) -> Self {
        self.ascending = ordered.then(|| vec![Ascending::default(); self.names.graph.nodes.len()]);
        self
    }

    /// Sets the digits of floats in JSON.
    pub fn with_digits(mut self, digits: JsonDigits) -> Self {
        self.digits = digits;
        self
    }

    /// Passes the quads of a batch to `take`; the last edges wait for the next batch.
    ///
    /// # Errors
    /// Returns an error if ends are rows of a type with keys, the batch contains anything but nodes, edges or values,
    /// or `take` returns an error.
    pub fn batch(&mut self, batch: &Batch, take: &mut Take<'_>) -> Result<()> {
        match batch {
            Batch::Nodes(nodes) => self.nodes(nodes, take),
            Batch::Edges(edges) => self.edges(edges, take),
            Batch::Values(values) => self.values(values, take),
            _ => Err(Error::unsupported("quads cannot represent hyperedges and groups")),
        }
    }

    /// Passes the quads of the last edges to `take`.
    ///
    /// # Errors
    /// Returns an error if `take` returns an error.
    pub fn finish(mut self, take: &mut Take<'_>) -> Result<()> {
        self.close(take)
    }

    fn nodes(&mut self, batch: &NodeBatch, take: &mut Take<'_>) -> Result<()> {
        let graph = self.names.graph;
        let ty = graph.nodes.get(batch.ty).ok_or_else(|| Error::usage("no such node type"))?;
        let rows = Ends::Rows((batch.start..).take(batch.rows).collect::<Vec<u64>>().into());
        let subjects = self.terms(batch.ty, batch.keys.clone().map_or(rows, Ends::Keys))?;
        let class = self.names.below(&ty.name);
        let labels: Vec<String> =
            batch.labels.iter().flat_map(|labels| labels.names()).map(|name| self.names.label(name)).collect();
        let columns = self.names.columns(batch.ty, &ty.properties, &batch.properties, self.digits)?;
        let mut position = String::new();
        let ascending = self.ascending.as_mut().and_then(|all| all.get_mut(batch.ty)).filter(|_| ty.ordered);
        let unplaced = ascending.map_or(0, |own| own.next(batch.start, batch.rows, batch.keys.as_ref()));
        for (row, subject) in subjects.iter().flatten().enumerate() {
            let mut say = |predicate: &str, object: Object<'_>| take(Quad { subject, predicate, object, graph: None });
            if !ty.implied {
                say(RDF_TYPE, Object::Term(&class))?;
            }
            if ty.ordered && ty.key.kind != KeyKind::Row && row >= unplaced {
                position.clear();
                // Writing to a string cannot fail.
                let _ = write!(position, "{}", batch.start + row as u64);
                say(POSITION, Object::plain(&position, xsd::INTEGER))?;
            }
            if let Some(column) = &batch.labels {
                let set = column.rows().get(row).and_then(|set| column.sets().get(*set as usize));
                let of_row = set.into_iter().flatten().filter_map(|at| labels.get(*at as usize));
                of_row.into_iter().try_for_each(|label| say(RDF_TYPE, Object::Term(label)))?;
            }
            columns.iter().try_for_each(|column| column.say(row, &self.names, &mut say))?;
        }
        Ok(())
    }

    fn values(&self, batch: &ValueBatch, take: &mut Take<'_>) -> Result<()> {
        let table = self.names.graph.values.get(batch.table).ok_or_else(|| Error::usage("no such value table"))?;
        let Owner::Nodes(ty) = table.owner else { return Err(Error::unsupported("values of edges are not supported")) };
        let subjects = self.terms(ty, batch.owner.clone())?;
        let property = std::slice::from_ref(&table.property);
        let columns = self.names.columns(ty, property, &vec![Some(batch.values.clone())], self.digits)?;
        let graphs = named_graphs(&table.qualifiers, &batch.qualifiers);
        if !table.qualifiers.iter().all(is_graph) {
            return Err(Error::unsupported("quads cannot represent qualifiers other than the named graph"));
        }
        for (row, subject) in subjects.iter().flatten().enumerate() {
            let graph = graphs.and_then(|graphs| graphs.is_valid(row).then(|| graphs.value(row)));
            let mut say = |predicate: &str, object: Object<'_>| take(Quad { subject, predicate, object, graph });
            columns.iter().try_for_each(|column| column.say(row, &self.names, &mut say))?;
        }
        Ok(())
    }

    fn edges(&mut self, batch: &EdgeBatch, take: &mut Take<'_>) -> Result<()> {
        let edges = Arc::new(self.prepared(batch)?);
        let fixed = edges.relations.is_none() && edges.graphs.is_none();
        let of_all = fixed.then(|| edges.id(0));
        for row in 0..edges.subjects.len() {
            if edges.keys.is_some() {
                edges.say(row, (true, true), &self.names, &mut self.words, take)?;
                continue;
            }
            let ends = (edges.subjects.value(row), edges.objects.value(row));
            if (self.ends.0.as_str(), self.ends.1.as_str()) != ends {
                self.close(take)?;
                self.ends.0.push_str(ends.0);
                self.ends.1.push_str(ends.1);
            }
            let open = self.open.entry(of_all.unwrap_or_else(|| edges.id(row)));
            let open = open.or_insert_with(|| Open { edges: 0, first: None });
            open.edges += 1;
            match open.edges {
                1 => open.first = Some((Arc::clone(&edges), row)),
                _ => {
                    if let Some((edges, row)) = open.first.take() {
                        edges.say(row, (true, true), &self.names, &mut self.words, take)?;
                    }
                    edges.say(row, (false, true), &self.names, &mut self.words, take)?;
                }
            }
        }
        Ok(())
    }

    /// Passes on the quads of edges whose triples are complete.
    fn close(&mut self, take: &mut Take<'_>) -> Result<()> {
        self.ends.0.clear();
        self.ends.1.clear();
        if !self.words.equal.is_empty() {
            self.words.equal.clear();
        }
        if self.open.len() == 1 {
            // The usual case; a table with one entry needs no sorting.
            let first = self.open.drain().next().and_then(|(_, open)| open.first);
            return first
                .map_or(Ok(()), |(edges, row)| edges.say(row, (true, false), &self.names, &mut self.words, take));
        }
        let mut waiting: Vec<(u128, Open)> = self.open.drain().collect();
        waiting.sort_unstable_by_key(|(id, _)| *id);
        let first = waiting.into_iter().filter_map(|(_, open)| open.first);
        let (names, words) = (&self.names, &mut self.words);
        first.into_iter().try_for_each(|(edges, row)| edges.say(row, (true, false), names, words, take))
    }

    fn prepared(&self, batch: &EdgeBatch) -> Result<Edges> {
        let ty = self.names.graph.edges.get(batch.ty).ok_or_else(|| Error::usage("no such edge type"))?;
        if ty.layered {
            return Err(Error::unsupported("quads cannot represent layers of ends"));
        }
        let names: Vec<&str> = match &batch.relations {
            Some(relations) => relations.names.iter().map(Option::unwrap_or_default).collect(),
            None => vec![ty.relation.fixed().unwrap_or_default()],
        };
        let own = ty.properties.iter().zip(&batch.properties).filter(|(property, _)| !is_graph(property));
        let (own, columns): (Vec<Property>, Columns) = own.map(|(own, column)| (own.clone(), column.clone())).unzip();
        Ok(Edges {
            subjects: self.terms(ty.source, batch.source.clone())?,
            objects: self.terms(ty.target, batch.target.clone())?,
            predicates: names.iter().map(|name| self.names.predicate(ty.source, name)).collect(),
            relations: batch.relations.as_ref().map(|relations| relations.index.clone()),
            graphs: named_graphs(&ty.properties, &batch.properties).cloned(),
            columns: self.names.columns(ty.source, &own, &columns, self.digits)?,
            keys: batch.keys.as_ref().map(write).transpose()?.map(|(texts, _)| texts),
            direction: ty.direction,
            directed: batch.directed.clone(),
        })
    }

    /// Returns the terms of nodes; none is null.
    fn terms(&self, ty: usize, ends: Ends) -> Result<StringArray> {
        let kind = self.names.graph.nodes.get(ty).map_or(KeyKind::Row, |ty| ty.key.kind);
        let keys: ArrayRef = match ends {
            Ends::Keys(keys) => keys,
            Ends::Rows(rows) if kind == KeyKind::Row => Arc::new(rows),
            Ends::Rows(_) => return Err(Error::usage("expected ends as keys, found rows")),
        };
        let (texts, _) = write(&keys)?;
        if texts.null_count() > 0 {
            return Err(Error::malformed("key is null"));
        }
        if kind == KeyKind::Term {
            return Ok(texts);
        }
        let prefix = self.names.prefix(ty);
        let mut terms = StringBuilder::with_capacity(texts.len(), texts.len() * (prefix.len() + 16));
        let mut iri = String::new();
        for key in texts.iter().flatten() {
            iri.clear();
            iri.push_str(&prefix);
            push_encoded(&mut iri, key);
            terms.append_value(&iri);
        }
        Ok(terms.finish())
    }
}

fn is_graph(property: &Property) -> bool {
    property.name == well_known::GRAPH && property.kind == ValueKind::Term
}

fn named_graphs<'a>(properties: &[Property], columns: &'a Columns) -> Option<&'a StringArray> {
    columns.get(properties.iter().position(is_graph)?)?.as_ref()?.as_string_opt::<i32>()
}

/// The edges of a batch.
struct Edges {
    subjects: StringArray,
    objects: StringArray,
    /// The predicate of each relation.
    predicates: Vec<String>,
    /// The relation of each edge; `None` if all have the same.
    relations: Option<UInt32Array>,
    graphs: Option<StringArray>,
    columns: Vec<Column>,
    keys: Option<StringArray>,
    direction: Direction,
    directed: Option<BooleanArray>,
}

impl Edges {
    fn predicate(&self, row: usize) -> &str {
        let at = self.relations.as_ref().map_or(0, |relations| relations.value(row) as usize);
        self.predicates.get(at).map(String::as_str).unwrap_or_default()
    }

    fn graph(&self, row: usize) -> Option<&str> {
        self.graphs.as_ref().filter(|graphs| graphs.is_valid(row)).map(|graphs| graphs.value(row))
    }

    /// Returns a hash that distinguishes triples between the same ends.
    fn id(&self, row: usize) -> u128 {
        let mut hasher = Xxh3::new();
        hasher.update(self.predicate(row).as_bytes());
        if let Some(graph) = self.graph(row) {
            // No IRI contains this byte.
            hasher.update(b"\n");
            hasher.update(graph.as_bytes());
        }
        hasher.digest128()
    }

    /// Passes on the quads of an edge: its triple, if it is the first edge of the triple, and those of its reifier. An edge
    /// without properties also has a reifier if it is one of several or has a key.
    fn say(
        &self,
        row: usize,
        (is_first, is_reified): (bool, bool),
        names: &Names<'_>,
        words: &mut Words,
        take: &mut Take<'_>,
    ) -> Result<()> {
        let (subject, predicate, object) = (self.subjects.value(row), self.predicate(row), self.objects.value(row));
        let graph = self.graph(row);
        if is_first {
            take(Quad { subject, predicate, object: Object::Term(object), graph })?;
        }
        let undirected = !is_directed(self.direction, self.directed.as_ref(), row);
        if !is_reified && !undirected && !self.columns.iter().any(|column| column.says(row)) {
            return Ok(());
        }
        let Words { triple, reifier, content, equal } = words;
        triple.clear();
        reifier.clear();
        term::push_triple(triple, subject, predicate, object);
        match &self.keys {
            Some(keys) => {
                reifier.push_str(predicate);
                push_mark(reifier);
                push_encoded(reifier, keys.value(row));
            }
            None => {
                content.clear();
                push_part(content, triple);
                push_part(content, graph.unwrap_or_default());
                content.push(u8::from(undirected) << 1 | u8::from(graph.is_some()));
                let mut add = |predicate: &str, object: Object<'_>| {
                    push_part(content, predicate);
                    push_object(content, &object);
                    Ok(())
                };
                self.columns.iter().try_for_each(|column| column.say(row, names, &mut add))?;
                let mut name = xxh3_128(content);
                if is_reified {
                    // Equal edges are numbered; the order of the numbers has no meaning.
                    let before = equal.entry(name).or_default();
                    if *before > 0 {
                        content.extend_from_slice(&before.to_le_bytes());
                        name = xxh3_128(content);
                    }
                    *before += 1;
                }
                push_name(reifier, name);
            }
        }
        let mut said = is_reified;
        let mut say = |predicate: &str, object: Object<'_>| {
            said = true;
            take(Quad { subject: reifier, predicate, object, graph })
        };
        if undirected {
            say(DIRECTED, Object::plain("false", xsd::BOOLEAN))?;
        }
        self.columns.iter().try_for_each(|column| column.say(row, names, &mut say))?;
        match said {
            true => take(Quad { subject: reifier, predicate: RDF_REIFIES, object: Object::Term(triple), graph }),
            false => Ok(()),
        }
    }
}

/// Appends a part of the hashed bytes, so that no two lists of parts have the same bytes.
fn push_part(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(&(text.len() as u64).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
}

/// Same as [`push_part`] for an object.
fn push_object(out: &mut Vec<u8>, object: &Object<'_>) {
    match *object {
        Object::Term(term) => {
            out.push(0);
            push_part(out, term);
        }
        Object::Literal { lexical, datatype, language, direction } => {
            out.push(1 | u8::from(language.is_some()) << 1 | u8::from(direction.is_some()) << 2);
            [lexical, datatype, language.unwrap_or_default(), direction.unwrap_or_default()]
                .into_iter()
                .for_each(|text| push_part(out, text));
        }
    }
}

/// The digits of reifier names.
const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The number of digits for half of a hash.
const HALF: usize = 11;

/// Appends the blank node named by a hash: each half as a number of eleven digits.
fn push_name(out: &mut String, hash: u128) {
    out.push_str("_:e");
    #[expect(clippy::cast_possible_truncation, reason = "the two halves of the hash")]
    let halves = [(hash >> 64) as u64, hash as u64];
    for half in halves {
        let (mut digits, mut rest) = ([b'0'; HALF], half);
        for digit in digits.iter_mut().rev() {
            *digit = DIGITS[(rest % 62) as usize];
            rest /= 62;
        }
        out.extend(digits.map(char::from));
    }
}

/// Returns a column without the cells that have the default value: ones and falses.
fn without_unsaid(column: &ArrayRef) -> Result<ArrayRef> {
    let unsaid: BooleanArray = match column.data_type() {
        DataType::Float32 => column.as_primitive::<Float32Type>().iter().map(|cell| Some(cell == Some(1.0))).collect(),
        DataType::Float64 => column.as_primitive::<Float64Type>().iter().map(|cell| Some(cell == Some(1.0))).collect(),
        DataType::Boolean => column.as_boolean().iter().map(|cell| Some(cell == Some(false))).collect(),
        _ => return Ok(ArrayRef::clone(column)),
    };
    arrow_select::nullif::nullif(column, &unsaid).map_err(|error| Error::malformed(error.to_string()))
}

/// A property column as objects of one predicate.
struct Column {
    predicate: String,
    objects: Objects,
}

enum Objects {
    /// Lexical forms with the same datatype.
    Literals(StringArray, String),
    /// Lists whose items are separate objects; and the whole lists, for those that are empty or contain nulls.
    Set(ListArray, StringArray, String, StringArray),
    Terms(StringArray),
    /// Lexical form, datatype, language, direction.
    Mixed([Option<StringArray>; 4]),
    Json(StringArray),
    /// Objects, and the names of the other columns.
    Bag(StringArray, Vec<String>),
}

impl Names<'_> {
    fn columns(
        &self,
        ty: usize,
        properties: &[Property],
        columns: &Columns,
        digits: JsonDigits,
    ) -> Result<Vec<Column>> {
        let mut all = Vec::new();
        for (property, column) in properties.iter().zip(columns) {
            let Some(column) = column else { continue };
            let column = &match unsaid(property) {
                Some(_) => without_unsaid(column)?,
                None => ArrayRef::clone(column),
            };
            let text = || {
                let text = arrow_cast::cast(column, &DataType::Utf8);
                text.map(|text| text.as_string().clone()).map_err(|error| Error::malformed(error.to_string()))
            };
            let objects = match &property.kind {
                ValueKind::Plain if property.cardinality == Cardinality::Set => {
                    let list = column.as_list_opt::<i32>().ok_or_else(|| Error::unsupported("sets must be lists"))?;
                    let (items, datatype) = write_with(list.values(), digits)?;
                    Objects::Set(list.clone(), items, datatype, write_with(column, digits)?.0)
                }
                ValueKind::Term => Objects::Terms(text()?),
                ValueKind::Json => Objects::Json(text()?),
                ValueKind::Bag => Objects::Bag(text()?, properties.iter().map(|beside| beside.name.clone()).collect()),
                ValueKind::Literal { datatype: Some(datatype) } => Objects::Literals(text()?, datatype.clone()),
                ValueKind::Literal { datatype: None } if column.as_struct_opt().is_some() => {
                    let field = |name: &str| column.as_struct().column_by_name(name)?.as_string_opt::<i32>().cloned();
                    Objects::Mixed(["value", "datatype", "language", "direction"].map(field))
                }
                ValueKind::Plain | ValueKind::Literal { .. } | ValueKind::Tensor { .. } | ValueKind::Raw => {
                    let (texts, datatype) = write_with(column, digits)?;
                    Objects::Literals(texts, datatype)
                }
            };
            all.push(Column { predicate: self.predicate(ty, &property.name), objects });
        }
        Ok(all)
    }
}

impl Column {
    /// Whether a row may have quads.
    fn says(&self, row: usize) -> bool {
        match &self.objects {
            Objects::Literals(texts, _) | Objects::Terms(texts) | Objects::Json(texts) | Objects::Bag(texts, _) => {
                texts.is_valid(row)
            }
            Objects::Set(list, ..) => list.is_valid(row),
            Objects::Mixed([lexical, ..]) => lexical.as_ref().is_some_and(|lexical| lexical.is_valid(row)),
        }
    }

    fn say(&self, row: usize, names: &Names<'_>, say: &mut dyn FnMut(&str, Object<'_>) -> Result<()>) -> Result<()> {
        match &self.objects {
            Objects::Literals(texts, datatype) if texts.is_valid(row) => {
                say(&self.predicate, Object::plain(texts.value(row), datatype))
            }
            Objects::Terms(terms) if terms.is_valid(row) => say(&self.predicate, Object::Term(terms.value(row))),
            Objects::Set(list, items, datatype, whole) if list.is_valid(row) => {
                let (from, to) = (list.value_offsets()[row].as_usize(), list.value_offsets()[row + 1].as_usize());
                if from == to || (from..to).any(|item| items.is_null(item)) {
                    return say(&self.predicate, Object::plain(whole.value(row), RDF_JSON));
                }
                let mut distinct: Vec<&str> = (from..to).map(|item| items.value(item)).collect();
                distinct.sort_unstable();
                distinct.dedup();
                distinct.into_iter().try_for_each(|item| say(&self.predicate, Object::plain(item, datatype)))
            }
            Objects::Json(texts) if texts.is_valid(row) => {
                let (lexical, datatype) = of_json(texts.value(row))?;
                say(&self.predicate, Object::plain(&lexical, datatype))
            }
            Objects::Bag(texts, beside) if texts.is_valid(row) => {
                Members::default().read(texts.value(row), |name, value| {
                    let (lexical, datatype) = of_json(value)?;
                    let mut predicate = names.below(name);
                    if !name.is_empty() && beside.iter().any(|beside| beside == name) {
                        push_mark(&mut predicate);
                        predicate.push_str(MEMBER);
                    }
                    say(&predicate, Object::plain(&lexical, datatype))
                })
            }
            Objects::Mixed(fields) => {
                let [lexical, datatype, language, direction] = fields.each_ref().map(|field| {
                    let texts = field.as_ref().filter(|texts| texts.is_valid(row))?;
                    Some(texts.value(row))
                });
                let Some(lexical) = lexical else { return Ok(()) };
                let datatype = datatype.unwrap_or(xsd::STRING);
                say(&self.predicate, Object::Literal { lexical, datatype, language, direction })
            }
            _ => Ok(()),
        }
    }
}
