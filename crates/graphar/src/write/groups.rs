//! Which properties share their files.

use std::collections::HashSet;

use isomorph_error::Result;

use super::names::group_directory;
use super::{Grouping, WriteOptions};
use crate::hints::TypeHint;
use crate::info::{FileType, PropertyGroup, PropertyInfo};

/// Cuts `properties` into groups. `taken` are names in the same directory that no group may have.
pub(super) fn groups(
    properties: Vec<PropertyInfo>,
    options: &WriteOptions,
    hint: &TypeHint,
    taken: &[&str],
) -> Result<Vec<PropertyGroup>> {
    let default = options.file_type.unwrap_or(FileType::Parquet);
    let cut: Vec<(FileType, Vec<PropertyInfo>)> = match options.grouping {
        Some(Grouping::Each) => properties.into_iter().map(|property| (default, vec![property])).collect(),
        None if !hint.groups.is_empty() => hinted(properties, options, hint),
        Some(Grouping::One) | None => vec![(default, properties)],
    };
    let mut groups: Vec<PropertyGroup> = Vec::new();
    let apart = cut.into_iter().flat_map(|(file_type, properties)| without_lists_in_csv(file_type, properties));
    for (file_type, properties) in apart.filter(|(_, properties)| !properties.is_empty()) {
        let prefix = group_prefix(&properties, &groups, taken);
        groups.push(PropertyGroup { prefix, file_type, properties });
    }
    Ok(groups)
}

/// The directory of a new group: named after its properties, and neither `taken` nor that of another group.
pub(crate) fn group_prefix(properties: &[PropertyInfo], others: &[PropertyGroup], taken: &[&str]) -> String {
    let own = others.iter().map(|group| group.prefix.trim_end_matches('/').to_ascii_lowercase());
    let seen: HashSet<String> = taken.iter().map(|name| (*name).to_owned()).chain(own).collect();
    let names: Vec<&str> = properties.iter().map(|property| property.name.as_str()).collect();
    let mut directory = group_directory(&names, others.len());
    // Some file systems do not tell capitals from small letters; counts of parts are files beside the groups.
    while seen.contains(&directory.to_ascii_lowercase()) || directory.starts_with("edge_count") {
        directory.insert_str(0, "group_");
    }
    format!("{directory}/")
}

/// Groups as they were; properties that are new come last, together.
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

/// CSV holds no lists: these get a Parquet group of their own.
fn without_lists_in_csv(file_type: FileType, properties: Vec<PropertyInfo>) -> Vec<(FileType, Vec<PropertyInfo>)> {
    if file_type != FileType::Csv {
        return vec![(file_type, properties)];
    }
    let (lists, plain): (Vec<_>, Vec<_>) = properties.into_iter().partition(PropertyInfo::is_list);
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
        let one = groups(properties(&["a", "b"]), &options(None), &none, &[]).unwrap();
        assert_eq!(prefixes(&one), ["a_b/"]);
        let each =
            groups(properties(&["a", "labels", "LABELS"]), &options(Some(Grouping::Each)), &none, &["labels"]).unwrap();
        assert_eq!(prefixes(&each), ["a/", "group_labels/", "group_group_LABELS/"]);
        let hint = TypeHint { groups: vec![("csv".into(), vec!["b".into(), "gone".into()])], ..none.clone() };
        let hinted = groups(properties(&["a", "b"]), &options(None), &hint, &[]).unwrap();
        assert_eq!(prefixes(&hinted), ["b/", "a/"]);
        assert_eq!(hinted[0].file_type, FileType::Csv);
        assert!(groups(Vec::new(), &options(None), &none, &[]).unwrap().is_empty());
    }

    #[test]
    fn lists_do_not_go_into_csv() {
        let mut all = properties(&["a"]);
        all.push(PropertyInfo::new("l", ValueType::List(ListItem::String)));
        let options = WriteOptions { file_type: Some(FileType::Csv), ..WriteOptions::default() };
        let groups = groups(all, &options, &TypeHint::default(), &[]).unwrap();
        let types: Vec<_> = groups.iter().map(|group| group.file_type).collect();
        assert_eq!(types, [FileType::Csv, FileType::Parquet]);
    }
}
