//! The rules of tables as a graph, each with a stable id.

isomorph_error::rules! {
    /// Columns that the mapping file leaves out.
    COLUMN "FLAT-COLUMN" Warning "the mapping file declares every column of a table that it declares columns of",
        "declare the columns, or leave all columns of the table undeclared; without that they are not read";
    /// A cell that says a direction.
    DIRECTION "FLAT-DIRECTION" Error
        "all cells of a column of directions are true and false, 1 and 0, yes and no, or the words Directed and Undirected, or empty",
        "correct the cell; if the column has no directions, give it another name, or leave isomorph.directed out of the mapping file";
    /// One value of another type.
    ODD_CELL "FLAT-ODD-CELL" Note
        "all values of a column have one type; if one has another, the column is text, or JSON in JSON lines",
        "correct the value, leave it empty, or declare the type in a mapping file and read with --lenient";
    /// A file without bytes among those of a table.
    EMPTY "FLAT-EMPTY" Warning "every file of a table has the names of its columns",
        "remove the file, or write its header; nothing is read from it";
    /// Texts of no characters in a workbook.
    EMPTY_TEXT "FLAT-EMPTY-TEXT" Note
        "a cell with an empty text is no value, unless the workbook has the sheet graph.pgq: pandas writes one where it has no value",
        "convert the workbook to CSV, where an empty text is \"\", if one is meant";
    /// An end that is no node.
    END "FLAT-END" Error "both ends of every edge are keys of the tables that they reference",
        "add the node, remove the edge, or correct the key";
    /// Keys that are floats.
    FLOAT_KEY "FLAT-FLOAT-KEY" Note
        "keys, and ends of edges, that are floats without a fraction are integers: pandas makes floats of a column of integers if a row has none",
        "write the column as integers: in pandas, astype('Int64')";
    /// A column that is the index of pandas.
    INDEX "FLAT-INDEX" Note
        "a column `__index_level_N__` or `__null_dask_index__` of Parquet, Arrow IPC or ORC is the index of pandas or Dask, and so are integers in the first columns of a sheet that have no name; it is not read",
        "name the column, or list it in PROPERTIES of a mapping file, if it contains data of the graph";
    /// A key that is there twice.
    KEY "FLAT-KEY" Error "every row of a table of nodes has a key that no other row has",
        "correct the key, or remove one of the rows";
    /// A mapping file that is not one.
    MAPPING "FLAT-MAPPING" Error
        "a mapping file declares tables with CREATE EXTERNAL TABLE and one graph with CREATE PROPERTY GRAPH, and names only columns that the tables have",
        "correct the place that is named; isomorph import init DIRECTORY writes such a file";
    /// Files of a table that are not alike.
    PARTS "FLAT-PARTS" Error "all files of a table have the same columns",
        "write the column into every file, or read the files as tables of their own";
    /// An edge without a relation.
    RELATION "FLAT-RELATION" Error "every row has a text in the column that names relations",
        "name the relation, or leave the option isomorph.relation out";
    /// A table without a role.
    UNREAD "FLAT-UNREAD" Warning "every table in a directory, or sheet of a workbook, without a mapping file is one of nodes or of edges, by its name and columns",
        "rename the file or its columns, declare it in a mapping file, or move it elsewhere; it is not read";
    /// A workbook that is none, or a sheet that is no table.
    WORKBOOK "FLAT-WORKBOOK" Error
        "a workbook is a sound file of Excel or OpenDocument, and each of its sheets has the names of its columns in its first row",
        "correct the cell that is named; delete sheets that are no tables, or save them in another workbook";
    /// Numbers of rows that are not.
    ROW "FLAT-ROW" Error "a key that counts rows counts them from 0, without gaps", "remove the option isomorph.key";
}
