//! Graphs as lines of text besides edge lists: matrices, adjacency lists, METIS, Pajek and Graphalytics.

use std::sync::Arc;

use isomorph_edgelist::{Listing, Notation, OpenOptions as Opening, WriteOptions as Writing, pajek};
use isomorph_error::Result;
use isomorph_model::capability::Capability;
use isomorph_model::{Graph, Property, Sink, Source, Written, well_known};
use isomorph_storage::{Location, Scheme, Staging};

use super::in_table;
use crate::conversion::Job;
use crate::driver::Driver;
use crate::mapping::Allowed;
use crate::open::Opened;
use crate::options::{OpenOptions, WriteOptions};
use crate::traits::{Flags, NumberKeys, Traits};

/// One notation: each is a format.
pub(super) struct Notated(pub Notation);

/// Returns the opened text.
fn own(native: &dyn Source) -> Option<&Listing> {
    native.as_any().and_then(|own| own.downcast_ref::<Listing>())
}

/// Returns a function for each notation: [`Allowed`] has functions without context. What a notation does not store goes into a table.
fn holds(notation: Notation) -> fn(&Property, bool) -> bool {
    match notation {
        Notation::MatrixMarket => |own, of_edge| in_table(own) && Notation::MatrixMarket.holds(own, of_edge),
        Notation::AdjacencyList => |own, of_edge| in_table(own) && Notation::AdjacencyList.holds(own, of_edge),
        Notation::MultilineAdjacencyList => {
            |own, of_edge| in_table(own) && Notation::MultilineAdjacencyList.holds(own, of_edge)
        }
        Notation::Metis => |own, of_edge| in_table(own) && Notation::Metis.holds(own, of_edge),
        Notation::Pajek => |own, of_edge| in_table(own) && Notation::Pajek.holds(own, of_edge),
        Notation::Graphalytics => |own, of_edge| in_table(own) && Notation::Graphalytics.holds(own, of_edge),
    }
}

impl Driver for Notated {
    fn id(&self) -> &'static str {
        match self.0 {
            Notation::MatrixMarket => "matrixmarket",
            Notation::AdjacencyList => "adjlist",
            Notation::MultilineAdjacencyList => "multiline",
            Notation::Metis => "metis",
            Notation::Pajek => "pajek",
            Notation::Graphalytics => "graphalytics",
        }
    }

    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn capability(&self) -> &'static Capability {
        self.0.capability()
    }

    fn traits(&self) -> Traits {
        Traits {
            rules: self.0.rules(),
            usual_names: match self.0 {
                Notation::MatrixMarket => &["NAME.mtx"],
                Notation::AdjacencyList => &["NAME.adjlist"],
                Notation::MultilineAdjacencyList => &["NAME.multiline_adjlist"],
                Notation::Metis => &["NAME.metis", "NAME.graph"],
                Notation::Pajek => &["NAME.net"],
                Notation::Graphalytics => &["NAME.properties", "DIRECTORY/"],
            },
            flags: Flags {
                opening: if self.0.states_direction() { &[] } else { &["--undirected"] },
                ..Flags::default()
            },
            key: "name",
            is_single_file: !self.0.is_directory(),
            number_keys: match (self.0.has_integers_for_keys(), self.0.has_numbers_for_keys()) {
                (false, _) => None,
                (true, true) => Some(NumberKeys::FromOne),
                (true, false) => Some(NumberKeys::Any),
            },
            detaches: true,
            sorts_edges: matches!(self.0, Notation::AdjacencyList | Notation::MultilineAdjacencyList | Notation::Metis),
            inseparable: &[well_known::WEIGHT],
            knows_nodes_by_key: true,
            ..Traits::of(self.shape())
        }
    }

    fn stands_for_directory(&self, _name: &str) -> bool {
        self.0.is_directory()
    }

    fn detect(&self, location: &Location) -> Result<bool> {
        // A graph of several files is a directory, but a stream is a single file.
        match self.0.is_directory() && location.scheme() == Scheme::Stream {
            true => Ok(false),
            false => self.0.detect(location),
        }
    }

    fn is_directory(&self, _options: &WriteOptions) -> bool {
        self.0.is_directory()
    }

    fn matches_name(&self, name: &str) -> bool {
        self.0.matches_name(name)
    }

    fn suggested_name(&self, stem: &str, _options: &WriteOptions) -> String {
        format!("{stem}{}", self.0.endings().first().copied().unwrap_or_default())
    }

    fn open(&self, location: &Location, options: &OpenOptions) -> Result<Arc<dyn Source>> {
        let mut own = options.get::<Opening>().into_owned();
        if let Some(resources) = &options.resources {
            own.budget = resources.budget.clone();
            own.scratch = Some(resources.scratch.clone());
        }
        Ok(Arc::new(Listing::open(location, self.0, &own)?))
    }

    fn shown<'o>(&self, options: &'o mut OpenOptions) -> Option<&'o mut Option<Graph>> {
        Some(&mut options.get_mut::<Opening>().shown)
    }

    fn copy_options(&self, opened: &Opened, options: &mut OpenOptions) {
        options.get_mut::<Opening>().undirected = opened.options.get::<Opening>().undirected;
    }

    fn recognised(&self, native: &dyn Source) -> Vec<(String, String)> {
        own(native).map(|list| list.recognised().to_vec()).unwrap_or_default()
    }

    fn allowed(&self) -> Allowed {
        let is_pajek = self.0 == Notation::Pajek;
        Allowed {
            holds: holds(self.0),
            // It distinguishes parallel edges in NetworkX, which merges those of which it is the same.
            is_property: if is_pajek { pajek::is_property } else { |_| true },
            is_edge_property: Some(if is_pajek {
                |name| name != "key" && pajek::is_property(name)
            } else {
                |name| name != "key"
            }),
            wide_keys: false,
            documents: |_| false,
            ..Allowed::anything()
        }
    }

    fn keeps_order(&self, _options: &WriteOptions) -> bool {
        self.0.capability().order
    }

    fn stored(&self, graph: &Graph) -> Graph {
        self.0.stored(graph)
    }

    fn not_stored(&self, graph: &Graph, _options: &WriteOptions) -> Result<Vec<(String, String)>> {
        Ok(self.0.unheld(graph))
    }

    fn is_text(&self, _options: &WriteOptions) -> bool {
        !self.0.is_directory()
    }

    fn manifests<'a>(&self, written: &'a Written) -> Vec<&'a str> {
        let names = written.files.iter().map(|(name, _)| name.as_str());
        names.filter(|name| self.0.is_directory() && name.ends_with(".properties")).collect()
    }

    fn prepare(&self, options: &mut WriteOptions, job: &Job<'_>) -> Result<()> {
        let own = options.get_mut::<Writing>();
        own.without_unheld = job.options.loses();
        own.budget = Some(job.resources.budget.clone());
        own.scratch = Some(job.resources.scratch.clone());
        Ok(())
    }

    fn create<'a>(&self, staging: &'a Staging, graph: &Graph, options: &WriteOptions) -> Result<Box<dyn Sink + 'a>> {
        isomorph_edgelist::create(self.0, staging, graph, &options.get::<Writing>())
    }
}
