//! Plans what is dropped if a format with one node type and one edge type cannot store it.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use isomorph_error::{Error, Result, index};
use isomorph_model::{
    Batch, Columns, Delivery, EdgeOrder, EndForm, Ends, Graph, KeyKind, NodeType, Property, Sink, Written,
};
use isomorph_storage::{Budget, Reservation};

use crate::mapping::{Detachment, Fusing, Naming, Step};
use crate::options::WriteOptions;
use crate::pipeline;
use crate::plan::counted;
use crate::plan::planner::Planner;
use crate::traits::NumberKeys;

impl Planner<'_> {
    /// Whether types are merged of which some refer to ends of edges by row and others by key: one type must use one
    /// form.
    pub fn mixes_ends(&self) -> bool {
        let graph = &self.opened.graph;
        let by_row = |ty: usize| graph.end_form(ty) == EndForm::Rows;
        let edges = 0..graph.graph().edges.len();
        self.becomes_plain() && edges.clone().any(by_row) && !edges.clone().all(by_row)
    }

    /// Whether the target has one node type and none of annnet's own constructs.
    pub fn becomes_plain(&self) -> bool {
        let to = self.plan.to;
        to.has_one_type() && !to.traits().has_numbers_only && to.traits().fusing != Fusing::Annnet
    }

    /// Plans tables of the sidecar for what the target cannot store. Refuses what they do not hold, or lists it as lost with `--lossy`. If the
    /// target has no nodes without edges, these are counted, which reads keys and ends once.
    ///
    /// # Errors
    /// Returns [`Kind::WouldLose`]; also if the graph cannot be read.
    pub fn leave_out(&mut self, write: &WriteOptions) -> Result<()> {
        let (opened, from, to) = (self.opened, self.plan.from, self.plan.to);
        if !self.becomes_plain() && !to.traits().is_partial {
            return Ok(());
        }
        if to.traits().detaches && !self.options.loses() {
            self.detach(write)?;
            let unheld = to.not_stored(&self.plan.target, write)?;
            return self.plan.lose(unheld, self.options, "drop it");
        }
        let mut unheld = to.not_stored(&self.plan.target, write)?;
        let (is_another, loses) = (from != to || opened.is_part, self.options.loses());
        if let Some(wanted) = to.traits().number_keys.filter(|_| is_another)
            && (unheld.is_empty() || loses)
            && !self.has_keys(wanted)?
        {
            let numbers = match wanted {
                NumberKeys::FromOne => "the numbers 1 to their count",
                NumberKeys::Any => "integers",
            };
            let why = format!("keys of nodes in {to} are {numbers}; with --lossy they are numbered by rows");
            unheld.push(("keys of nodes".to_owned(), why));
        }
        if !to.traits().holds_lone_nodes && is_another && (unheld.is_empty() || loses) {
            let alone = self.alone()?;
            let subject = counted(usize::try_from(alone).unwrap_or(usize::MAX), "node");
            let why = format!("no edge refers to it, and nodes without edges cannot be stored in {to}");
            unheld.extend((alone > 0).then_some((subject, why)));
        }
        self.plan.lose(unheld, self.options, "drop it")
    }

    /// Plans tables for what the target does not store: properties, labels and directions; and nodes, if their order, those without edges, or their
    /// keys would be lost.
    fn detach(&mut self, write: &WriteOptions) -> Result<()> {
        let (to, is_another) = (self.plan.to, self.plan.from != self.plan.to || self.opened.is_part);
        let ordered = |ty: &NodeType| ty.ordered || ty.key.kind == KeyKind::Row;
        let naming = match to.traits().number_keys.filter(|_| is_another) {
            Some(wanted) if !self.has_keys(wanted)? => Naming::Positions,
            Some(NumberKeys::FromOne) => Naming::Numbers,
            _ => Naming::Keys,
        };
        let is_ordered = !to.keeps_order(write) && self.opened.graph.graph().nodes.iter().any(ordered);
        let mut all_nodes = naming == Naming::Positions || is_another && is_ordered;
        let mut written = to.stored(&self.plan.target);
        self.without_nulls(&mut written)?;
        let is_known = all_nodes
            || Detachment::of(&self.plan.target, written.clone(), naming, false)
                .is_some_and(|own| own.nodes.contains(&true));
        if !to.traits().holds_lone_nodes && is_another && !is_known {
            all_nodes = self.alone()? > 0;
        }
        if let Some(record) = Detachment::of(&self.plan.target, written, naming, all_nodes) {
            self.plan.target = record.written.clone();
            self.plan.then(Step::Detach(Box::new(record)));
        }
        Ok(())
    }

    /// Removes the properties that are null somewhere, if the target stores no nulls. Reads these columns once.
    fn without_nulls(&mut self, written: &mut Graph) -> Result<()> {
        let capability = self.plan.to.capability();
        let nullable = |all: &[Property], holds: bool| !holds && all.iter().any(|own| own.nullable);
        let of_nodes = written.nodes.iter().any(|ty| nullable(&ty.properties, capability.nodes.nulls));
        let of_edges = written.edges.iter().any(|ty| nullable(&ty.properties, capability.edges.nulls));
        if !of_nodes && !of_edges {
            return Ok(());
        }
        self.plan.passes.push("nulls");
        let target = self.plan.mapped(self.source(), self.resources)?;
        let (nodes, edges) = (0..written.nodes.len(), 0..written.edges.len());
        let nodes = nodes.filter(|_| of_nodes || of_edges).map(Delivery::Nodes);
        let edges = edges.filter(|_| of_edges).map(|ty| Delivery::Edges { ty, order: EdgeOrder::Any });
        let whole = self.plan.target.clone();
        let mut look = Look {
            deliveries: nodes.chain(edges).collect(),
            see: |batch| {
                match batch {
                    Batch::Nodes(batch) if of_nodes => {
                        let types = (whole.nodes.get(batch.ty), written.nodes.get_mut(batch.ty));
                        if let (Some(whole), Some(written)) = types {
                            drop_nulls(&whole.properties, &batch.properties, &mut written.properties);
                        }
                    }
                    Batch::Edges(batch) => {
                        let types = (whole.edges.get(batch.ty), written.edges.get_mut(batch.ty));
                        if let (Some(whole), Some(written)) = types {
                            drop_nulls(&whole.properties, &batch.properties, &mut written.properties);
                        }
                    }
                    _ => {}
                }
                Ok(())
            },
        };
        pipeline::run(target.as_ref(), &mut look, self.resources, self.progress)
    }

    /// Whether the keys of the target's nodes are such numbers, in any order. Reads the keys once.
    fn has_keys(&mut self, wanted: NumberKeys) -> Result<bool> {
        self.plan.passes.push("keys");
        let target = self.plan.mapped(self.source(), self.resources)?;
        let mut seen = Numbered { count: 0, least: i64::MAX, most: 0, is_right: true };
        let mut look = Look { deliveries: vec![Delivery::Nodes(0)], see: |batch| seen.see(&batch) };
        pipeline::run(target.as_ref(), &mut look, self.resources, self.progress)?;
        // Keys are unique.
        let is_range = seen.least > 0 && u64::try_from(seen.most).is_ok_and(|most| most == seen.count);
        Ok(seen.is_right && (wanted == NumberKeys::Any || seen.count == 0 || is_range))
    }

    /// The number of nodes of the target without edges.
    fn alone(&mut self) -> Result<u64> {
        self.plan.passes.push("ends");
        let target = self.plan.mapped(self.source(), self.resources)?;
        let mut seen = Seen { named: Vec::new(), nodes: 0, budget: self.resources.budget.clone(), held: None };
        let deliveries = vec![Delivery::Nodes(0), Delivery::Edges { ty: 0, order: EdgeOrder::Any }];
        let mut look = Look { deliveries, see: |batch| seen.see(&batch) };
        pipeline::run(target.as_ref(), &mut look, self.resources, self.progress)?;
        let named: u64 = seen.named.iter().map(|word| u64::from(word.count_ones())).sum();
        Ok(seen.nodes.saturating_sub(named))
    }
}

