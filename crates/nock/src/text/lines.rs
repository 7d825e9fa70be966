//! Formats rows as lines of text, in the dialect of the format.

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use isomorph_error::Result;
use isomorph_tables::{CsvDialect, Encoding, TableWriter, WriteOptions};

/// Returns the options of a text file.
pub(crate) fn text_options() -> WriteOptions {
    WriteOptions { csv: CsvDialect::nock(), ..WriteOptions::default() }
}

/// Returns the header line with its line ending.
///
/// # Errors
/// Returns [`isomorph_error::Kind::Unsupported`] for a column that text cannot represent.
pub(crate) fn header(schema: &Schema) -> Result<Vec<u8>> {
    Ok(TableWriter::create(Vec::new(), Encoding::Csv, schema, &text_options())?.finish()?.0)
}

/// Returns the lines of a batch, each with its line ending.
///
/// # Errors
/// Returns an error if a value has no text form.
pub(crate) fn lines(batch: &RecordBatch) -> Result<Vec<Vec<u8>>> {
    let mut writer = TableWriter::create(Vec::new(), Encoding::Csv, batch.schema_ref(), &text_options())?;
    writer.write(batch)?;
    let (text, _) = writer.finish()?;
    let mut records = Vec::with_capacity(batch.num_rows() + 1);
    let (mut start, mut quoted) = (0, false);
    for at in memchr::memchr2_iter(b'"', b'\n', &text) {
        if text.get(at) == Some(&b'"') {
            // A doubled quote closes and reopens the quotation.
            quoted = !quoted;
        } else if !quoted {
            records.push(text.get(start..=at).unwrap_or_default().to_vec());
            start = at + 1;
        }
    }
    // The first record is the header.
    records.drain(..records.len().min(1));
    Ok(records)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int32Array, StringArray};

    use super::*;

    #[test]
    fn the_dialect_of_pandas() {
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("src_name", Arc::new(StringArray::from(vec!["a \"b\", c", "x\ny"]))),
            ("edge_id", Arc::new(Int32Array::from(vec![-1, 0]))),
            ("rel_name", Arc::new(StringArray::from(vec![None, Some("r")]))),
            ("truth", Arc::new(Float64Array::from(vec![1.0, 1e-7]))),
            ("is_rdf", Arc::new(BooleanArray::from(vec![false, true]))),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let header = header(batch.schema_ref()).unwrap();
        assert_eq!(header, b"\"src_name\",\"edge_id\",\"rel_name\",\"truth\",\"is_rdf\"\n");
        let lines = lines(&batch).unwrap();
        assert_eq!(lines, [&b"\"a \"\"b\"\", c\",-1,\"\",1.0,False\n"[..], b"\"x\ny\",0,\"r\",1e-07,True\n"]);
    }
}
