//! Runs the target that `FUZZ_TARGET` names under libFuzzer. Before it begins, the target's own seeds and words are put
//! below the folder that `FUZZ_PREPARED` names, for libFuzzer to take up: `seeds/*` and `words`.
#![no_main]

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use isomorph_fuzz::{Target, target};
use libfuzzer_sys::fuzz_target;

fn chosen() -> &'static Target {
    static CHOSEN: OnceLock<&'static Target> = OnceLock::new();
    CHOSEN.get_or_init(|| {
        let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
        target(&name).unwrap_or_else(|| panic!("FUZZ_TARGET names no target: {name:?}"))
    })
}

fn prepare() {
    let Some(folder) = std::env::var_os("FUZZ_PREPARED") else { return };
    let folder = Path::new(&folder);
    let write = |name: String, bytes: &[u8]| {
        let path = folder.join(name);
        fs::write(&path, bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    };
    for (number, seed) in (chosen().seeds)().iter().enumerate() {
        write(format!("seeds/{number}"), seed);
    }
    // libFuzzer refuses a dictionary without a line.
    let mut words = String::from("# what inputs are made of\n");
    for word in chosen().words {
        let bytes: String = word.bytes().map(|byte| format!("\\x{byte:02x}")).collect();
        words.push_str(&format!("\"{bytes}\"\n"));
    }
    write("words".to_owned(), words.as_bytes());
}

fuzz_target!(init: prepare(), |data: &[u8]| (chosen().check)(data));
