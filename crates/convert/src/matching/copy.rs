//! A sorted temporary copy of some triples, to be searched like any other store.

use isomorph_error::Result;
use isomorph_graphlake::{Filler, GraphLake, LakeWriter, OpenOptions, WriteOptions};
use isomorph_model::faces::{Quad, QuadTaker, Triples};
use isomorph_storage::{Location, Mode, Resources, Staging};

use crate::progress::Progress;

/// The name of a copy before the part that makes it unique. What a killed process leaves is removed by the next one,
/// because the name is the same.
const NAME: &str = "isomorph-triples";

/// Quads between two checks for cancellation.
const AT_ONCE: u64 = 1 << 14;

/// A test of quads, on all threads.
pub(super) type Keep<'k> = dyn Fn(&Quad<'_>) -> Result<bool> + Sync + 'k;

/// A store of some triples, which is never published: dropping it removes it.
pub(super) struct Copy {
    lake: GraphLake,
    _staging: Staging,
}

impl Copy {
    /// Copies the triples for which `keep` is true, in one pass.
    ///
    /// # Errors
    /// If the triples cannot be read, a store cannot hold one of them, or there is no space for temporary files; also
    /// errors of `keep`.
    pub fn of(triples: &dyn Triples, keep: &Keep<'_>, resources: &Resources, progress: &dyn Progress) -> Result<Self> {
        let destination = Location::from_path(&resources.scratch.directory().join(NAME));
        let staging = Staging::directory(&destination, Mode::CreateNew)?;
        let write = WriteOptions {
            threads: resources.threads,
            budget: resources.budget.clone(),
            scratch: Some(resources.scratch.clone()),
            ..WriteOptions::default()
        };
        let mut writer = LakeWriter::create(&staging, &write)?;
        let copying = |filler| Copying { filler, keep, progress, read: 0 };
        let mut all: Vec<Copying<'_>> = writer.fillers(resources.threads.max(1))?.into_iter().map(copying).collect();
        progress.begin("match", None);
        let read = triples.shared(&mut all.iter_mut().map(|copying| copying as _).collect::<Vec<&mut dyn QuadTaker>>());
        progress.end();
        read?;
        writer.absorb(all.into_iter().map(|copying| copying.filler).collect())?;
        progress.begin("sort", None);
        let written = writer.finish(&|rows| progress.advance(rows));
        progress.end();
        written?;
        let open = OpenOptions {
            survey_up_to: 0,
            budget: resources.budget.clone(),
            threads: resources.threads,
            ..OpenOptions::default()
        };
        Ok(Copy { lake: GraphLake::open(&staging.preview()?, &open)?, _staging: staging })
    }

    /// The copy as a store.
    pub fn lake(&self) -> &GraphLake {
        &self.lake
    }
}

/// Collects the triples that one thread reads.
struct Copying<'k> {
    filler: Filler,
    keep: &'k Keep<'k>,
    progress: &'k dyn Progress,
    read: u64,
}

impl QuadTaker for Copying<'_> {
    fn quad(&mut self, quad: &Quad<'_>) -> Result<()> {
        self.read += 1;
        if self.read.is_multiple_of(AT_ONCE) {
            self.progress.advance(0)?;
        }
        if (self.keep)(quad)? { self.filler.push(quad) } else { Ok(()) }
    }
}
