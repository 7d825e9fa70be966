//! Budgets for hostile input. Every one is a default that a caller may raise.

/// A YAML or JSON manifest, bytes.
pub const MANIFEST_BYTES: u64 = 16 << 20;
/// Nesting of a manifest.
pub const MANIFEST_DEPTH: usize = 64;
/// Files of one dataset.
pub const FILES: usize = 1_000_000;
/// A relative name, bytes.
pub const PATH_BYTES: usize = 1024;
/// One component of a name, bytes.
pub const NAME_BYTES: usize = 255;
/// Directories inside one another.
pub const DIRECTORY_DEPTH: usize = 64;
/// A Parquet footer, bytes; a whole file may be smaller.
pub const PARQUET_FOOTER_BYTES: u64 = 64 << 20;
/// Columns of one table.
pub const COLUMNS: usize = 100_000;
/// One decoded page, bytes.
pub const PAGE_BYTES: u64 = 256 << 20;
/// How many times larger than its compressed form a page may be, beside [`PAGE_SLACK_BYTES`], if its codec can reach that at all.
/// A constant column in one page comes near to it under Brotli.
pub const PAGE_RATIO: u64 = 128 << 10;
/// What a page may grow by whatever its compressed size, bytes: pages of a constant are a few bytes, and sound.
pub const PAGE_SLACK_BYTES: u64 = 16 << 20;
/// What the pages that are decoded side by side, one of each column, may come to together if they unpack to more than
/// [`EXPANDED_PAGE_RATIO`] times their size, bytes.
pub const EXPANDED_PAGES_BYTES: u64 = 1 << 30;
/// From which ratio on a page counts towards [`EXPANDED_PAGES_BYTES`].
pub const EXPANDED_PAGE_RATIO: u64 = 1024;
/// Members of a zip archive.
pub const ZIP_MEMBERS: usize = 100_000;
/// How many times larger than the archive its members may be.
pub const ZIP_RATIO: u64 = 200;
/// One string, bytes.
pub const STRING_BYTES: u64 = (1 << 31) - 1;
