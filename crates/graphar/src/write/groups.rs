//! Assigns properties to property groups.

use std::collections::HashSet;

use isomorph_error::Result;

use super::names::group_directory;
use super::{Grouping, WriteOptions};
use crate::hints::TypeHint;
use crate::info::{FileType, PropertyGroup, PropertyInfo};

/// Divides `properties` into groups. `taken` are names in the same directory that no group may have. Files of an edge type
/// (`of_edge`) have no index column.
pub(super) fn groups(
    properties: Vec<PropertyInfo>,
    options: &WriteOptions,
    hint: &TypeHint,
    taken: &[&str],
    of_edge: bool,
) -> Result<Vec<PropertyGroup>> {
    let default = options.file_type.unwrap_or(FileType::Parquet);
    let cut: Vec<(FileType, Vec<PropertyInfo>)> = match options.grouping {
        Some(Grouping::Each) => properties.into_iter().map(|property| (default, vec![property])).collect(),
        None if !hint.groups.is_empty() => hinted(properties, options, hint),
        Some(Grouping::One) | None => vec![(default, properties)],
    };
    let mut groups: Vec<PropertyGroup> = Vec::new();
    let apart = cut.into_iter().flat_map(|(file_type, properties)| out_of_csv(file_type, properties, of_edge));
    for (file_type, properties) in apart.filter(|(_, properties)| !properties.is_empty()) {
        let prefix = group_prefix(&properties, &groups, taken);
        groups.push(PropertyGroup { prefix, file_type, properties });
    }
    Ok(groups)
}

/// Returns the directory of a new group: named after its properties, and different from `taken` and from other groups.
pub(crate) fn group_prefix(properties: &[PropertyInfo], others: &[PropertyGroup], taken: &[&str]) -> String {
    let own = others.iter().map(|group| group.prefix.trim_end_matches('/').to_ascii_lowercase());
    let seen: HashSet<String> = taken.iter().map(|name| (*name).to_owned()).chain(own).collect();
    let names: Vec<&str> = properties.iter().map(|property| property.name.as_str()).collect();
    let mut directory = group_directory(&names, others.len());
    // Some file systems ignore case; counts of parts are files next to the groups.
    while seen.contains(&directory.to_ascii_lowercase()) || directory.starts_with("edge_count") {
        directory.insert_str(0, "group_");
    }
    format!("{directory}/")
}

/// Restores the groups of the hints; new properties follow in one group.
fn hinted(
    mut properties: Vec<PropertyInfo>,
    options: &WriteOptions,
    hint: &TypeHint,
) -> Vec<(FileType, Vec<PropertyInfo>)> {
    let mut groups = Vec::new();
    for (word, names) in &hint.groups {
        let mut members = Vec::new();
        for name in names {
            if let Some(at) = properties.iter().position(|property| property.name == *name) {
                members.push(properties.remove(at));
            }
        }
        let file_type = options.file_type.or_else(|| FileType::from_word(word)).unwrap_or(FileType::Parquet);
        groups.push((file_type, members));
    }
    groups.push((options.file_type.unwrap_or(FileType::Parquet), properties));
    groups
}

/// Returns whether a null of these properties would be an empty line of CSV, which published readers skip: there is no other
/// column.
pub(crate) fn has_blank_lines(properties: &[PropertyInfo], of_edge: bool) -> bool {
    of_edge && matches!(properties, [only] if only.nullable)
}

/// Moves what CSV cannot store into a Parquet group: lists, and a property whose nulls would be empty lines.
fn out_of_csv(file_type: FileType, properties: Vec<PropertyInfo>, of_edge: bool) -> Vec<(FileType, Vec<PropertyInfo>)> {
    if file_type != FileType::Csv || has_blank_lines(&properties, of_edge) {
        let file_type = if file_type == FileType::Csv { FileType::Parquet } else { file_type };
        return vec![(file_type, properties)];
    }
    let (lists, plain): (Vec<_>, Vec<_>) = properties.into_iter().partition(PropertyInfo::is_list);
    if has_blank_lines(&plain, of_edge) {
        return vec![(FileType::Parquet, plain.into_iter().chain(lists).collect())];
    }
    vec![(FileType::Csv, plain), (FileType::Parquet, lists)]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::info::{ListItem, ValueType};

    fn properties(names: &[&str]) -> Vec<PropertyInfo> {
        names.iter().map(|name| PropertyInfo::new(*name, ValueType::Int64)).collect()
    }

    fn prefixes(groups: &[PropertyGroup]) -> Vec<&str> {
        groups.iter().map(|group| group.prefix.as_str()).collect()
    }

    #[test]
    fn groups_are_cut_as_asked_for() {
        let options = |grouping| WriteOptions { grouping, ..WriteOptions::default() };
        let none = TypeHint::default();
        let one = groups(properties(&["a", "b"]), &options(None), &none, &[], false).unwrap();
        assert_eq!(prefixes(&one), ["a_b/"]);
        let each =
            groups(properties(&["a", "labels", "LABELS"]), &options(Some(Grouping::Each)), &none, &["labels"], false)
                .unwrap();
        assert_eq!(prefixes(&each), ["a/", "group_labels/", "group_group_LABELS/"]);
        let hint = TypeHint { groups: vec![("csv".into(), vec!["b".into(), "gone".into()])], ..none.clone() };
        let hinted = groups(properties(&["a", "b"]), &options(None), &hint, &[], false).unwrap();
        assert_eq!(prefixes(&hinted), ["b/", "a/"]);
        assert_eq!(hinted[0].file_type, FileType::Csv);
        assert!(groups(Vec::new(), &options(None), &none, &[], true).unwrap().is_empty());
    }

    #[test]
    fn lists_do_not_go_into_csv() {
        let mut all = properties(&["a"]);
        all.push(PropertyInfo::new("l", ValueType::List(ListItem::String)));
        let options = WriteOptions { file_type: Some(FileType::Csv), ..WriteOptions::default() };
        let groups = groups(all, &options, &TypeHint::default(), &[], false).unwrap();
        let types: Vec<_> = groups.iter().map(|group| group.file_type).collect();
        assert_eq!(types, [FileType::Csv, FileType::Parquet]);
    }

    #[test]
    fn a_column_whose_nulls_would_be_empty_lines_does_not_go_into_csv() {
        let options = WriteOptions { file_type: Some(FileType::Csv), ..WriteOptions::default() };
        let types = |properties: Vec<PropertyInfo>, of_edge| -> Vec<(FileType, usize)> {
            let groups = groups(properties, &options, &TypeHint::default(), &[], of_edge).unwrap();
            groups.iter().map(|group| (group.file_type, group.properties.len())).collect()
        };
        assert_eq!(types(properties(&["a"]), true), [(FileType::Parquet, 1)]);
        // With the index of a vertex or another property, the line has a comma.
        assert_eq!(types(properties(&["a"]), false), [(FileType::Csv, 1)]);
        assert_eq!(types(properties(&["a", "b"]), true), [(FileType::Csv, 2)]);
        let mut required = properties(&["a"]);
        required[0].nullable = false;
        assert_eq!(types(required, true), [(FileType::Csv, 1)]);
        let mut with_list = properties(&["a"]);
        with_list.push(PropertyInfo::new("l", ValueType::List(ListItem::String)));
        assert_eq!(types(with_list, true), [(FileType::Parquet, 2)]);
    }
}
