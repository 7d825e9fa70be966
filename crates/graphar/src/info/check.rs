//! Checks of the information files that do not need the data.

use std::collections::{HashMap, HashSet};

use isomorph_error::{Error, Findings, Place, Result, Severity};
use isomorph_model::Cardinality;

use super::{EdgeInfo, FileType, GraphInfo, PropertyGroup, PropertyInfo, Version, VertexInfo};
use crate::layout::directory;
use crate::rules;

/// The largest vertex chunk whose offsets the published library reads completely.
pub(crate) const REFERENCE_VERTEX_CHUNK: u64 = 131_071;

/// Turns the first finding of severity error into an error.
///
/// # Errors
/// Returns that error, if there is one.
pub(crate) fn refuse(findings: &Findings) -> Result<()> {
    let worst = findings.by_rule().filter_map(|(_, kept)| kept.first());
    match worst.into_iter().find(|finding| finding.rule.severity == Severity::Error) {
        Some(finding) => Err(Error::broken(finding.rule, finding.message.clone()).at(finding.place.clone())),
        None => Ok(()),
    }
}

impl GraphInfo {
    /// Adds every violation of a metadata rule to `findings`, without looking at the data. `graph_file`
    /// is the name of the graph file.
    pub fn check(&self, graph_file: &str, findings: &mut Findings) {
        version(self.version.as_ref(), graph_file, findings);
        let mut types = HashSet::new();
        for vertex in &self.vertices {
            vertex.check(findings);
            if !types.insert(&vertex.ty) {
                findings.push(&rules::META_DUPLICATE, format!("{} is declared twice", vertex.ty), vertex.file.as_str());
            }
        }
        let mut triples = HashSet::new();
        for edge in &self.edges {
            edge.check(findings);
            if !triples.insert((&edge.source, &edge.relation, &edge.target)) {
                findings.push(&rules::META_DUPLICATE, format!("{} is declared twice", edge.name()), edge.file.as_str());
            }
            let ends = [("src", &edge.source, edge.source_chunk_size), ("dst", &edge.target, edge.target_chunk_size)];
            for (end, ty, size) in ends {
                let place = || Place::file(&edge.file);
                match self.vertex(ty) {
                    None => {
                        let place = place().in_field(format!("{end}_type"));
                        findings.push(&rules::META_ENDS, format!("vertex type {ty} not found"), place);
                    }
                    Some(vertex) if vertex.chunk_size != size => {
                        let message = format!("chunk size is {size}, but {} in {}", vertex.chunk_size, vertex.file);
                        let place = place().in_field(format!("{end}_chunk_size"));
                        findings.push(&rules::META_CHUNK_SIZE, message, place);
                    }
                    Some(_) => {}
                }
            }
        }
    }
}

impl VertexInfo {
    fn check(&self, findings: &mut Findings) {
        let file = self.file.as_str();
        version(self.version.as_ref(), file, findings);
        if self.chunk_size > REFERENCE_VERTEX_CHUNK {
            let place = Place::file(file).in_field("chunk_size");
            findings.push(&rules::META_CHUNK_LARGE, format!("chunk size is {} vertices", self.chunk_size), place);
        }
        groups(&self.groups, file, findings);
        let labels = (!self.labels.is_empty()).then_some("labels");
        directories(&self.groups, labels.into_iter(), file, findings);
        names(self.labels.iter().map(String::as_str), file, findings);
        if self.key().is_none() {
            let message = match self.properties().filter(|property| property.primary).count() {
                0 => "no primary property".to_owned(),
                1 => "the primary property is neither an integer nor a string".to_owned(),
                several => format!("{several} primary properties"),
            };
            findings.push(&rules::META_KEY_ROW, message, file);
        }
    }
}

impl EdgeInfo {
    fn check(&self, findings: &mut Findings) {
        let file = self.file.as_str();
        version(self.version.as_ref(), file, findings);
        groups(&self.groups, file, findings);
        directories(&self.groups, ["adj_list", "offset"].into_iter(), file, findings);
        if self.lists.is_empty() {
            findings.push(&rules::META_LIST_NONE, format!("{} has no adjacency list", self.name()), file);
        }
        let mut kinds = HashSet::new();
        let mut places = HashMap::new();
        for list in &self.lists {
            if !kinds.insert(list.kind) {
                findings.push(&rules::META_LIST_TWICE, list.kind.word(), file);
            // A prefix that leaves the root is reported when the list is opened.
            } else if let Ok(place) = directory(&list.prefix)
                && let Some(other) = places.insert(place, list.kind)
            {
                let message = format!("{other} and {} share the prefix {}", list.kind, list.prefix);
                findings.push(&rules::META_PREFIX_SHARED, message, file);
            }
            if list.file_type == FileType::Json {
                findings.push(&rules::META_JSON, list.kind.word(), file);
            }
        }
        for property in self.properties() {
            if property.cardinality != Cardinality::Single {
                let place = Place::file(file).in_field(&property.name);
                findings.push(&rules::META_CARDINALITY, "an edge property must have a single value", place);
            }
        }
    }
}

fn version(version: Option<&Version>, file: &str, findings: &mut Findings) {
    if let Some(version) = version.filter(|version| !version.is_known()) {
        let place = Place::file(file).in_field("version");
        findings.push(&rules::META_VERSION, format!("{:?}", version.text), place);
    }
}

fn groups(groups: &[PropertyGroup], file: &str, findings: &mut Findings) {
    let properties = || groups.iter().flat_map(|group| &group.properties);
    names(properties().map(|property| property.name.as_str()), file, findings);
    for group in groups {
        if group.file_type == FileType::Json {
            findings.push(&rules::META_JSON, group.prefix.as_str(), file);
        }
        for property in group.properties.iter().filter(|property| is_list_in_csv(group, property)) {
            let place = Place::file(file).in_field(&property.name);
            findings.push(&rules::META_LIST_IN_CSV, format!("{} is a list", property.name), place);
        }
    }
    for property in properties().filter(|property| property.name.starts_with("_graphAr")) {
        findings.push(&rules::META_RESERVED, property.name.as_str(), Place::file(file).in_field(&property.name));
    }
}

fn is_list_in_csv(group: &PropertyGroup, property: &PropertyInfo) -> bool {
    group.file_type == FileType::Csv && property.is_list()
}

fn names<'n>(names: impl Iterator<Item = &'n str>, file: &str, findings: &mut Findings) {
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert(name) {
            findings.push(&rules::META_PROPERTY_TWICE, format!("{name} is repeated"), Place::file(file).in_field(name));
        }
    }
}

fn directories<'d>(
    groups: &[PropertyGroup],
    taken: impl Iterator<Item = &'d str>,
    file: &str,
    findings: &mut Findings,
) {
    let mut seen: HashSet<String> = taken.map(str::to_owned).collect();
    for group in groups {
        // A prefix that leaves the root is reported when the first chunk is opened.
        let Ok(place) = directory(&group.prefix) else { continue };
        if !seen.insert(place) {
            findings.push(&rules::META_PREFIX_SHARED, format!("prefix {} is used twice", group.prefix), file);
        }
    }
}
