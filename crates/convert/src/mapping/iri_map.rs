//! Names and IRIs of a vocabulary: how types, properties, relations and keys of a property graph are called in RDF, and back.

use std::collections::{BTreeMap, HashMap, HashSet};

use isomorph_error::{Error, Kind, Place, Result};
use isomorph_model::faces::{Object, Quad, QuadSink, RDF_REIFIES, RDF_TYPE, push_encoded};
use isomorph_model::{Graph, Relation, term};
use serde::{Deserialize, Serialize};

use super::quad_pass::QuadPass;
use super::{Bundling, Slot};

/// The namespace of RDF's own vocabulary, whose terms have a meaning of their own.
const RDF: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";

/// Names of a property graph and IRIs of a vocabulary. Each value is an IRI, or a prefix, a colon and a name.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct IriMap {
    /// Prefixes and their IRIs.
    pub prefixes: BTreeMap<String, String>,
    /// Node types and labels, and their classes.
    pub types: BTreeMap<String, String>,
    /// Properties, `NAME` or `TYPE.NAME`, and their predicates.
    pub properties: BTreeMap<String, String>,
    /// Relations and their predicates.
    pub relations: BTreeMap<String, String>,
    /// Node types, and how the IRIs of their nodes begin: the key follows.
    pub keys: BTreeMap<String, String>,
}

fn wrong(what: String) -> Error {
    Error::usage(what)
}

/// Schemes of IRIs without `//`; any other one is a prefix that was forgotten.
const SCHEMES: &[&str] = &[
    "about", "ark", "cid", "data", "did", "doi", "file", "geo", "hdl", "info", "mailto", "mid", "news", "ni", "oid",
    "tag", "tel", "urn",
];

/// Whether an IRI has a scheme that is none of the prefixes one would declare.
fn has_scheme(iri: &str) -> bool {
    let (scheme, rest) = iri.split_once(':').unwrap_or_default();
    let lower = scheme.to_ascii_lowercase();
    rest.starts_with("//") || SCHEMES.contains(&lower.as_str()) || lower.starts_with("x-")
}

/// Whether a text is an absolute IRI, judging by scheme and characters.
pub(super) fn is_iri(text: &str) -> bool {
    let scheme = text.split_once(':').map(|(scheme, _)| scheme).unwrap_or_default();
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
        && !text.contains(|c: char| c <= ' ' || matches!(c, '<' | '>' | '"' | '{' | '}' | '|' | '^' | '`' | '\\'))
}

