//! Selections of opened graphs.

use std::sync::Arc;

use isomorph_dataset::{EdgesLeft, Selected, Selection, fits};
use isomorph_error::Result;
use isomorph_model::Source;
use isomorph_storage::Resources;

use crate::mapping::{Bundled, Bundling, Shredded};
use crate::open::Opened;
use crate::options::Typing;
use crate::plan::survey_of;
use crate::progress::Progress;
use crate::registry::Shape;

/// What a selection leaves of an opened graph.
pub struct Selecting {
    /// It: a graph like any other, of the format of the whole graph.
    pub opened: Opened,
    /// The edges that are left of each type, if they were counted.
    pub edges: Option<Vec<EdgesLeft>>,
}

impl Opened {
    /// What `selection` leaves of the graph. Conditions on members of bags of properties need a survey, which reads the graph once; other
    /// conditions read the nodes of their types. With `count` the ends of edges are read, to say how many are left. Nothing of what travels beside the
    /// whole graph is left: whoever relies on every byte of the data checks it [before](Opened::check_bytes).
    ///
    /// # Errors
    /// As for [`Selected::new`].
    pub fn select(
        self,
        selection: &Selection,
        count: bool,
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<Selecting> {
        let format = self.format_of_graph();
        let mut own = selection.clone();
        let mut graph = Arc::clone(&self.graph);
        if format.shape() == Shape::Bundled && !own.conditions.is_empty() {
            let is_own = |(name, condition): &(String, _)| fits(&graph, name, condition, resources).is_ok();
            let (columns, members): (Vec<_>, Vec<_>) = own.conditions.into_iter().partition(is_own);
            own.conditions = columns;
            if !members.is_empty() {
                graph = by_members(graph, format.name_rules(), members, &own, resources, progress)?;
            }
        }
        let selected = Selected::new(graph, &own, resources, progress)?;
        let edges = if count { Some(selected.edges_left(progress)?) } else { None };
        let selected: Arc<dyn Source> = Arc::new(match &edges {
            Some(edges) => selected.with_rows(edges),
            None => selected,
        });
        let opened = Opened { format, native: Arc::clone(&selected), carry: None, graph: selected, ..self };
        Ok(Selecting { opened, edges })
    }
}

/// The nodes and edges of a graph of the bundled shape that pass conditions on the members of their bags, which have a column each while
/// they are looked at.
fn by_members(
    graph: Arc<dyn Source>,
    rules: crate::mapping::NameRules,
    conditions: Vec<(String, isomorph_model::Predicate)>,
    own: &Selection,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Arc<dyn Source>> {
    let typing = Typing::default();
    let (survey, _) = survey_of(&graph, typing, resources, progress)?;
    let mut bundling = Bundling::surveyed(graph.graph(), &survey, typing, &rules)?.with_own_names();
    let typed: Arc<dyn Source> = Arc::new(Shredded::new(graph, &bundling)?);
    let selection = Selection { conditions, keep_dangling: own.keep_dangling, ..Selection::default() };
    let selected = Selected::new(typed, &selection, resources, progress)?;
    bundling.typed = selected.graph().clone();
    Ok(Arc::new(Bundled::new(Arc::new(selected), &bundling)?))
}
