//! Plans the information files from a graph's description and the options.

use std::collections::HashSet;

use isomorph_error::{Error, Findings, Kind, Place, Result};
use isomorph_model::schema::DocumentBody;
use isomorph_model::{Direction, Document, EdgeType, Graph, KeyKind, LabelVocabulary, NodeType, Property};

use super::WriteOptions;
use super::groups::groups;
use super::names::{check_name, file_part};
use super::options::{EDGE_CHUNK, MAX_VERTEX_CHUNK, VERTEX_CHUNK};
use super::sink::graph_file;
use super::types::{key_property, property as checked_property};
use crate::hints::{EXTRA_INFO, Hints, TypeHint, VERSION, edge_key};
use crate::info::{
    AdjList, AdjListType, EdgeInfo, FileType, GraphInfo, PropertyInfo, Unknown, ValueType, Version, VertexInfo,
};
use crate::rules;
use crate::yml::{check_text, is_written_again};

/// Returns the information files of `graph` for these options.
///
/// # Errors
/// Returns [`Kind::WouldLose`] for what GraphAr cannot store, [`Kind::Usage`] for invalid options, and rules of the
/// information files that a name would violate.
pub(super) fn plan(graph: &Graph, options: &WriteOptions) -> Result<GraphInfo> {
    refuse(graph)?;
    let mut hints = Hints::read(graph);
    if !options.hints {
        hints.forget_layout();
    }
    let planner = Planner { options, version: version(graph, options) };
    let mut info = GraphInfo {
        name: options.name.clone().or_else(|| graph.name.clone()),
        prefix: None,
        version: Some(planner.version.clone()),
        labels: hints.labels.clone(),
        extra_info: extra_info(graph)?,
        unknown: known_again(&hints.unknown),
        ..GraphInfo::default()
    };
    if let Some(name) = &info.name {
        file_part("graph", name)?;
    }
    for ty in &graph.nodes {
        let hint = hints.vertices.get(&ty.name).cloned().unwrap_or_default();
        info.vertices.push(planner.vertex(ty, &hint)?);
    }
    for ty in &graph.edges {
        let (source, relation, target) = graph.edge_name(ty);
        let hint = hints.edges.get(&edge_key(&source, &relation, &target)).cloned().unwrap_or_default();
        info.edges.push(planner.edge(graph, ty, &info.vertices, &hint)?);
    }
    distinct(&info)?;
    sound(&info)?;
    Ok(info)
}

fn would_lose(what: impl Into<String>) -> Error {
    Error::new(Kind::WouldLose, what)
}

/// Rejects what GraphAr cannot store at all; a conversion maps it to something else before writing.
fn refuse(graph: &Graph) -> Result<()> {
    if let Some(ty) = graph.hyperedges.first() {
        return Err(would_lose(format!("GraphAr has no hyperedges: {}", ty.name)));
    }
    if let Some(table) = graph.values.first() {
        return Err(would_lose(format!("GraphAr has no qualified values: {}", table.property.name)));
    }
    if let Some(groups) = graph.groups.first() {
        return Err(would_lose(format!("GraphAr has no groups of elements: {}", groups.kind)));
    }
    match graph.documents.iter().find(|document| document.name != EXTRA_INFO) {
        Some(document) => Err(would_lose(format!("GraphAr has no documents: {}", document.name))),
        None => Ok(()),
    }
}

fn extra_info(graph: &Graph) -> Result<Vec<(String, String)>> {
    let pairs: Vec<Vec<(String, String)>> = graph.documents.iter().map(extra_info_of).collect::<Result<_>>()?;
    Ok(pairs.into_iter().flatten().collect())
}

/// Returns the texts of a document, which must be an object of texts.
///
/// # Errors
/// Returns [`Kind::WouldLose`] if it is something else, or if a text cannot be written to an information file.
pub(super) fn extra_info_of(document: &Document) -> Result<Vec<(String, String)>> {
    let refused = || would_lose("extra_info must be an object of texts").at(Place::field(EXTRA_INFO));
    let DocumentBody::Json(text) = &document.body else { return Err(refused()) };
    let value: serde_json::Value = serde_json::from_str(text).map_err(|error| refused().caused_by(error))?;
    let mut pairs = Vec::new();
    for (key, value) in value.as_object().ok_or_else(refused)? {
        pairs.push((key.clone(), value.as_str().ok_or_else(refused)?.to_owned()));
    }
    for text in pairs.iter().flat_map(|(key, value)| [key, value]) {
        check_text(text).map_err(|error| error.of_kind(Kind::WouldLose).at(Place::field(EXTRA_INFO)))?;
    }
    Ok(pairs)
}

