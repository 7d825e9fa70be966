//! The numbers of features.

use isomorph_model::Property;
use serde::{Deserialize, Serialize};

/// The features of nodes or of edges, by number.
///
/// A property that states a feature id, as those of DeepGNN do, has this number; the others follow, in the order in which types list
/// them, one number for each name.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Numbers {
    /// Names by number. Empty for ids without a property, and for ids with properties of several types: each of these also has a number
    /// of its own.
    names: Vec<String>,
    /// So many numbers, from 0, are ids.
    ids: usize,
}

impl Numbers {
    /// Numbers properties; `is_feature` chooses among those that state no id.
    pub fn of<'p>(properties: impl Iterator<Item = &'p Property>, is_feature: impl Fn(&Property) -> bool) -> Numbers {
        let mut others: Vec<String> = Vec::new();
        let mut by_id: Vec<Vec<&str>> = Vec::new();
        let mut add = |name: &str| {
            if !others.iter().any(|other| other == name) {
                others.push(name.to_owned());
            }
        };
        for property in properties {
            let Some(id) = id_of(property) else {
                if is_feature(property) {
                    add(&property.name);
                }
                continue;
            };
            if by_id.len() <= id {
                by_id.resize(id + 1, Vec::new());
            }
            if !by_id[id].contains(&property.name.as_str()) {
                by_id[id].push(&property.name);
            }
        }
        by_id.iter().filter(|names| names.len() > 1).flatten().for_each(|name| add(name));
        let ids = by_id.len();
        let mut names: Vec<String> = by_id
            .iter()
            .map(|names| match names.as_slice() {
                [only] => (*only).to_owned(),
                _ => String::new(),
            })
            .collect();
        let others: Vec<String> = others.into_iter().filter(|name| !names.contains(name)).collect();
        names.extend(others);
        Numbers { names, ids }
    }

    /// Adds a name that no property has, unless one has it.
    pub fn add(&mut self, name: &str) {
        if !self.names.iter().any(|other| other == name) {
            self.names.push(name.to_owned());
        }
    }

    /// Names by number.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The number of features that a server states: those with ids, if there are any.
    pub fn stated(&self) -> usize {
        if self.ids > 0 { self.ids } else { self.names.len() }
    }

    /// The positions of the properties of each feature, up to the last that there is. In a row, at most one of several has a value.
    pub fn positions(&self, properties: &[Property]) -> Vec<Vec<usize>> {
        let mut all: Vec<Vec<usize>> = self.names.iter().map(|_| Vec::new()).collect();
        for (at, property) in properties.iter().enumerate() {
            let id = id_of(property).filter(|id| *id < self.ids);
            let named = self.names.iter().position(|name| *name == property.name && !name.is_empty());
            for number in id.into_iter().chain(named.filter(|named| Some(*named) != id)) {
                all[number].push(at);
            }
        }
        while all.pop_if(|last| last.is_empty()).is_some() {}
        all
    }
}

/// The feature id of a property, at most 65,535: lists are as long as the largest id.
fn id_of(property: &Property) -> Option<usize> {
    property.feature.and_then(|id| u16::try_from(id).ok()).map(usize::from)
}

#[cfg(test)]
mod tests {
    use arrow_schema::DataType;

    use super::*;

    fn feature(name: &str, id: u32) -> Property {
        Property { feature: Some(id), ..Property::new(name, DataType::Utf8) }
    }

    #[test]
    fn ids_are_numbers_and_others_follow() {
        let own = [Property::new("type", DataType::Int32), feature("3", 3), feature("0", 0)];
        let numbers = Numbers::of(own.iter(), |_| true);
        assert_eq!((numbers.names(), numbers.stated()), (["0", "", "", "3", "type"].map(String::from).as_slice(), 4));
        assert_eq!(numbers.positions(&own), [vec![2], vec![], vec![], vec![1], vec![0]]);
        assert_eq!(numbers.positions(&own[1..]), [vec![1], vec![], vec![], vec![0]]);
    }

    #[test]
    fn an_id_with_several_types_has_the_value_of_any() {
        let own = [feature("1:text", 1), feature("1:float32", 1), Property::new("other", DataType::Utf8)];
        let numbers = Numbers::of(own.iter(), |_| true);
        assert_eq!(numbers.names(), ["", "", "other", "1:text", "1:float32"]);
        assert_eq!(numbers.positions(&own), [vec![], vec![0, 1], vec![2], vec![0], vec![1]]);
    }

    #[test]
    fn without_ids_features_have_the_order_of_their_names() {
        let own = [
            Property::new("b", DataType::Utf8),
            Property::new("a", DataType::Utf8),
            Property::new("b", DataType::Utf8),
        ];
        let mut numbers = Numbers::of(own.iter(), |property| property.name != "x");
        numbers.add("labels");
        numbers.add("a");
        assert_eq!((numbers.names(), numbers.stated()), (["b", "a", "labels"].map(String::from).as_slice(), 3));
    }
}
