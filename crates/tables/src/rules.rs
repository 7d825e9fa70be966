//! What a table file must obey, with stable ids.

use isomorph_error::{Rule, Severity};

const DAMAGED: &str = "get the file again: it is cut short or damaged";

/// The end of a Parquet file: magic, length and structure of its footer.
pub static PARQUET_FOOTER: Rule = Rule {
    id: "PARQUET-FOOTER",
    severity: Severity::Error,
    says: "a Parquet file ends with a footer that describes its schema and lies inside the file",
    remedy: DAMAGED,
};

/// What the footer says of a column chunk.
pub static PARQUET_CHUNK: Rule = Rule {
    id: "PARQUET-CHUNK",
    severity: Severity::Error,
    says: "a column chunk lies inside the file and holds as many rows as its row group",
    remedy: DAMAGED,
};

/// What a page header says.
pub static PARQUET_PAGE: Rule = Rule {
    id: "PARQUET-PAGE",
    severity: Severity::Error,
    says: "a page lies inside its column chunk and unpacks to the size it claims",
    remedy: DAMAGED,
};

/// The offset index, the column index, and the statistics of column chunks.
pub static PARQUET_INDEX: Rule = Rule {
    id: "PARQUET-INDEX",
    severity: Severity::Error,
    says: "a page index names the pages of its column chunk in order, each once, and bounds and numbers of nulls are those of the values",
    remedy: DAMAGED,
};

/// The values inside a page.
pub static PARQUET_VALUES: Rule = Rule {
    id: "PARQUET-VALUES",
    severity: Severity::Error,
    says: "the values of a page decode by the page's encoding",
    remedy: DAMAGED,
};

/// Everything about ORC files.
pub static ORC_FILE: Rule = Rule {
    id: "ORC-FILE",
    severity: Severity::Error,
    says: "an ORC file has a postscript, a footer and stripes that decode",
    remedy: DAMAGED,
};

/// The header line of a CSV file.
pub static CSV_HEADER: Rule = Rule {
    id: "CSV-HEADER",
    severity: Severity::Error,
    says: "the first line of a CSV file names every declared column once",
    remedy: "",
};

/// The shape of a CSV record.
pub static CSV_RECORD: Rule = Rule {
    id: "CSV-RECORD",
    severity: Severity::Error,
    says: "every record has as many fields as the header, and a quoted field ends with a quote",
    remedy: "",
};

/// A CSV field or JSON value and its declared type.
pub static TEXT_VALUE: Rule = Rule {
    id: "TEXT-VALUE",
    severity: Severity::Error,
    says: "every value can be read as the declared type of its column",
    remedy: "",
};

/// The shape of a line of JSON.
pub static JSON_RECORD: Rule = Rule {
    id: "JSON-RECORD",
    severity: Severity::Error,
    says: "every line is one JSON object, and no key stands twice",
    remedy: "",
};
