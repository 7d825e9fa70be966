//! Converts quads to a property graph: the inverse of [`super::Quads`].

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, StringArray, StructArray, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field};
use isomorph_error::{Error, Result};
use xxhash_rust::xxh3::Xxh3;

use super::lexical::{read, to_json};
use super::node_order::{numbers, place};
use super::{
    BASE, DIRECTED, MARKS, MEMBER, Names, Object, POSITION, Quad, RDF_JSON, RDF_REIFIES, RDF_TYPE, decoded,
    push_encoded, unsaid,
};
use crate::batch::ValueBatch;
use crate::json::push_string;
use crate::label::LabelBuilder;
use crate::schema::Owner;
use crate::term::{self, Part};
use crate::{
    Batch, Cardinality, Columns, Direction, EdgeBatch, Ends, Graph, KeyKind, LabelVocabulary, MemoryGraph, NodeBatch,
    Property, Relation, Relations, ValueKind, well_known,
};

/// A stored object.
#[derive(Debug, Clone)]
enum Kept {
    Term(String),
    /// Lexical form, datatype, language, direction.
    Literal([Option<String>; 4]),
}

/// Predicate, object, graph.
type Said = (String, Kept, Option<String>);

/// Collects quads and returns the rows of a property graph with a known description. Collected quads are held
/// in memory; callers that provide all quads of a subject together can take the rows of some subjects and continue.
pub struct FromQuads<'g> {
    names: Names<'g>,
    /// Edge types by source type, relation and target type.
    relations: HashMap<(usize, String, usize), usize>,
    /// Edge types whose relation differs by row, by source and target type.
    any_relation: HashMap<(usize, usize), usize>,
    said: BTreeMap<String, Vec<Said>>,
    quads: usize,
    by_keys: bool,
}

/// Rows that result from quads.
pub enum Rows {
    /// Nodes, and two columns by which they must be sorted, if their order is significant in addition to the key.
    Nodes(Box<NodeBatch>, Option<[UInt64Array; 2]>),
    /// Edges.
    Edges(Box<EdgeRows>),
}

/// Edges that result from quads. A triple with n reifiers is n edges, a triple without reifiers is one: the row of the triple
/// itself must be dropped if there is one of a reifier.
pub struct EdgeRows {
    /// The edges.
    pub batch: EdgeBatch,
    /// Hashes of their triples, including their graphs.
    pub triples: Vec<u128>,
    /// Whether they result from reifiers.
    pub reified: bool,
}

/// An edge: ends, relation, graph, and its reifier.
struct Found<'a> {
    source: String,
    target: String,
    relation: Cow<'a, str>,
    graph: Option<&'a str>,
    reifier: Option<&'a str>,
    triple: u128,
}

/// The classification of subjects.
struct Told<'a> {
    /// Keys and subjects, by node type.
    nodes: BTreeMap<usize, Vec<(String, &'a str)>>,
    /// By edge type, and whether it results from a reifier.
    edges: BTreeMap<(usize, bool), Vec<Found<'a>>>,
}

impl<'g> FromQuads<'g> {
    /// Creates a converter to a graph as described by `graph`, from quads whose IRIs are below `base`, or [`BASE`].
    pub fn new(graph: &'g Graph, base: Option<&str>) -> Self {
        let base = base.unwrap_or(BASE).to_owned();
        let names = Names { graph, base };
        let (mut relations, mut any_relation) = (HashMap::new(), HashMap::new());
        for (at, ty) in graph.edges.iter().enumerate() {
            match ty.relation.fixed() {
                Some(name) => {
                    relations.entry((ty.source, names.predicate(ty.source, name), ty.target)).or_insert(at);
                }
                None => {
                    any_relation.entry((ty.source, ty.target)).or_insert(at);
                }
            }
        }
        FromQuads { names, relations, any_relation, said: BTreeMap::new(), quads: 0, by_keys: false }
    }

    /// Whether nodes that state no position are in the order of integer keys, before those that do; otherwise they come after
    /// all others.
    pub fn ordered_by_keys(mut self, ordered: bool) -> Self {
        self.by_keys = ordered;
        self
    }

    /// Adds a quad.
    pub fn take(&mut self, quad: Quad<'_>) {
        let owned = |text: &str| Some(text.to_owned());
        let object = match quad.object {
            Object::Term(term) => Kept::Term(term.to_owned()),
            Object::Literal { lexical, datatype, language, direction } => {
                Kept::Literal([owned(lexical), owned(datatype), language.and_then(owned), direction.and_then(owned)])
            }
        };
        let said = (quad.predicate.to_owned(), object, quad.graph.and_then(owned));
        self.quads += 1;
        match self.said.get_mut(quad.subject) {
            Some(known) => known.push(said),
            None => {
                self.said.insert(quad.subject.to_owned(), vec![said]);
            }
        }
    }

