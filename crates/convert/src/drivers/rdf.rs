//! RDF: a text in one of six syntaxes.

use std::sync::Arc;

use isomorph_deepgnn::TextFormat;
use isomorph_error::{Error, Result};
use isomorph_model::capability::Capability;
use isomorph_model::faces::{QuadSink, holds};
use isomorph_model::{Source, well_known};
use isomorph_rdf::{OpenOptions as Opening, Packing, RdfText, Syntax, TextSink, WriteOptions as Writing};
use isomorph_storage::{Location, Staging};

use crate::conversion::Job;
use crate::driver::{Driver, Format, Unprintable};
use crate::mapping::{Allowed, LoweredText, Mapping};
use crate::open::Opened;
use crate::options::{OpenOptions, WriteOptions};
use crate::progress::Progress;
use crate::registry::Registry;
use crate::shortcut::Shortcut;
use crate::traits::{Flags, Shape, Traits};
use crate::triples;

/// How to write an RDF text.
#[derive(Debug, Clone, Copy, Default)]
pub struct RdfOptions {
    /// The syntax; `None` if the destination's name selects it.
    pub syntax: Option<Syntax>,
}

pub(super) struct Rdf;

/// Returns the options of the format, with the resources of the job.
fn opening(options: &OpenOptions) -> Opening {
    let mut own = options.get::<Opening>().into_owned();
    if let Some(resources) = &options.resources {
        own.read.budget = resources.budget.clone();
        own.scratch = Some(resources.scratch.clone());
        own.threads = resources.threads;
    }
    own
}

/// Returns the syntax of a text to write: as requested, or by the destination's name.
fn syntax(destination: &Location, options: &WriteOptions) -> Result<Syntax> {
    let named = || Syntax::of_name(destination.file_name());
    options.get::<RdfOptions>().syntax.or_else(named).ok_or_else(|| {
        Error::usage("the destination's name does not select an RDF syntax")
            .at(destination.to_string())
            .hint("--to-syntax nt|nq|ttl|trig|rdf|jsonld")
    })
}

/// Returns whether the first bytes of a text identify its syntax without its name. Turtle and TriG may begin with
/// anything.
fn begins_so(syntax: Syntax) -> bool {
    !matches!(syntax, Syntax::Turtle | Syntax::TriG)
}

/// Returns whether a reader of the syntax `named` can read a text of `syntax`.
fn reads(named: Syntax, syntax: Syntax) -> bool {
    named == syntax
        || match syntax {
            Syntax::NTriples => matches!(named, Syntax::NQuads | Syntax::Turtle | Syntax::TriG),
            Syntax::Turtle => named == Syntax::TriG,
            _ => false,
        }
}

/// Returns the prefixes and the base of the text that a job writes.
fn writing(job: &Job<'_>) -> Writing {
    let mut write = Writing { rdf_1_1: job.options.rdf_1_1.is_some(), ..Writing::default() };
    match job.plan.mapping.lifting() {
        Some(record) => write.prefixes = record.prefixes(),
        None => {
            let metadata = &job.plan.target.metadata;
            let prefix =
                |(name, iri): (&String, &String)| Some((name.strip_prefix("prefix ")?.to_owned(), iri.clone()));
            write.prefixes = metadata.iter().filter_map(prefix).collect();
            write.base = metadata.get("base").cloned();
        }
    }
    write
}

/// Returns whether a file is one of a graph tool: its names can be IRIs of RDF and keywords of JSON-LD.
fn is_of_graph_tool(location: &Location) -> Result<bool> {
    use isomorph_graphfile::{cx2::Cx2, gexf::Gexf, jgf::Jgf, nodelink::Kgx, nodelink::NodeLink};
    Ok(Gexf::detect(location)?
        || NodeLink::detect(location)?
        || Kgx::detect(location)?
        || Jgf::detect(location)?
        || Cx2::detect(location)?)
}

