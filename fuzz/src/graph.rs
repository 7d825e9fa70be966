//! A small graph as the seed.

use std::path::Path;

use isomorph::Location;
use isomorph::convert::{ConvertOptions, Format, OpenOptions, Opened, Plan, Silent, convert};

use crate::home::resources;

/// A small NOCK file with most features of the format.
pub(crate) fn seed_csv() -> String {
    let mut text = String::from(
        r#""src_name","edge_id","rel_name","dst_name","truth","shadow","is_rdf","labels","props"
"ada",-1,"","",1.0,-1,False,"Person,Writer","{""born"": 1815, ""score"": 0.5}"
"ada",0,"knows","charles",1.0,-1,False,"","{""since"": 1833}"
"ada",1,"admires","mary",0.5,-1,False,"",""
"charles",-1,"","",1.0,-1,False,"Person","{""born"": 1791, ""tags"": [""x"", null]}"
"charles",0,"knows","ada",1.0,-1,False,"","{""since"": 1833}"
"#,
    );
    text.push_str(
        "\"mary\",-1,\"\",\"\",1.0,-1,False,\"Person\",\"{\"\"born\"\": 1780, \"\"note\"\": \"\"a\\nb é\"\"}\"\n",
    );
    text
}

/// Converts the NOCK file at `source` into a graph at `made`.
pub(crate) fn convert_seed(source: &Path, made: &Path, options: &ConvertOptions, home: &Path) {
    let resources = resources(home);
    let open = OpenOptions { from: Some(Format::NOCK), ..OpenOptions::default() };
    let opened = Opened::open(&Location::from_path(source), &open).expect("a sound file");
    let destination = Location::from_path(made);
    let plan = Plan::new(&opened, &destination, options, &resources, &Silent).expect("a plan");
    convert(&opened, &plan, &destination, options, &resources, &Silent).expect("a conversion");
}
