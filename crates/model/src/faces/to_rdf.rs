//! Batches as quads.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, ListArray, StringArray};
use arrow_schema::DataType;
use isomorph_error::{Error, Result};
use xxhash_rust::xxh3::xxh3_128;

use super::lexical::{of_json, write};
use super::{BASE, DIRECTED, MEMBER, Names, Object, Quad, RDF_JSON, RDF_REIFIES, RDF_TYPE, push_encoded};
use crate::batch::ValueBatch;
use crate::digest::is_directed;
use crate::json::Members;
use crate::schema::Owner;
use crate::{
    Batch, Cardinality, Columns, Direction, EdgeBatch, Ends, Graph, KeyKind, NodeBatch, Property, ValueKind, term,
    well_known, xsd,
};

/// Takes quads.
type Take<'t> = dyn FnMut(Quad<'_>) -> Result<()> + 't;

/// Turns batches of nodes, edges and values into quads, as they come. Edges that join the same nodes by the same
/// relation must come one after another, also over batches, as every sorted delivery has them: so each of them gets a
/// reifier, and an edge that is alone and says nothing of itself gets none.
pub struct Quads<'g> {
    names: Names<'g>,
    /// The edges of the last batch: whether its last edge is one of several is known when the next batch comes.
    waiting: Option<Edges>,
    /// How many edges before the next one join the same nodes.
    before: u64,
}

impl<'g> Quads<'g> {
    /// Quads of `graph`, with IRIs below `base`, or [`BASE`].
    pub fn new(graph: &'g Graph, base: Option<&str>) -> Self {
        let base = base.unwrap_or(BASE).to_owned();
        Quads { names: Names { graph, base }, waiting: None, before: 0 }
    }

    /// Gives the quads of a batch; the last edge waits for the next batch.
    ///
    /// # Errors
    /// When ends are rows of a type with keys, the batch holds something else than nodes, edges or values, or `take`
    /// returns an error.
    pub fn batch(&mut self, batch: &Batch, take: &mut Take<'_>) -> Result<()> {
        match batch {
            Batch::Nodes(nodes) => self.nodes(nodes, take),
            Batch::Edges(edges) => self.edges(edges, take),
            Batch::Values(values) => self.values(values, take),
            _ => Err(Error::unsupported("hyperedges and groups as quads")),
        }
    }

    /// Gives the quads of the last edge.
    ///
    /// # Errors
    /// When `take` returns an error.
    pub fn finish(mut self, take: &mut Take<'_>) -> Result<()> {
        self.let_go(false, take)
    }

