//! Rules for table files, with stable ids.

const DAMAGED: &str = "get the file again: it is truncated or damaged";

isomorph_error::rules! {
    /// The end of a Parquet file: magic, length and structure of its footer.
    PARQUET_FOOTER "PARQUET-FOOTER" Error
        "a Parquet file must end with a footer inside the file that describes its schema",
        DAMAGED;
    /// Column chunks as described by the footer.
    PARQUET_CHUNK "PARQUET-CHUNK" Error
        "a column chunk must be inside the file and have as many rows as its row group",
        DAMAGED;
    /// Pages as described by their headers.
    PARQUET_PAGE "PARQUET-PAGE" Error
        "a page must be inside its column chunk and decompress to its declared size",
        DAMAGED;
    /// The offset index, the column index, and the statistics of column chunks.
    PARQUET_INDEX "PARQUET-INDEX" Error
        "a page index must list the pages of its column chunk in order, each once, with the bounds and null counts of their values",
        DAMAGED;
    /// The values in a page.
    PARQUET_VALUES "PARQUET-VALUES" Error
        "the values of a page must be valid in the page's encoding",
        DAMAGED;
    /// Everything about ORC files.
    ORC_FILE "ORC-FILE" Error
        "an ORC file must have a valid postscript, footer and stripes",
        DAMAGED;
    /// Everything about Arrow IPC files.
    ARROW_FILE "ARROW-FILE" Error
        "an Arrow IPC file must end with a footer that names its batches, and these must be valid",
        DAMAGED;
    /// A timestamp and the unit in which it is read.
    TIME_UNIT "TIME-UNIT" Error
        "a timestamp must be a whole number of the unit in which its column is read, and within the range of that unit",
        "use --timestamps us or ns for timestamps finer than milliseconds; us for those outside the range of nanoseconds; with extend, --columns NAME:timestamp for milliseconds";
    /// A value of a typed file, and the type declared for its column.
    VALUE_INEXACT "VALUE-INEXACT" Error
        "the declared type of a column must represent every value exactly",
        "declare the column with the type that it has in the file";
    /// The header line of a CSV file.
    CSV_HEADER "CSV-HEADER" Error
        "the first line of a CSV file must name every declared column once",
        "name each declared column once in the first line";
    /// The shape of a CSV record.
    CSV_RECORD "CSV-RECORD" Error
        "every record must have as many fields as the header, and a quoted field must end with a quote",
        "correct the record: check its quotes and commas";
    /// A CSV field or JSON value, and its declared type.
    TEXT_VALUE "TEXT-VALUE" Error
        "every value must be valid for the declared type of its column",
        "correct the value, or declare the column with another type";
    /// The structure of a JSON line.
    JSON_RECORD "JSON-RECORD" Error
        "every line must be one JSON object without repeated keys",
        "correct the line: write one JSON object with distinct keys";
}
