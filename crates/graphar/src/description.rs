//! The description of a graph for `info`, without reading its rows.

use std::collections::BTreeSet;

use isomorph_error::{Findings, Result};
use isomorph_model::About;
use isomorph_storage::Entry;

use crate::info::AdjListType;
use crate::{GraphAr, rules};

impl GraphAr {
    /// Returns format, version, files, layout and the findings of opening.
    pub(crate) fn describe(&self) -> About {
        let mut findings = self.findings.clone();
        let (files, bytes) = self.size(&mut findings);
        About {
            format: "GraphAr".to_owned(),
            version: self.version(),
            files,
            bytes,
            layout: self.layout(),
            edge_layouts: self.edges.iter().map(|table| lists(table.lists.iter().map(|list| list.kind))).collect(),
            findings,
        }
    }

    fn version(&self) -> String {
        let version = self.info.version.as_ref().map_or("no version", |version| version.text.as_str());
        let old = self.findings.count(&rules::META_LEGACY_KEYS) > 0;
        format!("{version}, keys of {}", if old { "2023" } else { "2024+" })
    }

    fn layout(&self) -> String {
        let vertex: BTreeSet<u64> = self.info.vertices.iter().map(|vertex| vertex.chunk_size).collect();
        let edge: BTreeSet<u64> = self.info.edges.iter().map(|edge| edge.chunk_size).collect();
        let groups = self.info.vertices.iter().flat_map(|vertex| &vertex.groups);
        let groups = groups.chain(self.info.edges.iter().flat_map(|edge| &edge.groups)).map(|group| group.file_type);
        let lists = self.info.edges.iter().flat_map(|edge| &edge.lists).map(|list| list.file_type);
        let types: BTreeSet<String> = groups.chain(lists).map(|file_type| file_type.to_string()).collect();
        let mut parts = Vec::new();
        for (what, sizes) in [("vertex chunks", vertex), ("edge chunks", edge)] {
            if !sizes.is_empty() {
                parts.push(format!("{what} {}", sizes.into_iter().map(grouped).collect::<Vec<_>>().join(" or ")));
            }
        }
        if !types.is_empty() {
            parts.push(types.into_iter().collect::<Vec<_>>().join(" and "));
        }
        parts.join(" · ")
    }

    /// Returns the number and total size of the files of the types that are shown, including information files. Files that cannot
    /// be listed are not counted, which is a finding; a web server lists no files.
    fn size(&self, findings: &mut Findings) -> (u64, u64) {
        let mut listed = |listed: Result<Vec<Entry>>| match listed {
            Ok(entries) => entries,
            Err(error) => {
                if self.root.location().scheme().has_listing() {
                    let rule = error.broken_rule().unwrap_or(&rules::FILE_UNREADABLE);
                    findings.push(rule, format!("not counted: {}", error.message()), error.place().clone());
                }
                Vec::new()
            }
        };
        let mut found: BTreeSet<(String, u64)> = BTreeSet::new();
        let mut add = |prefix: &str| {
            let entries = listed(self.root.list(prefix));
            found.extend(entries.into_iter().map(|entry| (entry.name, entry.size)));
        };
        for table in &self.vertices {
            (0..table.info.groups.len()).for_each(|group| add(&table.layout.group(group)));
            if !table.info.labels.is_empty() {
                add(&table.layout.labels());
            }
        }
        for table in &self.edges {
            for list in &table.lists {
                let base = list.layout.base();
                let own = [format!("{base}/adj_list"), format!("{base}/offset")];
                let groups = (0..table.info.groups.len()).map(|group| list.layout.group(group));
                own.into_iter().chain(groups).for_each(|directory| add(&directory));
            }
        }
        let bases = self.vertices.iter().map(|table| table.layout.base());
        let bases = bases.chain(self.edges.iter().flat_map(|table| table.lists.iter().map(|list| list.layout.base())));
        for base in bases {
            let entries = listed(self.root.list_dir(base));
            let counts = entries.into_iter().filter(|entry| !entry.is_dir && is_count(&entry.name));
            found.extend(counts.map(|entry| (entry.name, entry.size)));
        }
        let (mut files, mut bytes) = (found.len() as u64, found.iter().map(|(_, size)| size).sum());
        let infos = self.info.vertices.iter().map(|vertex| vertex.file.as_str());
        let infos =
            infos.chain(self.info.edges.iter().map(|edge| edge.file.as_str())).chain([self.graph_file.as_str()]);
        for name in infos {
            files += 1;
            // It was read while opening, so it may be missing now without harm.
            bytes += self.beside.file(name).map_or(0, |blob| blob.size());
        }
        (files, bytes)
    }
}

fn is_count(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    name == "vertex_count" || name.starts_with("edge_count")
}

/// `by source (ordered), by dest`.
fn lists(kinds: impl Iterator<Item = AdjListType>) -> String {
    let one = |kind: AdjListType| {
        let end = if kind.by_source() { "by source" } else { "by dest" };
        if kind.ordered() { format!("{end} (ordered)") } else { end.to_owned() }
    };
    kinds.map(one).collect::<Vec<_>>().join(", ")
}

/// Formats a number with thousands separators.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        assert_eq!([1, 999, 1000, 1_048_576].map(grouped), ["1", "999", "1,000", "1,048,576"]);
    }
}
