//! Opens a graph: reads information files and counts, but no rows.

mod locate;
mod options;

pub use locate::detect;
pub(crate) use locate::linked;
pub use options::OpenOptions;

use isomorph_error::{Findings, Result};
use isomorph_model::schema::DocumentBody;
use isomorph_model::{Document, Graph};
use isomorph_storage::{Location, Root};

use crate::hints::{EXTRA_INFO, Hints, VERSION};
use crate::info::GraphInfo;
use crate::lookup::Lookups;
use crate::table::{EdgeTable, Refine, VertexTable};

/// Number of places that are kept for each rule.
const KEPT_FINDINGS: usize = 1000;

/// An opened GraphAr graph.
///
/// Implements [`isomorph_model::Source`]: see there for scans, look-ups and validation.
pub struct GraphAr {
    pub(crate) root: Root,
    /// The directory of the information files.
    pub(crate) beside: Root,
    /// Where the data is below it, if it is.
    pub(crate) below: Option<String>,
    /// Whether links out of the directory are followed; their targets must not be changed.
    pub(crate) follows_links: bool,
    pub(crate) graph_file: String,
    pub(crate) info: GraphInfo,
    /// The information files of the types as they were read.
    pub(crate) info_files: locate::InfoFiles,
    pub(crate) graph: Graph,
    pub(crate) vertices: Vec<VertexTable>,
    pub(crate) edges: Vec<EdgeTable>,
    pub(crate) findings: Findings,
    pub(crate) lookups: Lookups,
}

impl GraphAr {
    /// Opens the graph whose graph file is at `location`, or is the only one in that directory.
    ///
    /// Reads the information files, the count files, and the footer of one chunk for each property group that has
    /// timestamps. Missing data files are findings, not errors: a graph without data can be described.
    ///
    /// # Errors
    /// Returns [`isomorph_error::Kind::NotFound`] if there is no graph file, [`isomorph_error::Kind::Incomplete`] if an
    /// information file is missing, or the first violated rule of severity
    /// [`isomorph_error::Severity::Error`] in the information and count files.
    pub fn open(location: &Location, options: &OpenOptions) -> Result<GraphAr> {
        let mut findings = Findings::keeping(KEPT_FINDINGS);
        let (beside, graph_file) = locate::manifest(location, options.follow_links.as_ref())?;
        let (info, info_files) = locate::load(&beside, &graph_file, &mut findings)?;
        info.check(&graph_file, &mut findings);
        crate::info::refuse(&findings)?;
        let links = options.follow_links.as_ref();
        let (root, below) = locate::data_root(
            &beside,
            &graph_file,
            info.prefix.as_deref(),
            options.root.as_ref(),
            links,
            &mut findings,
        )?;
        let refine = Refine { root: &root, timestamps: options.timestamps };
        let mut vertices = Vec::with_capacity(info.vertices.len());
        for vertex in &info.vertices {
            vertices.push(VertexTable::new(&refine, vertex.clone(), options.key_row, &mut findings)?);
        }
        let mut edges = Vec::with_capacity(info.edges.len());
        for edge in &info.edges {
            let node = |ty: &str| info.vertices.iter().position(|vertex| vertex.ty == ty).unwrap_or_default();
            let ends = (node(&edge.source), node(&edge.target));
            edges.push(EdgeTable::new(&refine, edge.clone(), ends, options.adjacency, &mut findings)?);
        }
        let graph = describe(&info, &vertices, &edges);
        Ok(GraphAr {
            root,
            beside,
            below,
            follows_links: links.is_some(),
            graph_file,
            info,
            info_files,
            graph,
            vertices,
            edges,
            findings,
            lookups: Lookups::default(),
        })
    }

    /// Returns the content of the information files.
    pub fn info(&self) -> &GraphInfo {
        &self.info
    }

    /// Returns the findings of opening.
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// Returns the directory of the data.
    pub fn root(&self) -> &Root {
        &self.root
    }
}

/// Describes the graph in the model.
fn describe(info: &GraphInfo, vertices: &[VertexTable], edges: &[EdgeTable]) -> Graph {
    let mut graph = Graph {
        name: info.name.clone(),
        nodes: vertices.iter().map(|vertex| vertex.shown.clone()).collect(),
        edges: edges.iter().map(|edge| edge.shown.clone()).collect(),
        ..Graph::default()
    };
    if let Some(version) = &info.version {
        graph.metadata.insert(VERSION.to_owned(), version.text.clone());
    }
    Hints::of(info).write(&mut graph);
    if !info.extra_info.is_empty() {
        let pairs = info.extra_info.iter().map(|(key, value)| (key.clone(), value.clone().into()));
        let body = serde_json::Value::Object(pairs.collect()).to_string();
        graph.documents.push(Document { name: EXTRA_INFO.to_owned(), body: DocumentBody::Json(body) });
    }
    graph
}
