//! A graph of any format.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use isomorph_convert::matching::{Matches, Prefixes, Query, Searched, Solutions};
use isomorph_convert::{
    Certificate, ConvertOptions, Diff, Digests, OpenOptions, Opened, Plan, Progress, Silent, TypedOptions, convert,
    diff, digest, dump,
};
use isomorph_dataset::{Dataset, Neighbors, Scan, Selection, Table};
use isomorph_error::{Findings, Result};
use isomorph_model::{NodeId, Source};
#[cfg(feature = "sampling")]
use isomorph_sampling::{
    GraphOptions,
    answers::{Drawing, Question},
};
use isomorph_storage::{Location, Resources};

#[cfg(feature = "sampling")]
use crate::sampled::{Sampled, SampledOptions};

/// A graph of any format, seen through its sidecar if it has one, with the memory and threads of this machine.
///
/// Methods keep within the limits of [`Resources`] and print nothing. To follow progress or to cancel, use
/// [`crate::convert`], which this type wraps.
pub struct Graph {
    opened: Opened,
    stored: Dataset,
    /// The tables with declared types, once they are known; nothing inside if those are the stored ones.
    typed: OnceLock<Option<Dataset>>,
    /// Held during a survey, so that nobody starts a second one.
    surveying: Mutex<()>,
    typing: TypedOptions,
    resources: Resources,
}

impl std::fmt::Debug for Graph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Graph").field("tables", &self.stored.tables()).finish_non_exhaustive()
    }
}

/// Opens the graph at `place`: a path, or a URL such as `s3://bucket/graph` (feature `cloud`). For a GraphLake store,
/// also a snapshot, as in `people.lake@3` and `people.lake@2026-11-22`.
///
/// ```
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// let home = tempfile::tempdir()?;
/// let place = home.path().join("people.lake").display().to_string();
/// let people = isomorph::open("examples/people.ttl")?;
/// people.convert(&place)?;
/// assert_eq!(isomorph::open(&format!("{place}@1"))?.digest()?, people.digest()?);
/// assert!(isomorph::open(&format!("{place}@7")).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns an error if there is no such file or directory, it has no recognised format, its metadata is invalid, or its
/// sidecar is stale.
pub fn open(place: &str) -> Result<Graph> {
    let (location, at) = isomorph_graphlake::snapshot_of(Location::parse(place)?, place)?;
    let mut options = OpenOptions::default();
    if let Some(at) = at {
        options.get_mut::<isomorph_graphlake::OpenOptions>().at = at;
    }
    Graph::open(&location, &options, Resources::of_this_machine()?)
}

impl Graph {
    /// Opens a graph with given options and resources.
    ///
    /// # Errors
    /// As [`open`].
    pub fn open(location: &Location, options: &OpenOptions, resources: Resources) -> Result<Graph> {
        crate::install_network();
        let own = options.resources.clone().unwrap_or_else(|| resources.clone());
        let options = OpenOptions { resources: Some(own), ..options.clone() };
        Ok(Graph::of(Opened::open(location, &options)?, resources))
    }

    fn of(opened: Opened, resources: Resources) -> Graph {
        let stored = Dataset::new(Arc::clone(&opened.graph), resources.clone());
        let (typed, surveying, typing) = (OnceLock::new(), Mutex::default(), TypedOptions::default());
        Graph { opened, stored, typed, surveying, typing, resources }
    }

    /// Sets how many types and columns [`Graph::dataset`] may find, and how many rows it may read to find them.
    pub fn with_typing(self, typing: TypedOptions) -> Graph {
        Graph { typing, typed: OnceLock::new(), ..self }
    }

    /// Returns its location, format and sidecar.
    pub fn opened(&self) -> &Opened {
        &self.opened
    }

    /// Returns the memory, threads and temporary files that it may use.
    pub fn resources(&self) -> &Resources {
        &self.resources
    }

    /// Returns it as a source of batches, with its description.
    pub fn source(&self) -> &Arc<dyn Source> {
        &self.opened.graph
    }

    /// The graph as tables with declared types: a table for each node type and edge type, with a column for each property.
    ///
    /// Formats that declare no types (NOCK, RDF, the relations of DeepGNN) are surveyed on the first call, which reads the graph two to three times; see [`Opened::typed`]. The
    /// result is kept as long as this value. [`Graph::stored`] needs no survey.
    ///
    /// ```
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    /// let people = isomorph::open("examples/people.ttl")?;
    /// let names: Vec<&str> = people.dataset()?.tables().iter().map(|table| table.name()).collect();
    /// assert_eq!(names, ["resource", "resource_http://example.org/knows_resource"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Graph::survey`].
    pub fn dataset(&self) -> Result<&Dataset> {
        self.survey(&Silent)
    }

