//! Damaged files are either an error or readable; they never panic through `fenced`.

use arrow_array::Int64Array;
use bytes::Bytes;
use isomorph_error::Kind;
use isomorph_tables::{
    ColumnEncoding, Compression, Encoding, Limits, ReadOptions, Selection, WriteOptions, quiet_fenced_panics,
};

use crate::samples::{batch, columns, open, read, rising, scalars, write};

/// All files that result from truncating a valid file or flipping one of its bits.
fn damaged(bytes: &Bytes) -> impl Iterator<Item = (String, Bytes)> + '_ {
    let cut = (0..bytes.len()).map(|end| (format!("cut at {end}"), bytes.slice(..end)));
    let flipped = (0..bytes.len()).map(|at| {
        let mut copy = bytes.to_vec();
        copy[at] ^= 1 << (at % 8);
        (format!("bit {} of byte {at}", at % 8), copy.into())
    });
    cut.chain(flipped)
}

/// Reads damaged files to their ends; returns how many were refused.
fn survive(bytes: &Bytes, encoding: Encoding, options: &ReadOptions) -> usize {
    quiet_fenced_panics();
    let mut refused = 0;
    for (what, damaged) in damaged(bytes) {
        let outcome = open(&damaged, encoding, options).and_then(|reader| {
            let every_third = (0..reader.row_count().unwrap_or(9) / 3).map(|n| n * 3..n * 3 + 1);
            let names: Vec<&str> = reader.schema().fields().iter().map(|field| field.name().as_str()).collect();
            let count = reader.row_count().unwrap_or(9);
            read(&reader, &Selection::all().rows(every_third))
                .and_then(|_| reader.read_rows(&names, &[count / 2..count]))
                .and_then(|_| read(&reader, &Selection::all()))
        });
        if let Err(error) = outcome {
            let bad = matches!(error.kind(), Kind::Malformed | Kind::Unsupported | Kind::TooLarge | Kind::Usage);
            assert!(bad, "{what}: {error:?}");
            refused += 1;
        }
    }
    refused
}

#[test]
fn damaged_parquet_files_never_panic() {
    for compression in [Compression::None, Compression::Snappy, Compression::Gzip(6)] {
        let options = WriteOptions::default()
            .compression(compression)
            .encoding("i64", ColumnEncoding::Delta)
            .encoding("bool", ColumnEncoding::RunLength)
            .encoding("f32", ColumnEncoding::ByteStreamSplit);
        let bytes = write(&batch(columns(true), true, 1), Encoding::Parquet, &options);
        let refused = survive(&bytes, Encoding::Parquet, &ReadOptions::default());
        assert!(refused >= bytes.len(), "{refused} of {}", 2 * bytes.len());
    }
}

#[test]
fn damaged_arrow_files_never_panic() {
    let bytes = write(&batch(columns(true), true, 1), Encoding::Arrow, &WriteOptions::default());
    let refused = survive(&bytes, Encoding::Arrow, &ReadOptions::default());
    // Every cut; a flipped bit of a number or of padding tells nobody.
    assert!(refused >= bytes.len(), "{refused} of {}", 2 * bytes.len());
}

#[test]
fn damaged_orc_files_never_panic() {
    for compression in [Compression::None, Compression::Zstd(1), Compression::Gzip(6)] {
        let (names, _) = crate::orc::without_unsigned_longs(true);
        let batch = batch(columns(true), true, 1).project(&names).unwrap();
        let bytes = write(&batch, Encoding::Orc, &WriteOptions::default().compression(compression));
        let refused = survive(&bytes, Encoding::Orc, &ReadOptions::declared(batch.schema()));
        assert!(refused >= bytes.len(), "{refused} of {}", 2 * bytes.len());
    }
}

#[test]
fn damaged_text_never_panics() {
    for encoding in [Encoding::Csv, Encoding::JsonLines] {
        let batch = batch(if encoding == Encoding::Csv { scalars(true) } else { columns(true) }, true, 1);
        let bytes = write(&batch, encoding, &WriteOptions::default());
        let refused = survive(&bytes, encoding, &ReadOptions::declared(batch.schema()));
        assert!(refused > 0);
    }
}

#[test]
fn limits_are_kept() {
    let bytes = write(&rising(20_000), Encoding::Parquet, &WriteOptions::default());
    let with = |limits: Limits| {
        let options = ReadOptions { limits, ..ReadOptions::default() };
        open(&bytes, Encoding::Parquet, &options).and_then(|reader| read(&reader, &Selection::all()))
    };
    let sound = Limits::default();
    assert_eq!(with(sound.clone()).unwrap().num_rows(), 20_000);
    for limits in [
        Limits { footer_bytes: 100, ..sound.clone() },
        Limits { columns: 3, ..sound.clone() },
        Limits { page_bytes: 1000, ..sound.clone() },
        Limits { page_ratio: 1, page_slack_bytes: 0, ..sound.clone() },
    ] {
        assert_eq!(with(limits.clone()).unwrap_err().kind(), Kind::TooLarge, "{limits:?}");
    }
    // A small batch budget makes batches small, but files stay readable.
    let small = with(Limits { batch_bytes: 10_000, ..sound }).unwrap();
    assert_eq!(small, rising(20_000));
}

#[test]
fn levels_above_the_largest_are_refused_by_whoever_reads_them() {
    let plain = WriteOptions::default().compression(Compression::None).encoding("even", ColumnEncoding::Plain);
    let even = batch(vec![("even", std::sync::Arc::new(Int64Array::from_iter_values(0..9)) as _)], true, 1);
    let mut bytes = write(&even, Encoding::Parquet, &plain).to_vec();
    // Nine times level 1: a scan would take 3 for "there is a value", a look-up for null.
    let levels = [2, 0, 0, 0, 9 << 1, 1];
    let at = bytes.windows(levels.len()).position(|window| window == levels).unwrap();
    bytes[at + 5] = 3;
    let reader = open(&bytes.into(), Encoding::Parquet, &ReadOptions::default()).unwrap();
    for error in [read(&reader, &Selection::all()).unwrap_err(), reader.read_rows(&["even"], &[4..5]).unwrap_err()] {
        assert_eq!(error.broken_rule().map(|rule| rule.id), Some("PARQUET-PAGE"), "{error:?}");
    }
}
