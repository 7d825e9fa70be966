//! Threads of processes of a cluster, and what their engines may open.

use std::sync::Arc;

use datafusion::common::Result as EngineResult;
use datafusion::execution::object_store::{DefaultObjectStoreRegistry, ObjectStoreRegistry, ObjectStoreUrl};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use isomorph::Result;
use tokio::runtime::{Builder, Runtime};

/// The stack of a thread, bytes. Plans and expressions are read by going down into them.
pub(crate) const STACK: usize = 32 << 20;

/// So many threads.
///
/// # Errors
/// If the system does not allow it.
pub(crate) fn runtime(threads: usize) -> Result<Runtime> {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(threads.max(2)).thread_name("isomorph-cluster").thread_stack_size(STACK).enable_all();
    Ok(builder.build()?)
}

/// An engine that finds no files: those of graphs are opened elsewhere, where it is asked whether they may be. Operators that read and write files, which a plan
/// could name too, fail.
///
/// # Errors
/// Those of the engine.
pub(crate) fn without_files() -> EngineResult<RuntimeEnvBuilder> {
    let stores = DefaultObjectStoreRegistry::new();
    stores.deregister_store(ObjectStoreUrl::local_filesystem().as_ref())?;
    Ok(RuntimeEnvBuilder::new().with_object_store_registry(Arc::new(stores)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn plans_cannot_name_files() {
        let engine = without_files().unwrap().build().unwrap();
        for url in ["file:///", "s3://bucket", "http://host"] {
            let url = ObjectStoreUrl::parse(url).unwrap();
            assert!(engine.object_store(&url).is_err(), "{url:?}");
        }
    }
}
