//! Graphs in files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::Array;
use isomorph_convert::{
    Certificate, ConvertOptions, Digests, Format, OpenOptions, Opened, Plan, SidecarUse, Silent, convert, counts,
    digest,
};
use isomorph_error::{Error, Findings, Severity};
use isomorph_model::digest::schema_digest;
use isomorph_model::{Batch, Direction, EdgeType, Graph, KeyKind, MemoryGraph, Relation, Relations};
use isomorph_storage::{Budget, Location, Resources};
use tempfile::TempDir;

use crate::formats::{Layout, Member};

/// A graph of the zoo, and the format whose shape it has.
pub struct Case {
    pub name: String,
    pub shape: Format,
    pub memory: MemoryGraph,
}

impl Case {
    pub fn new(name: impl Into<String>, shape: Format, memory: MemoryGraph) -> Self {
        Case { name: name.into(), shape, memory }
    }

    /// Rows of the largest table.
    pub fn rows(&self) -> u64 {
        self.memory.batches.iter().map(|batch| batch.rows() as u64).max().unwrap_or_default()
    }

    /// Whether positions of nodes have a meaning.
    pub fn has_order(&self) -> bool {
        self.memory.graph.nodes.iter().any(|ty| ty.ordered || ty.key.kind == KeyKind::Row)
    }

    /// Whether it has more than nodes, edges and columns.
    pub fn has_more(&self) -> bool {
        let graph = &self.memory.graph;
        let more = |ty: &EdgeType| ty.key.is_some() || ty.layered || ty.direction == Direction::PerRow;
        !graph.hyperedges.is_empty() || !graph.groups.is_empty() || graph.edges.iter().any(more)
    }

    /// The digests, computed in memory.
    pub fn digests(&self) -> Digests {
        Digests {
            content: self.memory.digest().unwrap(),
            order: self.memory.order_digest().unwrap(),
            schema: schema_digest(&self.memory.graph),
        }
    }

    /// As an opened graph.
    pub fn opened(&self) -> Opened {
        let graph = Arc::new(self.memory.clone());
        let location = Location::from_path(Path::new("/memory"));
        Opened {
            location,
            format: self.shape,
            native: graph.clone(),
            sidecar: None,
            graph,
            options: OpenOptions::default(),
            is_part: false,
        }
    }
}

