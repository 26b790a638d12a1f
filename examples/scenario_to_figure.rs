// A usage scenario of one's own: from its text to scores, a timeline and tables.
//
//     cargo run --release --example scenario_to_figure

use std::error::Error;

use xrsim::config::{Catalog, Source};
use xrsim::{Edition, Experiment};

/// Eye segmentation and hand tracking; gaze estimation needs the segmented eye of the same frame.
const SCENARIO: &str = "\
scenario:
  name: glasses
  models:
    - {network: ES, fps: 60}
    - {network: GE, fps: 60, depends_on: {ES: data}}
    - {network: HT, fps: 45}
";

fn main() -> Result<(), Box<dyn Error>> {
    let mut catalog = Catalog::new();
    catalog.provide(Source::new("glasses.yaml", SCENARIO));
    let scenario = catalog.scenario("glasses.yaml", Edition::Reference)?;
    let experiment = Experiment::new().scenario(scenario).system("M").pes(4096);
    let runs = experiment.scheduler("edf").set("duration_ms", 500).run()?;
    let total = &runs[0].scorecard()?.total;
    println!(
        "score {:.3}, {} of {} frames late",
        total.score, total.counts.late, total.counts.requests
    );
    let folder = std::env::temp_dir().join(format!("xrsim-example-{}", std::process::id()));
    runs.write_tables(&folder)?;
    runs[0].write_timeline(folder.join("timeline.svg"))?;
    println!("wrote {} files to {}", std::fs::read_dir(&folder)?.count(), folder.display());
    Ok(std::fs::remove_dir_all(&folder)?)
}
