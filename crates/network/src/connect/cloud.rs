//! Object stores and web servers.

use std::sync::Arc;

use isomorph_error::{Error, Result};
use isomorph_storage::objects::{self, ObjectClient};
use isomorph_storage::{Location, Scheme};
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;
use object_store::{ClientOptions, ObjectStore};

use crate::{client, failure};

pub(super) fn install() {
    for scheme in [Scheme::S3, Scheme::Gcs, Scheme::Azure, Scheme::Http, Scheme::Https] {
        objects::install(scheme, connect);
    }
}

/// Returns the client for the bucket, container or host of `location`.
///
/// It is configured by the environment: for S3 by every `AWS_…` variable that `object_store` knows (`AWS_ACCESS_KEY_ID`,
/// `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, `AWS_REGION`, `AWS_ENDPOINT_URL`, `AWS_ALLOW_HTTP`,
/// `AWS_CONDITIONAL_PUT` and others); for Google by `GOOGLE_…`; for Azure by `AZURE_…`. The client repeats failed requests
/// with growing pauses.
fn connect(location: &Location) -> Result<Arc<dyn ObjectClient>> {
    let authority = location.authority();
    let web = || {
        let allow_http = ClientOptions::new().with_allow_http(location.scheme() == Scheme::Http);
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
    store.map(client).map_err(failure::explained)
}
