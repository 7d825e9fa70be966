//! Look-ups of many keys and of few keys in any graph, compared with a pass over the table.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, UInt64Array};
use arrow_select::concat::concat;
use arrow_select::take::take;
use isomorph_convert::{OpenOptions, Opened};
use isomorph_dataset::Dataset;
use isomorph_error::{Error, Result};
use isomorph_model::{Graph, Part, Request, Source};
use isomorph_storage::{Location, Resources};
use serde_json::{Value, json};

use crate::draw::Draw;
use crate::measure::{Measured, failed};

/// The small number of keys.
const FEW: usize = 10;

/// A graph that ignores filters.
struct Whole(Arc<dyn Source>);

impl Source for Whole {
    fn graph(&self) -> &Graph {
        self.0.graph()
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        self.0.scan(&request.whole())
    }
}

/// Looks up `keys` random values of a column, with all columns of the table, `runs` times with warm caches, alternating
/// with a pass over the table; then ten of them.
pub(crate) fn look_ups(path: &str, table: &str, column: &str, keys: usize, runs: usize) -> Result<Value> {
    let opened = Opened::open(&Location::parse(path)?, &OpenOptions::default())?;
    let resources = Resources::of_this_machine()?;
    let dataset = Dataset::new(Arc::clone(&opened.graph), resources.clone());
    let whole = Dataset::new(Arc::new(Whole(Arc::clone(&opened.graph))), resources);
    let all = dataset.scan(table)?.columns([column]).batches()?.collect::<Result<Vec<RecordBatch>>>()?;
    let arrays: Vec<&dyn Array> = all.iter().map(|batch| batch.column(0).as_ref()).collect();
    let all = concat(&arrays).map_err(failed)?;
    let mut draw = Draw::new(7);
    let drawn = |draw: &mut Draw, count: usize| -> Result<ArrayRef> {
        let rows = UInt64Array::from_iter_values((0..count).map(|_| draw.below(all.len() as u64)));
        take(&all, &rows, None).map_err(failed)
    };
    let (many, few) = (drawn(&mut draw, keys)?, drawn(&mut draw, FEW)?);
    let asked = |dataset: &Dataset, keys: &ArrayRef| -> Result<u64> {
        let batches = dataset.scan(table)?.look_up(column, Arc::clone(keys)).batches()?;
        batches.map(|batch| Ok(batch?.num_rows() as u64)).sum()
    };
    let cost = |dataset: &Dataset| -> Result<Value> {
        let cost = dataset.look_up_cost(table, column)?;
        Ok(json!({ "way": format!("{:?}", cost.way), "rows": cost.rows }))
    };
    let before = cost(&dataset)?;
    let mut first = Measured::new();
    first.run(|| asked(&dataset, &many))?;
    asked(&whole, &many)?;
    let (mut ours, mut pass, mut ten) = (Measured::new(), Measured::new(), Measured::new());
    for _ in 0..runs.max(1) {
        ours.run(|| asked(&dataset, &many))?;
        pass.run(|| asked(&whole, &many))?;
        ten.run(|| asked(&dataset, &few))?;
    }
    let side = |mut measured: Measured<u64>| -> Result<Value> {
        let (seconds, processor) = (measured.seconds(), measured.processor());
        Ok(json!({ "seconds": seconds, "processor": processor, "rows": measured.answer()? }))
    };
    let (ours, pass) = (side(ours)?, side(pass)?);
    if ours.get("rows") != pass.get("rows") {
        return Err(Error::malformed(format!("a look-up finds {ours}, but a pass finds {pass}")));
    }
    Ok(json!({
        "cost": [before, cost(&dataset)?],
        "first": side(first)?,
        "many": ours,
        "pass": pass,
        "ten": side(ten)?,
    }))
}
