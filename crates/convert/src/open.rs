//! Opens a graph, together with its sidecar.

use std::sync::Arc;

use isomorph_error::{Error, Finding, Findings, Kind, Result, Severity};
use isomorph_model::Source;
use isomorph_storage::{Location, Root};

use crate::as_written;
use crate::counted::counted;
use crate::driver::Format;
use crate::mapping::{
    Bundling, Divided, Gathered, Gathering, NameRules, Projected, Projection, Reification, Reified, TERM,
};
use crate::options::{ConvertOptions, Hyperedges, OpenOptions, SidecarUse, Typing};
use crate::plan::Plan;
use crate::progress::{Progress, Silent};
use crate::registry::Registry;
use crate::sidecar::verify::{keyless, misfit};
use crate::sidecar::{self, Sidecar, other_bytes};
use crate::survey;
use crate::traits::Shape;
use isomorph_storage::Resources;

/// An opened graph.
#[derive(Clone)]
pub struct Opened {
    /// Its location.
    pub location: Location,
    /// The format of the data.
    pub format: Format,
    /// The data without its sidecar.
    pub native: Arc<dyn Source>,
    /// The sidecar, if it is used.
    pub sidecar: Option<Sidecar>,
    /// The graph: the data, seen through its sidecar.
    pub graph: Arc<dyn Source>,
    /// The options it was opened with: opening the data again with them shows the same snapshot and the same part of
    /// it.
    pub options: OpenOptions,
    /// Whether it is a part of the data: then `format` is that of the graph, and there is no sidecar.
    pub is_part: bool,
}

impl Opened {
    /// Opens the graph at `location`. Reads only metadata and, for the sidecar, the ends of files. If only names and
    /// types of the sidecar are used, the keys of nodes of several types in one table are read as well, because row
    /// counts may have changed.
    ///
    /// # Errors
    /// If the location does not exist, is not a recognised format, its metadata is invalid, or its sidecar is stale;
    /// also if opening finds errors, unless they are accepted ([`OpenOptions::unsound`]).
    pub fn open(location: &Location, options: &OpenOptions) -> Result<Opened> {
        let format = match options.from {
            Some(format) => format,
            None => options.formats.at(location)?,
        };
        let (home, directory) = home_of(location, format);
        let sidecar = match options.sidecar {
            SidecarUse::Ignore => None,
            _ => Sidecar::read(&home, directory, &options.formats)?,
        };
        let mut sidecar = sidecar.filter(|sidecar| sidecar.format == format.id());
        if let Some(sidecar) = &mut sidecar {
            // Tables of nodes and edges belong to exactly these files.
            let has_tables = sidecar.mapping.detachment().is_some();
            sidecar.schema_only = options.sidecar == SidecarUse::Schema && !has_tables;
        }
        if let Some(sidecar) = sidecar.as_ref().filter(|sidecar| !sidecar.schema_only) {
            let differences = sidecar.differences(&home, directory)?;
            if !differences.is_empty() {
                return Err(Sidecar::stale(&home, &differences));
            }
            // Rows of the tables belong to rows of the files by their positions: a byte that differs anywhere moves values to other elements.
            if sidecar.mapping.detachment().is_some() {
                let threads = std::thread::available_parallelism().map_or(1, usize::from);
                let differences = other_bytes(sidecar, &home, directory, threads, &Silent)?;
                if !differences.is_empty() {
                    return Err(Sidecar::stale(&home, &differences));
                }
            }
        }
        // The sidecar of data that is read with other types describes another graph.
        let retypes = sidecar
            .as_ref()
            .and_then(|sidecar| sidecar.mapping.kept())
            .is_some_and(|kept| format.changes_types(options, kept));
        let asked = options;
        let mut options = options.showing(format, sidecar.as_ref().and_then(|sidecar| sidecar.mapping.shown()));
        format.finish_options(&mut options, sidecar.is_some());
        let mut sidecar = sidecar.filter(|_| !retypes);
        let native = match options.look_ups && sidecar.is_none() {
            true => format.open_for_lookups(location, &options)?,
            // A graph with a sidecar is read through all of its data.
            false => format.open(location, &options)?,
        };
        named_once(native.as_ref(), location)?;
        if !options.unsound {
            sound(&native.about().findings)?;
        }
        if let Some(sidecar) = &mut sidecar {
            sidecar.schema_only |= format.may_differ_from_sidecar(native.as_ref(), asked);
        }
        let budget = options.budget();
        let graph = match &sidecar {
            Some(sidecar) if sidecar.schema_only || sidecar.alternate => {
                let threads = std::thread::available_parallelism().map_or(1, usize::from);
                let (way, native) = (sidecar.mapping.inverse(), Arc::clone(&native));
                let shown = way.apply_anew(native, &budget, threads);
                shown.map_err(|error| misfit(error, asked).at(location.to_string()))?.0
            }
            Some(sidecar) => {
                let shown = sidecar.mapping.inverse().apply(Arc::clone(&native), &budget);
                shown.map_err(|error| keyless(error, asked).at(location.to_string()))?
            }
            None => Arc::clone(&native),
        };
        named_once(graph.as_ref(), location)?;
        Ok(Opened {
            location: location.clone(),
            format,
            native,
            sidecar,
            graph,
            options: asked.clone(),
            is_part: false,
        })
    }

