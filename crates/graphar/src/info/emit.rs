//! Writes information files, with the current keys and in the subset of YAML that every published reader understands.

use isomorph_error::{Error, Place, Result};
use isomorph_model::Cardinality;

use super::{AdjList, EdgeInfo, GraphInfo, PropertyGroup, PropertyInfo, Unknown, VertexInfo};
use crate::rules;
use crate::yml::{Emitter, check_text};

impl GraphInfo {
    /// Returns the text of the graph file. The files of its types must be in the same directory.
    ///
    /// # Errors
    /// Returns [`crate::rules::META_TEXT`] for a text that the format cannot represent.
    pub fn to_yml(&self) -> Result<String> {
        let mut out = Emitter::default();
        text(&mut out, "name", self.name.as_deref())?;
        text(&mut out, "prefix", self.prefix.as_deref())?;
        out.texts("vertices", self.vertices.iter().map(|vertex| vertex.file.as_str()))?;
        out.texts("edges", self.edges.iter().map(|edge| edge.file.as_str()))?;
        out.texts("labels", self.labels.iter().map(String::as_str))?;
        out.each("extra_info", &self.extra_info, |out, (key, value)| {
            out.text("key", key)?;
            out.text("value", value)
        })?;
        unknown(&mut out, &self.unknown)?;
        text(&mut out, "version", self.version.as_ref().map(|version| version.text.as_str()))?;
        Ok(out.finish())
    }
}

impl VertexInfo {
    /// Returns the text of the vertex file.
    ///
    /// # Errors
    /// As [`GraphInfo::to_yml`].
    pub fn to_yml(&self) -> Result<String> {
        let mut out = Emitter::default();
        let write = |out: &mut Emitter| {
            out.text("type", &self.ty)?;
            out.value("chunk_size", self.chunk_size);
            out.text("prefix", &self.prefix)?;
            out.texts("labels", self.labels.iter().map(String::as_str))?;
            out.each("property_groups", &self.groups, group)?;
            unknown(out, &self.unknown)?;
            text(out, "version", self.version.as_ref().map(|version| version.text.as_str()))
        };
        write(&mut out).map_err(|error| error.at(Place::file(&self.file)))?;
        Ok(out.finish())
    }
}

impl EdgeInfo {
    /// Returns the text of the edge file.
    ///
    /// # Errors
    /// As [`GraphInfo::to_yml`].
    pub fn to_yml(&self) -> Result<String> {
        let mut out = Emitter::default();
        let write = |out: &mut Emitter| {
            out.text("src_type", &self.source)?;
            out.text("edge_type", &self.relation)?;
            out.text("dst_type", &self.target)?;
            out.value("chunk_size", self.chunk_size);
            out.value("src_chunk_size", self.source_chunk_size);
            out.value("dst_chunk_size", self.target_chunk_size);
            if let Some(directed) = self.directed {
                out.value("directed", directed);
            }
            out.text("prefix", &self.prefix)?;
            out.each("adj_lists", &self.lists, adj_list)?;
            out.each("property_groups", &self.groups, group)?;
            unknown(out, &self.unknown)?;
            text(out, "version", self.version.as_ref().map(|version| version.text.as_str()))
        };
        write(&mut out).map_err(|error| error.at(Place::file(&self.file)))?;
        Ok(out.finish())
    }
}

fn text(out: &mut Emitter, key: &str, value: Option<&str>) -> Result<()> {
    value.map_or(Ok(()), |value| out.text(key, value))
}

/// Writes the keys that GraphAr does not define, if their value is one line of text.
fn unknown(out: &mut Emitter, unknown: &Unknown) -> Result<()> {
    unknown.iter().try_for_each(|(key, value)| {
        // Keys are never quoted in the YAML that every reader understands.
        if check_text(key)? != *key {
            return Err(Error::broken(&rules::META_TEXT, format!("the key {key:?} cannot be written")));
        }
        out.text(key, value)
    })
}

fn adj_list(out: &mut Emitter, list: &AdjList) -> Result<()> {
    out.value("ordered", list.kind.ordered());
    out.value("aligned_by", if list.kind.by_source() { "src" } else { "dst" });
    out.text("prefix", &list.prefix)?;
    out.value("file_type", list.file_type.word());
    Ok(())
}

fn group(out: &mut Emitter, group: &PropertyGroup) -> Result<()> {
    out.text("prefix", &group.prefix)?;
    out.value("file_type", group.file_type.word());
    out.each("properties", &group.properties, property)
}

fn property(out: &mut Emitter, property: &PropertyInfo) -> Result<()> {
    out.text("name", &property.name)?;
    out.text("data_type", property.value_type.token())?;
    out.value("is_primary", property.primary);
    out.value("is_nullable", property.nullable);
    match property.cardinality {
        Cardinality::Single => {}
        Cardinality::List => out.value("cardinality", "list"),
        Cardinality::Set => out.value("cardinality", "set"),
    }
    Ok(())
}
