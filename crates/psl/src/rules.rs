//! The rules of PSL's data, each with a stable id.

isomorph_error::rules! {
    /// A line that is not an atom.
    ATOM "PSL-ATOM" Error
        "a line has as many arguments as its predicate, between tabs, and perhaps a truth from 0 to 1",
        "correct the line";
    /// A data file that is not understood.
    DATA "PSL-DATA" Error
        "a data file lists predicates, NAME/ARITY: open or closed, and the files of their observations, targets and truth",
        "correct the data file";
    /// An atom that stands twice.
    REPEATED "PSL-REPEATED" Warning
        "an atom of a predicate with two arguments stands once among the observations and the targets",
        "remove one of the lines; equal lines are parallel edges here";
    /// An atom of a predicate with one argument that comes twice.
    TWICE "PSL-TWICE" Error "a constant has one truth for a predicate with one argument", "remove one of the lines";
}