impl IriMap {
    /// The map that a text in JSON states, with all IRIs in full.
    ///
    /// # Errors
    /// [`Kind::Malformed`] if it is not such a text; [`Kind::Usage`] for a value that is no IRI, or an IRI with two names.
    pub fn parse(text: &str) -> Result<IriMap> {
        let mut map: IriMap = serde_json::from_str(text)
            .map_err(|error| Error::malformed(error.to_string()).hint(
                r#"{"prefixes": {"foaf": "http://xmlns.com/foaf/0.1/"}, "types": {"person": "foaf:Person"}, "properties": {"name": "foaf:name"}}"#,
            ))?;
        let prefixes = map.prefixes.clone();
        let tables = [&mut map.types, &mut map.properties, &mut map.relations, &mut map.keys];
        for (name, value) in tables.into_iter().flatten() {
            if let Some((prefix, rest)) = value.split_once(':')
                && let Some(iri) = prefixes.get(prefix)
            {
                *value = format!("{iri}{rest}");
            }
            if !is_iri(value) {
                return Err(wrong(format!("{value:?}, for {name}, is neither an IRI nor PREFIX:NAME")));
            }
            if !has_scheme(value) {
                let prefix = value.split(':').next().unwrap_or_default().to_owned();
                return Err(wrong(format!("{prefix} in {value}, for {name}, is not among the prefixes"))
                    .hint(format!(r#""prefixes": {{"{prefix}": "http://…"}}"#)));
            }
            if value.starts_with(RDF) {
                return Err(wrong(format!("{value}, for {name}, is a term of RDF itself")));
            }
        }
        for iri in map.prefixes.values() {
            if !is_iri(iri) {
                return Err(wrong(format!("{iri:?} is not an IRI")));
            }
        }
        map.check()?;
        Ok(map)
    }

    /// Checks that every IRI stands for one name, so that the way back is known.
    fn check(&self) -> Result<()> {
        let bare = |name: &str| name.rsplit_once('.').map_or(name, |(_, name)| name).to_owned();
        let mut predicates: HashMap<&str, String> = HashMap::new();
        let properties = self.properties.iter().map(|(name, iri)| (bare(name), iri));
        for (name, iri) in properties.chain(self.relations.iter().map(|(name, iri)| (name.clone(), iri))) {
            if let Some(other) = predicates.insert(iri, name.clone()).filter(|other| *other != name) {
                return Err(wrong(format!("{iri} stands for both {other} and {name}")));
            }
        }
        let mut classes: HashMap<&str, &str> = HashMap::new();
        for (name, iri) in &self.types {
            if let Some(other) = classes.insert(iri, name) {
                return Err(wrong(format!("{iri} stands for both {other} and {name}")));
            }
        }
        for (ty, start) in &self.keys {
            let other = self.keys.iter().find(|(name, other)| *name != ty && other.starts_with(start.as_str()));
            if let Some((other, _)) = other {
                return Err(wrong(format!("IRIs of {other} begin like those of {ty}: {start}")));
            }
        }
        Ok(())
    }

    /// The names that nothing in `graph` has, with the table that has them.
    pub(crate) fn unused(&self, graph: &Graph) -> Vec<(&'static str, &str)> {
        use isomorph_model::{LabelVocabulary, Property};
        let is_label = |name: &str| {
            graph.nodes.iter().any(|ty| match &ty.labels {
                LabelVocabulary::None => false,
                LabelVocabulary::Declared(all) => all.iter().any(|own| own == name),
                LabelVocabulary::Open => true,
            })
        };
        let is_type = |name: &str| graph.nodes.iter().any(|ty| ty.name == name);
        let is_relation = |name: &str| graph.edges.iter().any(|ty| ty.relation.fixed().is_none_or(|own| own == name));
        let has = |all: &[Property], name: &str| all.iter().any(|own| own.name == name);
        let of_nodes = graph.nodes.iter().map(|ty| (Some(ty.name.as_str()), &ty.properties));
        let of_edges = graph.edges.iter().map(|ty| (ty.relation.fixed(), &ty.properties));
        let all: Vec<_> = of_nodes.chain(of_edges).collect();
        let is_property = |name: &str| {
            let qualified = name.split_once('.');
            all.iter().any(|(of, own)| {
                has(own, name) || qualified.is_some_and(|(ty, name)| *of == Some(ty) && has(own, name))
            })
        };
        type Known<'a> = &'a dyn Fn(&str) -> bool;
        let is_class = |name: &str| is_type(name) || is_label(name);
        let tables = [
            ("types", &self.types, &is_class as Known<'_>),
            ("properties", &self.properties, &is_property),
            ("relations", &self.relations, &is_relation),
            ("keys", &self.keys, &is_type),
        ];
        let unused = tables.into_iter().flat_map(|(table, names, is_known)| {
            names.keys().filter(move |name| !is_known(name)).map(move |name| (table, name.as_str()))
        });
        unused.collect()
    }

    /// The name of a class, if it has one.
    fn class_name(&self, iri: &str) -> Option<&str> {
        self.types.iter().find(|(_, own)| *own == iri).map(|(name, _)| name.as_str())
    }

    /// The name of a predicate, without the type.
    fn predicate_name(&self, iri: &str, relation: bool) -> Option<&str> {
        let table = if relation { &self.relations } else { &self.properties };
        let (name, _) = table.iter().find(|(_, own)| *own == iri)?;
        Some(if relation { name } else { name.rsplit_once('.').map_or(name, |(_, name)| name) })
    }

    /// Names of types by class, for types that are made of classes.
    pub fn type_names(&self) -> impl Iterator<Item = (String, String)> + '_ {
        self.types.iter().map(|(name, iri)| (iri.clone(), name.clone()))
    }

    /// `bundling`, a typed graph of RDF, with the names of this map instead of those that were made of IRIs. A name that another
    /// one has already stays as it is.
    pub(crate) fn named(&self, mut bundling: Bundling) -> Bundling {
        let rename = |properties: &mut Vec<isomorph_model::Property>, slots: &[Slot], key: Option<&str>| {
            for at in 0..properties.len() {
                let Some(Slot::Member(iri)) = slots.get(at) else { continue };
                let Some(name) = self.predicate_name(iri, false) else { continue };
                let taken = properties.iter().enumerate().any(|(other, own)| other != at && own.name == name);
                if !taken && key != Some(name) {
                    name.clone_into(&mut properties[at].name);
                }
            }
        };
        for (ty, slots) in bundling.typed.nodes.iter_mut().zip(&mut bundling.nodes) {
            let key = ty.key.name.clone();
            rename(&mut ty.properties, &slots.properties, key.as_deref());
            if let isomorph_model::LabelVocabulary::Declared(labels) = &mut ty.labels {
                for label in labels.iter_mut() {
                    let real = slots.labels.iter().find(|(typed, _)| typed == label);
                    let real = real.map_or_else(|| label.clone(), |(_, real)| real.clone());
                    let Some(name) = self.class_name(&real) else { continue };
                    slots.labels.retain(|(typed, _)| typed != label);
                    slots.labels.push((name.to_owned(), real));
                    name.clone_into(label);
                }
            }
        }
        let names = bundling.typed.edges.iter().filter_map(|ty| ty.relation.fixed());
        let mut taken: HashSet<String> = names.map(str::to_owned).collect();
        for (ty, slots) in bundling.typed.edges.iter_mut().zip(&bundling.edges) {
            rename(&mut ty.properties, &slots.properties, None);
            let name = self.predicate_name(&slots.relation, true);
            if let Some(name) = name.filter(|name| taken.insert((*name).to_owned())) {
                ty.relation = Relation::Fixed(name.to_owned());
            }
        }
        bundling
    }
}

/// IRIs that take the place of others, in one direction.
#[derive(Debug, Clone, Default)]
struct Terms {
    /// How IRIs of nodes begin, and how they begin instead.
    keys: Vec<(String, String)>,
    classes: HashMap<String, String>,
    predicates: HashMap<String, String>,
    /// Predicates of the nodes whose IRIs begin like this, or of the edges of this relation.
    qualified: HashMap<(String, String), String>,
}

impl Terms {
    /// The other IRI of a node, if it has one.
    fn node(&self, iri: &str) -> Option<String> {
        self.keys.iter().find_map(|(from, to)| Some(format!("{to}{}", iri.strip_prefix(from.as_str())?)))
    }

    /// The other IRI of a predicate, if it has one. `of` is the type or relation of the subject.
    fn predicate(&self, iri: &str, of: &str) -> Option<&str> {
        let qualified = match self.qualified.is_empty() {
            true => None,
            false => self.qualified.get(&(of.to_owned(), iri.to_owned())),
        };
        qualified.or_else(|| self.predicates.get(iri)).map(String::as_str)
    }

    /// The other form of a triple term.
    fn triple(&self, [from, relation, to]: [&str; 3]) -> String {
        let node = |iri: &str| self.node(iri).unwrap_or_else(|| iri.to_owned());
        let relation = self.predicates.get(relation).map_or(relation, String::as_str);
        let mut triple = String::new();
        term::push_triple(&mut triple, &node(from), relation, &node(to));
        triple
    }

    /// Passes on a quad with the other IRIs. `of` is the type or relation that its subject has.
    fn quad(&self, quad: Quad<'_>, of: &str, take: &mut dyn FnMut(Quad<'_>) -> Result<()>) -> Result<()> {
        let subject = self.node(quad.subject);
        let object = match quad.object {
            Object::Term(object) if quad.predicate == RDF_REIFIES => {
                term::resources(object).map(|triple| self.triple(triple))
            }
            Object::Term(object) if quad.predicate == RDF_TYPE => self.classes.get(object).cloned(),
            Object::Term(object) => self.node(object),
            Object::Literal { .. } => None,
        };
        take(Quad {
            subject: subject.as_deref().unwrap_or(quad.subject),
            predicate: self.predicate(quad.predicate, of).unwrap_or(quad.predicate),
            object: object.as_deref().map_or(quad.object, Object::Term),
            graph: quad.graph,
        })
    }
}

/// A map for one graph, between IRIs below the base and those of the vocabulary.
#[derive(Debug, Clone, Default)]
pub struct Vocabulary {
    /// From IRIs below the base.
    there: Terms,
    /// To IRIs below the base.
    back: Terms,
}

impl Vocabulary {
    /// The map for `graph`, whose IRIs are below `base`.
    ///
    /// # Errors
    /// [`Kind::Usage`] if IRIs of the vocabulary begin like those below the base.
    pub fn of(map: &IriMap, graph: &Graph, base: &str) -> Result<Vocabulary> {
        let below = |name: &str| {
            let mut iri = base.to_owned();
            push_encoded(&mut iri, name);
            iri
        };
        let all =
            map.types.values().chain(map.properties.values()).chain(map.relations.values()).chain(map.keys.values());
        for iri in all {
            if iri.starts_with(base) || base.starts_with(iri.as_str()) {
                return Err(wrong(format!("{iri} begins like the IRIs of everything else, {base}"))
                    .hint("--base urn:x-isomorph:    begin them differently"));
            }
        }
        let Vocabulary { mut there, mut back } = Vocabulary::default();
        for (ty, start) in &map.keys {
            let own = below(ty) + "/";
            there.keys.push((own.clone(), start.clone()));
            back.keys.push((start.clone(), own));
        }
        for (name, iri) in &map.types {
            there.classes.insert(below(name), iri.clone());
            back.classes.insert(iri.clone(), below(name));
        }
        // A name with a dot may be that of a property, too.
        let is_type = |ty: &str| {
            graph.nodes.iter().any(|own| own.name == ty)
                || graph.edges.iter().any(|own| own.relation.fixed() == Some(ty))
        };
        for (name, iri) in &map.relations {
            there.predicates.insert(below(name), iri.clone());
            back.predicates.insert(iri.clone(), below(name));
        }
        for (name, iri) in &map.properties {
            let (of, name) = match name.split_once('.') {
                Some((ty, name)) if is_type(ty) => (Some(ty), name),
                _ => (None, name.as_str()),
            };
            match of {
                Some(ty) => there.qualified.insert((below(ty), below(name)), iri.clone()),
                None => there.predicates.insert(below(name), iri.clone()),
            };
            back.predicates.insert(iri.clone(), below(name));
        }
        Ok(Vocabulary { there, back })
    }

    /// Whether an IRI is that of a class or a predicate.
    fn is_term(&self, iri: &str) -> bool {
        self.back.classes.contains_key(iri) || self.back.predicates.contains_key(iri)
    }

    /// Passes on a quad with IRIs below the base.
    ///
    /// # Errors
    /// Returns the errors of `take`.
    pub(super) fn back(&self, quad: Quad<'_>, take: &mut dyn FnMut(Quad<'_>) -> Result<()>) -> Result<()> {
        self.back.quad(quad, "", take)
    }
}

/// Writes IRIs of a vocabulary.
pub struct InVocabulary {
    vocabulary: Vocabulary,
    /// The relation of the last reifier, whose properties follow it.
    relation: String,
}

impl InVocabulary {
    /// Writes terms of `vocabulary`.
    pub fn new(vocabulary: Vocabulary) -> Self {
        InVocabulary { vocabulary, relation: String::new() }
    }
}

impl QuadPass for InVocabulary {
    fn quad(&mut self, quad: &Quad<'_>, inner: &mut dyn QuadSink) -> Result<()> {
        if let Object::Term(object) = quad.object
            && quad.predicate == RDF_REIFIES
            && let Some([_, relation, _]) = term::resources(object)
        {
            relation.clone_into(&mut self.relation);
        }
        let of = match quad.subject.starts_with("_:") {
            true => self.relation.as_str(),
            false => quad.subject.rsplit_once('/').map_or("", |(of, _)| of),
        };
        let vocabulary = &self.vocabulary;
        if vocabulary.back.node(quad.subject).is_some() {
            let what = format!("{} begins like the IRIs of another type", quad.subject);
            return Err(Error::new(Kind::WouldLose, what).at(Place::field("subject")));
        }
        if let Some(iri) = vocabulary.there.node(quad.subject).filter(|iri| vocabulary.is_term(iri)) {
            let what = format!("{iri} would be a node, and a class or predicate of the vocabulary");
            return Err(Error::new(Kind::WouldLose, what).at(Place::field("subject")));
        }
        vocabulary.there.quad(*quad, of, &mut |quad| inner.quad(&quad))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const MAP: &str = r#"{"prefixes": {"foaf": "http://xmlns.com/foaf/0.1/"},
        "types": {"person": "foaf:Person"}, "properties": {"name": "foaf:name", "city.name": "http://www.w3.org/2000/01/rdf-schema#label"},
        "relations": {"knows": "foaf:knows"}, "keys": {"person": "http://example.org/person/"}}"#;