/// Removes the properties that are null in a row.
fn drop_nulls(whole: &[Property], columns: &Columns, written: &mut Vec<Property>) {
    for (property, column) in whole.iter().zip(columns) {
        if column.as_ref().is_none_or(|column| column.null_count() > 0) {
            written.retain(|own| own.name != property.name);
        }
    }
}

/// A sink that looks at rows and writes nothing.
struct Look<F> {
    deliveries: Vec<Delivery>,
    see: F,
}

impl<F: FnMut(Batch) -> Result<()> + Send> Sink for Look<F> {
    fn deliveries(&self) -> Vec<Delivery> {
        self.deliveries.clone()
    }

    fn write(&mut self, _delivery: usize, batch: Batch) -> Result<()> {
        (self.see)(batch)
    }

    fn finish(self: Box<Self>) -> Result<Written> {
        Ok(Written::default())
    }
}

/// What is known about keys: their count, whether they are integers, the smallest and the largest.
struct Numbered {
    count: u64,
    least: i64,
    most: i64,
    is_right: bool,
}

impl Numbered {
    fn see(&mut self, batch: &Batch) -> Result<()> {
        let Batch::Nodes(nodes) = batch else { return Ok(()) };
        self.count += nodes.rows as u64;
        let Some(keys) = &nodes.keys else {
            self.is_right = false;
            return Ok(());
        };
        match (keys.as_primitive_opt::<Int64Type>(), keys.as_string_opt::<i32>()) {
            (Some(numbers), _) => numbers.iter().for_each(|key| self.see_key(key)),
            (_, Some(texts)) => texts.iter().for_each(|key| {
                // Another spelling of a number is another key.
                let number = key.and_then(|key| key.parse::<i64>().ok().filter(|number| number.to_string() == key));
                self.see_key(number);
            }),
            _ => self.is_right = false,
        }
        Ok(())
    }

    fn see_key(&mut self, key: Option<i64>) {
        self.is_right &= key.is_some();
        self.least = self.least.min(key.unwrap_or_default());
        self.most = self.most.max(key.unwrap_or_default());
    }
}

/// The nodes that are ends of edges: a bit for each row.
struct Seen {
    named: Vec<u64>,
    nodes: u64,
    budget: Budget,
    held: Option<Reservation>,
}

impl Seen {
    fn see(&mut self, batch: &Batch) -> Result<()> {
        match batch {
            Batch::Nodes(nodes) => self.nodes += nodes.rows as u64,
            Batch::Edges(edges) => {
                if self.held.is_none() {
                    self.held = Some(self.budget.reserve(self.nodes / 8 + 8)?);
                    self.named = vec![0; index(self.nodes / 64 + 1)];
                }
                for ends in [&edges.source, &edges.target] {
                    let Ends::Rows(rows) = ends else { return Err(Error::usage("ends must be rows")) };
                    for row in rows.values() {
                        if let Some(word) = self.named.get_mut(index(row / 64)) {
                            *word |= 1 << (row % 64);
                        }
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }
}
