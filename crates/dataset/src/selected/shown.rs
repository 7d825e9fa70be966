//! Batches as a selection shows them: only the selected rows and columns, with renumbered rows.

use arrow_array::{Array, UInt64Array};
use arrow_buffer::BooleanBuffer;
use isomorph_error::{Error, Result};
use isomorph_model::batch::{MemberBatch, MembershipBatch, ValueBatch};
use isomorph_model::label::LabelBuilder;
use isomorph_model::schema::Owner;
use isomorph_model::{Batch, EdgeBatch, Ends, NodeBatch};
use isomorph_tables::lookup::ABSENT;

use super::batches::Rows;
use super::kept_rows::number;
use super::view::Selected;

impl Selected {
    /// A batch as it is shown; `None` if no row of it is.
    pub(super) fn show(&self, batch: Batch) -> Result<Option<Batch>> {
        match batch {
            Batch::Nodes(nodes) => self.show_nodes(nodes).map(|nodes| nodes.map(Batch::Nodes)),
            Batch::Edges(_) => self.show_edges(batch).map(|edges| edges.map(Batch::Edges)),
            Batch::Hyperedges(mut hyperedges) => {
                let Some((ty, shown)) = self.shape.hyperedges.find(hyperedges.ty) else { return Ok(None) };
                if let Some(kept) = self.built.hyperedges_kept(hyperedges.ty) {
                    let numbers = hyperedges.start..hyperedges.start + hyperedges.rows as u64;
                    let rows = Rows::new(numbers.clone().map(|row| kept.rows.rank(row).is_some()).collect());
                    let Some(start) = numbers.into_iter().find_map(|row| kept.rows.rank(row)) else { return Ok(None) };
                    (hyperedges.start, hyperedges.rows) = (start, rows.len());
                    hyperedges.keys = rows.of(&hyperedges.keys)?;
                    hyperedges.directed = hyperedges.directed.as_ref().map(|all| rows.of_typed(all)).transpose()?;
                    hyperedges.properties = rows.of_columns(hyperedges.properties)?;
                }
                hyperedges.ty = ty;
                hyperedges.properties = shown.project(hyperedges.properties);
                Ok(Some(Batch::Hyperedges(hyperedges)))
            }
            Batch::Members(members) => self.show_members(members).map(|members| members.map(Batch::Members)),
            Batch::Values(values) => self.show_values(values).map(|values| values.map(Batch::Values)),
            Batch::Groups(mut groups) => {
                let Some((kind, shown)) = self.shape.groups.find(groups.kind) else { return Ok(None) };
                if let Some(kept) = self.built.groups_kept(groups.kind) {
                    let numbers = groups.start..groups.start + groups.keys.len() as u64;
                    let rows = Rows::new(numbers.clone().map(|row| kept.rows.rank(row).is_some()).collect());
                    let Some(start) = numbers.into_iter().find_map(|row| kept.rows.rank(row)) else { return Ok(None) };
                    groups.start = start;
                    groups.keys = rows.of(&groups.keys)?;
                    groups.properties = rows.of_columns(groups.properties)?;
                }
                groups.kind = kind;
                groups.properties = shown.project(groups.properties);
                Ok(Some(Batch::Groups(groups)))
            }
            Batch::Memberships(members) => self.show_memberships(members).map(|all| all.map(Batch::Memberships)),
        }
    }

