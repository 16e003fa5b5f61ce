//! Compares two algorithms on three fabrics over three seeds, and writes a table and a picture.
//!
//! ```text
//! cargo run --release -p hayase-output --example comparison -- compare.svg
//! ```

use hayase::sweep::{Axis, Control, Sweep};
use hayase_output::{svg, table};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
    let sweep = Sweep {
        axes: vec![
            (Axis::Topology, words("fat-tree-54 torus-4x4 crossbar-64")),
            (Axis::Placement, words("random")),
            (Axis::Pattern, words("all-to-all-simple-spread all-to-all-mpich")),
        ],
        seeds: vec![1, 2, 3],
        ..Sweep::default()
    };
    let comparison = sweep.run(Control::default())?;
    print!("{}", table::comparison(&comparison).to_text(Some(120)));
    if let Some(path) = std::env::args_os().nth(1) {
        std::fs::write(path, svg::comparison(&comparison))?;
    }
    Ok(())
}