    /// The same, with a survey that reports to `progress`, which can cancel it.
    ///
    /// # Errors
    /// [`crate::Kind::TooLarge`] if the survey reads more rows than [`TypedOptions`] allow; otherwise an error if the graph cannot be read or is not sound.
    pub fn survey(&self, progress: &dyn Progress) -> Result<&Dataset> {
        let _alone = self.surveying.lock().unwrap_or_else(PoisonError::into_inner);
        let typed = match self.typed.get() {
            Some(typed) => typed,
            None => {
                let source = self.opened.typed(&self.typing, &self.resources, progress)?;
                let is_stored = Arc::ptr_eq(&source, &self.opened.graph);
                let typed = (!is_stored).then(|| Dataset::new(source, self.resources.clone()));
                self.typed.get_or_init(|| typed)
            }
        };
        Ok(typed.as_ref().unwrap_or(&self.stored))
    }

    /// The graph as the tables that its format has: nodes and edges of NOCK in one table each, with properties in JSON; literals of RDF in a table for each
    /// predicate. Nothing is read to find them.
    pub fn stored(&self) -> &Dataset {
        &self.stored
    }

    /// The tables of [`Graph::dataset`]: nodes, edges, hyperedges and their members, values, groups and their members.
    ///
    /// # Errors
    /// As [`Graph::survey`].
    pub fn tables(&self) -> Result<&[Table]> {
        self.dataset().map(Dataset::tables)
    }

