//! Keys of nodes, kept as far as edges need them.

use arrow_array::{Array, UInt64Array};
use arrow_cast::display::array_value_to_string;
use isomorph_error::{Error, Place, Result, Rule, Severity};
use isomorph_model::{EndForm, Ends, KeyKind, NodeBatch, Source};
use isomorph_tables::lookup::{KeyRowsBuilder, Lookup, LookupOptions, SpilledKeys};

use isomorph_storage::Resources;

/// An edge refers to a node that does not exist.
pub static DANGLING_END: Rule = Rule {
    id: "MODEL-DANGLING-END",
    severity: Severity::Error,
    says: "both ends of every edge are nodes of the graph",
    remedy: "isomorph validate PATH    list every finding",
};

/// Two nodes have the same key.
pub static REPEATED_KEY: Rule = Rule {
    id: "MODEL-REPEATED-KEY",
    severity: Severity::Error,
    says: "the keys of a node type are unique",
    remedy: "give each node a key of its own; of GraphAr, --key row identifies nodes by their row numbers instead",
};

/// Key → row, for the node types that edges refer to by key.
pub(super) struct RowsByKey {
    names: Vec<String>,
    /// For each type, whether it has no key: its keys are its rows.
    keyless: Vec<bool>,
    builders: Vec<Option<KeyRowsBuilder>>,
    lookups: Vec<Option<Lookup>>,
    rows: Vec<u64>,
}

impl RowsByKey {
    /// Creates empty maps.
    pub fn new(source: &dyn Source, resources: &Resources) -> Result<Self> {
        let graph = source.graph();
        let mut needed = vec![false; graph.nodes.len()];
        for (at, ty) in graph.edges.iter().enumerate().filter(|(at, _)| source.end_form(*at) == EndForm::Keys) {
            for end in [ty.source, ty.target] {
                *needed
                    .get_mut(end)
                    .ok_or_else(|| Error::usage(format!("edge type {at} refers to an unknown node type")))? = true;
            }
        }
        let keyless: Vec<bool> = graph.nodes.iter().map(|ty| ty.key.kind == KeyKind::Row).collect();
        let several = needed.iter().filter(|needed| **needed).count().max(1) as u64;
        let options = LookupOptions::new(&resources.budget, &resources.scratch)
            .memory(resources.budget.limit() / 2 / several)
            .threads(resources.threads);
        let builder =
            |(needed, keyless): (bool, &bool)| (needed && !keyless).then(|| KeyRowsBuilder::new(options.clone()));
        Ok(RowsByKey {
            names: graph.nodes.iter().map(|ty| ty.name.clone()).collect(),
            builders: needed.into_iter().zip(&keyless).map(builder).collect(),
            lookups: Vec::new(),
            rows: vec![0; keyless.len()],
            keyless,
        })
    }

    /// Adds the keys of nodes, which follow the nodes before.
    pub fn add(&mut self, nodes: &NodeBatch) -> Result<()> {
        if let Some(rows) = self.rows.get_mut(nodes.ty) {
            *rows += nodes.rows as u64;
        }
        match (self.builders.get_mut(nodes.ty), &nodes.keys) {
            (Some(Some(builder)), Some(keys)) => builder.push(keys.as_ref()),
            _ => Ok(()),
        }
    }

    /// Finishes after the last node.
    ///
    /// # Errors
    /// If a key is duplicated, or there is too little memory even for spilling.
    pub fn finish(&mut self) -> Result<()> {
        for (ty, builder) in self.builders.drain(..).enumerate() {
            let lookup = builder.map(KeyRowsBuilder::finish).transpose()?;
            if let Some(repeat) = lookup.as_ref().and_then(|lookup| lookup.repeats().shown().first()) {
                let message = format!("rows {} and {} have the same key", repeat.first, repeat.row);
                let name = self.names.get(ty).cloned().unwrap_or_default();
                return Err(Error::broken(&REPEATED_KEY, message).at(Place::file(name).row(repeat.row)));
            }
            self.lookups.push(lookup);
        }
        Ok(())
    }

    /// The keys of a type, if they do not fit into memory.
    pub fn spilled(&self, ty: usize) -> Option<&SpilledKeys> {
        match self.lookups.get(ty) {
            Some(Some(Lookup::Spilled(keys))) => Some(keys),
            _ => None,
        }
    }

    /// The rows of ends, unless their keys do not fit into memory.
    ///
    /// # Errors
    /// If an end is not a node.
    pub fn rows(&self, ty: usize, ends: &Ends) -> Result<UInt64Array> {
        let keys = match ends {
            Ends::Rows(rows) => {
                let count = self.rows.get(ty).copied().unwrap_or_default();
                if let Some(row) = rows.values().iter().find(|row| **row >= count) {
                    return Err(self.dangling(ty, Some(&format!("row {row}"))));
                }
                return Ok(rows.clone());
            }
            Ends::Keys(keys) => keys,
        };
        if self.keyless.get(ty).copied().unwrap_or_default() {
            return Err(Error::usage("keys for a type that has none"));
        }
        let Some(Some(Lookup::Memory(lookup))) = self.lookups.get(ty) else {
            return Err(Error::usage("ends are keys, but rows were announced"));
        };
        let mut rows = Vec::with_capacity(keys.len());
        let misses = lookup.translate(keys.as_ref(), &mut rows)?;
        if misses.nulls + misses.not_found > 0 {
            let missing = misses.first_not_found.and_then(|at| array_value_to_string(keys, at).ok());
            return Err(self.dangling(ty, missing.as_deref()));
        }
        Ok(rows.into())
    }

    /// The error for an edge that refers to `missing`, if that is known.
    pub fn dangling(&self, ty: usize, missing: Option<&str>) -> Error {
        let message = match missing {
            Some(missing) => format!("an edge refers to {missing:?}, which is not a node"),
            None => "an edge refers to a node that does not exist".to_owned(),
        };
        Error::broken(&DANGLING_END, message).at(self.names.get(ty).cloned().unwrap_or_default())
    }
}
