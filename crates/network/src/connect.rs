//! Creates the client for a location, configured by the environment.

#[cfg(feature = "cloud")]
mod cloud;
#[cfg(feature = "hdfs")]
mod hadoop;

/// Makes the URLs that this build has clients for known to the whole process. Further calls change nothing.
pub fn install() {
    #[cfg(feature = "cloud")]
    cloud::install();
    #[cfg(feature = "hdfs")]
    hadoop::install();
}
