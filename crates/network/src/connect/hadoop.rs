//! Hadoop's file system.

use std::sync::Arc;

use hdfs_native_object_store::HdfsObjectStoreBuilder;
use isomorph_error::Result;
use isomorph_storage::objects::{self, ObjectClient};
use isomorph_storage::{Location, Scheme};

use crate::{client, failure};

pub(super) fn install() {
    objects::install(Scheme::Hdfs, connect);
}

/// Returns the client for the name node or name service of `location`.
///
/// The name nodes of a name service and the way to authenticate are read from `core-site.xml` and `hdfs-site.xml` in
/// `$HADOOP_CONF_DIR` or `$HADOOP_HOME/etc/hadoop`, the user from `$HADOOP_USER_NAME`.
fn connect(location: &Location) -> Result<Arc<dyn ObjectClient>> {
    let url = format!("{}://{}", location.scheme().prefix(), location.authority());
    let store = HdfsObjectStoreBuilder::new().with_url(url).build();
    store
        .map(|store| client(Arc::new(store)))
        .map_err(|error| failure::explained(error).hint("check the name nodes in $HADOOP_CONF_DIR/hdfs-site.xml"))
}
