//! What is known about a graph without reading its rows.

mod counts;
mod document;

use isomorph_error::{Findings, Kind, Result};
use isomorph_model::About;
use isomorph_storage::Resources;

pub use counts::Counts;
pub use document::DescribedDocument;

use crate::open::{Opened, sidecar_beside};
use crate::options::SidecarUse;

/// What is known about a graph.
pub struct Described<'a> {
    /// The graph.
    pub opened: &'a Opened,
    /// Its files, and the findings of opening it.
    pub about: About,
    /// Row counts.
    pub counts: Counts,
    /// The state of the sidecar.
    pub beside: Beside,
    /// Edges that a selection leaves out because one of their ends is left out.
    pub dangling: Option<u64>,
}

/// The state of the sidecar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Beside {
    /// There is no sidecar.
    Nothing,
    /// The sidecar is ignored, as requested.
    Ignored,
    /// The sidecar fits the data.
    Fits {
        /// The format of the graph that it describes.
        of: String,
    },
    /// The data was changed after the sidecar was written.
    Stale {
        /// The format of the graph that it describes.
        of: String,
        /// What differs.
        differences: Vec<String>,
    },
}

impl Opened {
    /// The state of the sidecar, from names, sizes and ends of files.
    ///
    /// # Errors
    /// If the sidecar cannot be read.
    pub fn beside(&self, wanted: SidecarUse) -> Result<Beside> {
        let (sidecar, differences) = match sidecar_beside(&self.location, self.format, &self.options.formats) {
            Ok(found) => found,
            Err(error) if error.kind() == Kind::NotFound => return Ok(Beside::Nothing),
            Err(error) => return Err(error),
        };
        let of = sidecar.of;
        Ok(match (wanted, differences.is_empty()) {
            (SidecarUse::Ignore, _) => Beside::Ignored,
            (_, true) => Beside::Fits { of },
            (_, false) => Beside::Stale { of, differences },
        })
    }
}

impl<'a> Described<'a> {
    /// Describes `opened`, which may be a part of the graph that `beside` and `cautions` belong to. If the format
    /// states no counts, a small graph is read; problems in its data are then among the findings.
    pub fn of(opened: &'a Opened, beside: Beside, cautions: Findings, dangling: Option<u64>) -> Self {
        let mut about = opened.native.about();
        about.findings.merge(cautions);
        let mut counts = Counts::of(opened.graph.as_ref(), about.bytes);
        match opened.options.resources.clone().map_or_else(Resources::of_this_machine, Ok) {
            Ok(resources) => counts = counts.with_implied(opened.graph.as_ref(), about.bytes, &resources),
            Err(error) => counts.error = counts.error.or(Some(error)),
        }
        if let Some((error, rule)) = counts.error.as_ref().and_then(|error| Some((error, error.broken_rule()?))) {
            // Findings of opening are not repeated.
            if about.findings.count(rule) == 0 {
                about.findings.push(rule, error.message().to_owned(), error.place().clone());
            }
            counts.error = None;
        }
        Described { opened, about, counts, beside, dangling }
    }

    /// How the edges of a type are stored, if the types of the graph are those of the data.
    pub fn stored(&self, edge: usize) -> Option<&str> {
        self.about.edge_layouts.get(edge).map(String::as_str).filter(|_| self.opened.sidecar.is_none())
    }
}
