//! The four encodings of tables: reading parts equals reading the whole, and what was written is read back equal.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, Float32Array, Float64Array, Int32Array, Int64Array, ListArray,
    RecordBatch, StringArray, TimestampMillisecondArray, UInt64Array, types::Int32Type,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use arrow_select::concat::concat_batches;
use isomorph::storage::Blob;
use isomorph::tables::{
    ColumnEncoding, Compression, CsvDialect, Encoding, Quoting, ReadOptions, Selection, TableReader, TableWriter,
    WriteOptions, quiet_fenced_panics,
};
use isomorph::{Error, Kind, Result};

pub(crate) const CSV_WORDS: &[&str] =
    &["\"", "\"\"", ",", "\n", "\r\n", "NA", "true", "False", "1970-01-01", "2024-02-29T12:00:00.5", "1e-5", "\"id\","];
pub(crate) const JSON_WORDS: &[&str] =
    &["{\"id\":", "\"text\":", "null", "[", "]", "},\n{", "\"2024-02-29\"", "true", "1e-5", "\\u00e9", "\n"];

/// Maximum number of rows for which every way of reading is tested; larger tables are only read as a whole.
const ROWS: usize = 3000;

/// A table with a column of each type that text can hold.
fn scalars() -> RecordBatch {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(Int64Array::from(vec![0, -1, i64::MAX, 4, 5]))),
        ("flag", Arc::new(BooleanArray::from(vec![Some(true), None, Some(false), Some(true), None]))),
        ("small", Arc::new(Int32Array::from(vec![Some(1), Some(i32::MIN), None, Some(3), Some(3)]))),
        ("big", Arc::new(UInt64Array::from(vec![Some(u64::MAX), None, Some(0), Some(7), Some(7)]))),
        ("half", Arc::new(Float32Array::from(vec![Some(0.5), Some(-0.0), None, Some(f32::NAN), Some(1e30)]))),
        ("real", Arc::new(Float64Array::from(vec![Some(0.1), Some(f64::INFINITY), None, Some(1e-300), Some(2.0)]))),
        ("text", Arc::new(StringArray::from(vec![Some("a, \"b\"\nc"), Some(""), None, Some("é😀"), Some("NA")]))),
        ("day", Arc::new(Date32Array::from(vec![Some(0), Some(-1), None, Some(19782), Some(1)]))),
        (
            "at",
            Arc::new(TimestampMillisecondArray::from(vec![Some(0), Some(-1), None, Some(1_709_208_000_500), Some(5)])),
        ),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, name != "id")))
        .unwrap()
}

