//! Neo4j's texts: JSON lines of APOC, and scripts of Cypher.

use std::sync::Arc;

use isomorph_error::{Finding, Result};
use isomorph_model::capability::Capability;
use isomorph_model::{Graph, Sink, Source};
use isomorph_neo4j::{Form, OpenOptions as Opening};
use isomorph_storage::{Location, Scheme, Staging};

use super::neo4j_changes::{self, Carrier};
use crate::driver::Driver;
use crate::mapping::Allowed;
use crate::open::Opened;
use crate::options::{OpenOptions, WriteOptions};
use crate::traits::Traits;

pub(super) struct Records(pub Form);

impl Driver for Records {
    fn id(&self) -> &'static str {
        match self.0 {
            Form::Apoc => "apoc",
            Form::Cypher => "cypher",
        }
    }

    fn name(&self) -> &'static str {
        match self.0 {
            Form::Apoc => "APOC JSON lines",
            Form::Cypher => "Cypher script",
        }
    }

    fn capability(&self) -> &'static Capability {
        &isomorph_neo4j::CAPABILITY
    }

    fn traits(&self) -> Traits {
        Traits {
            rules: isomorph_neo4j::rules::RULES,
            usual_names: match self.0 {
                Form::Apoc => &["NAME.json", "NAME.jsonl"],
                Form::Cypher => &["NAME.cypher", "NAME.cql"],
            },
            is_single_file: true,
            sorts_edges: false,
            needs_schema: true,
            knows_nodes_by_key: true,
            ..Traits::of(self.shape())
        }
    }

    fn detect(&self, location: &Location) -> Result<bool> {
        if location.scheme() == Scheme::Stream {
            return Ok(false);
        }
        isomorph_neo4j::detect(location, self.0)
    }

    fn matches_name(&self, name: &str) -> bool {
        let stem = super::unpacked(name);
        self.0 == Form::Cypher && (stem.ends_with(".cypher") || stem.ends_with(".cql"))
    }

    fn suggested_name(&self, stem: &str, _options: &WriteOptions) -> String {
        match self.0 {
            Form::Apoc => format!("{stem}.json"),
            Form::Cypher => format!("{stem}.cypher"),
        }
    }

    fn open(&self, location: &Location, options: &OpenOptions) -> Result<Arc<dyn Source>> {
        let mut own = options.get::<Opening>().into_owned();
        own.budget = options.resources.as_ref().map(|resources| resources.budget.clone());
        own.scratch = options.resources.as_ref().map(|resources| resources.scratch.clone());
        Ok(Arc::new(isomorph_neo4j::Records::open(location, self.0, &own)?))
    }

    fn shown<'o>(&self, options: &'o mut OpenOptions) -> Option<&'o mut Option<Graph>> {
        Some(&mut options.get_mut::<Opening>().shown)
    }

    fn set_aside<'a>(&self, native: &'a dyn Source) -> &'a [Finding] {
        let own = native.as_any().and_then(|own| own.downcast_ref::<isomorph_neo4j::Records>());
        own.map(isomorph_neo4j::Records::set_aside).unwrap_or_default()
    }

    fn opens_the_same(&self, before: &OpenOptions, now: &OpenOptions, _kept: Option<&Graph>) -> bool {
        before.get::<Opening>().shown == now.get::<Opening>().shown
    }

    fn allowed(&self) -> Allowed {
        Allowed {
            holds: |property, _| isomorph_neo4j::holds(property),
            is_type: isomorph_neo4j::is_label,
            is_relation: isomorph_neo4j::is_label,
            is_property: isomorph_neo4j::is_property,
            is_label: isomorph_neo4j::is_label,
            wide_keys: false,
            documents: |_| false,
            ..Allowed::anything()
        }
    }

    fn altered(&self, opened: &Opened, graph: &Graph) -> Vec<(String, String)> {
        let carrier = match self.0 {
            Form::Apoc => Carrier::Json,
            Form::Cypher => Carrier::Cypher,
        };
        neo4j_changes::altered(opened, graph, carrier)
    }

    fn is_text(&self, _options: &WriteOptions) -> bool {
        true
    }

    fn loaded_by(&self, _graph: &Graph, destination: &str) -> Option<String> {
        let file = destination.replace('\'', "");
        Some(match self.0 {
            Form::Apoc => format!("CALL apoc.import.json('{file}')"),
            Form::Cypher => format!("cypher-shell -f '{file}'"),
        })
    }

    fn create<'a>(&self, staging: &'a Staging, graph: &Graph, _options: &WriteOptions) -> Result<Box<dyn Sink + 'a>> {
        Ok(Box::new(isomorph_neo4j::RecordsWriter::create(staging, graph, self.0)?))
    }
}
