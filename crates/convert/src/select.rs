//! Selections of opened graphs.

use std::sync::Arc;

use isomorph_dataset::{EdgesLeft, Selected, Selection, has_column, is_stored};
use isomorph_error::{Error, Result};
use isomorph_model::{LabelVocabulary, Source};
use isomorph_storage::Resources;

use crate::mapping::{Bundling, Divided, Merged, NameRules};
use crate::open::Opened;
use crate::options::Typing;
use crate::progress::Progress;
use crate::survey;
use crate::traits::Shape;

/// The selected part of an opened graph.
pub struct Selecting {
    /// The part: a graph like any other, of the format of the whole graph.
    pub opened: Opened,
    /// The number of edges that are left out because one of their ends is left out, if they were counted.
    pub dangling: Option<u64>,
}

impl Opened {
    /// Applies `selection` to the graph. Conditions on members of bags need a survey, which reads the graph once; other
    /// conditions read the nodes of their types. With `count`, the ends of edges are read, to count the edges that are
    /// kept and those that lose an end. The part has no sidecar: if every byte of the data must be checked, do this
    /// [before](Opened::check_bytes).
    ///
    /// # Errors
    /// As [`Selected::new`].
    pub fn select(
        self,
        selection: &Selection,
        count: bool,
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<Selecting> {
        let format = self.format_of_graph();
        let mut own = selection.clone();
        let (mut graph, mut dangling) = (Arc::clone(&self.graph), 0);
        own.inseparable = format.traits().inseparable.iter().map(|name| (*name).to_owned()).collect();
        if format.shape() == Shape::Bundled
            && let Some(members) = members_of(&graph, &mut own, resources)?
        {
            // Types, members and their names are those of the whole graph, not of the part that other conditions keep: whether
            // a condition is valid does not depend on the others.
            let whole = Arc::clone(&graph);
            let stored = Selection {
                types: own.types.take(),
                conditions: std::mem::take(&mut own.conditions),
                inseparable: own.inseparable.clone(),
                ..Selection::default()
            };
            if !stored.is_everything() {
                let stored = Selected::new(graph, &stored, resources, progress)?;
                if count {
                    dangling += lost(&stored.edges_left(progress)?);
                }
                graph = Arc::new(stored);
            }
            let chosen = by_members(graph, &whole, format.name_rules(), &members, resources, progress)?;
            if count {
                dangling += lost(&chosen.selected.edges_left(progress)?);
            }
            if let Some(columns) = own.columns.as_mut().filter(|_| members.columns.is_some() && chosen.has_members) {
                columns.push(BAG.to_owned());
            }
            graph = chosen.shown;
        }
        let selected = Selected::new(graph, &own, resources, progress)?;
        let edges = if count { Some(selected.edges_left(progress)?) } else { None };
        let dangling = edges.as_deref().map(|edges| dangling + lost(edges));
        let selected: Arc<dyn Source> = Arc::new(match &edges {
            Some(edges) => selected.with_rows(edges),
            None => selected,
        });
        let opened =
            Opened { format, native: Arc::clone(&selected), sidecar: None, graph: selected, is_part: true, ..self };
        Ok(Selecting { opened, dangling })
    }
}

/// Number of edges of all types that lose an end.
fn lost(edges: &[EdgesLeft]) -> u64 {
    edges.iter().map(|left| left.dangling).sum()
}

/// The name of a bag of properties in tables.
const BAG: &str = "properties";

/// Takes out of a selection what is about members of bags: conditions, and columns. A selection of columns always is, unless it has the bags
/// as a whole: the member that says that an edge has no direction is not left out.
///
/// # Errors
/// Returns [`Kind::Unsupported`](isomorph_error::Kind::Unsupported) for combinations that cannot be distinguished
/// afterwards.
fn members_of(graph: &Arc<dyn Source>, own: &mut Selection, resources: &Resources) -> Result<Option<Selection>> {
    let is_own = |(name, condition): &(String, _)| is_stored(graph, name, condition, resources);
    let (columns, conditions): (Vec<_>, Vec<_>) = std::mem::take(&mut own.conditions).into_iter().partition(is_own);
    own.conditions = columns;
    let members = own.columns.as_mut().and_then(|columns| {
        let (stored, members): (Vec<_>, Vec<_>) =
            std::mem::take(columns).into_iter().partition(|name| has_column(graph, name, resources));
        let is_whole = stored.iter().any(|name| name == BAG);
        *columns = stored;
        Some(members).filter(|_| !is_whole)
    });
    if conditions.is_empty() && members.is_none() {
        return Ok(None);
    }
    let chooses_more = !own.conditions.is_empty() || own.limit.is_some() || own.sample.is_some();
    if own.keep_dangling && !conditions.is_empty() && chooses_more {
        let message = "edges that lose an end cannot be kept both for conditions on members and for other restrictions";
        return Err(Error::unsupported(message).hint("without --keep-dangling    they are left out"));
    }
    Ok(Some(Selection {
        conditions,
        columns: members,
        keep_dangling: own.keep_dangling,
        inseparable: own.inseparable.clone(),
        ..Selection::default()
    }))
}

/// The result of conditions on members.
struct Chosen {
    selected: Arc<Selected>,
    /// The same in the original shape.
    shown: Arc<dyn Source>,
    /// Whether members are left.
    has_members: bool,
}

/// The nodes and edges of a bundled graph that pass conditions on the members of their bags, for which each member is
/// shown as a column; and the selected members. The members are those of `whole`, of which `graph` is a part.
fn by_members(
    graph: Arc<dyn Source>,
    whole: &Arc<dyn Source>,
    rules: NameRules,
    selection: &Selection,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Chosen> {
    let typing = Typing { columns: usize::MAX, labels: usize::MAX, relations: usize::MAX };
    let survey = survey::read(whole.as_ref(), typing, resources, progress)?;
    let bundling = Bundling::surveyed(graph.graph(), &survey, typing, &rules)?;
    let mut bundling = bundling.with_directions_as_members().with_own_names();
    if !Arc::ptr_eq(&graph, whole) {
        let rows = graph.graph().nodes.first().and_then(|ty| ty.rows);
        bundling.typed.nodes.iter_mut().for_each(|ty| ty.rows = rows);
        bundling.typed.edges.iter_mut().for_each(|ty| ty.rows = None);
    }
    // Conditions on labels also apply to nodes without labels.
    for ty in bundling.typed.nodes.iter_mut().filter(|ty| ty.labels == LabelVocabulary::None) {
        ty.labels = LabelVocabulary::Declared(Vec::new());
    }
    let mut selection = selection.clone();
    if let Some(columns) = &mut selection.columns {
        columns.extend(bundling.always_kept());
    }
    let typed: Arc<dyn Source> = Arc::new(Divided::of(graph, bundling.layout())?);
    let selected = Arc::new(Selected::new(typed, &selection, resources, progress)?);
    bundling.narrow(selected.graph());
    let shown = Arc::new(Merged::of(Arc::clone(&selected) as Arc<dyn Source>, bundling.layout())?);
    Ok(Chosen { selected, shown, has_members: bundling.has_members() })
}