    /// The graph as `format` stores it: the data itself if it has that format, otherwise what a conversion would write.
    /// If the format has a schema and the source does not, the source is surveyed.
    ///
    /// # Errors
    /// If the format cannot store the graph, or the graph cannot be read.
    pub fn seen_as(&self, format: Format, resources: &Resources, progress: &dyn Progress) -> Result<Arc<dyn Source>> {
        if self.format == format {
            return Ok(Arc::clone(&self.native));
        }
        if self.format_of_graph() == format {
            return Ok(Arc::clone(&self.graph));
        }
        let mut options = ConvertOptions { to: Some(format), ..ConvertOptions::default() };
        format.layout_without_loss(&mut options.write);
        let plan = Plan::of(self, &self.location, &options, resources, progress)?;
        if plan.mapping.numbering().is_some() || plan.mapping.detachment().is_some() {
            return as_written::written(self, &plan, resources, progress);
        }
        plan.mapped(Arc::clone(&self.graph), resources)
    }

    /// The graph as nodes and edges only: hyperedges become nodes with edges to their members, or edges between their
    /// members, or are dropped. For the last two, hyperedges are read once.
    ///
    /// # Errors
    /// If the graph cannot be shown in this form, or cannot be read.
    pub fn without_hyperedges(
        &self,
        how: Hyperedges,
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<Arc<dyn Source>> {
        if self.graph.graph().hyperedges.is_empty() {
            return Ok(Arc::clone(&self.graph));
        }
        Ok(match Projection::of(self.graph.as_ref(), how, resources, progress)? {
            Some(projection) => Arc::new(Projected::new(Arc::clone(&self.graph), projection)),
            None => {
                let record = Reification::of(self.graph.graph())?;
                Arc::new(Reified::new(Arc::clone(&self.graph), &record, &resources.budget)?)
            }
        })
    }

    /// The graph with columns, also for what its format stores in another form: literals of resources in RDF, bags of
    /// properties. A survey reads it once; a graph that has columns is unchanged. Members of a bag keep their names,
    /// except those with the name of a column or of the labels: these are `bag.NAME`.
    ///
    /// # Errors
    /// If the graph cannot be shown in this form, or cannot be read.
    pub fn in_columns(&self, resources: &Resources, progress: &dyn Progress) -> Result<Arc<dyn Source>> {
        let (source, format) = (self.with_resources_as_nodes(resources)?, self.format_of_graph());
        let rules = match format.shape() {
            Shape::Typed => return Ok(source),
            Shape::Bundled => format.name_rules(),
            Shape::Triples => NameRules { key: TERM, ..format.name_rules() },
        };
        let typing = Typing::default();
        let survey = survey::read(source.as_ref(), typing, resources, progress)?;
        let bundling = Bundling::surveyed(source.graph(), &survey, typing, &rules)?.with_own_names();
        Ok(Arc::new(Divided::of(source, bundling.layout())?))
    }

    /// The graph with nodes: the resources of RDF, which exist only in triples, with their literals as a bag of
    /// properties. Other graphs are unchanged. Reading it sorts the literals.
    ///
    /// # Errors
    /// If a graph that should be RDF is not.
    pub fn with_resources_as_nodes(&self, resources: &Resources) -> Result<Arc<dyn Source>> {
        let source = Arc::clone(&self.graph);
        if self.format_of_graph().shape() != Shape::Triples {
            return Ok(source);
        }
        // Graphs without triples have no nodes and no edges.
        let record = Gathering::of(source.graph(), false, false, true)?;
        Ok(Arc::new(Gathered::new(source, &record, &resources.budget)))
    }

    /// A graph with its groups, and any remaining hyperedges, as nodes with edges to their members.
    ///
    /// # Errors
    /// If the graph cannot be shown in this form.
    pub fn with_groups_as_nodes(source: Arc<dyn Source>, resources: &Resources) -> Result<Arc<dyn Source>> {
        let record = Reification::of(source.graph())?;
        Ok(Arc::new(Reified::new(source, &record, &resources.budget)?))
    }

    /// The same with the number of nodes of each type, which is counted if nothing states it: for several types that a
    /// sidecar identifies in data that was changed.
    ///
    /// # Errors
    /// If the nodes cannot be read.
    pub fn counted(self, resources: &Resources, progress: &dyn Progress) -> Result<Opened> {
        let graph = counted(Arc::clone(&self.graph), resources, progress);
        let graph = graph.map_err(|error| sidecar::verify::of_reading(&self, error))?;
        Ok(Opened { graph, ..self })
    }

    /// The format of the graph: the one that the sidecar describes, if there is one.
    pub fn format_of_graph(&self) -> Format {
        // A sidecar of an unknown format is not read: see `Sidecar::read`.
        self.sidecar.as_ref().and_then(|sidecar| self.options.formats.find(&sidecar.of)).unwrap_or(self.format)
    }
}

/// Checks that the properties of a table have different names.
fn named_once(source: &dyn Source, location: &Location) -> Result<()> {
    match source.graph().repeated_property() {
        None => Ok(()),
        Some((what, name)) => Err(Error::malformed(format!("two properties of the {what} have the name {name:?}"))
            .at(location.to_string())
            .hint("rename one of the two in the data: they cannot be distinguished")),
    }
}

/// Checks that the findings of opening leave a graph that can be read reliably.
///
/// # Errors
/// Returns the first error among the findings.
pub fn sound(findings: &Findings) -> Result<()> {
    let first = findings.by_rule().flat_map(|(_, kept)| kept).find(|one| one.rule.severity == Severity::Error);
    match first {
        None => Ok(()),
        Some(Finding { rule, message, place }) => {
            let error = Error::broken(rule, message.clone()).at(place.clone());
            Err(error.hint("isomorph validate PATH    list every finding").hint("--lenient    continue anyway"))
        }
    }
}

/// The file or directory that a sidecar is next to or inside, and whether it is a directory. A graph in a directory can
/// be given by its information file; its home is the directory.
pub fn home_of(location: &Location, format: Format) -> (Location, bool) {
    let is_directory = location.scheme().has_listing() && Root::open(location).is_ok();
    match is_directory {
        false if format.stands_for_directory(location.file_name()) => {
            (location.parent().unwrap_or_else(|| location.clone()), true)
        }
        true => (location.clone(), true),
        // Output that is written through a link has its sidecar next to the file; a link to files can also have a
        // sidecar next to the link.
        false => {
            let target = location.link_target().filter(|target| {
                let document = sidecar::location_of(target, false);
                document.is_ok_and(|document| document.as_path().is_some_and(std::path::Path::exists))
            });
            (target.unwrap_or_else(|| location.clone()), false)
        }
    }
}

/// The sidecar of the data at `location`, and the differences if it is stale.
///
/// # Errors
/// Returns [`Kind::NotFound`] if there is none.
pub fn sidecar_of(location: &Location, formats: &Registry) -> Result<(Sidecar, Vec<String>)> {
    sidecar_beside(location, formats.at(location)?, formats)
}

/// The same for data of a known format.
///
/// # Errors
/// As [`sidecar_of`].
pub fn sidecar_beside(location: &Location, format: Format, formats: &Registry) -> Result<(Sidecar, Vec<String>)> {
    let (home, directory) = home_of(location, format);
    let sidecar = Sidecar::read(&home, directory, formats)?
        .ok_or_else(|| Error::new(Kind::NotFound, "this data has no sidecar").at(location.to_string()))?;
    let differences = sidecar.differences(&home, directory)?;
    Ok((sidecar, differences))
}
