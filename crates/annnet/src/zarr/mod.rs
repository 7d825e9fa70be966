//! One-dimensional Zarr arrays of numbers: those of the incidence matrix, and of cached views.
//!
//! Metadata, chunk grids, chunk names and the order of codecs are handled by the crate `zarrs`. Two things are not: the
//! contents of a `zarr.json` are checked here before an array is created from it, and chunks are unpacked by the codecs
//! of this module, which never return more bytes than a chunk has. A missing chunk contains only the fill value.

mod blosc;
mod codec;
mod describe;
mod number;
mod read;
mod store;
mod write;

pub(crate) use number::Number;
pub(crate) use read::ArrayReader;
pub(crate) use write::{ArrayWriter, put_group};

use isomorph_error::{Error, Place};

use crate::rules;

/// Maximum size of an unpacked chunk in bytes.
const CHUNK_BYTES: u64 = 64 << 20;

/// Returns the error for an array that cannot be read.
pub(crate) fn broken(name: &str, what: impl Into<String>) -> Error {
    Error::broken(&rules::MATRIX, what).at(Place::file(name))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::num::NonZeroU64;

    use isomorph_storage::{Location, Mode, Staging};
    use isomorph_tables::Compression;

    use super::*;
    use crate::members::Members;
    use crate::write::Output;
    use crate::{OpenOptions, WriteOptions};

    #[test]
    fn arrays_come_back_in_any_pieces_and_ranges() {
        let folder = tempfile::tempdir().unwrap();
        let numbers: Vec<i64> = (0..2_500).map(|number| number * number % 1_000 - 3).collect();
        let floats: Vec<f32> = numbers.iter().map(|number| *number as f32 / 4.0).collect();
        for (at, compression) in
            [Compression::None, Compression::Zstd(1), Compression::Lz4, Compression::Snappy, Compression::Gzip(1)]
                .into_iter()
                .enumerate()
        {
            let place = Location::from_path(&folder.path().join(at.to_string()));
            let options = WriteOptions { compression, ..WriteOptions::default() };
            let staging = Staging::directory(&place, Mode::CreateNew).unwrap();
            let mut output = Output::new(&staging, &options).unwrap();
            let chunk = NonZeroU64::new(1_000).unwrap();
            let mut whole = ArrayWriter::create("cache/whole", chunk, &options).unwrap();
            let mut parts = ArrayWriter::create("cache/parts", chunk, &options).unwrap();
            numbers.chunks(7).for_each(|some| whole.push(some, &mut output).unwrap());
            floats.chunks(1_999).for_each(|some| parts.push(some, &mut output).unwrap());
            assert_eq!(whole.finish(&mut output).unwrap(), 2_500);
            parts.finish(&mut output).unwrap();
            // Chunks of only zeros are not written, and an array may be empty.
            let mut zeros = ArrayWriter::create("cache/zeros", chunk, &options).unwrap();
            zeros.push(&[0i32; 1_500], &mut output).unwrap();
            zeros.finish(&mut output).unwrap();
            ArrayWriter::<f32>::create("cache/empty", chunk, &options).unwrap().finish(&mut output).unwrap();
            output.close().unwrap();
            staging.commit(&[]).unwrap();
            let members = Members::open(&place, &OpenOptions::default()).unwrap();
            let open = |name: &str| ArrayReader::open(&members, name).unwrap().unwrap();
            let (whole, parts) = (open("cache/whole"), open("cache/parts"));
            assert!(whole.is_integer() && !parts.is_integer());
            for range in [0..2_500, 0..1, 999..1_001, 1_000..2_000, 2_499..9_000, 40..40, 7_000..9_000] {
                let (mut integers, mut values) = (Vec::new(), Vec::new());
                whole.integers(range.clone(), &mut integers).unwrap();
                parts.floats(range.clone(), &mut values).unwrap();
                let own = range.start.min(2_500) as usize..range.end.min(2_500) as usize;
                assert_eq!(integers, numbers[own.clone()], "{range:?}");
                assert!(values.iter().zip(&floats[own]).all(|(left, right)| *left == f64::from(*right)));
            }
            assert!(!members.has("cache/zeros/c/0").unwrap() && open("cache/empty").len() == 0);
            let mut all = vec![5];
            open("cache/zeros").integers(0..u64::MAX, &mut all).unwrap();
            assert!(all.len() == 1_501 && all[1..].iter().all(|number| *number == 0));
            assert!(ArrayReader::open(&members, "cache/none").unwrap().is_none());
            let text = members.text("cache/whole/zarr.json", 1 << 16).unwrap().unwrap();
            assert!(!text.contains("zarrs") && text.contains("\"shape\""), "{text}");
        }
    }
}
