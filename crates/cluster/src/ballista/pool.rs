//! Connections to other executors that are kept between fetches: a stage fetches from every executor many times.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use ballista_core::client::BallistaClient;
use ballista_core::client_pool::{BallistaClientPool, PooledClient};
use ballista_core::error::Result;
use ballista_core::extension::BallistaConfigGrpcEndpoint;
use ballista_core::utils::GrpcClientConfig;

/// How long an idle connection is kept.
const IDLE: Duration = Duration::from_secs(30);

/// Idle connections to one executor, at most.
const MOST: usize = 32;

/// An executor, and how it is spoken to.
type Key = (String, u16, GrpcClientConfig);

/// Idle connections, and since when they are.
type Kept = Arc<Mutex<HashMap<Key, Vec<(BallistaClient, Instant)>>>>;

/// Idle connections.
#[derive(Clone, Default)]
pub(crate) struct Pool(Kept);

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pool")
    }
}

impl Pool {
    fn take(&self, key: &Key) -> Option<BallistaClient> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Self::evict(&mut kept);
        kept.get_mut(key)?.pop().map(|(client, _)| client)
    }

    fn evict(kept: &mut HashMap<Key, Vec<(BallistaClient, Instant)>>) {
        kept.retain(|_, all| {
            all.retain(|(_, since)| since.elapsed() < IDLE);
            !all.is_empty()
        });
    }
}

#[async_trait]
impl BallistaClientPool for Pool {
    async fn acquire(
        &self,
        host: &str,
        port: u16,
        config: &GrpcClientConfig,
        endpoint: Option<Arc<BallistaConfigGrpcEndpoint>>,
    ) -> Result<PooledClient> {
        let key = (host.to_owned(), port, config.clone());
        let client = match self.take(&key) {
            Some(client) => client,
            None => {
                BallistaClient::try_new(
                    host,
                    port,
                    config.max_message_size,
                    config.use_tls,
                    endpoint,
                    config.io_retries_times,
                    config.io_retry_wait_time_ms,
                    config.initial_connection_window_size,
                    config.initial_stream_window_size,
                )
                .await?
            }
        };
        let kept = Arc::clone(&self.0);
        let back = move |client| {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            let own = kept.entry(key).or_default();
            if own.len() < MOST {
                own.push((client, Instant::now()));
            }
        };
        Ok(PooledClient::new(client, Box::new(back)))
    }

    async fn evict_idle(&self) {
        Self::evict(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
