//! Runs the target that `FUZZ_TARGET` names under libFuzzer.
#![no_main]

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

fuzz_target!(|data: &[u8]| (chosen().check)(data));