    fn show_nodes(&self, mut nodes: NodeBatch) -> Result<Option<NodeBatch>> {
        let Some((ty, shown)) = self.shape.nodes.find(nodes.ty) else { return Ok(None) };
        if let Some(kept) = self.built.nodes_kept(nodes.ty) {
            let ranks: Vec<Option<u64>> = (0..nodes.rows).map(|at| kept.rows.rank(number(&nodes, at))).collect();
            let rows = Rows::new(ranks.iter().map(Option::is_some).collect());
            let ranks: Vec<u64> = ranks.into_iter().flatten().collect();
            let Some(start) = ranks.first().copied() else { return Ok(None) };
            // The source may leave out rows between them.
            let is_run = (start..).zip(&ranks).all(|(next, rank)| next == *rank);
            nodes.keys = nodes.keys.as_ref().map(|keys| rows.of(keys)).transpose()?;
            nodes.labels = nodes.labels.as_ref().map(|labels| rows.of_labels(labels));
            nodes.properties = rows.of_columns(nodes.properties)?;
            (nodes.start, nodes.rows) = (start, rows.len());
            nodes.numbers = (!is_run).then(|| UInt64Array::from(ranks));
            if let Some(bare) = &kept.bare {
                let properties =
                    self.inner().nodes.get(nodes.ty).map(|ty| ty.properties.as_slice()).unwrap_or_default();
                let stays = |at: usize| properties.get(at).is_some_and(|own| self.inseparable.contains(&own.name));
                nodes = without_what_is_said(nodes, &|rank| bare.has(rank), &stays)?;
            }
        }
        nodes.ty = ty;
        nodes.properties = shown.project(nodes.properties);
        Ok(Some(nodes))
    }

    fn show_edges(&self, batch: Batch) -> Result<Option<EdgeBatch>> {
        let Batch::Edges(edges) = &batch else { return Ok(None) };
        let Some((ty, shown)) = self.shape.edges.find(edges.ty) else { return Ok(None) };
        let marked = self.mark(edges, &batch)?;
        let Batch::Edges(edges) = batch else { return Ok(None) };
        let left = marked.whole.count_set_bits();
        if left == 0 {
            return Ok(None);
        }
        let mut edges = match left == edges.rows {
            true => edges,
            false => Rows::new(marked.whole.clone()).of_edges(edges)?,
        };
        let renumbered = |ends: Ends, ranks: Option<Vec<u64>>| match (ends, ranks) {
            (Ends::Rows(_), Some(ranks)) => {
                let left = ranks.into_iter().zip(&marked.whole).filter(|(_, stays)| *stays).map(|(rank, _)| rank);
                Ends::Rows(UInt64Array::from_iter_values(left))
            }
            (ends, _) => ends,
        };
        edges.source = renumbered(edges.source, marked.source);
        edges.target = renumbered(edges.target, marked.target);
        edges.ty = ty;
        edges.properties = shown.project(edges.properties);
        Ok(Some(edges))
    }

    /// The ranks of elements that are referred to; `None` if all elements are kept.
    fn ranks(&self, of: Owner, ends: &Ends) -> Result<Option<Vec<u64>>> {
        self.built.kept(of).map(|kept| kept.ranks(ends)).transpose()
    }

    fn show_members(&self, mut members: MemberBatch) -> Result<Option<MemberBatch>> {
        let Some((ty, _)) = self.shape.hyperedges.find(members.ty) else { return Ok(None) };
        let ends = self.inner().hyperedges.get(members.ty).map(|ty| ty.ends);
        let ends = ends.ok_or_else(|| Error::usage("members of an unknown type"))?;
        let owner = self.ranks(Owner::Hyperedges(members.ty), &members.owner)?;
        let member = self.ranks(Owner::Nodes(ends), &members.member)?;
        let Some((rows, [owner, member])) = left(members.roles.len(), [owner, member]) else { return Ok(None) };
        members.owner = shown_ends(&rows, &members.owner, owner)?;
        members.member = shown_ends(&rows, &members.member, member)?;
        members.roles = rows.of_typed(&members.roles)?;
        members.layers = members.layers.as_ref().map(|layers| rows.of(layers)).transpose()?;
        members.coefficients = rows.of_numbers(members.coefficients.as_ref())?;
        members.ty = ty;
        Ok(Some(members))
    }

