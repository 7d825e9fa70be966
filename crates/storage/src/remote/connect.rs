//! From a location to a client, configured by the environment.

use std::sync::Arc;

use isomorph_error::Result;
use object_store::ObjectStore;

use crate::Location;

/// The client for the bucket, container or host of `location`.
#[cfg(not(feature = "cloud"))]
pub(crate) fn connect(location: &Location) -> Result<Arc<dyn ObjectStore>> {
    use isomorph_error::Error;
    let scheme = location.scheme().prefix();
    Err(Error::unsupported(format!("this build cannot open `{scheme}://`"))
        .hint("install a release, or build with `--features cloud`"))
}

/// The client for the bucket, container or host of `location`.
///
/// Read from the environment: for S3 every `AWS_…` variable that `object_store` knows (`AWS_ACCESS_KEY_ID`,
/// `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, `AWS_REGION`, `AWS_ENDPOINT_URL`, `AWS_ALLOW_HTTP`,
/// `AWS_CONDITIONAL_PUT` and others); for Google `GOOGLE_…`; for Azure `AZURE_…`. Failed requests are repeated with
/// growing pauses by the client itself.
#[cfg(feature = "cloud")]
pub(crate) fn connect(location: &Location) -> Result<Arc<dyn ObjectStore>> {
    use isomorph_error::Error;
    use object_store::aws::AmazonS3Builder;
    use object_store::azure::MicrosoftAzureBuilder;
    use object_store::gcp::GoogleCloudStorageBuilder;
    use object_store::http::HttpBuilder;

    use crate::Scheme;

    let authority = location.authority();
    let web = || {
        let allow_http = object_store::ClientOptions::new().with_allow_http(location.scheme() == Scheme::Http);
        let url = format!("{}://{authority}", location.scheme().prefix());
        HttpBuilder::new().with_client_options(allow_http).with_url(url)
    };
    let store: object_store::Result<Arc<dyn ObjectStore>> = match location.scheme() {
        Scheme::Local => return Err(Error::usage("a local path is not in an object store")),
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