    /// Returns the number of stored quads.
    pub fn len(&self) -> usize {
        self.quads
    }

    /// Whether no quads are stored.
    pub fn is_empty(&self) -> bool {
        self.quads == 0
    }

    /// Whether a quad is an edge by itself, whatever other quads its subject has.
    pub fn is_edge(&self, quad: &Quad<'_>) -> bool {
        self.edge_type(quad).is_some()
    }

    /// Returns the type of the edge that a quad is by itself.
    pub fn edge_type(&self, quad: &Quad<'_>) -> Option<usize> {
        match quad.object {
            Object::Term(object) => self.edge(quad.subject, quad.predicate, object).map(|(ty, _)| ty),
            Object::Literal { .. } => None,
        }
    }

    /// Returns the term of a node of type `ty`, whose key is `key` as text.
    pub fn term(&self, ty: usize, key: &str) -> String {
        let mut term = self.names.prefix(ty);
        match self.names.is_term(ty) {
            true => term.push_str(key),
            false => push_encoded(&mut term, key),
        }
        term
    }

    /// Passes the rows of the stored quads to `take`, and removes the quads. They must include all quads of a subject,
    /// except for those that are edges by themselves.
    ///
    /// # Errors
    /// Returns an error if a literal does not match the type in the description, or `take` returns an error.
    pub fn rows(&mut self, take: &mut dyn FnMut(Rows) -> Result<()>) -> Result<()> {
        let told = self.told()?;
        for (ty, nodes) in &told.nodes {
            let (batch, places) = self.nodes(*ty, nodes)?;
            take(Rows::Nodes(Box::new(batch), places))?;
        }
        for ((ty, reified), found) in &told.edges {
            let triples = found.iter().map(|edge| edge.triple).collect();
            let batch = self.edges(*ty, found)?;
            take(Rows::Edges(Box::new(EdgeRows { batch, triples, reified: *reified })))?;
        }
        drop(told);
        self.said.clear();
        self.quads = 0;
        Ok(())
    }

    /// Returns the graph, from quads in any order.
    ///
    /// # Errors
    /// Same as [`FromQuads::rows`].
    pub fn finish(self) -> Result<MemoryGraph> {
        let mut told = self.told()?;
        let of_reifiers = |((_, reified), found): (&(usize, bool), &Vec<Found<'_>>)| {
            if *reified { found.iter().map(|edge| edge.triple).collect() } else { Vec::new() }
        };
        let reified: HashSet<u128> = told.edges.iter().flat_map(of_reifiers).collect();
        let mut batches = Vec::new();
        for (ty, nodes) in &mut told.nodes {
            let (batch, places) = self.nodes(*ty, nodes)?;
            let Some(places) = places else {
                batches.push(Batch::Nodes(batch));
                continue;
            };
            let mut order: Vec<usize> = (0..nodes.len()).collect();
            order.sort_by_key(|row| places.each_ref().map(|column| column.values().get(*row).copied()));
            let nodes: Vec<_> = order.into_iter().filter_map(|row| nodes.get(row).cloned()).collect();
            batches.push(Batch::Nodes(self.nodes(*ty, &nodes)?.0));
        }
        for ((ty, by_reifier), found) in &mut told.edges {
            found.retain(|edge| *by_reifier || !reified.contains(&edge.triple));
            if !found.is_empty() {
                batches.push(Batch::Edges(self.edges(*ty, found)?));
            }
        }
        for table in 0..self.names.graph.values.len() {
            batches.extend(self.values(table)?);
        }
        Ok(MemoryGraph { graph: self.names.graph.clone(), batches })
    }

    /// Returns type and ends of the edge that a triple is.
    fn edge(&self, subject: &str, predicate: &str, object: &str) -> Option<(usize, [String; 2])> {
        let (source, from) = self.names.node(subject)?;
        let (target, to) = self.names.node(object)?;
        let key = (source, predicate.to_owned(), target);
        let ty = self.relations.get(&key).or_else(|| self.any_relation.get(&(source, target)))?;
        Some((*ty, [from, to]))
    }