/// Returns the unknown keys of the source that can be written again.
fn known_again(unknown: &Unknown) -> Unknown {
    unknown.iter().filter(|(key, text)| is_written_again(key, text)).cloned().collect()
}

/// Returns the version to state: the requested one or, with hints, that of the graph's own files.
fn version(graph: &Graph, options: &WriteOptions) -> Version {
    let own = graph.metadata.get(VERSION).map(|text| Version::parse(text));
    own.filter(|own| options.hints && own.is_known()).unwrap_or_else(|| options.version.clone())
}

/// The inputs for planning every type.
struct Planner<'a> {
    options: &'a WriteOptions,
    version: Version,
}

impl Planner<'_> {
    fn vertex(&self, ty: &NodeType, hint: &TypeHint) -> Result<VertexInfo> {
        let options = self.options;
        let name = file_part("vertex type", &ty.name)?;
        let hinted = (hint.chunk_size > 0).then_some(hint.chunk_size);
        let chunk_size = options.vertex_chunk.or(hinted).unwrap_or(VERTEX_CHUNK);
        if !(1..=MAX_VERTEX_CHUNK).contains(&chunk_size) {
            return Err(Error::usage(format!("vertex chunk size {chunk_size}")).hint("from 1 to 67,108,864 vertices"));
        }
        let labels = match &ty.labels {
            _ if !options.label_files => Vec::new(),
            LabelVocabulary::None => Vec::new(),
            LabelVocabulary::Declared(labels) => labels.clone(),
            LabelVocabulary::Open => {
                let message = format!("the labels of {} must be declared before rows are written", ty.name);
                return Err(Error::usage(message));
            }
        };
        for label in &labels {
            check_name("label", label)?;
        }
        let mut properties: Vec<_> = key_property(ty)?.into_iter().collect();
        for one in &ty.properties {
            properties.push(self.property(one, false, &ty.name)?);
        }
        if ty.key.kind == KeyKind::Row {
            primaries_again(&mut properties, ty);
        }
        let taken = if labels.is_empty() { &["vertex_count"][..] } else { &["vertex_count", "labels"] };
        Ok(VertexInfo {
            file: format!("{name}.vertex.yml"),
            ty: ty.name.clone(),
            chunk_size,
            prefix: format!("vertex/{name}/"),
            labels,
            groups: groups(properties, options, hint, taken, false)?,
            version: Some(self.version.clone()),
            unknown: known_again(&hint.unknown),
        })
    }

    fn edge(&self, graph: &Graph, ty: &EdgeType, vertices: &[VertexInfo], hint: &TypeHint) -> Result<EdgeInfo> {
        let options = self.options;
        let (source, relation, target) = graph.edge_name(ty);
        let shown = format!("{source} -{relation}- {target}");
        let lost = |what: &str| Err(would_lose(format!("{shown}: {what}")));
        if ty.relation.fixed().is_none() {
            return lost("GraphAr has one relation for each edge type");
        }
        if ty.key.is_some() {
            return lost("GraphAr edges have no keys");
        }
        if ty.layered {
            return lost("GraphAr has no layers");
        }
        let directed = match ty.direction {
            Direction::Directed => true,
            Direction::Undirected => false,
            Direction::PerRow => return lost("GraphAr has one direction for each edge type"),
        };
        let name = edge_key(&source, &relation, &target);
        file_part("edge type", &name)?;
        check_name("edge type", &relation)?;
        let size = |ty: usize| vertices.get(ty).map(|vertex| vertex.chunk_size);
        let (Some(source_chunk_size), Some(target_chunk_size)) = (size(ty.source), size(ty.target)) else {
            return Err(Error::broken(&rules::META_ENDS, format!("{shown} has ends of unknown types")));
        };
        let hinted = (hint.chunk_size > 0).then_some(hint.chunk_size);
        let chunk_size = options.edge_chunk.or(hinted).unwrap_or(EDGE_CHUNK);
        if !(1..=1 << 40).contains(&chunk_size) {
            return Err(Error::usage(format!("edge chunk size {chunk_size}")).hint("from 1 to 2^40 edges"));
        }
        let mut properties = Vec::new();
        for one in &ty.properties {
            properties.push(self.property(one, true, &name)?);
        }
        Ok(EdgeInfo {
            file: format!("{name}.edge.yml"),
            source,
            relation,
            target,
            chunk_size,
            source_chunk_size,
            target_chunk_size,
            // A direction that was not stated stays unstated.
            directed: (directed || hint.directed || hint.chunk_size == 0).then_some(directed),
            prefix: format!("edge/{name}/"),
            lists: lists(options, hint)?,
            groups: groups(properties, options, hint, &["adj_list", "offset", "vertex_count", "edge_count"], true)?,
            version: Some(self.version.clone()),
            unknown: known_again(&hint.unknown),
        })
    }

    /// Returns the entry for a property. With hints, text of a user-defined type gets its type back.
    fn property(&self, property: &Property, of_edge: bool, of: &str) -> Result<PropertyInfo> {
        let mut info = checked_property(property, of_edge)
            .map_err(|error| error.at(Place::field(format!("{of}.{}", property.name))))?;
        let declared = property.declared.get("type").map(|token| ValueType::from_token(token));
        if let Some(other @ ValueType::Other(_)) = declared
            && self.options.hints
            && info.value_type == ValueType::String
        {
            info.value_type = other;
        }
        Ok(info)
    }
}

