//! Quads as a property graph: the inverse of [`super::Quads`].

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, BooleanArray, StringArray, StructArray, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field};
use isomorph_error::{Error, Result};

use super::lexical::{read, to_json};
use super::{BASE, DIRECTED, MEMBER, Names, Object, Quad, RDF_JSON, RDF_REIFIES, RDF_TYPE, decoded};
use crate::batch::ValueBatch;
use crate::json::push_string;
use crate::label::LabelBuilder;
use crate::schema::Owner;
use crate::{
    Batch, Cardinality, Columns, EdgeBatch, Ends, Graph, KeyKind, LabelVocabulary, MemoryGraph, NodeBatch, Property,
    Relation, Relations, ValueKind, term, well_known,
};

/// An object that is kept.
#[derive(Debug, Clone)]
enum Kept {
    Term(String),
    /// Lexical form, datatype, language, direction.
    Literal([Option<String>; 4]),
}

/// Predicate, object, graph.
type Said = (String, Kept, Option<String>);

/// Collects quads, in any order, and gives the property graph of a known description that they say. Holds them all in
/// memory.
pub struct FromQuads<'g> {
    names: Names<'g>,
    said: BTreeMap<String, Vec<Said>>,
}

/// An edge: ends, relation, graph, and who reifies it.
struct Found<'a> {
    source: String,
    target: String,
    relation: &'a str,
    graph: Option<&'a str>,
    reifier: Option<&'a str>,
}

impl<'g> FromQuads<'g> {
    /// A graph as `graph` describes it, from quads whose IRIs are below `base`, or [`BASE`].
    pub fn new(graph: &'g Graph, base: Option<&str>) -> Self {
        let base = base.unwrap_or(BASE).to_owned();
        FromQuads { names: Names { graph, base }, said: BTreeMap::new() }
    }

    /// Takes a quad.
    pub fn take(&mut self, quad: Quad<'_>) {
        let owned = |text: &str| Some(text.to_owned());
        let object = match quad.object {
            Object::Term(term) => Kept::Term(term.to_owned()),
            Object::Literal { lexical, datatype, language, direction } => {
                Kept::Literal([owned(lexical), owned(datatype), language.and_then(owned), direction.and_then(owned)])
            }
        };
        let said = (quad.predicate.to_owned(), object, quad.graph.and_then(owned));
        self.said.entry(quad.subject.to_owned()).or_default().push(said);
    }

    /// The graph.
    ///
    /// # Errors
    /// When a literal is not of the type that the description declares.
    pub fn finish(self) -> Result<MemoryGraph> {
        let mut batches = Vec::new();
        for ty in 0..self.names.graph.nodes.len() {
            batches.extend(self.nodes(ty)?);
        }
        for ty in 0..self.names.graph.edges.len() {
            batches.extend(self.edges(ty)?);
        }
        for table in 0..self.names.graph.values.len() {
            batches.extend(self.values(table)?);
        }
        Ok(MemoryGraph { graph: self.names.graph.clone(), batches })
    }

    fn nodes(&self, at: usize) -> Result<Option<Batch>> {
        let ty = &self.names.graph.nodes[at];
        let class = self.names.below(&ty.name);
        let exists = |said: &[Said]| {
            said.iter().any(|(predicate, object, _)| {
                predicate == RDF_TYPE && matches!(object, Kept::Term(term) if *term == class)
            })
        };
        let mut rows: Vec<(String, &str, &Vec<Said>)> = Vec::new();
        for (subject, said) in &self.said {
            if let Some((_, key)) = self.names.node(subject).filter(|(of, _)| *of == at && exists(said)) {
                rows.push((key, subject, said));
            }
        }
        if rows.is_empty() {
            return Ok(None);
        }
        let mut keys = self.keys(at, rows.iter().map(|(key, _, _)| key.clone()))?;
        if let Ends::Rows(numbers) = &keys {
            let mut order: Vec<usize> = (0..rows.len()).collect();
            order.sort_by_key(|row| numbers.value(*row));
            rows = order.iter().map(|row| rows[*row].clone()).collect();
            keys = self.keys(at, rows.iter().map(|(key, _, _)| key.clone()))?;
        }
        let mut labels = LabelBuilder::default();
        for (_, _, said) in &rows {
            let classes = said.iter().filter_map(|(predicate, object, _)| match object {
                Kept::Term(term) if predicate == RDF_TYPE && *term != class => self.names.label_of(term),
                _ => None,
            });
            let classes: Vec<String> = classes.collect();
            labels.push(classes.iter().map(String::as_str));
        }
        let owners: Vec<Option<&str>> = rows.iter().map(|(_, subject, _)| Some(*subject)).collect();
        Ok(Some(Batch::Nodes(NodeBatch {
            ty: at,
            start: 0,
            rows: rows.len(),
            keys: if let Ends::Keys(keys) = keys { Some(keys) } else { None },
            labels: (ty.labels != LabelVocabulary::None).then(|| labels.finish()),
            properties: self.columns(at, &ty.properties, &owners)?,
        })))
    }

