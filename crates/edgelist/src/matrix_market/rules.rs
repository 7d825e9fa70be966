//! The rules of Matrix Market files, each with a stable id.

isomorph_error::rules! {
    /// A number of entries that differs from the size line.
    COUNT "MATRIX-COUNT" Error
        "the number of entries equals that in the size line", "get the file again: it may be truncated";
    /// Text that is not UTF-8.
    ENCODING "MATRIX-ENCODING" Error "a Matrix Market file is text with Unix or Windows line ends", "save the file as UTF-8";
    /// A line that is not an entry.
    ENTRY "MATRIX-ENTRY" Error
        "a line has row, column and, unless the matrix is a pattern, one number of the declared type, within the \
         declared size", "correct the line in the message";
    /// A first line that is not the banner, or a size line that cannot be read.
    HEADER "MATRIX-HEADER" Error
        "the file begins with %%MatrixMarket matrix coordinate, a type and a symmetry; the first line that is no \
         comment has the numbers of rows, columns and entries", "correct the first lines";
    /// An entry above the diagonal of a symmetric matrix.
    TRIANGLE "MATRIX-TRIANGLE" Warning
        "a symmetric matrix states the entries on and below its diagonal only", "write such entries with row and column exchanged";
}
