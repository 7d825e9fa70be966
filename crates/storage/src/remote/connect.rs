//! Creates the client for a location, configured by the environment.

use std::sync::Arc;

use isomorph_error::{Error, Result};
use object_store::ObjectStore;

use crate::{Location, Scheme};

/// Returns the client for the bucket, container, host or name node of `location`.
///
/// # Errors
/// Returns an error if this build has no client for it, or the environment does not configure one.
pub(crate) fn connect(location: &Location) -> Result<Arc<dyn ObjectStore>> {
    match location.scheme() {
        Scheme::Stream => Err(Error::usage("a stream is not an object store")),
        Scheme::Local => Err(Error::usage("a local path is not an object store")),
        Scheme::Hdfs => hadoop(location),
        Scheme::S3 | Scheme::Gcs | Scheme::Azure | Scheme::Http | Scheme::Https => cloud(location),
    }
}

/// Returns the error for a scheme that needs a feature.
#[cfg(not(all(feature = "cloud", feature = "hdfs")))]
fn not_built(location: &Location, hint: &'static str) -> Error {
    Error::unsupported(format!("this build cannot open `{}://`", location.scheme().prefix())).hint(hint)
}

#[cfg(not(feature = "hdfs"))]
fn hadoop(location: &Location) -> Result<Arc<dyn ObjectStore>> {
    Err(not_built(location, "cargo install --path cli --features hdfs    build the command with Hadoop's file system"))
}

/// Returns the client for the name node or name service of `location`.
///
/// The name nodes of a name service and the way to authenticate are read from `core-site.xml` and `hdfs-site.xml` in
/// `$HADOOP_CONF_DIR` or `$HADOOP_HOME/etc/hadoop`, the user from `$HADOOP_USER_NAME`.
#[cfg(feature = "hdfs")]
fn hadoop(location: &Location) -> Result<Arc<dyn ObjectStore>> {
    let url = format!("{}://{}", location.scheme().prefix(), location.authority());
    let store = hdfs_native_object_store::HdfsObjectStoreBuilder::new().with_url(url).build();
    store
        .map(|store| Arc::new(store) as _)
        .map_err(|error| super::explained(error).hint("check the name nodes in $HADOOP_CONF_DIR/hdfs-site.xml"))
}

#[cfg(not(feature = "cloud"))]
fn cloud(location: &Location) -> Result<Arc<dyn ObjectStore>> {
    Err(not_built(location, "cargo install --path cli    build the command with object stores"))
}

/// Returns the client for the bucket, container or host of `location`.
///
/// It is configured by the environment: for S3 by every `AWS_…` variable that `object_store` knows (`AWS_ACCESS_KEY_ID`,
/// `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, `AWS_REGION`, `AWS_ENDPOINT_URL`, `AWS_ALLOW_HTTP`,
/// `AWS_CONDITIONAL_PUT` and others); for Google by `GOOGLE_…`; for Azure by `AZURE_…`. The client repeats failed requests
/// with growing pauses.
#[cfg(feature = "cloud")]
fn cloud(location: &Location) -> Result<Arc<dyn ObjectStore>> {
    use object_store::aws::AmazonS3Builder;
    use object_store::azure::MicrosoftAzureBuilder;
    use object_store::gcp::GoogleCloudStorageBuilder;
    use object_store::http::HttpBuilder;

    let authority = location.authority();
    let web = || {
        let allow_http = object_store::ClientOptions::new().with_allow_http(location.scheme() == Scheme::Http);
        let url = format!("{}://{authority}", location.scheme().prefix());
        HttpBuilder::new().with_client_options(allow_http).with_url(url)
    };
    let store: object_store::Result<Arc<dyn ObjectStore>> = match location.scheme() {
        Scheme::Local | Scheme::Hdfs | Scheme::Stream => return Err(Error::usage("this is not an object store")),
        Scheme::S3 => AmazonS3Builder::from_env().with_bucket_name(authority).build().map(|store| Arc::new(store) as _),
        Scheme::Gcs => {
            GoogleCloudStorageBuilder::from_env().with_bucket_name(authority).build().map(|store| Arc::new(store) as _)
        }
        Scheme::Azure => {
            MicrosoftAzureBuilder::from_env().with_container_name(authority).build().map(|store| Arc::new(store) as _)
        }
        Scheme::Http | Scheme::Https => web().build().map(|store| Arc::new(store) as _),
    };
    store.map_err(super::explained)
}