    #[test]
    fn maps_are_read_or_refused() {
        let map = IriMap::parse(MAP).unwrap();
        assert_eq!(map.properties["name"], "http://xmlns.com/foaf/0.1/name");
        for (text, words) in [
            ("{", "EOF"),
            (r#"{"type": {}}"#, "unknown field"),
            (r#"{"types": {"a": "no iri"}}"#, "neither an IRI"),
            (r#"{"types": {"a": "foaf:Person"}}"#, "not among the prefixes"),
            (r#"{"types": {"a": "urn:x", "b": "urn:x"}}"#, "both a and b"),
            (r#"{"properties": {"a": "urn:x"}, "relations": {"b": "urn:x"}}"#, "both a and b"),
            (r#"{"keys": {"a": "urn:x/", "b": "urn:x/y/"}}"#, "begin like"),
            (r#"{"types": {"a": "http://www.w3.org/1999/02/22-rdf-syntax-ns#Statement"}}"#, "RDF itself"),
        ] {
            let error = IriMap::parse(text).unwrap_err();
            assert!(error.message().contains(words), "{text}: {error:?}");
        }
        assert!(IriMap::parse(r#"{"types": {"a": "tag:x,2020:a", "b": "HTTPS://x/b"}}"#).is_ok());
        assert!(IriMap::parse(r#"{"properties": {"a.x": "urn:x", "b.x": "urn:x"}}"#).is_ok());
    }
}
