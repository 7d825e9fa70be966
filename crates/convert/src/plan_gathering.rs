//! What a plan does about RDF that becomes nodes with properties.

use std::sync::Arc;

use isomorph_error::Result;
use isomorph_model::Source;

use crate::digests::Resources;
use crate::mapping::{Bundling, Gathered, Gathering, NameRules, Step, TERM};
use crate::options::ConvertOptions;
use crate::plan::{Plan, counted, survey_of};
use crate::progress::Progress;
use crate::registry::Shape;

impl Plan {
    /// Writes resources as nodes, literals as their properties and the other triples as edges. For formats that declare
    /// properties what is there is surveyed.
    ///
    /// # Errors
    /// When the source is not sound, or has what cannot be written so.
    pub(crate) fn gather(
        &mut self,
        source: &Arc<dyn Source>,
        options: &ConvertOptions,
        name: Option<String>,
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<()> {
        let bundled = self.to.shape() == Shape::Bundled;
        let record = Gathering::of(source.graph(), bundled, options.loses())?;
        self.passes.push("resources");
        self.sorts.push("what is said of resources".to_owned());
        if bundled {
            self.line("resources", "nodes, name = term, is_rdf");
            self.line("literals", "props, by predicate; what JSON does not say is an object of JSON-LD");
            self.line("other triples", "edges, rel_name = predicate; the named graph in props");
            self.target = record.bundled.clone();
        }
        let predicates = counted(record.rdf.values.len(), "predicate");
        self.carried.push(format!("that it was RDF, with literals of {predicates}"));
        if options.loses() {
            self.carried.push("graphs without triples".to_owned());
        }
        self.mapping.steps.push(Step::Gather(Box::new(record.clone())));
        if bundled {
            return Ok(());
        }
        let gathered: Arc<dyn Source> = Arc::new(Gathered::new(Arc::clone(source), &record, &resources.budget));
        let (survey, _) = survey_of(&gathered, options.typing, resources, progress)?;
        self.passes.push("survey");
        let rules = NameRules { key: TERM, ..self.to.name_rules() };
        let bundling = Bundling::surveyed(&record.bundled, &survey, options.typing, &rules)?;
        self.describe_shredding(&bundling);
        self.target = bundling.typed.clone();
        self.target.name = self.target.name.take().or(name);
        self.mapping.steps.push(Step::Shred(Box::new(bundling.clone())));
        if self.to.has_one_type() { self.unite(&bundling.typed, options) } else { Ok(()) }
    }
}
