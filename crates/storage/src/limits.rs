//! Limits for hostile input. Each is a default that a caller may raise.

/// Size of a YAML or JSON manifest, bytes.
pub const MANIFEST_BYTES: u64 = 16 << 20;
/// Nesting depth of a manifest.
pub const MANIFEST_DEPTH: usize = 64;
/// Number of files in a dataset.
pub const FILES: usize = 1_000_000;
/// Length of a relative name, bytes.
pub const PATH_BYTES: usize = 1024;
/// Length of one component of a name, bytes.
pub const NAME_BYTES: usize = 255;
/// Nesting depth of directories.
pub const DIRECTORY_DEPTH: usize = 64;
/// Size of a Parquet footer, bytes. Whole files may be smaller than this.
pub const PARQUET_FOOTER_BYTES: u64 = 64 << 20;
/// Number of columns in a table.
pub const COLUMNS: usize = 100_000;
/// Size of a decoded page, bytes.
pub const PAGE_BYTES: u64 = 256 << 20;
/// How many times larger than its compressed form a page may be, in addition to [`PAGE_SLACK_BYTES`], if its codec can
/// reach that at all. A constant column in one page comes close to it with Brotli.
pub const PAGE_RATIO: u64 = 128 << 10;
/// How much larger a page may become whatever its compressed size, bytes: a valid page of constants can have only a few bytes.
pub const PAGE_SLACK_BYTES: u64 = 16 << 20;
/// Total size of the pages that are decoded at the same time (one of each column), if they expand to more than
/// [`EXPANDED_PAGE_RATIO`] times their size, bytes.
pub const EXPANDED_PAGES_BYTES: u64 = 1 << 30;
/// The ratio from which a page counts towards [`EXPANDED_PAGES_BYTES`].
pub const EXPANDED_PAGE_RATIO: u64 = 1024;
/// Number of members in a zip archive.
pub const ZIP_MEMBERS: usize = 100_000;
/// How many times larger than the archive its members may be.
pub const ZIP_RATIO: u64 = 200;
/// Length of a string, bytes.
pub const STRING_BYTES: u64 = (1 << 31) - 1;