    fn show_values(&self, mut values: ValueBatch) -> Result<Option<ValueBatch>> {
        let Some((table, _)) = self.shape.values.find(values.table) else { return Ok(None) };
        let of = self.inner().values.get(values.table).map(|table| table.owner);
        let owner = self.ranks(of.ok_or_else(|| Error::usage("values of an unknown table"))?, &values.owner)?;
        let Some((rows, [owner])) = left(values.values.len(), [owner]) else { return Ok(None) };
        values.owner = shown_ends(&rows, &values.owner, owner)?;
        values.values = rows.of(&values.values)?;
        values.qualifiers = rows.of_columns(values.qualifiers)?;
        values.table = table;
        Ok(Some(values))
    }

    fn show_memberships(&self, mut members: MembershipBatch) -> Result<Option<MembershipBatch>> {
        let Some((kind, _)) = self.shape.groups.find(members.kind) else { return Ok(None) };
        let Some((table, shown)) = self.shape.memberships.get(kind).and_then(|tables| tables.find(members.table))
        else {
            return Ok(None);
        };
        let of = self.inner().groups.get(members.kind).and_then(|kind| kind.memberships.get(members.table));
        let of = of.map(|table| table.of).ok_or_else(|| Error::usage("members of an unknown kind of groups"))?;
        let group = self.built.groups_kept(members.kind).map(|kept| kept.ranks(&members.group)).transpose()?;
        let member = self.ranks(of, &members.member)?;
        let Some((rows, [group, member])) = left(members.member.len(), [group, member]) else { return Ok(None) };
        members.group = shown_ends(&rows, &members.group, group)?;
        members.member = shown_ends(&rows, &members.member, member)?;
        members.properties = shown.project(rows.of_columns(members.properties)?);
        (members.kind, members.table) = (kind, table);
        Ok(Some(members))
    }
}

/// Leaves out rows that refer to elements that are left out: returns the rows that are kept, and the ranks of their
/// elements.
fn left<const N: usize>(rows: usize, ranks: [Option<Vec<u64>>; N]) -> Option<(Rows, [Option<Vec<u64>>; N])> {
    let is_there = |row: usize| ranks.iter().flatten().all(|ranks| ranks.get(row).is_some_and(|rank| *rank != ABSENT));
    let mask: BooleanBuffer = (0..rows).map(is_there).collect();
    let rows = Rows::new(mask.clone());
    let of = |ranks: Vec<u64>| ranks.into_iter().zip(&mask).filter(|(_, stays)| *stays).map(|(rank, _)| rank).collect();
    (rows.len() > 0).then(|| (rows, ranks.map(|ranks| ranks.map(of))))
}

/// Ends of the rows that are kept, renumbered.
fn shown_ends(rows: &Rows, ends: &Ends, ranks: Option<Vec<u64>>) -> Result<Ends> {
    match (ends, ranks) {
        (Ends::Rows(_), Some(ranks)) => Ok(Ends::Rows(ranks.into())),
        (ends, _) => rows.of_ends(ends),
    }
}

/// The same nodes; bare nodes have only the key, and the properties that are inseparable.
fn without_what_is_said(
    mut nodes: NodeBatch,
    is_bare: &dyn Fn(u64) -> bool,
    stays: &dyn Fn(usize) -> bool,
) -> Result<NodeBatch> {
    let bare: Vec<bool> = (nodes.start..).take(nodes.rows).map(is_bare).collect();
    if !bare.contains(&true) {
        return Ok(nodes);
    }
    let mask = arrow_array::BooleanArray::from(bare.clone());
    let said = nodes.properties.iter_mut().enumerate().filter(|(at, _)| !stays(*at));
    for column in said.filter_map(|(_, column)| column.as_mut()) {
        *column = arrow_select::nullif::nullif(column, &mask)
            .map_err(|error| Error::malformed(error.to_string()).caused_by(error))?;
    }
    nodes.labels = nodes.labels.as_ref().map(|labels| {
        let mut builder = LabelBuilder::default();
        for (row, bare) in bare.iter().enumerate() {
            builder.push(labels.row(row).filter(|_| !bare));
        }
        builder.finish()
    });
    Ok(nodes)
}