/// The same with a list.
fn with_lists() -> RecordBatch {
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>([
        Some(vec![Some(1), None]),
        None,
        Some(vec![]),
        Some(vec![Some(3)]),
        Some(vec![Some(4), Some(5)]),
    ]);
    let scalars = scalars();
    let mut fields: Vec<Field> = scalars.schema().fields().iter().map(|field| field.as_ref().clone()).collect();
    fields.push(Field::new("items", lists.data_type().clone(), true));
    let mut columns = scalars.columns().to_vec();
    columns.push(Arc::new(lists));
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

/// The schemas for reading text; the first byte of an input selects one.
fn declared(choice: u8) -> SchemaRef {
    let field = |name: &str, ty: DataType| Field::new(name, ty, true);
    match choice % 4 {
        0 => scalars().schema(),
        1 => Arc::new(Schema::new(vec![field("id", DataType::Int64), field("text", DataType::Utf8)])),
        2 => Arc::new(Schema::new(vec![field("text", DataType::LargeUtf8)])),
        _ => Arc::new(Schema::new(vec![
            Field::new("id", DataType::Int64, false),
            field("at", DataType::Timestamp(TimeUnit::Nanosecond, None)),
            field("real", DataType::Float64),
        ])),
    }
}

fn written(batch: &RecordBatch, encoding: Encoding, options: &WriteOptions) -> Result<Vec<u8>> {
    let mut writer = TableWriter::create(Vec::new(), encoding, &batch.schema(), options)?;
    writer.write(batch)?;
    Ok(writer.finish()?.0)
}

fn with_choice(choice: u8, bytes: Vec<u8>) -> Vec<u8> {
    [vec![choice], bytes].concat()
}

pub(crate) fn csv_seeds() -> Vec<Vec<u8>> {
    let nock = WriteOptions { csv: CsvDialect::nock(), ..WriteOptions::default() };
    let narrow = scalars().project(&[0, 6]).unwrap();
    // A single null is an empty line, which our writers never write.
    let one = scalars().project(&[6]).unwrap().slice(0, 2);
    let write = |batch: &RecordBatch, options: &WriteOptions| written(batch, Encoding::Csv, options).unwrap();
    vec![
        with_choice(0, write(&scalars(), &WriteOptions::default())),
        with_choice(4, write(&scalars(), &nock)),
        with_choice(1, write(&narrow, &WriteOptions::default())),
        with_choice(2, write(&one, &WriteOptions::default())),
        with_choice(
            3,
            b"real,id,at,more\r\n1,2,2024-02-29T12:00:00.123456789,\r\nNA,3,1969-12-31,\"x\r\ny\"\r\n".to_vec(),
        ),
        with_choice(9, b"\xef\xbb\xbfid,text\r1,a\r\r2,\"\"\"\"".to_vec()),
    ]
}

pub(crate) fn json_seeds() -> Vec<Vec<u8>> {
    vec![
        with_choice(0, written(&scalars(), Encoding::JsonLines, &WriteOptions::default()).unwrap()),
        with_choice(1, b"{\"id\": 1, \"text\": \"\\u00e9\"}\r\n\n{\"text\":null}\n{}".to_vec()),
        with_choice(3, b"{\"at\":\"2024-02-29T12:00:00.123456789\",\"real\":\"NaN\",\"id\":7,\"x\":[{}]}\n".to_vec()),
    ]
}

pub(crate) fn parquet_seeds() -> Vec<Vec<u8>> {
    let plain = WriteOptions { compression: Compression::None, ..WriteOptions::default() };
    let delta = plain.clone().encoding("id", ColumnEncoding::Delta);
    let encoded = delta.clone().encoding("flag", ColumnEncoding::RunLength);
    let bare = WriteOptions { statistics: false, page_index: false, ..delta };
    let groups = WriteOptions { row_group_rows: 2, compression: Compression::Snappy, ..WriteOptions::default() };
    let write = |batch: &RecordBatch, options: &WriteOptions| written(batch, Encoding::Parquet, options).unwrap();
    let narrow = scalars().project(&[0, 6]).unwrap();
    let mut seeds = vec![
        write(&with_lists(), &plain),
        write(&narrow, &bare),
        write(&narrow, &groups),
        write(&scalars().project(&[0, 1]).unwrap(), &encoded),
        write(&scalars().project(&[5]).unwrap(), &plain.clone().encoding("real", ColumnEncoding::ByteStreamSplit)),
    ];
    for compression in [Compression::Zstd(1), Compression::Lz4, Compression::Gzip(6), Compression::Brotli(4)] {
        seeds.push(write(&narrow, &WriteOptions::default().compression(compression)));
    }
    seeds
}

pub(crate) fn orc_seeds() -> Vec<Vec<u8>> {
    let narrow = scalars().project(&[0, 6]).unwrap();
    let batch = with_lists();
    // ORC has no unsigned integers.
    let signed: Vec<usize> = (0..batch.num_columns()).filter(|column| *column != 3).collect();
    let signed = batch.project(&signed).unwrap();
    let write = |batch: &RecordBatch, compression, row_group_rows| {
        let options = WriteOptions { compression, row_group_rows, ..WriteOptions::default() };
        written(batch, Encoding::Orc, &options).unwrap()
    };
    vec![
        write(&signed, Compression::None, 100),
        write(&narrow, Compression::None, 2),
        write(&narrow, Compression::Zstd(1), 100),
        write(&narrow, Compression::Snappy, 100),
        write(&narrow, Compression::Gzip(6), 100),
        write(&narrow, Compression::Lz4, 100),
        write(&scalars().project(&[7, 8]).unwrap(), Compression::None, 100),
    ]
}

pub(crate) fn check_csv(data: &[u8]) {
    let Some((choice, bytes)) = data.split_first() else { return };
    let mut csv = if choice & 4 == 0 { CsvDialect::default() } else { CsvDialect::nock() };
    csv.keep_other_columns = choice & 8 != 0;
    if choice & 16 != 0 {
        csv = csv.lenient();
    }
    let options = ReadOptions { csv, ..ReadOptions::declared(declared(*choice)) };
    check(Encoding::Csv, bytes, &options);
}

pub(crate) fn check_json(data: &[u8]) {
    let Some((choice, bytes)) = data.split_first() else { return };
    let options = ReadOptions { refuse_unknown_keys: choice & 4 != 0, ..ReadOptions::declared(declared(*choice)) };
    check(Encoding::JsonLines, bytes, &options);
}

pub(crate) fn check_parquet(data: &[u8]) {
    check(Encoding::Parquet, data, &ReadOptions::default());
}

pub(crate) fn check_orc(data: &[u8]) {
    check(Encoding::Orc, data, &ReadOptions::default());
}

fn check(encoding: Encoding, bytes: &[u8], options: &ReadOptions) {
    quiet_fenced_panics();
    let blob = Blob::from_bytes("input", &bytes.to_vec().into());
    let reader = match TableReader::open(blob, encoding, options) {
        Ok(reader) => reader,
        Err(error) => return assert_bad_input(&error),
    };
    let compared = read(&reader, &Selection::all().check_indexes());
    let whole = match read(&reader, &Selection::all()) {
        Ok(whole) => whole,
        Err(error) => {
            assert_bad_input(&error);
            // Smaller batches do not help. One column or a few rows may still be readable, if the damage is elsewhere.
            assert!(read(&reader, &Selection::all().batch_rows(3)).is_err(), "only the whole is refused: {error}");
            assert!(compared.is_err(), "refused, and found sound: {error}");
            return;
        }
    };
    let rows = whole.num_rows();
    if let Some(count) = reader.row_count() {
        assert_eq!(count, rows as u64, "rows");
    }
    if rows <= ROWS {
        match compared {
            Ok(compared) => {
                assert_same(&compared, &whole, "compared with the page indexes");
                check_split(&reader, &whole);
            }
            // Reading everything does not use the indexes; reads that use them may be refused.
            Err(error) => assert_eq!(error.broken_rule().map(|rule| rule.id), Some("PARQUET-INDEX"), "{error:?}"),
        }
        check_written(&whole, encoding, options);
    }
}

/// Invalid input is reported as such, and as nothing else.
fn assert_bad_input(error: &Error) {
    assert!(matches!(error.kind(), Kind::Malformed | Kind::TooLarge | Kind::Unsupported), "{error:?}");
    assert!(error.place().file.is_some(), "{error:?}");
}

fn read(reader: &TableReader, selection: &Selection) -> Result<RecordBatch> {
    let batches = reader.batches(selection)?;
    let schema = Arc::clone(batches.schema());
    let batches = batches.collect::<Result<Vec<_>>>()?;
    Ok(concat_batches(&schema, &batches).expect("batches of one schema"))
}

/// However the table is divided, the parts have the same rows.
fn check_split(reader: &TableReader, whole: &RecordBatch) {
    let again =
        |selection: &Selection, what: &str| read(reader, selection).unwrap_or_else(|error| panic!("{what}: {error:?}"));
    let small = again(&Selection::all().batch_rows(3), "small batches");
    assert_same(&small, whole, "small batches");
    let rows = whole.num_rows() as u64;
    let cut = rows / 3;
    for range in [0..cut, cut..rows, rows.saturating_sub(1)..rows] {
        let piece = whole.slice(range.start as usize, (range.end - range.start) as usize);
        let what = format!("rows {range:?}");
        assert_same(&again(&Selection::all().rows([range.clone()]), &what), &piece, &what);
        assert_looked_up(reader, &piece, range, &what);
    }
    if reader.rows_of_group(0).is_some() {
        let groups = 0..reader.row_groups();
        let groups = groups.map(|group| again(&Selection::all().row_groups(group..group + 1), "a group"));
        let groups: Vec<_> = groups.collect();
        let groups = concat_batches(whole.schema_ref(), &groups).expect("groups of one schema");
        assert_same(&groups, whole, "group by group");
    }
    for (position, field) in whole.schema().fields().iter().enumerate().take(8) {
        if !is_only(whole, field.name()) {
            continue;
        }
        let alone = again(&Selection::all().columns([field.name()]), field.name());
        assert_eq!(alone.column(0).to_data(), whole.column(position).to_data(), "column {} alone", field.name());
    }
}

/// Columns with a repeated name cannot be selected.
fn is_only(batch: &RecordBatch, name: &str) -> bool {
    batch.schema().fields().iter().filter(|other| other.name() == name).count() == 1
}

/// The rows by look-up, column by column.
fn assert_looked_up(reader: &TableReader, piece: &RecordBatch, rows: Range<u64>, what: &str) {
    for (position, field) in piece.schema().fields().iter().enumerate().take(8) {
        if is_only(piece, field.name()) {
            let found = reader.read_rows(&[field.name()], std::slice::from_ref(&rows));
            let found = found.unwrap_or_else(|error| panic!("{what} of {} by look-up: {error:?}", field.name()));
            let expected = piece.column(position).to_data();
            assert_eq!(found.column(0).to_data(), expected, "{what} of {} by look-up", field.name());
        }
    }
}

fn assert_same(left: &RecordBatch, right: &RecordBatch, what: &str) {
    assert_eq!(left.num_rows(), right.num_rows(), "{what}");
    for (position, (left, right)) in left.columns().iter().zip(right.columns()).enumerate() {
        assert_eq!(left.to_data(), right.to_data(), "{what}: column {position}");
    }
}

/// What was written is read back equal, if the encoding can hold it.
fn check_written(whole: &RecordBatch, encoding: Encoding, options: &ReadOptions) {
    // NOCK has no nulls: they are written as empty text.
    let is_nock = encoding == Encoding::Csv && options.csv.quoting == Quoting::NonNumeric;
    if is_nock && whole.columns().iter().any(|column| column.null_count() > 0) {
        return;
    }
    // With a declared schema, columns are found by their names.
    if !whole.schema().fields().iter().all(|field| is_only(whole, field.name())) {
        return;
    }
    let write = WriteOptions { csv: options.csv.clone(), compression: Compression::None, ..WriteOptions::default() };
    let bytes = match written(whole, encoding, &write) {
        Ok(bytes) => bytes,
        Err(error) => return assert_eq!(error.kind(), Kind::Unsupported, "{error:?}"),
    };
    let options = ReadOptions { schema: Some(whole.schema()), ..options.clone() };
    let blob = Blob::from_bytes("written", &bytes.into());
    let back = TableReader::open(blob, encoding, &options).and_then(|reader| read(&reader, &Selection::all()));
    let back = back.unwrap_or_else(|error| panic!("what was written cannot be read: {error:?}"));
    assert_same(&back, whole, "written and read back");
}
