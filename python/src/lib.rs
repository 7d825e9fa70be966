//! The compiled half of the Python package `isomorph`: what needs the Rust library. The other half, which people import, is
//! in `python/isomorph/*.py` and says what each thing means; nothing here is called directly.
//!
//! - `work` runs everything that takes longer than a microsecond without the interpreter's lock, on a thread of its own, while the
//!   calling thread looks for Ctrl-C and shows progress.
//! - `reader` reads the partitions of a scan on several threads, in order.
//! - `table` is a lazy table; whatever can be read as record batches implements `table::Rows`.
//! - `graph`, `write`, `lake` are graphs, graphs from dataframes, and GraphLake stores.
//! - `subgraphs` draws mini-batches for trainers.

mod conversion;
mod cut;
mod cypher;
mod errors;
mod functions;
mod graph;
mod lake;
mod memory;
mod near;
mod options;
mod reader;
mod sampled;
mod server;
mod sparql;
mod sql;
mod statistics;
mod subgraphs;
mod table;
mod work;
mod write;

use pyo3::prelude::*;

/// Everything that `python/isomorph/_isomorph.pyi` declares.
#[pymodule]
fn _isomorph(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<graph::Graph>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<lake::Lake>()?;
    module.add_class::<lake::Transaction>()?;
    module.add_class::<server::Server>()?;
    module.add_class::<subgraphs::Topology>()?;
    module.add_class::<subgraphs::RowsFile>()?;
    module.add_function(wrap_pyfunction!(functions::validate, module)?)?;
    module.add_function(wrap_pyfunction!(functions::info, module)?)?;
    module.add_function(wrap_pyfunction!(functions::formats, module)?)?;
    module.add_function(wrap_pyfunction!(functions::diff, module)?)?;
    module.add_function(wrap_pyfunction!(write::write, module)?)?;
    module.add_function(wrap_pyfunction!(lake::load_lake, module)?)?;
    module.add_function(wrap_pyfunction!(subgraphs::prepare, module)?)?;
    module.add_function(wrap_pyfunction!(subgraphs::edge_rows, module)?)?;
    module.add_function(wrap_pyfunction!(statistics::statistics, module)?)?;
    Ok(())
}
