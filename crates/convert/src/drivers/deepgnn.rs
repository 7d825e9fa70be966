//! DeepGNN: one of four texts, or a directory of partitions of a binary.

use std::sync::Arc;

use isomorph_deepgnn::{OpenOptions as Opening, TextFormat, WriteOptions as Writing};
use isomorph_error::Result;
use isomorph_model::capability::Capability;
use isomorph_model::{Graph, Sink, Source, Written, well_known};
use isomorph_storage::{Location, Resources, Staging};

use crate::conversion::Job;
use crate::direct;
use crate::driver::{Driver, TextCheck, Unprintable, not_text};
use crate::mapping::{Allowed, Described, holds_feature};
use crate::open::Opened;
use crate::options::{ConvertOptions, OpenOptions, WriteOptions};
use crate::plan::Plan;
use crate::registry::Registry;
use crate::shortcut::Shortcut;
use crate::traits::{Flags, Traits};

pub(super) struct DeepGnn;

/// Returns the format of an opened text.
fn text_of(native: &dyn Source) -> Option<TextFormat> {
    let graph = native.as_any().and_then(|own| own.downcast_ref::<isomorph_deepgnn::DeepGnn>())?;
    graph.text().map(isomorph_deepgnn::Text::format)
}

impl Driver for DeepGnn {
    fn id(&self) -> &'static str {
        "deepgnn"
    }

    fn name(&self) -> &'static str {
        "DeepGNN"
    }

    fn capability(&self) -> &'static Capability {
        &isomorph_deepgnn::CAPABILITY
    }

    fn traits(&self) -> Traits {
        Traits {
            rules: isomorph_deepgnn::rules::RULES,
            usual_names: &["NAME.linear", "NAME.edgelist", "NAME.tsv", "NAME.json", "DIRECTORY/node_0_0.map"],
            flags: Flags {
                opening: &[
                    "--text-format",
                    "--defaults",
                    "--compat",
                    "--temporal",
                    "--node-features",
                    "--edge-features",
                ],
                writing: &["--partitions", "--text", "--leave-out", "--dispatch", "--no-samplers", "--watermark"],
                telling: &["--text-format", "--text"],
            },
            key: "node_id",
            has_numbers_only: true,
            inseparable: &[well_known::WEIGHT, "type", well_known::CREATED_AT, well_known::REMOVED_AT],
            ..Traits::of(self.shape())
        }
    }

    fn detect(&self, location: &Location) -> Result<bool> {
        isomorph_deepgnn::detect(location)
    }

    fn matches_name(&self, name: &str) -> bool {
        name.ends_with(".deepgnn") || TextFormat::of_name(name).is_some() && !name.contains(".json")
    }

    fn suggested_name(&self, stem: &str, options: &WriteOptions) -> String {
        let text = options.get::<Writing>().text;
        text.map_or_else(|| format!("{stem}.deepgnn"), |text| format!("{stem}.{}", text.id()))
    }

    fn missing_extension(
        &self,
        options: &WriteOptions,
        name: &str,
        _formats: &Registry,
    ) -> Option<(&'static str, &'static str)> {
        let options = options.get::<Writing>();
        let text = options.text.filter(|text| options.parts.is_none() && TextFormat::of_name(name) != Some(*text))?;
        Some((text.name(), text.id()))
    }

    fn open(&self, location: &Location, options: &OpenOptions) -> Result<Arc<dyn Source>> {
        let mut own = options.get::<Opening>().into_owned();
        if let Some(resources) = &options.resources {
            own.budget = resources.budget.clone();
            own.scratch = Some(resources.scratch.clone());
        }
        Ok(Arc::new(isomorph_deepgnn::DeepGnn::open(location, &own)?))
    }

    fn show_all_of(&self, options: &mut OpenOptions, graph: &Graph) {
        let own = options.get_mut::<Opening>();
        *own = own.showing(graph);
    }

    fn finish_options(&self, options: &mut OpenOptions, carried: bool) {
        let look_ups = options.look_ups;
        let own = options.get_mut::<Opening>();
        // A text with a sidecar is compared with its description.
        own.later &= !carried;
        own.no_recovery |= look_ups;
    }

    fn options_from_sidecar(&self, options: &mut OpenOptions, carried: &dyn Fn() -> Option<Graph>) {
        // The sidecar states that the lines of an EdgeList have times.
        if let Some(graph) = carried() {
            let own = options.get_mut::<Opening>();
            own.temporal = own.showing(&graph).temporal;
        }
    }

    fn changes_types(&self, options: &OpenOptions, kept: &Graph) -> bool {
        options.get::<Opening>().types_raw_features_of(kept)
    }

    fn copy_options(&self, opened: &Opened, options: &mut OpenOptions) {
        let asked = opened.options.get::<Opening>();
        let own = options.get_mut::<Opening>();
        // Nothing else states that the lines of an EdgeList have times.
        let shown = opened.sidecar.as_ref().and_then(|sidecar| sidecar.mapping.shown());
        own.temporal = asked.temporal || shown.is_some_and(|graph| asked.showing(graph).temporal);
        own.node_features.clone_from(&asked.node_features);
        own.edge_features.clone_from(&asked.edge_features);
        own.format = text_of(opened.native.as_ref());
    }

    fn reopen_options(&self, opened: &Opened, options: &mut OpenOptions) {
        let asked = opened.options.get::<Opening>();
        let own = options.get_mut::<Opening>();
        own.defaults.clone_from(&asked.defaults);
        (own.compat, own.lenient) = (asked.compat, asked.lenient);
    }

    fn same_layout(&self, opened: &Opened, _native: &dyn Source, options: &mut WriteOptions) -> Result<()> {
        options.get_mut::<Writing>().text = text_of(opened.native.as_ref());
        Ok(())
    }

    fn allowed(&self) -> Allowed {
        Allowed { holds: |property, _| holds_feature(property), ..Allowed::anything() }
    }

    fn not_stored(&self, graph: &Graph, options: &WriteOptions) -> Result<Vec<(String, String)>> {
        isomorph_deepgnn::unheld(graph, &options.get::<Writing>())
    }

    fn text_check(&self, options: &WriteOptions) -> Option<TextCheck> {
        let text = options.get::<Writing>().text.filter(|text| text.refuses_texts())?;
        Some(Box::new(move |own| text.check_text(own)))
    }

    fn layout(&self, options: &WriteOptions) -> String {
        direct::layout(&options.get::<Writing>())
    }

    fn undeclared(&self, graph: &Graph, options: &WriteOptions) -> Option<&'static str> {
        isomorph_deepgnn::hides_times(graph, &options.get::<Writing>())
            .then_some("whether lines have times (else use --temporal)")
    }

    fn is_directory(&self, options: &WriteOptions) -> bool {
        let options = options.get::<Writing>();
        options.text.is_none() || options.parts.is_some()
    }

    fn check_stdout(&self, options: &WriteOptions) -> std::result::Result<(), Unprintable> {
        let directory = self.is_directory(options);
        match not_text(self.name(), directory) {
            _ if !directory => Ok(()),
            Unprintable::NoText(why, mut hints) => {
                hints.push("--text linear|edgelist|json|tsv    write one text, without --partitions");
                Err(Unprintable::NoText(why, hints))
            }
            other => Err(other),
        }
    }

    fn fit(&self, options: &mut WriteOptions, _graph: &Graph, _name: &str, resources: &Resources) {
        let binary = &mut options.get_mut::<Writing>().binary;
        binary.budget = resources.budget.clone();
        binary.scratch = Some(resources.scratch.clone());
    }

    fn shortcut<'a>(&self, opened: &'a Opened, options: &WriteOptions) -> Option<Box<dyn Shortcut + 'a>> {
        direct::of(opened, options)
    }

    fn describe(&self, plan: &mut Plan, graph: &Graph, options: &ConvertOptions) -> Result<()> {
        plan.describe_deepgnn(graph, options)
    }

    fn prepare(&self, options: &mut WriteOptions, job: &Job<'_>) -> Result<()> {
        // What a binary cannot store is written next to it; graphs mapped to numbers store it as features.
        options.get_mut::<Writing>().binary.beside = !job.options.loses() && job.plan.mapping.numbering().is_none();
        Ok(())
    }

    fn create<'a>(&self, staging: &'a Staging, graph: &Graph, options: &WriteOptions) -> Result<Box<dyn Sink + 'a>> {
        // The plan has listed or rejected what a text cannot store.
        let write = Writing { without_unheld: true, ..options.get::<Writing>().into_owned() };
        isomorph_deepgnn::DeepGnnWriter::create(staging, graph, &write)
    }

    fn wrap_sink<'a>(&self, sink: Box<dyn Sink + 'a>, graph: &Graph) -> Box<dyn Sink + 'a> {
        Box::new(Described::new(sink, graph))
    }

    fn manifests<'a>(&self, written: &'a Written) -> Vec<&'a str> {
        super::file_called(written, isomorph_deepgnn::META)
    }

    fn written_options(&self, options: &mut OpenOptions, write: &WriteOptions, _job: &Job<'_>) -> Result<()> {
        options.get_mut::<Opening>().format = write.get::<Writing>().text;
        Ok(())
    }

    fn needs_no_sidecar(&self, graph: &Graph, options: &WriteOptions, files: &[String]) -> bool {
        // A text whose lines have times cannot be opened without knowing this. The files next to a binary are read only
        // if the sidecar refers to them.
        let in_folder = format!("{}/", isomorph_deepgnn::BESIDE);
        !isomorph_deepgnn::hides_times(graph, &options.get::<Writing>())
            && !files.iter().any(|name| name.starts_with(&in_folder))
    }

    fn opens_the_same(&self, _before: &OpenOptions, _now: &OpenOptions, kept: Option<&Graph>) -> bool {
        // The sidecar tells a reader the types of features.
        kept.is_none()
    }
}
