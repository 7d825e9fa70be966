//! What is known of a graph without reading its rows.

mod counts;
mod document;

use isomorph_error::{Findings, Kind, Result};
use isomorph_model::About;

pub use counts::Counts;
pub use document::DescribedDocument;

use crate::open::{Opened, sidecar_beside};
use crate::options::SidecarUse;

/// What is known of a graph.
pub struct Described<'a> {
    /// It.
    pub opened: &'a Opened,
    /// Its files, and what was found when it was opened.
    pub about: About,
    /// How many elements there are.
    pub counts: Counts,
    /// What travels beside the data.
    pub beside: Beside,
    /// Edges that a selection leaves out because an end of theirs is left out.
    pub dangling: Option<u64>,
}

/// What travels beside the data, and whether it still fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Beside {
    /// There is no sidecar.
    Nothing,
    /// It is ignored, as asked.
    Ignored,
    /// It fits the data.
    Fits {
        /// The format of the graph that it describes.
        of: String,
    },
    /// It does not fit the data any more.
    Stale {
        /// The format of the graph that it describes.
        of: String,
        /// What differs.
        differences: Vec<String>,
    },
}

impl Opened {
    /// What travels beside the data, compared with it by names, sizes and ends of files.
    ///
    /// # Errors
    /// When it cannot be read.
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
    /// What is known of `opened`, which may be a part of what `beside` and `cautions` were found of. A small graph is read where its format
    /// states no counts; what is wrong with it then is among the findings.
    pub fn of(opened: &'a Opened, beside: Beside, cautions: Findings, dangling: Option<u64>) -> Self {
        let mut about = opened.native.about();
        about.findings.merge(cautions);
        let mut counts = Counts::of(opened.graph.as_ref(), about.bytes);
        if let Some((error, rule)) = counts.error.as_ref().and_then(|error| Some((error, error.broken_rule()?))) {
            // What opening found already is told once.
            if about.findings.count(rule) == 0 {
                about.findings.push(rule, error.message().to_owned(), error.place().clone());
            }
            counts.error = None;
        }
        Described { opened, about, counts, beside, dangling }
    }

    /// How the edges of a type are stored, where the types of the graph are those of the data.
    pub fn stored(&self, edge: usize) -> Option<&str> {
        self.about.edge_layouts.get(edge).map(String::as_str).filter(|_| self.opened.sidecar.is_none())
    }
}