/// Declares the primary properties of a type whose rows are its keys as primary again, unless that would make one of
/// them the key.
fn primaries_again(properties: &mut [PropertyInfo], ty: &NodeType) {
    let was_primary = |info: &PropertyInfo| {
        let own = ty.properties.iter().find(|property| property.name == info.name);
        own.is_some_and(|property| property.declared.get("primary").is_some_and(|value| value == "true"))
    };
    let primary: Vec<usize> = (0..properties.len()).filter(|at| was_primary(&properties[*at])).collect();
    if let [only] = primary[..]
        && properties[only].can_be_key()
    {
        return;
    }
    for at in primary {
        properties[at].primary = true;
        properties[at].nullable = false;
    }
}

fn lists(options: &WriteOptions, hint: &TypeHint) -> Result<Vec<AdjList>> {
    let hinted: Vec<AdjListType> = hint.lists.iter().filter_map(|word| AdjListType::from_word(word)).collect();
    let both = vec![AdjListType::OrderedBySource, AdjListType::OrderedByDest];
    let hinted = if hinted.is_empty() { both } else { hinted };
    let mut kinds = options.adjacency.clone().unwrap_or(hinted);
    let mut seen = HashSet::new();
    kinds.retain(|kind| seen.insert(*kind));
    if kinds.is_empty() {
        return Err(Error::usage("an edge type needs an adjacency list").hint("--adjacency ordered_by_source"));
    }
    let hinted = hint.groups.first().and_then(|(word, _)| FileType::from_word(word));
    let file_type = options.file_type.or(hinted).unwrap_or(FileType::Parquet);
    let list = |kind: AdjListType| AdjList { kind, prefix: format!("{}/", kind.word()), file_type };
    Ok(kinds.into_iter().map(list).collect())
}

/// Rejects types whose files would be the same.
fn distinct(info: &GraphInfo) -> Result<()> {
    let mut files = HashSet::new();
    let names = info.vertices.iter().map(|vertex| &vertex.file).chain(info.edges.iter().map(|edge| &edge.file));
    for file in names {
        if !files.insert(file) {
            let message = "two types would have the same information file";
            return Err(Error::broken(&rules::META_DUPLICATE, message).at(Place::file(file)));
        }
    }
    Ok(())
}

/// Rejects information files that violate a rule.
fn sound(info: &GraphInfo) -> Result<()> {
    let mut findings = Findings::default();
    info.check(&graph_file(info), &mut findings);
    crate::info::refuse(&findings)
}