    /// Keys of a node type from their texts; rows where it has none.
    fn keys(&self, ty: usize, texts: impl Iterator<Item = String>) -> Result<Ends> {
        let key = &self.names.graph.nodes[ty].key;
        let texts: Vec<Option<String>> = texts.map(Some).collect();
        if key.kind == KeyKind::Row {
            let rows = read(&DataType::Int64, &texts)?;
            let rows = rows.as_primitive::<Int64Type>().values().iter().map(|row| *row as u64);
            return Ok(Ends::Rows(UInt64Array::from_iter_values(rows)));
        }
        Ok(Ends::Keys(read(&key.data_type, &texts)?))
    }

    fn edges(&self, at: usize) -> Result<Option<Batch>> {
        let ty = &self.names.graph.edges[at];
        let mut reifiers: HashMap<(&str, Option<&str>), Vec<&str>> = HashMap::new();
        for (subject, said) in &self.said {
            for (_, object, graph) in said.iter().filter(|(predicate, _, _)| predicate == RDF_REIFIES) {
                if let Kept::Term(triple) = object {
                    reifiers.entry((triple, graph.as_deref())).or_default().push(subject);
                }
            }
        }
        let fixed = ty.relation.fixed().map(|name| self.names.predicate(ty.source, name));
        let mut found: Vec<Found<'_>> = Vec::new();
        for (subject, said) in &self.said {
            let Some((_, source)) = self.names.node(subject).filter(|(of, _)| *of == ty.source) else { continue };
            for (predicate, object, graph) in said {
                let fits = fixed.as_ref().is_none_or(|fixed| fixed == predicate);
                let Kept::Term(object) = object else { continue };
                let target = self.names.node(object).filter(|(of, _)| *of == ty.target && fits);
                let Some((_, target)) = target else { continue };
                let triple =
                    term::triple(&term::ntriples(subject), &term::ntriples(predicate), &term::ntriples(object));
                let graph = graph.as_deref();
                // Terms may be reified by what is a resource itself: then the triple is still one edge.
                let own = reifiers.get(&(triple.as_str(), graph)).filter(|_| !self.names.is_term(ty.source));
                let own: Vec<Option<&str>> = own.map_or(vec![None], |all| all.iter().copied().map(Some).collect());
                found.extend(own.into_iter().map(|reifier| Found {
                    source: source.clone(),
                    target: target.clone(),
                    relation: predicate,
                    graph,
                    reifier,
                }));
            }
        }
        if found.is_empty() {
            return Ok(None);
        }
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
        let keys = ty.key.as_ref().map(|key| {
            let text = |edge: &Found<'_>| edge.reifier?.rsplit_once('#').and_then(|(_, key)| decoded(key));
            read(&key.data_type, &found.iter().map(text).collect::<Vec<_>>())
        });
        let relations = (ty.relation == Relation::PerRow).then(|| {
            let name = |edge: &Found<'_>| match self.names.is_term(ty.source) {
                true => edge.relation.to_owned(),
                false => edge.relation.strip_prefix(&self.names.base).and_then(decoded).unwrap_or_default(),
            };
            let names: BTreeSet<String> = found.iter().map(name).collect();
            let names: Vec<String> = names.into_iter().collect();
            let index = found.iter().filter_map(|edge| names.binary_search(&name(edge)).ok()).map(|at| at as u32);
            Relations { index: UInt32Array::from_iter_values(index), names: StringArray::from(names.clone()) }
        });
        Ok(Some(Batch::Edges(EdgeBatch {
            ty: at,
            rows: found.len(),
            relations,
            source: self.keys(ty.source, found.iter().map(|edge| edge.source.clone()))?,
            target: self.keys(ty.target, found.iter().map(|edge| edge.target.clone()))?,
            layers: None,
            directed: Some(found.iter().map(|edge| Some(directed(edge))).collect::<BooleanArray>()),
            keys: keys.transpose()?,
            properties,
        })))
    }

    fn values(&self, at: usize) -> Result<Option<Batch>> {
        let table = &self.names.graph.values[at];
        let Owner::Nodes(ty) = table.owner else { return Err(Error::unsupported("values of edges as quads")) };
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

    /// Property columns of elements; the owner is who the values are said of, if anyone.
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

    /// What has no column of its own, as an object.
    fn bag(&self, said: &[Said], own: &BTreeSet<String>) -> Option<String> {
        let mut bag = String::new();
        for (predicate, object, _) in said.iter().filter(|(said, _, _)| said != DIRECTED && !own.contains(said)) {
            let name = predicate.strip_suffix(MEMBER).unwrap_or(predicate).strip_prefix(&self.names.base);
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

/// The column of a property whose owners have these objects.
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
        _ => objects.iter().map(|objects| objects.first().map(|object| lexical(object))).collect(),
    };
    read(&property.data_type, &texts)
}
