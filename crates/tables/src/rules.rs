//! What a table file must obey, with stable ids.

const DAMAGED: &str = "get the file again: it is cut short or damaged";

isomorph_error::rules! {
    /// The end of a Parquet file: magic, length and structure of its footer.
    PARQUET_FOOTER "PARQUET-FOOTER" Error
        "a Parquet file ends with a footer that describes its schema and lies inside the file",
        DAMAGED;
    /// What the footer says of a column chunk.
    PARQUET_CHUNK "PARQUET-CHUNK" Error
        "a column chunk lies inside the file and holds as many rows as its row group",
        DAMAGED;
    /// What a page header says.
    PARQUET_PAGE "PARQUET-PAGE" Error
        "a page lies inside its column chunk and unpacks to the size it claims",
        DAMAGED;
    /// The offset index, the column index, and the statistics of column chunks.
    PARQUET_INDEX "PARQUET-INDEX" Error
        "a page index names the pages of its column chunk in order, each once, and bounds and numbers of nulls are those of the values",
        DAMAGED;
    /// The values inside a page.
    PARQUET_VALUES "PARQUET-VALUES" Error
        "the values of a page decode by the page's encoding",
        DAMAGED;
    /// Everything about ORC files.
    ORC_FILE "ORC-FILE" Error
        "an ORC file has a postscript, a footer and stripes that decode",
        DAMAGED;
    /// A point in time and the unit it is read in.
    TIME_UNIT "TIME-UNIT" Error
        "a point in time is a whole number of the unit that its column is read in, and not too far away for it",
        "use --timestamps us or ns, for timestamps finer than milliseconds; us, for those that nanoseconds do not reach; with extend, --columns NAME:timestamp, for milliseconds";
    /// A value of a file that has types of its own, and the type that was declared for its column.
    VALUE_INEXACT "VALUE-INEXACT" Error
        "a value of a file has an equal in the type that its column is declared with",
        "declare the column with the type that the file has";
    /// The header line of a CSV file.
    CSV_HEADER "CSV-HEADER" Error
        "the first line of a CSV file names every declared column once",
        "write the declared columns in the first line, each once";
    /// The shape of a CSV record.
    CSV_RECORD "CSV-RECORD" Error
        "every record has as many fields as the header, and a quoted field ends with a quote",
        "correct the record: check its quotes and commas";
    /// A CSV field or JSON value and its declared type.
    TEXT_VALUE "TEXT-VALUE" Error
        "every value can be read as the declared type of its column",
        "correct the value, or declare the column with another type";
    /// The shape of a line of JSON.
    JSON_RECORD "JSON-RECORD" Error
        "every line is one JSON object, and no key stands twice",
        "correct the line: write one JSON object with different keys";
}
