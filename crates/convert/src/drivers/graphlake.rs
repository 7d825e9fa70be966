//! GraphLake: a directory of triples and snapshots.

use std::sync::Arc;

use isomorph_error::Result;
use isomorph_graphlake::{At, LakeWriter, OpenOptions as Opening, WriteOptions as Writing};
use isomorph_model::capability::Capability;
use isomorph_model::faces::{QuadSink, holds};
use isomorph_model::{Source, Written, well_known};
use isomorph_storage::{Location, Scheme, Staging};

use crate::conversion::Job;
use crate::driver::{Driver, Format};
use crate::mapping::Allowed;
use crate::open::Opened;
use crate::options::{OpenOptions, WriteOptions};
use crate::shortcut::Shortcut;
use crate::traits::{Flags, Shape, Traits};
use crate::triples;

pub(super) struct GraphLake;

/// Returns the options of the format, with the resources of the job.
fn opening(options: &OpenOptions) -> Opening {
    let mut own = options.get::<Opening>().into_owned();
    if let Some(resources) = &options.resources {
        own.budget = resources.budget.clone();
        own.threads = resources.threads;
    }
    own
}

/// The store that a source is.
pub(crate) fn lake(native: &dyn Source) -> Option<&isomorph_graphlake::GraphLake> {
    native.as_any().and_then(|native| native.downcast_ref::<isomorph_graphlake::GraphLake>())
}

impl Driver for GraphLake {
    fn id(&self) -> &'static str {
        "graphlake"
    }

    fn name(&self) -> &'static str {
        "GraphLake"
    }

    fn shape(&self) -> Shape {
        Shape::Triples
    }

    fn capability(&self) -> &'static Capability {
        &isomorph_graphlake::CAPABILITY
    }

    fn traits(&self) -> Traits {
        Traits {
            rules: isomorph_graphlake::rules::RULES,
            usual_names: &["DIRECTORY/store.json", "NAME.lake"],
            flags: Flags { opening: &["--strict", "--at", "--ns", "--naive"], writing: &[], telling: &[] },
            key: "term",
            inseparable: &[well_known::GRAPH],
            ..Traits::of(self.shape())
        }
    }

    fn detect(&self, location: &Location) -> Result<bool> {
        // A store is a directory, but a stream is a single file.
        if location.scheme() == Scheme::Stream { Ok(false) } else { isomorph_graphlake::detect(location) }
    }

    fn matches_name(&self, name: &str) -> bool {
        name.ends_with(".graphlake") || name.ends_with(".lake")
    }

    fn suggested_name(&self, stem: &str, _options: &WriteOptions) -> String {
        format!("{stem}.lake")
    }

    fn open(&self, location: &Location, options: &OpenOptions) -> Result<Arc<dyn Source>> {
        Ok(Arc::new(isomorph_graphlake::GraphLake::open(location, &opening(options))?))
    }

    fn may_differ_from_sidecar(&self, native: &dyn Source, options: &OpenOptions) -> bool {
        let is_older = lake(native).is_some_and(|lake| {
            let newest = lake.store().snapshots.last();
            newest.is_some_and(|newest| newest.version != lake.snapshot().version)
        });
        let own = options.get::<Opening>();
        is_older || own.naive || !own.namespaces.is_empty()
    }

    fn copy_options(&self, _opened: &Opened, _options: &mut OpenOptions) {}

    fn reopen_options(&self, opened: &Opened, options: &mut OpenOptions) {
        let asked = opened.options.get::<Opening>();
        let own = options.get_mut::<Opening>();
        (own.tolerance, own.naive) = (asked.tolerance, asked.naive);
        own.namespaces.clone_from(&asked.namespaces);
        // Keep the opened version, even if another one is added meanwhile.
        if let Some(lake) = lake(opened.native.as_ref()).filter(|lake| !lake.store().snapshots.is_empty()) {
            own.at = At::Version(lake.snapshot().version);
        }
    }

    fn unread_versions(&self, opened: &Opened) -> Result<Option<Vec<i64>>> {
        let own = opening(&opened.options);
        isomorph_graphlake::other_versions(&opened.location, &own.at, &own.budget).map(Some)
    }

    fn allowed(&self) -> Allowed {
        Allowed { holds: |property, _| holds(property), ..Allowed::anything() }
    }

    fn is_directory(&self, _options: &WriteOptions) -> bool {
        true
    }

    fn shortcut<'a>(&self, opened: &'a Opened, _options: &WriteOptions) -> Option<Box<dyn Shortcut + 'a>> {
        triples::of(opened, Format::GRAPHLAKE)
    }

    fn quads<'a>(&self, staging: &'a Staging, job: &Job<'_>) -> Result<Box<dyn QuadSink + 'a>> {
        let write = Writing {
            time: job.options.epoch,
            threads: job.resources.threads,
            budget: job.resources.budget.clone(),
            scratch: Some(job.resources.scratch.clone()),
            ..Writing::default()
        };
        Ok(Box::new(LakeWriter::create(staging, &write)?))
    }

    fn manifests<'a>(&self, written: &'a Written) -> Vec<&'a str> {
        let manifests = LakeWriter::manifests();
        let find = |wanted: &String| written.files.iter().find(|(name, _)| name == wanted);
        manifests.iter().filter_map(find).map(|(name, _)| name.as_str()).collect()
    }
}
