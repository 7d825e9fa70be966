//! The content of a directory: all files with their bytes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Files by relative path; directories end with a slash and have no bytes.
pub type Tree = BTreeMap<String, Vec<u8>>;

/// Reads everything in `directory`, except top-level entries for which `left_out` is true.
pub fn read(directory: &Path, left_out: fn(&Path) -> bool) -> Tree {
    let mut tree = Tree::new();
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if !left_out(Path::new(&name)) {
            collect(&entry.path(), name, &mut tree);
        }
    }
    tree
}

fn collect(path: &Path, name: String, tree: &mut Tree) {
    if !path.is_dir() {
        tree.insert(name, fs::read(path).unwrap());
        return;
    }
    for entry in fs::read_dir(path).unwrap() {
        let entry = entry.unwrap();
        let inner = format!("{name}/{}", entry.file_name().into_string().unwrap());
        collect(&entry.path(), inner, tree);
    }
    tree.insert(name + "/", Vec::new());
}

/// Returns the part of `tree` that is published: without temporary names, which begin with a dot.
pub fn published(tree: &Tree) -> Tree {
    tree.iter().filter(|(name, _)| !name.starts_with('.')).map(|(name, bytes)| (name.clone(), bytes.clone())).collect()
}

/// Returns top-level names of temporary files, or of records of changes.
pub fn in_the_making(tree: &Tree) -> Vec<&str> {
    let mut names: Vec<&str> =
        tree.keys().filter(|name| name.starts_with('.')).filter_map(|name| name.split('/').next()).collect();
    names.dedup();
    names
}

/// Writes a tree.
pub fn write(directory: &Path, tree: &Tree) {
    for (name, bytes) in tree {
        let path = directory.join(name);
        if name.ends_with('/') {
            fs::create_dir_all(&path).unwrap();
        } else {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, bytes).unwrap();
        }
    }
}

/// Removes everything at the top of `directory`, except entries for which `left_out` is true.
pub fn clear(directory: &Path, left_out: fn(&Path) -> bool) {
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        if left_out(Path::new(&entry.file_name())) {
            continue;
        }
        let path = entry.path();
        if path.is_dir() { fs::remove_dir_all(&path).unwrap() } else { fs::remove_file(&path).unwrap() }
    }
}

/// Returns the names that differ, for messages.
pub fn difference(left: &Tree, right: &Tree) -> String {
    let names = left.keys().chain(right.keys()).filter(|name| left.get(*name) != right.get(*name));
    let mut names: Vec<&str> = names.map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    names.join(", ")
}