    fn nodes(&self, batch: &NodeBatch, take: &mut Take<'_>) -> Result<()> {
        let graph = self.names.graph;
        let ty = graph.nodes.get(batch.ty).ok_or_else(|| Error::usage("no such node type"))?;
        let rows = Ends::Rows((batch.start..).take(batch.rows).collect::<Vec<u64>>().into());
        let subjects = self.terms(batch.ty, batch.keys.clone().map_or(rows, Ends::Keys))?;
        let class = self.names.below(&ty.name);
        let labels: Vec<String> =
            batch.labels.iter().flat_map(|labels| labels.names()).map(|name| self.names.label(name)).collect();
        let columns = self.names.columns(batch.ty, &ty.properties, &batch.properties)?;
        for (row, subject) in subjects.iter().enumerate() {
            let mut say = |predicate: &str, object: Object<'_>| take(Quad { subject, predicate, object, graph: None });
            if !ty.implied {
                say(RDF_TYPE, Object::Term(&class))?;
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
        let Owner::Nodes(ty) = table.owner else { return Err(Error::unsupported("values of edges as quads")) };
        let subjects = self.terms(ty, batch.owner.clone())?;
        let property = std::slice::from_ref(&table.property);
        let columns = self.names.columns(ty, property, &vec![Some(batch.values.clone())])?;
        let graphs = named_graphs(&table.qualifiers, &batch.qualifiers);
        if table.qualifiers.len() > usize::from(graphs.is_some()) {
            return Err(Error::unsupported("qualifiers other than the named graph as quads"));
        }
        for (row, subject) in subjects.iter().enumerate() {
            let graph = graphs.and_then(|graphs| graphs.is_valid(row).then(|| graphs.value(row)));
            let mut say = |predicate: &str, object: Object<'_>| take(Quad { subject, predicate, object, graph });
            columns.iter().try_for_each(|column| column.say(row, &self.names, &mut say))?;
        }
        Ok(())
    }

    fn edges(&mut self, batch: &EdgeBatch, take: &mut Take<'_>) -> Result<()> {
        let edges = self.prepared(batch)?;
        let Some(first) = edges.triples.first() else { return Ok(()) };
        let same = self.waiting.as_ref().is_some_and(|waiting| waiting.triples.last() == Some(first));
        self.let_go(same, take)?;
        for row in 1..edges.triples.len() {
            let same = edges.triples.get(row - 1) == edges.triples.get(row);
            edges.say(row - 1, self.before, same, &self.names, take)?;
            self.before = if same { self.before + 1 } else { 0 };
        }
        self.waiting = Some(edges);
        Ok(())
    }

    /// Gives the quads of the last edge of the waiting batch.
    fn let_go(&mut self, another: bool, take: &mut Take<'_>) -> Result<()> {
        if let Some(edges) = self.waiting.take() {
            edges.say(edges.triples.len() - 1, self.before, another, &self.names, take)?;
        }
        self.before = if another { self.before + 1 } else { 0 };
        Ok(())
    }

    fn prepared(&self, batch: &EdgeBatch) -> Result<Edges> {
        let ty = self.names.graph.edges.get(batch.ty).ok_or_else(|| Error::usage("no such edge type"))?;
        if ty.layered {
            return Err(Error::unsupported("layers of ends as quads"));
        }
        let subjects = self.terms(ty.source, batch.source.clone())?;
        let objects = self.terms(ty.target, batch.target.clone())?;
        let graphs = named_graphs(&ty.properties, &batch.properties);
        let relations: Vec<&str> = match &batch.relations {
            Some(relations) => relations.names.iter().map(Option::unwrap_or_default).collect(),
            None => vec![ty.relation.fixed().unwrap_or_default()],
        };
        let relations: Vec<String> = relations.iter().map(|name| self.names.predicate(ty.source, name)).collect();
        let triples = subjects.into_iter().zip(objects).enumerate().map(|(row, (subject, object))| {
            let relation = batch.relations.as_ref().map_or(0, |relations| relations.index.value(row) as usize);
            let graph = graphs.filter(|graphs| graphs.is_valid(row)).map_or("", |graphs| graphs.value(row));
            [subject, relations.get(relation).cloned().unwrap_or_default(), object, graph.to_owned()]
        });
        let own = ty.properties.iter().zip(&batch.properties).filter(|(property, _)| !is_graph(property));
        let (own, columns): (Vec<Property>, Columns) = own.map(|(own, column)| (own.clone(), column.clone())).unzip();
        Ok(Edges {
            triples: triples.collect(),
            columns: self.names.columns(ty.source, &own, &columns)?,
            keys: batch.keys.as_ref().map(write).transpose()?.map(|(texts, _)| texts),
            direction: ty.direction,
            directed: batch.directed.clone(),
        })
    }

    /// Terms of nodes.
    fn terms(&self, ty: usize, ends: Ends) -> Result<Vec<String>> {
        let kind = self.names.graph.nodes.get(ty).map_or(KeyKind::Row, |ty| ty.key.kind);
        let keys: ArrayRef = match ends {
            Ends::Keys(keys) => keys,
            Ends::Rows(rows) if kind == KeyKind::Row => std::sync::Arc::new(rows),
            Ends::Rows(_) => return Err(Error::usage("ends are rows where keys are wanted")),
        };
        let (texts, _) = write(&keys)?;
        let prefix = self.names.prefix(ty);
        let term = |key: Option<&str>| {
            let key = key.ok_or_else(|| Error::malformed("a key is null"))?;
            if kind == KeyKind::Term {
                return Ok(key.to_owned());
            }
            let mut iri = prefix.clone();
            push_encoded(&mut iri, key);
            Ok(iri)
        };
        texts.iter().map(term).collect()
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
    /// Subject, predicate, object and graph of each.
    triples: Vec<[String; 4]>,
    columns: Vec<Column>,
    keys: Option<StringArray>,
    direction: Direction,
    directed: Option<BooleanArray>,
}

impl Edges {
    /// Gives the quads of an edge: it is the one behind `before` others of its triple, and `another` may come.
    fn say(&self, row: usize, before: u64, another: bool, names: &Names<'_>, take: &mut Take<'_>) -> Result<()> {
        let Some([subject, predicate, object, graph]) = self.triples.get(row) else { return Ok(()) };
        let graph = (!graph.is_empty()).then_some(graph.as_str());
        if before == 0 {
            take(Quad { subject, predicate, object: Object::Term(object), graph })?;
        }
        let triple = term::triple(&term::ntriples(subject), &term::ntriples(predicate), &term::ntriples(object));
        let reifier = match &self.keys {
            Some(keys) => {
                let mut iri = format!("{predicate}#");
                push_encoded(&mut iri, keys.value(row));
                iri
            }
            // The same for any batches and threads: only the triple and the place in its run count.
            None => term::blank(&format!("e{:032x}.{before}", xxh3_128(format!("{triple}{graph:?}").as_bytes()))),
        };
        let mut said = before > 0 || another || self.keys.is_some();
        let mut say = |predicate: &str, object: Object<'_>| {
            said = true;
            take(Quad { subject: &reifier, predicate, object, graph })
        };
        if !is_directed(self.direction, self.directed.as_ref(), row) {
            say(DIRECTED, Object::plain("false", xsd::BOOLEAN))?;
        }
        self.columns.iter().try_for_each(|column| column.say(row, names, &mut say))?;
        match said {
            true => take(Quad { subject: &reifier, predicate: RDF_REIFIES, object: Object::Term(&triple), graph }),
            false => Ok(()),
        }
    }
}

/// A property column as objects of one predicate.
struct Column {
    predicate: String,
    objects: Objects,
}

enum Objects {
    /// Lexical forms of one datatype.
    Literals(StringArray, String),
    /// Lists whose items are objects of their own; and the whole, for lists that have none or null ones.
    Set(ListArray, StringArray, String, StringArray),
    Terms(StringArray),
    /// Lexical form, datatype, language, direction.
    Mixed([Option<StringArray>; 4]),
    Json(StringArray),
    /// Objects, and the names of the columns beside them.
    Bag(StringArray, Vec<String>),
}

impl Names<'_> {
    fn columns(&self, ty: usize, properties: &[Property], columns: &Columns) -> Result<Vec<Column>> {
        let mut all = Vec::new();
        for (property, column) in properties.iter().zip(columns) {
            let Some(column) = column else { continue };
            let text = || {
                let text = arrow_cast::cast(column, &DataType::Utf8);
                text.map(|text| text.as_string().clone()).map_err(|error| Error::malformed(error.to_string()))
            };
            let objects = match &property.kind {
                ValueKind::Plain if property.cardinality == Cardinality::Set => {
                    let list =
                        column.as_list_opt::<i32>().ok_or_else(|| Error::unsupported("sets that are no lists"))?;
                    let (items, datatype) = write(list.values())?;
                    Objects::Set(list.clone(), items, datatype, write(column)?.0)
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
                    let (texts, datatype) = write(column)?;
                    Objects::Literals(texts, datatype)
                }
            };
            all.push(Column { predicate: self.predicate(ty, &property.name), objects });
        }
        Ok(all)
    }
}

impl Column {
    fn say(&self, row: usize, names: &Names<'_>, say: &mut dyn FnMut(&str, Object<'_>) -> Result<()>) -> Result<()> {
        let cell = |texts: &StringArray| texts.is_valid(row).then(|| texts.value(row).to_owned());
        match &self.objects {
            Objects::Literals(texts, datatype) if texts.is_valid(row) => {
                say(&self.predicate, Object::plain(texts.value(row), datatype))
            }
            Objects::Terms(terms) if terms.is_valid(row) => say(&self.predicate, Object::Term(terms.value(row))),
            Objects::Set(list, items, datatype, whole) if list.is_valid(row) => {
                let (from, to) = (list.value_offsets()[row] as usize, list.value_offsets()[row + 1] as usize);
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
                        predicate.push_str(MEMBER);
                    }
                    say(&predicate, Object::plain(&lexical, datatype))
                })
            }
            Objects::Mixed(fields) => {
                let [lexical, datatype, language, direction] = fields.each_ref().map(|field| cell(field.as_ref()?));
                let Some(lexical) = lexical else { return Ok(()) };
                let datatype = datatype.unwrap_or_else(|| xsd::STRING.to_owned());
                let (language, direction) = (language.as_deref(), direction.as_deref());
                say(&self.predicate, Object::Literal { lexical: &lexical, datatype: &datatype, language, direction })
            }
            _ => Ok(()),
        }
    }
}