    /// Returns a scan of the table with this name.
    ///
    /// # Errors
    /// [`crate::Kind::Usage`] if there is no such table; otherwise as [`Graph::survey`].
    pub fn scan(&self, table: &str) -> Result<Scan<'_>> {
        self.dataset()?.scan(table)
    }

    /// The neighbours of a node in [`Graph::stored`], read from where its edges are stored; its type need not be given if there is only one.
    ///
    /// ```
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    /// use isomorph::dataset::Sides;
    /// use isomorph::model::NodeId;
    ///
    /// let social = isomorph::open("examples/social")?;
    /// let friends = social.neighbors(Some("person"), NodeId::Key("1007"))?.relation("knows")?.sides(Sides::Out);
    /// let mut batches = friends.columns(["since"])?.limit(2).batches();
    /// for batch in &mut batches {
    ///     let table = batch?.to_record_batch()?;
    ///     let names: Vec<&str> = table.schema_ref().fields().iter().map(|field| field.name().as_str()).collect();
    ///     assert_eq!(names, ["neighbor", "relation", "direction", "since"]);
    /// }
    /// // The limit was reached before all edges were read, so the number of further neighbours is unknown.
    /// assert_eq!(batches.more(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`crate::Kind::Usage`] if there is no such type, or if there are several and none is given.
    pub fn neighbors(&self, node_type: Option<&str>, node: NodeId<'_>) -> Result<Neighbors<'_>> {
        self.stored.neighbors(node_type, node)
    }

    /// Returns the solutions of triple patterns with common variables: by look-ups in a GraphLake store, else by a pass
    /// over the triples of the graph, which ends after `limit` solutions of one pattern. Nodes and edges are triples as
    /// `docs/mapping.md` describes.
    ///
    /// ```
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    /// use isomorph::convert::matching::Prefixes;
    ///
    /// let prefixes = Prefixes::new(&[("".to_owned(), "urn:x-isomorph:".to_owned())].into());
    /// let social = isomorph::open("examples/social")?;
    /// let found = social.matches("?one :knows ?other . ?other :livesIn <urn:x-isomorph:city/Accra>", &prefixes, 10)?;
    /// assert_eq!(found.variables, ["one", "other"]);
    /// assert_eq!(found.rows.len(), 10);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`crate::Kind::Usage`] for an invalid pattern; otherwise an error if the graph cannot be read, or has
    /// something that triples cannot represent.
    pub fn matches(&self, patterns: &str, prefixes: &Prefixes, limit: u64) -> Result<Solutions> {
        let query = Query::parse(&[patterns.to_owned()], None, prefixes)?;
        let searched = Searched::of(&self.opened, None, &self.resources, &Silent);
        Matches::new(searched, query, &self.resources, &Silent).solutions(limit)
    }

    /// Prepares it for sampling by keys and names: for one question, or for others about the same features.
    ///
    /// ```
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    /// use isomorph::sampling::answers::{Drawing, NeighborsOf, Question, Strategy};
    /// use isomorph::sampling::Generator;
    ///
    /// let social = isomorph::open("examples/social")?;
    /// let question = Question::Neighbors(NeighborsOf {
    ///     nodes: vec!["1007".to_owned()],
    ///     count: Some(3),
    ///     strategy: Strategy::Uniform,
    ///     types: Some(vec!["knows".to_owned()]),
    ///     time: None,
    /// });
    /// let node_type = Some("person".to_owned());
    /// let how = Drawing { seed: 7, generator: Generator::Stable, threads: 2, node_type };
    /// let drawn = social.sampled(&question, &how)?.graph.draw(&question, &how)?.to_record_batch()?;
    /// assert_eq!(drawn.num_rows(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`crate::Sampled::of`].
    #[cfg(feature = "sampling")]
    pub fn sampled(&self, question: &Question, how: &Drawing) -> Result<Sampled> {
        let kept = GraphOptions::new(&self.resources.budget, &self.resources.scratch);
        Sampled::of(self.opened.clone(), question, how, &SampledOptions::default(), &kept, &self.resources)
    }

    /// Returns a part of it, which is a graph. First checks that it matches its sidecar.
    ///
    /// # Errors
    /// As [`Opened::select`].
    pub fn select(&self, selection: &Selection) -> Result<Graph> {
        self.select_with(selection, &Silent)
    }

    /// As [`Graph::select`], and reports progress.
    ///
    /// # Errors
    /// As [`Graph::select`].
    pub fn select_with(&self, selection: &Selection, progress: &dyn Progress) -> Result<Graph> {
        self.opened.check_bytes(&self.resources, progress)?;
        let part = self.opened.clone().select(selection, false, &self.resources, progress)?;
        Ok(Graph::of(part.opened, self.resources.clone()).with_typing(self.typing))
    }

    /// Converts it to the format in the name of the destination, and verifies the output.
    ///
    /// # Errors
    /// Returns an error if the destination exists, its name has no format, the format cannot store the graph even with
    /// a sidecar, or the output differs from the input. Then no output is written.
    pub fn convert(&self, destination: &str) -> Result<Certificate> {
        self.convert_with(&Location::parse(destination)?, &ConvertOptions::default(), &Silent)
    }

    /// Converts it with given options, and reports progress.
    ///
    /// # Errors
    /// As [`Graph::convert`].
    pub fn convert_with(
        &self,
        destination: &Location,
        options: &ConvertOptions,
        progress: &dyn Progress,
    ) -> Result<Certificate> {
        let opened = self.opened.clone().counted(&self.resources, progress)?;
        let plan = Plan::new(&opened, destination, options, &self.resources, progress)?;
        convert(&opened, &plan, destination, options, &self.resources, progress)
    }

    /// Validates it completely, and returns the broken rules of its format.
    ///
    /// # Errors
    /// Returns an error if it cannot be read further.
    pub fn validate(&self) -> Result<Findings> {
        let mut findings = self.opened.native.about().findings;
        self.opened.native.validate(&mut findings)?;
        Ok(findings)
    }

    /// Returns 128-bit digests of content, order and schema, which are equal in every format.
    ///
    /// # Errors
    /// Returns an error if it cannot be read.
    pub fn digest(&self) -> Result<Digests> {
        self.opened.check_whole(false, &self.resources, &Silent)?;
        Ok(digest(self.opened.graph.as_ref(), &self.resources, &Silent)?.digests)
    }

    /// Returns how it differs from `other`, which may have another format, with up to `most` elements.
    ///
    /// # Errors
    /// Returns an error if one of them cannot be read.
    pub fn diff(&self, other: &Graph, most: usize) -> Result<Diff> {
        for one in [self, other] {
            one.opened.check_whole(false, &one.resources, &Silent)?;
        }
        diff(self.opened.graph.as_ref(), other.opened.graph.as_ref(), most, &self.resources, &Silent)
    }

    /// Writes every element as one line of JSON.
    ///
    /// # Errors
    /// Returns an error if it cannot be read, or `out` cannot be written.
    pub fn dump(&self, out: &mut dyn std::io::Write) -> Result<()> {
        self.opened.check_whole(false, &self.resources, &Silent)?;
        dump(self.opened.graph.as_ref(), out, &self.resources, &Silent)
    }
}
