//! Reads information files.

use std::collections::HashSet;

use bytes::Bytes;
use isomorph_error::{Error, Findings, Kind, Place, Result};
use isomorph_model::Cardinality;
use isomorph_storage::check_relative;

use super::{
    AdjList, AdjListType, EdgeInfo, FileType, GraphInfo, PropertyGroup, PropertyInfo, ValueType, Version, VertexInfo,
};
use crate::rules;
use crate::yml::{Fields, parse};

/// Opens an information file by its name relative to the graph file; returns `None` if it does not exist.
pub type Files<'a> = &'a dyn Fn(&str) -> Result<Option<Bytes>>;

impl GraphInfo {
    /// Reads the graph file `name` and, through `files`, every file that it names.
    ///
    /// # Errors
    /// Returns an error if a file is missing, is not YAML, or lacks a required key. Other problems are added to `findings`; see also
    /// [`GraphInfo::check`].
    pub fn read(name: &str, bytes: &[u8], files: Files<'_>, findings: &mut Findings) -> Result<GraphInfo> {
        let map = parse(name, bytes, findings)?;
        let mut fields = Fields::new(name, map, findings);
        let mut graph = GraphInfo {
            name: fields.text("name")?.map(|(text, _)| text).filter(|text| !text.is_empty()),
            prefix: fields.text("prefix")?.map(|(text, _)| text).filter(|text| !text.trim().is_empty()),
            version: version(&mut fields)?,
            labels: fields.texts("labels")?,
            extra_info: extra_info(&mut fields)?,
            ..GraphInfo::default()
        };
        let vertices = fields.texts("vertices")?;
        let edges = fields.texts("edges")?;
        graph.unknown = fields.rest();
        for reference in vertices {
            let (file, bytes) = locate(name, &reference, files, findings)?;
            graph.vertices.push(VertexInfo::read(&file, &bytes, findings)?);
        }
        for reference in edges {
            let (file, bytes) = locate(name, &reference, files, findings)?;
            graph.edges.push(EdgeInfo::read(&file, &bytes, findings)?);
        }
        Ok(graph)
    }
}

/// Finds a referenced file: by its name, with the other extension (the C++ library writes `.yaml` for files that it
/// saved as `.yml`), or, for an absolute reference of another host, next to the graph file.
fn locate(graph: &str, reference: &str, files: Files<'_>, findings: &mut Findings) -> Result<(String, Bytes)> {
    let relative = reference.trim_start_matches("./");
    let escape = check_relative(relative).err();
    if reference.split(['/', '\\']).any(|part| part == "..") {
        return Err(escape.unwrap_or_else(|| Error::malformed("the file name leads out of its directory")).at(graph));
    }
    let last = reference.rsplit(['/', '\\']).next().unwrap_or_default();
    let mut candidates = Vec::new();
    for name in [relative, last] {
        candidates.push(name.to_owned());
        if let Some(stem) = name.strip_suffix(".yaml") {
            candidates.push(format!("{stem}.yml"));
        } else if let Some(stem) = name.strip_suffix(".yml") {
            candidates.push(format!("{stem}.yaml"));
        }
    }
    for name in candidates {
        if check_relative(&name).is_err() {
            continue;
        }
        if let Some(bytes) = files(&name)? {
            if name != reference {
                findings.push(&rules::META_FILE_NAME, format!("{reference} is read from {name}"), graph);
            }
            return Ok((name, bytes));
        }
    }
    let missing = Error::broken(&rules::FILE_MISSING, format!("a file named in {graph} is missing"));
    Err(escape.unwrap_or_else(|| missing.of_kind(Kind::Incomplete)).at(reference))
}

fn version(fields: &mut Fields<'_>) -> Result<Option<Version>> {
    Ok(fields.text("version")?.map(|(text, _)| Version::parse(&text)))
}

/// Reads `extra_info`. If a key is repeated, the first value counts, as in the published library.
fn extra_info(fields: &mut Fields<'_>) -> Result<Vec<(String, String)>> {
    let mut seen = HashSet::new();
    let pairs = fields.each("extra_info", |mut pair| {
        let (key, line) = pair.required("key")?;
        let value = pair.text("value")?.map(|(text, _)| text).unwrap_or_default();
        let is_new = seen.insert(key.clone());
        if !is_new {
            let place = pair.place("key", line);
            pair.find_at(&rules::META_EXTRA_TWICE, format!("repeated key {key}: {value:?} is ignored"), place);
        }
        pair.pass_over_rest();
        Ok(is_new.then_some((key, value)))
    })?;
    Ok(pairs.into_iter().flatten().collect())
}

/// Reads a key in its current spelling, or in that of 2023 and 2024.
fn either(fields: &mut Fields<'_>, key: &str, legacy: &str) -> Result<String> {
    if !fields.has(key) && fields.has(legacy) {
        fields.find(&rules::META_LEGACY_KEYS, format!("{legacy} is read as {key}"), legacy);
        return Ok(fields.required(legacy)?.0);
    }
    Ok(fields.required(key)?.0)
}

impl VertexInfo {
    fn read(file: &str, bytes: &[u8], findings: &mut Findings) -> Result<Self> {
        let map = parse(file, bytes, findings)?;
        let mut fields = Fields::new(file, map, findings);
        let ty = either(&mut fields, "type", "label")?;
        Ok(VertexInfo {
            file: file.to_owned(),
            chunk_size: fields.chunk_size("chunk_size")?,
            prefix: prefix(&mut fields, || format!("{ty}/"))?,
            labels: fields.texts("labels")?,
            groups: fields.each("property_groups", group)?,
            version: version(&mut fields)?,
            unknown: fields.rest(),
            ty,
        })
    }
}