/// All graphs of the zoo.
pub fn zoo() -> Vec<Case> {
    use isomorph_zoo as zoo;
    let typed = zoo::property_graphs().into_iter().chain(zoo::wide_property_graphs());
    let typed = typed.map(|(name, memory)| Case::new(name, Format::GRAPHAR, memory));
    let bundled = zoo::bundled_graphs().into_iter().map(|(name, memory)| Case::new(name, Format::NOCK, memory));
    let five = zoo::five().into_iter().map(|(name, memory)| {
        let shape = if name == "nock" { Format::NOCK } else { Format::GRAPHAR };
        Case::new(name, shape, memory)
    });
    let with_empty = one_table(zoo::rdf());
    let mut triples = with_empty.clone();
    triples.batches.retain(|batch| !matches!(batch, Batch::Groups(_)));
    let triples = Case::new("triples", Format::GRAPHLAKE, triples);
    let with_empty = Case::new("triples and an empty graph", Format::GRAPHLAKE, with_empty);
    let more_relations = Case::new("more relations than types", Format::NOCK, zoo::many_relations(1_200));
    let labels: Vec<String> = (0..1_100).map(|at| format!("label {at}")).collect();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    let nodes =
        [("a", &labels[..600], 1.0, ""), ("b", &labels[500..], 1.0, r#"{"labels":1}"#), ("c", &[][..], 1.0, "")];
    let more_labels = Case::new("more labels than files", Format::NOCK, zoo::bundled(&nodes, &[]));
    let texts = crate::texts::cases().into_iter().map(|(name, memory)| Case::new(name, Format::DEEPGNN, memory));
    typed.chain(bundled).chain(five).chain([more_relations, more_labels, triples, with_empty]).chain(texts).collect()
}

/// RDF as in stores: all triples in one table.
fn one_table(mut memory: MemoryGraph) -> MemoryGraph {
    let relations: Vec<String> =
        memory.graph.edges.iter().filter_map(|ty| ty.relation.fixed().map(str::to_owned)).collect();
    memory.graph.edges.truncate(1);
    memory.graph.edges[0].relation = Relation::PerRow;
    for batch in &mut memory.batches {
        if let Batch::Edges(edges) = batch {
            edges.relations =
                Some(Relations { names: vec![relations[edges.ty].as_str()].into(), index: vec![0; edges.rows].into() });
            edges.ty = 0;
        }
    }
    memory
}

pub fn resources() -> Resources {
    Resources { threads: 2, budget: Budget::new(1 << 30), ..Resources::of_this_machine().unwrap() }
}

/// A graph in files, which are deleted with this value.
pub struct Staged {
    _home: TempDir,
    pub path: PathBuf,
    pub certificate: Certificate,
}

/// Writes a graph; if that fails, no files are left.
pub fn stage(opened: &Opened, member: &Member, layout: &Layout) -> Result<Staged, Error> {
    stage_as(opened, member, layout, ConvertOptions::default())
}

/// The same with further options.
pub fn stage_as(opened: &Opened, member: &Member, layout: &Layout, options: ConvertOptions) -> Result<Staged, Error> {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join(layout.file);
    let destination = Location::from_path(&path);
    let options = ConvertOptions { to: Some(member.format), write: layout.write.clone(), ..options };
    let done = Plan::new(opened, &destination, &options, &resources(), &Silent)
        .and_then(|plan| convert(opened, &plan, &destination, &options, &resources(), &Silent));
    match done {
        Ok(certificate) => Ok(Staged { _home: home, path, certificate }),
        Err(error) => {
            let left: Vec<_> = std::fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
            assert!(left.is_empty(), "{}: {error} left {left:?}", layout.name);
            Err(error)
        }
    }
}

impl Staged {
    pub fn open(&self, sidecar: SidecarUse) -> Opened {
        // A text of DeepGNN without nodes cannot be recognised.
        let from = Some(Format::DEEPGNN).filter(|format| format.id() == self.certificate.to);
        self.open_with(&OpenOptions { sidecar, from, ..OpenOptions::default() })
    }

    pub fn open_with(&self, options: &OpenOptions) -> Opened {
        let opened = Opened::open(&Location::from_path(&self.path), options);
        opened.unwrap_or_else(|error| panic!("{}: {error:?}", self.certificate.to))
    }

    /// Checks that the files contain the graph: the certificate, the graph read with the sidecar, by every adjacency
    /// list, and as much as the format can state without it.
    pub fn check(&self, what: &str, expected: &Digests, graph: &Graph, layout: &Layout) {
        assert_eq!(self.certificate.source, Some(*expected), "{what}: what went in");
        assert_eq!(self.certificate.result, Some(*expected), "{what}: what came out");
        let opened = self.open(SidecarUse::Auto);
        assert_eq!(digests(&opened), *expected, "{what}: opened again");
        assert_eq!(opened.graph.graph().documents, graph.documents, "{what}");
        if opened.format == Format::GRAPHAR {
            for kind in layout.write.get::<isomorph_graphar::WriteOptions>().adjacency.iter().flatten() {
                let mut options = OpenOptions::default();
                options.get_mut::<isomorph_graphar::OpenOptions>().adjacency = Some(*kind);
                assert_eq!(digests(&self.open_with(&options)), *expected, "{what}: by {kind}");
            }
        }
        let alone = self.open(SidecarUse::Ignore);
        let mut findings = Findings::keeping(5);
        alone.native.validate(&mut findings).unwrap_or_else(|error| panic!("{what}: {error:?}"));
        assert!(findings.worst() < Some(Severity::Error), "{what}: {findings:#?}");
        let table = digest(alone.graph.as_ref(), &resources(), &Silent).unwrap().table;
        // Hyperedges and groups are nodes and edges there; in RDF so is nearly everything.
        let is_rdf = [Format::GRAPHLAKE, Format::RDF].contains(&opened.format);
        if !is_rdf && graph.hyperedges.is_empty() && graph.groups.is_empty() {
            let (nodes, edges) = counts(&table);
            // An undirected edge is two edges in DeepGNN.
            let edges = if opened.format == Format::DEEPGNN { edges.min(self.certificate.edges) } else { edges };
            // Nodes without edges may be in tables of the sidecar.
            let has_tables = opened.sidecar.as_ref().is_some_and(|sidecar| sidecar.mapping.detachment().is_some());
            let nodes = if has_tables { nodes.max(self.certificate.nodes) } else { nodes };
            assert_eq!((nodes, edges), (self.certificate.nodes, self.certificate.edges), "{what}: without its sidecar");
        }
    }
}

pub fn digests(opened: &Opened) -> Digests {
    digest(opened.graph.as_ref(), &resources(), &Silent).unwrap_or_else(|error| panic!("{error:?}")).digests
}

/// Whether writing this in every layout would take too long: many types, many files.
pub fn is_heavy(case: &Case) -> bool {
    case.memory.batches.len() > 50
        || case.memory.batches.iter().any(|batch| {
            matches!(batch, Batch::Edges(edges) if edges.relations.as_ref().is_some_and(|all| all.names.len() > 50))
        })
}