    fn told(&self) -> Result<Told<'_>> {
        let mut told = Told { nodes: BTreeMap::new(), edges: BTreeMap::new() };
        for (subject, said) in &self.said {
            let node = self.names.node(subject);
            let of_term = node.as_ref().is_some_and(|(ty, _)| self.names.is_term(*ty));
            for (predicate, object, graph) in said {
                let Kept::Term(object) = object else { continue };
                let graph = graph.as_deref();
                let found = |[source, target]: [String; 2], relation, reifier, triple| Found {
                    source,
                    target,
                    relation,
                    graph,
                    reifier,
                    triple,
                };
                if let Some((ty, ends)) = self.edge(subject, predicate, object) {
                    let triple = triple_id(subject, predicate, object, graph);
                    let edge = found(ends, Cow::Borrowed(predicate.as_str()), None, triple);
                    told.edges.entry((ty, false)).or_default().push(edge);
                }
                // The reifier of a term may be a resource itself; then the triple is still one edge.
                if predicate == RDF_REIFIES && !of_term {
                    let Some((source, relation, Part::Term(target))) = term::parts(object) else { continue };
                    let triple = triple_id(&source, &relation, &target, graph);
                    if let Some((ty, ends)) = self.edge(&source, &relation, &target) {
                        let edge = found(ends, Cow::Owned(relation), Some(subject.as_str()), triple);
                        told.edges.entry((ty, true)).or_default().push(edge);
                    }
                }
            }
            let Some((ty, key)) = node else { continue };
            let Some(of) = self.names.graph.nodes.get(ty) else { continue };
            let class = self.names.below(&of.name);
            let exists = |(predicate, object, _): &Said| match object {
                Kept::Term(term) if predicate == RDF_TYPE => of.implied || *term == class,
                Kept::Literal(_) => of.implied,
                Kept::Term(_) => false,
            };
            if !of_term && said.iter().any(exists) {
                told.nodes.entry(ty).or_default().push((key, subject));
            }
        }
        Ok(told)
    }

    fn nodes(&self, at: usize, rows: &[(String, &str)]) -> Result<(NodeBatch, Option<[UInt64Array; 2]>)> {
        let ty = &self.names.graph.nodes[at];
        let class = self.names.below(&ty.name);
        let keys = self.keys(at, rows.iter().map(|(key, _)| key.clone()))?;
        let said = |subject: &str| self.said.get(subject).map_or(&[][..], Vec::as_slice);
        let mut labels = LabelBuilder::default();
        let mut positions = (ty.ordered && ty.key.kind != KeyKind::Row).then(|| Vec::with_capacity(rows.len()));
        for (_, subject) in rows {
            let classes = said(subject).iter().filter_map(|(predicate, object, _)| match object {
                Kept::Term(term) if predicate == RDF_TYPE && *term != class => self.names.label_of(term),
                _ => None,
            });
            let classes: Vec<String> = classes.collect();
            labels.push(classes.iter().map(String::as_str));
            if let Some(positions) = &mut positions {
                let stated = said(subject).iter().find_map(|(predicate, object, _)| match object {
                    Kept::Literal([Some(lexical), ..]) if predicate == POSITION => Some(lexical),
                    _ => None,
                });
                positions.push(stated.map(|lexical| position(lexical)).transpose()?);
            }
        }
        let owners: Vec<Option<&str>> = rows.iter().map(|(_, subject)| Some(*subject)).collect();
        let (keys, places) = match keys {
            Ends::Keys(keys) => {
                let numbers = if self.by_keys { numbers(&keys) } else { None };
                let places = positions.map(|positions| {
                    let key = |row: usize| numbers.as_ref().and_then(|numbers| numbers.get(row)).copied();
                    let places = positions.iter().enumerate().map(|(row, stated)| place(*stated, key(row)));
                    let (tiers, places): (Vec<u64>, Vec<u64>) =
                        places.map(|(is_stated, place)| (u64::from(is_stated), place)).unzip();
                    [tiers.into(), places.into()]
                });
                (Some(keys), places)
            }
            Ends::Rows(rows) => (None, Some([rows.clone(), rows])),
        };
        let batch = NodeBatch {
            ty: at,
            start: 0,
            numbers: None,
            rows: rows.len(),
            keys,
            labels: (ty.labels != LabelVocabulary::None).then(|| labels.finish()),
            properties: self.columns(at, &ty.properties, &owners)?,
        };
        Ok((batch, places))
    }

    /// Returns the keys of a node type from their texts, or rows if it has no key.
    fn keys(&self, ty: usize, texts: impl Iterator<Item = String>) -> Result<Ends> {
        let key = &self.names.graph.nodes[ty].key;
        let texts: Vec<Option<String>> = texts.map(Some).collect();
        if key.kind == KeyKind::Row {
            let rows: Result<Vec<u64>> = texts.iter().flatten().map(|key| row(key)).collect();
            return Ok(Ends::Rows(rows?.into()));
        }
        Ok(Ends::Keys(read(&key.data_type, &texts)?))
    }

    fn edges(&self, at: usize, found: &[Found<'_>]) -> Result<EdgeBatch> {
        let ty = &self.names.graph.edges[at];
        let owners: Vec<Option<&str>> = found.iter().map(|edge| edge.reifier).collect();
        let mut properties = self.columns(ty.source, &ty.properties, &owners)?;
        for (property, column) in ty.properties.iter().zip(&mut properties) {
            if property.name == well_known::GRAPH && property.kind == ValueKind::Term {
                *column = Some(Arc::new(found.iter().map(|edge| edge.graph).collect::<StringArray>()));
            }
        }
        let directed = |edge: &Found<'_>| {
            let said = edge.reifier.and_then(|reifier| self.said.get(reifier)).into_iter().flatten();
            !said.into_iter().any(|(predicate, _, _)| predicate == DIRECTED)
        };
        let directed = (ty.direction == Direction::PerRow)
            .then(|| found.iter().map(|edge| Some(directed(edge))).collect::<BooleanArray>());
        let keys = ty.key.as_ref().map(|key| {
            let text = |edge: &Found<'_>| edge.reifier?.rsplit_once(MARKS).and_then(|(_, key)| decoded(key));
            read(&key.data_type, &found.iter().map(text).collect::<Vec<_>>())
        });
        let relations = (ty.relation == Relation::PerRow).then(|| {
            let name = |edge: &Found<'_>| match self.names.is_term(ty.source) {
                true => edge.relation.to_string(),
                false => edge.relation.strip_prefix(&self.names.base).and_then(decoded).unwrap_or_default(),
            };
            let names: BTreeSet<String> = found.iter().map(name).collect();
            let names: Vec<String> = names.into_iter().collect();
            // Each name is contained in the names.
            let at = |edge: &Found<'_>| names.binary_search(&name(edge)).ok().and_then(|at| u32::try_from(at).ok());
            let index = found.iter().map(at).collect::<Option<Vec<_>>>();
            let index = index.ok_or_else(|| Error::unsupported("more than 4294967295 relations in one edge type"))?;
            Ok::<_, Error>(Relations { index: UInt32Array::from(index), names: StringArray::from(names) })
        });
        Ok(EdgeBatch {
            ty: at,
            rows: found.len(),
            relations: relations.transpose()?,
            source: self.keys(ty.source, found.iter().map(|edge| edge.source.clone()))?,
            target: self.keys(ty.target, found.iter().map(|edge| edge.target.clone()))?,
            layers: None,
            directed,
            keys: keys.transpose()?,
            properties,
        })
    }

    fn values(&self, at: usize) -> Result<Option<Batch>> {
        let table = &self.names.graph.values[at];
        let Owner::Nodes(ty) = table.owner else { return Err(Error::unsupported("values of edges are not supported")) };
        let predicate = self.names.predicate(ty, &table.property.name);
        let (mut owners, mut objects, mut graphs) = (Vec::new(), Vec::new(), Vec::new());
        for (subject, said) in &self.said {
            let Some((_, key)) = self.names.node(subject).filter(|(of, _)| *of == ty) else { continue };
            for (_, object, graph) in said.iter().filter(|(said, _, _)| *said == predicate) {
                owners.push(key.clone());
                objects.push(vec![object]);
                graphs.push(graph.as_deref());
            }
        }
        if owners.is_empty() {
            return Ok(None);
        }
        let graphs: ArrayRef = Arc::new(graphs.into_iter().collect::<StringArray>());
        Ok(Some(Batch::Values(ValueBatch {
            table: at,
            owner: self.keys(ty, owners.into_iter())?,
            values: column(&table.property, &objects)?,
            qualifiers: table.qualifiers.iter().map(|_| Some(Arc::clone(&graphs))).collect(),
        })))
    }

    /// Returns the property columns of elements; `owners` are the terms with the values, if any.
    fn columns(&self, ty: usize, properties: &[Property], owners: &[Option<&str>]) -> Result<Columns> {
        let own = properties.iter().filter(|property| property.kind != ValueKind::Bag);
        let own: BTreeSet<String> = own.map(|property| self.names.predicate(ty, &property.name)).collect();
        let said = |owner: &Option<&str>| owner.and_then(|owner| self.said.get(owner)).map_or(&[][..], Vec::as_slice);
        properties
            .iter()
            .map(|property| {
                if property.kind == ValueKind::Bag {
                    let bags = owners.iter().map(|owner| self.bag(said(owner), &own));
                    return Ok(Some(Arc::new(bags.collect::<StringArray>()) as ArrayRef));
                }
                let predicate = self.names.predicate(ty, &property.name);
                let of =
                    |owner| said(owner).iter().filter(|(said, _, _)| *said == predicate).map(|(_, object, _)| object);
                let objects: Vec<Vec<&Kept>> = owners.iter().map(|owner| of(owner).collect()).collect();
                column(property, &objects).map(Some)
            })
            .collect()
    }

    /// Returns everything without a separate column, as an object.
    fn bag(&self, said: &[Said], own: &BTreeSet<String>) -> Option<String> {
        let mut bag = String::new();
        for (predicate, object, _) in
            said.iter().filter(|(said, _, _)| said != DIRECTED && said != POSITION && !own.contains(said))
        {
            let name = predicate.strip_suffix(MEMBER).and_then(|name| name.strip_suffix(MARKS));
            let name = name.unwrap_or(predicate).strip_prefix(&self.names.base);
            if let (Some(name), Kept::Literal([Some(lexical), datatype, ..])) = (name.and_then(decoded), object) {
                bag.push(if bag.is_empty() { '{' } else { ',' });
                push_string(&mut bag, &name);
                bag.push(':');
                bag.push_str(&to_json(lexical, datatype.as_deref().unwrap_or_default()));
            }
        }
        (!bag.is_empty()).then(|| bag + "}")
    }
}

