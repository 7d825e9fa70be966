//! Which predicates and files a graph has.

use std::collections::HashSet;

use isomorph_model::{Graph, LabelVocabulary};

use crate::capability::{CONSTANT, UNARY};
use crate::data::{AtomFile, Data, Predicate, Role};

/// What a file says of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Says {
    /// The nodes of a type, in their order.
    Nodes(usize),
    /// A label.
    Label(String),
    /// The truth of a property: type and position.
    Property(usize, usize),
    /// The edges of a type.
    Edges(usize),
}

/// The data file of a graph, and what each file says.
pub(crate) struct Layout {
    pub data: Data,
    pub says: Vec<Says>,
    /// Whether constants begin with the node type.
    pub prefixes: bool,
}

/// The metadata with the kind of a predicate.
fn kind_of(graph: &Graph, relation: &str) -> Option<String> {
    graph.metadata.get(&format!("psl {relation}")).cloned()
}

/// The key of [`kind_of`].
pub(crate) fn kind_key(predicate: &str) -> String {
    format!("psl {predicate}")
}

/// Names of predicates: letters, digits and `_`, which differ also where upper and lower case are one.
#[derive(Default)]
struct Names(HashSet<String>);

impl Names {
    fn give(&mut self, wanted: &str) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
        let mut stem: String = wanted.chars().map(plain).take(60).collect();
        if !stem.starts_with(|c: char| c.is_ascii_alphabetic()) {
            stem.insert_str(0, "P_");
        }
        let (mut name, mut number) = (stem.clone(), 1);
        while !self.0.insert(name.to_ascii_lowercase()) {
            number += 1;
            name = format!("{stem}_{number}");
        }
        name
    }
}

impl Layout {
    /// The layout of a graph: it depends on the description alone. Labels that are not declared have none.
    pub fn of(graph: &Graph) -> Layout {
        let mut own = Layout { data: Data::default(), says: Vec::new(), prefixes: graph.nodes.len() > 1 };
        let mut names = Names::default();
        // Relations first, so that they keep their names.
        let mut relations: Vec<(String, usize)> = Vec::new();
        for (at, ty) in graph.edges.iter().enumerate() {
            let (predicate, role) = Role::split(ty.relation.fixed().unwrap_or_default());
            let known = relations.iter().find(|(name, of)| {
                // Several types with one relation have a predicate each; observations, targets and truth share one.
                name == predicate && !own.data.files.iter().any(|file| file.predicate == *of && file.role == role)
            });
            let of = match known.map(|(_, of)| *of) {
                Some(of) => of,
                None => {
                    let kind = kind_of(graph, predicate);
                    own.data.predicates.push(Predicate { name: names.give(predicate), arity: 2, kind });
                    relations.push((predicate.to_owned(), own.data.predicates.len() - 1));
                    own.data.predicates.len() - 1
                }
            };
            own.file(of, role, Says::Edges(at));
        }
        for (at, ty) in graph.nodes.iter().enumerate() {
            if ty.name != CONSTANT || own.prefixes {
                own.unary(&mut names, &ty.name, None, Says::Nodes(at));
            }
        }
        let mut labels: Vec<&String> = Vec::new();
        for ty in &graph.nodes {
            if let LabelVocabulary::Declared(all) = &ty.labels {
                labels.extend(all.iter());
            }
        }
        labels.sort();
        labels.dedup();
        for label in labels {
            own.unary(&mut names, label, None, Says::Label(label.clone()));
        }
        for (at, ty) in graph.nodes.iter().enumerate() {
            for (place, property) in ty.properties.iter().enumerate() {
                if property.declared.contains_key(UNARY) {
                    let (name, role) = Role::split(&property.name);
                    let known = own
                        .data
                        .predicates
                        .iter()
                        .position(|known| known.arity == 1 && known.name == name && role != Role::Observations);
                    match known {
                        Some(of) => own.file(of, role, Says::Property(at, place)),
                        None => {
                            let kind = kind_of(graph, name);
                            own.data.predicates.push(Predicate { name: names.give(name), arity: 1, kind });
                            own.file(own.data.predicates.len() - 1, role, Says::Property(at, place));
                        }
                    }
                }
            }
        }
        for (at, predicate) in own.data.predicates.iter_mut().enumerate() {
            let is_open = own.data.files.iter().any(|file| file.predicate == at && file.role != Role::Observations);
            predicate.kind.get_or_insert_with(|| if is_open { "open" } else { "closed" }.to_owned());
        }
        own
    }

    fn unary(&mut self, names: &mut Names, name: &str, kind: Option<String>, says: Says) {
        self.data.predicates.push(Predicate { name: names.give(name), arity: 1, kind });
        self.file(self.data.predicates.len() - 1, Role::Observations, says);
    }

    fn file(&mut self, predicate: usize, role: Role, says: Says) {
        let name = self.data.predicates.get(predicate).map_or("", |predicate| predicate.name.as_str());
        let ending = match role {
            Role::Observations => "obs",
            Role::Targets => "targets",
            Role::Truth => "truth",
        };
        self.data.files.push(AtomFile { predicate, role, name: format!("{name}_{ending}.txt") });
        self.says.push(says);
    }
}