impl EdgeInfo {
    fn read(file: &str, bytes: &[u8], findings: &mut Findings) -> Result<Self> {
        let map = parse(file, bytes, findings)?;
        let mut fields = Fields::new(file, map, findings);
        let source = either(&mut fields, "src_type", "src_label")?;
        let relation = either(&mut fields, "edge_type", "edge_label")?;
        let target = either(&mut fields, "dst_type", "dst_label")?;
        let directed = fields.flag("directed")?;
        if directed.is_none() {
            fields.find(&rules::META_DIRECTED, "not stated; read as undirected", "directed");
        }
        let mut nested = Vec::new();
        let lists = fields.each("adj_lists", |fields| adj_list(fields, &mut nested))?;
        let mut groups = fields.each("property_groups", group)?;
        if !nested.is_empty() {
            let message = if groups.is_empty() { "used, because there are no others" } else { "ignored" };
            fields.find(&rules::META_NESTED_GROUPS, message, "adj_lists");
        }
        if groups.is_empty() {
            groups = nested.into_iter().next().unwrap_or_default();
        }
        Ok(EdgeInfo {
            file: file.to_owned(),
            chunk_size: fields.chunk_size("chunk_size")?,
            source_chunk_size: fields.chunk_size("src_chunk_size")?,
            target_chunk_size: fields.chunk_size("dst_chunk_size")?,
            directed,
            prefix: prefix(&mut fields, || format!("{source}_{relation}_{target}/"))?,
            lists,
            groups,
            version: version(&mut fields)?,
            unknown: fields.rest(),
            source,
            relation,
            target,
        })
    }
}

fn prefix(fields: &mut Fields<'_>, default: impl FnOnce() -> String) -> Result<String> {
    let Some((text, line)) = fields.text("prefix")? else { return Ok(default()) };
    let text = text.trim();
    if text.is_empty() {
        return Ok(default());
    }
    if !text.ends_with('/') {
        let place = fields.place("prefix", line);
        fields.find_at(&rules::META_PREFIX_SLASH, format!("{text} is read as {text}/"), place);
    }
    Ok(text.to_owned())
}

fn adj_list(mut fields: Fields<'_>, nested: &mut Vec<Vec<PropertyGroup>>) -> Result<AdjList> {
    let ordered = fields.flag("ordered")?.unwrap_or(false);
    let (aligned, line) = fields.required("aligned_by")?;
    let by_source = match aligned.as_str() {
        "src" => true,
        "dst" => false,
        other => {
            let place = fields.place("aligned_by", line);
            return Err(Error::broken(&rules::META_ALIGNED, format!("expected src or dst, found {other:?}")).at(place));
        }
    };
    let kind = AdjListType::new(ordered, by_source);
    let list = AdjList {
        kind,
        prefix: prefix(&mut fields, || format!("{}/", kind.word()))?,
        file_type: file_type(&mut fields)?,
    };
    let groups = fields.each("property_groups", group)?;
    if !groups.is_empty() {
        nested.push(groups);
    }
    fields.pass_over_rest();
    Ok(list)
}

fn file_type(fields: &mut Fields<'_>) -> Result<FileType> {
    let (word, line) = fields.required("file_type")?;
    FileType::from_word(&word).ok_or_else(|| {
        Error::broken(&rules::META_FILE_TYPE, format!("unknown file type {word:?}")).at(fields.place("file_type", line))
    })
}

fn group(mut fields: Fields<'_>) -> Result<PropertyGroup> {
    let properties = fields.each("properties", property)?;
    let group = PropertyGroup {
        prefix: prefix(&mut fields, || PropertyGroup::default_prefix(&properties))?,
        file_type: file_type(&mut fields)?,
        properties,
    };
    if group.properties.is_empty() {
        fields.find(&rules::META_GROUP_EMPTY, "a property group without properties", "properties");
    }
    fields.pass_over_rest();
    Ok(group)
}

fn property(mut fields: Fields<'_>) -> Result<PropertyInfo> {
    let (name, _) = fields.required("name")?;
    let (token, line) = fields.required("data_type")?;
    let value_type = ValueType::from_token(&token);
    if let ValueType::Other(_) | ValueType::AnyList = value_type {
        let message = match value_type {
            ValueType::AnyList => format!("{name} is a list without item type; the type is taken from the chunks"),
            _ => format!("{name} has the type {token}, which is not built in"),
        };
        let place = fields.place("data_type", line);
        fields.find_at(&rules::META_TYPE, message, place);
    }
    let primary = fields.flag("is_primary")?.unwrap_or(false);
    let nullable = fields.flag("is_nullable")?.unwrap_or(true) && !primary;
    let cardinality = match fields.text("cardinality")? {
        None => Cardinality::Single,
        Some((word, line)) => cardinality(&word).ok_or_else(|| {
            let place: Place = fields.place("cardinality", line);
            Error::broken(&rules::META_CARDINALITY, format!("unknown cardinality {word:?}")).at(place)
        })?,
    };
    fields.pass_over_rest();
    Ok(PropertyInfo { name, value_type, primary, nullable, cardinality })
}

fn cardinality(word: &str) -> Option<Cardinality> {
    match word {
        "single" => Some(Cardinality::Single),
        "list" => Some(Cardinality::List),
        "set" => Some(Cardinality::Set),
        _ => None,
    }
}