/// Returns the row that a key represents, for node types without keys.
pub(super) fn row(key: &str) -> Result<u64> {
    // Only one spelling is valid, so that no two nodes are the same row.
    let row = key.parse::<u64>().ok().filter(|row| row.to_string() == key);
    row.ok_or_else(|| Error::malformed(format!("{key:?} is not a value of type UInt64")))
}

/// Parses a position.
pub(super) fn position(lexical: &str) -> Result<u64> {
    lexical.parse().map_err(|_| Error::malformed(format!("{lexical:?} is not a node position")))
}

/// Returns a hash that identifies a triple in a graph.
fn triple_id(subject: &str, predicate: &str, object: &str, graph: Option<&str>) -> u128 {
    let mut hasher = Xxh3::new();
    for text in [Some(subject), Some(predicate), Some(object), graph].into_iter().flatten() {
        hasher.update(text.as_bytes());
        // No term contains this byte.
        hasher.update(b"\n");
    }
    hasher.digest128()
}

/// Returns the column of a property whose owners have these objects.
fn column(property: &Property, objects: &[Vec<&Kept>]) -> Result<ArrayRef> {
    let lexical = |object: &Kept| match object {
        Kept::Term(term) => term.clone(),
        Kept::Literal([lexical, ..]) => lexical.clone().unwrap_or_default(),
    };
    let field = |at: usize| {
        objects.iter().map(move |objects| match objects.first() {
            Some(Kept::Literal(parts)) => parts.get(at).cloned().flatten(),
            _ => None,
        })
    };
    let texts: Vec<Option<String>> = match (&property.kind, property.cardinality) {
        (ValueKind::Json, _) => objects
            .iter()
            .map(|objects| match objects.first() {
                Some(Kept::Literal([Some(lexical), datatype, ..])) => {
                    Some(to_json(lexical, datatype.as_deref().unwrap_or_default()))
                }
                _ => None,
            })
            .collect(),
        (ValueKind::Literal { datatype: None }, _) if property.data_type.is_nested() => {
            let names = ["value", "datatype", "language", "direction"];
            let fields = names.iter().enumerate().map(|(at, name)| {
                let column: ArrayRef = Arc::new(field(at).collect::<StringArray>());
                (Arc::new(Field::new(*name, DataType::Utf8, true)), column)
            });
            return Ok(Arc::new(StructArray::from(fields.collect::<Vec<_>>())));
        }
        (ValueKind::Plain, Cardinality::Set) => objects
            .iter()
            .map(|objects| match objects.as_slice() {
                [] => None,
                [Kept::Literal([Some(whole), Some(datatype), ..])] if datatype == RDF_JSON => Some(whole.clone()),
                several => {
                    let mut list = String::new();
                    for object in several {
                        list.push(if list.is_empty() { '[' } else { ',' });
                        push_string(&mut list, &lexical(object));
                    }
                    Some(list + "]")
                }
            })
            .collect(),
        _ => {
            let else_said = unsaid(property).map(str::to_owned);
            let said = |objects: &Vec<&Kept>| objects.first().map(|object| lexical(object));
            objects.iter().map(|objects| said(objects).or_else(|| else_said.clone())).collect()
        }
    };
    read(&property.data_type, &texts)
}