impl Driver for Rdf {
    fn id(&self) -> &'static str {
        "rdf"
    }

    fn name(&self) -> &'static str {
        "RDF"
    }

    fn shape(&self) -> Shape {
        Shape::Triples
    }

    fn capability(&self) -> &'static Capability {
        &isomorph_rdf::CAPABILITY
    }

    fn traits(&self) -> Traits {
        Traits {
            rules: isomorph_rdf::rules::RULES,
            usual_names: &["NAME.nt", "NAME.nq", "NAME.ttl", "NAME.trig", "NAME.rdf", "NAME.jsonld"],
            flags: Flags {
                opening: &["--syntax", "--base"],
                writing: &["--to-syntax", "--rdf", "--edge-properties"],
                telling: &["--syntax", "--to-syntax"],
            },
            key: "term",
            is_single_file: true,
            inseparable: &[well_known::GRAPH],
            ..Traits::of(self.shape())
        }
    }

    fn detect(&self, location: &Location) -> Result<bool> {
        Ok(isomorph_rdf::detect(location)? && !is_of_graph_tool(location)?)
    }

    fn matches_name(&self, name: &str) -> bool {
        Syntax::of_name(name).is_some()
    }

    fn suggested_name(&self, stem: &str, options: &WriteOptions) -> String {
        format!("{stem}.{}", options.get::<RdfOptions>().syntax.unwrap_or(Syntax::NQuads).id())
    }

    fn missing_extension(
        &self,
        options: &WriteOptions,
        name: &str,
        formats: &Registry,
    ) -> Option<(&'static str, &'static str)> {
        let syntax = options.get::<RdfOptions>().syntax?;
        // A compressed text is recognised only by its name.
        let packed = Packing::of_name(name) != Packing::None && TextFormat::of_name(name).is_some();
        match Syntax::of_name(name) {
            Some(named) if reads(named, syntax) => None,
            None if begins_so(syntax) && formats.of_name(name).is_none() && !packed => None,
            _ => Some((syntax.name(), syntax.id())),
        }
    }

    fn open(&self, location: &Location, options: &OpenOptions) -> Result<Arc<dyn Source>> {
        Ok(Arc::new(RdfText::open(location, &opening(options))?))
    }

    fn copy_options(&self, opened: &Opened, options: &mut OpenOptions) {
        let text = opened.native.as_any().and_then(|native| native.downcast_ref::<RdfText>());
        if let Some(text) = text {
            options.get_mut::<Opening>().syntax = Some(text.text().syntax());
        }
    }

    fn reopen_options(&self, opened: &Opened, options: &mut OpenOptions) {
        let asked = opened.options.get::<Opening>();
        let own = options.get_mut::<Opening>();
        own.packing = asked.packing;
        own.read.base.clone_from(&asked.read.base);
        own.read.lenient = asked.read.lenient;
    }

    fn same_layout(&self, opened: &Opened, _native: &dyn Source, options: &mut WriteOptions) -> Result<()> {
        let text = opened.native.as_any().and_then(|own| own.downcast_ref::<RdfText>());
        options.get_mut::<RdfOptions>().syntax = text.map(|text| text.text().syntax());
        Ok(())
    }

    fn allowed(&self) -> Allowed {
        Allowed { holds: |property, _| holds(property), ..Allowed::anything() }
    }

    fn layout_without_loss(&self, options: &mut WriteOptions) {
        // The only choice with named graphs and triple terms; the syntax is not visible anywhere.
        options.get_mut::<RdfOptions>().syntax = Some(Syntax::NQuads);
    }

    fn check_stdout(&self, options: &WriteOptions) -> std::result::Result<(), Unprintable> {
        match options.get::<RdfOptions>().syntax {
            Some(_) => Ok(()),
            None => Err(Unprintable::Untold(
                Error::usage("standard output has no name from which to choose an RDF syntax")
                    .hint("--to-syntax nt|nq|ttl|trig|rdf|jsonld"),
            )),
        }
    }

    fn shortcut<'a>(&self, opened: &'a Opened, _options: &WriteOptions) -> Option<Box<dyn Shortcut + 'a>> {
        triples::of(opened, Format::RDF)
    }

    fn syntax(&self, destination: &Location, options: &WriteOptions) -> Result<Option<Syntax>> {
        syntax(destination, options).map(Some)
    }

    fn quads<'a>(&self, staging: &'a Staging, job: &Job<'_>) -> Result<Box<dyn QuadSink + 'a>> {
        let packing = Packing::of_name(job.destination.file_name());
        let syntax = syntax(job.destination, &job.options.write)?;
        Ok(Box::new(TextSink::create(staging, (syntax, packing), &writing(job), job.options.loses())?))
    }

    fn written_options(&self, options: &mut OpenOptions, write: &WriteOptions, job: &Job<'_>) -> Result<()> {
        let own = options.get_mut::<Opening>();
        own.syntax = Some(syntax(job.destination, write)?);
        own.packing = Some(Packing::of_name(job.destination.file_name()));
        Ok(())
    }

    fn open_single_pass(
        &self,
        location: &Location,
        options: &OpenOptions,
        mapping: &Mapping,
        progress: &dyn Progress,
    ) -> Result<Option<Arc<dyn Source>>> {
        // A text whose contents are known need not be surveyed.
        let Some(record) = mapping.lifting() else { return Ok(None) };
        let text = LoweredText::read(location, &opening(options), record, &options.budget(), progress)?;
        Ok(text.map(|text| Arc::new(text) as Arc<dyn Source>))
    }
}
