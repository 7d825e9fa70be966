//! Blocking access to an object store.

use std::ops::Range;
use std::sync::Arc;
use std::time::SystemTime;

use bytes::{Bytes, BytesMut};
use futures::{StreamExt, TryStreamExt};
use isomorph_storage::Fingerprint;
use isomorph_storage::objects::{Answer, CONCURRENT_REQUESTS, Condition, Listed, Listing, ObjectClient, ObjectUpload};
use object_store::path::Path as Key;
use object_store::{
    GetOptions, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload, UpdateVersion,
};

use crate::failure::failure;
use crate::runtime::run;
use crate::upload::Upload;

/// Ranges larger than this are fetched in concurrent parts of this size, bytes.
const PART: u64 = 8 << 20;

/// Returns a client for a store that the caller configured.
///
/// ```
/// use std::sync::Arc;
/// use isomorph_storage::Location;
/// let store = Arc::new(object_store::memory::InMemory::new());
/// let place = Location::parse("s3://bucket/graph")?.on_store(isomorph_network::client(store));
/// assert!(isomorph_storage::Root::open(&place).is_err(), "the store is empty");
/// # Ok::<(), isomorph_error::Error>(())
/// ```
pub fn client(store: Arc<dyn ObjectStore>) -> Arc<dyn ObjectClient> {
    Arc::new(Client { store })
}

#[derive(Debug)]
struct Client {
    store: Arc<dyn ObjectStore>,
}

impl ObjectClient for Client {
    fn refuses(&self, key: &str) -> Option<String> {
        Key::parse(key).err().map(|error| error.to_string())
    }

    fn head(&self, key: &str) -> Answer<Fingerprint> {
        let (store, key) = self.request(key)?;
        run(async move { store.head(&key).await }).map(|meta| version(&meta)).map_err(failure)
    }

    fn get(&self, key: &str, limit: u64) -> Answer<(Option<Bytes>, Fingerprint)> {
        let (store, key) = self.request(key)?;
        let got = run(async move {
            let answer = store.get(&key).await?;
            let version = version(&answer.meta);
            let bytes = if version.size > limit { None } else { Some(answer.bytes().await?) };
            Ok((bytes, version))
        });
        got.map_err(failure)
    }

    fn read(&self, key: &str, version: &Fingerprint, ranges: &[Range<u64>]) -> Answer<Vec<Bytes>> {
        let (store, key) = self.request(key)?;
        let parts: Vec<(usize, Range<u64>)> = ranges
            .iter()
            .enumerate()
            .flat_map(|(index, range)| {
                let end = range.end;
                let starts = (range.start..end).step_by(usize::try_from(PART).unwrap_or(usize::MAX));
                starts.map(move |start| (index, start..end.min(start.saturating_add(PART))))
            })
            .collect();
        let opened = Arc::new(Opened { store, key, version: version.clone() });
        let fetched: Vec<(usize, Bytes)> = run(async move {
            let requests = parts.into_iter().map(|(index, part)| {
                let opened = Arc::clone(&opened);
                async move { opened.fetch(part).await.map(|bytes| (index, bytes)) }
            });
            futures::stream::iter(requests).buffered(CONCURRENT_REQUESTS).try_collect().await
        })
        .map_err(failure)?;
        let mut whole = vec![BytesMut::new(); ranges.len()];
        let mut single = vec![Bytes::new(); ranges.len()];
        for (index, bytes) in fetched {
            if ranges[index].end - ranges[index].start <= PART {
                single[index] = bytes;
            } else {
                whole[index].extend_from_slice(&bytes);
            }
        }
        Ok(single.into_iter().zip(whole).map(|(one, many)| if many.is_empty() { one } else { many.freeze() }).collect())
    }

    fn list(&self, prefix: &str, limit: usize) -> Answer<Vec<Listed>> {
        let (store, key) = self.request(prefix)?;
        let found: Vec<ObjectMeta> =
            run(async move { store.list(Some(&key)).take(limit).try_collect().await }).map_err(failure)?;
        Ok(found.iter().map(listed).collect())
    }

    fn list_directory(&self, prefix: &str) -> Answer<Listing> {
        let (store, key) = self.request(prefix)?;
        let found = run(async move { store.list_with_delimiter(Some(&key)).await }).map_err(failure)?;
        let prefixes = found.common_prefixes.iter().map(Key::to_string).collect();
        Ok(Listing { objects: found.objects.iter().map(listed).collect(), prefixes })
    }

    fn put(&self, key: &str, content: Bytes, condition: Condition) -> Answer<()> {
        let (store, key) = self.request(key)?;
        let mode = match condition {
            Condition::Always => PutMode::Overwrite,
            Condition::New => PutMode::Create,
            Condition::Tag(e_tag) => PutMode::Update(UpdateVersion { e_tag, version: None }),
        };
        let put = run(async move { store.put_opts(&key, PutPayload::from(content), PutOptions::from(mode)).await });
        put.map(drop).map_err(failure)
    }

    fn upload(&self, key: &str) -> Answer<Box<dyn ObjectUpload>> {
        let (store, key) = self.request(key)?;
        let parts = run(async move { store.put_multipart(&key).await }).map_err(failure)?;
        Ok(Box::new(Upload::new(parts)))
    }

    fn delete(&self, keys: Vec<String>) -> Answer<()> {
        let store = Arc::clone(&self.store);
        let keys: Vec<Key> = keys.iter().map(|key| parse(key)).collect::<Answer<_>>()?;
        run(async move {
            let keys = futures::stream::iter(keys.into_iter().map(Ok)).boxed();
            store.delete_stream(keys).try_for_each(|_| futures::future::ready(Ok(()))).await
        })
        .map_err(failure)
    }
}

impl Client {
    /// What a request owns.
    fn request(&self, key: &str) -> Answer<(Arc<dyn ObjectStore>, Key)> {
        Ok((Arc::clone(&self.store), parse(key)?))
    }
}

/// An object in the version that was opened.
struct Opened {
    store: Arc<dyn ObjectStore>,
    key: Key,
    version: Fingerprint,
}

impl Opened {
    async fn fetch(&self, range: Range<u64>) -> object_store::Result<Bytes> {
        let length = range.end - range.start;
        let options =
            GetOptions { range: Some(range.into()), if_match: self.version.etag.clone(), ..GetOptions::default() };
        let answer = self.store.get_opts(&self.key, options).await?;
        let same_size = answer.meta.size == self.version.size;
        let bytes = answer.bytes().await?;
        if same_size && bytes.len() as u64 == length {
            return Ok(bytes);
        }
        Err(object_store::Error::Precondition { path: self.key.to_string(), source: "the size has changed".into() })
    }
}

fn parse(key: &str) -> Answer<Key> {
    Key::parse(key).map_err(|error| failure(error.into()))
}

fn listed(meta: &ObjectMeta) -> Listed {
    Listed { key: meta.location.to_string(), size: meta.size }
}

fn version(meta: &ObjectMeta) -> Fingerprint {
    let modified = Some(SystemTime::from(meta.last_modified));
    Fingerprint { size: meta.size, modified, etag: meta.e_tag.clone() }
}
