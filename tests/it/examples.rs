//! The examples of the library, each run from start to end.

/// A test that runs `main` of an example.
macro_rules! example {
    ($name:ident, $file:literal) => {
        mod $name {
            include!(concat!("../../examples/", $file));

            #[test]
            fn runs() {
                main().expect("the example has no error");
            }
        }
    };
}

example!(own_scheduler, "own_scheduler.rs");
example!(own_cost_model, "own_cost_model.rs");
example!(sweep, "sweep.rs");
example!(scenario_to_figure, "scenario_to_figure.rs");
example!(mlperf_server, "mlperf_server.rs");

#[test]
fn every_example_is_run_and_is_short() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let this = std::fs::read_to_string(root.join("tests/it/examples.rs")).expect("it is text");
    for entry in std::fs::read_dir(root.join("examples")).expect("the folder can be listed") {
        let path = entry.expect("an entry can be read").path();
        // A folder has a README, the commands of which are run.
        if path.is_dir() {
            assert!(path.join("README.md").is_file(), "{path:?} has no README");
            continue;
        }
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name is text");
        assert!(this.contains(&format!("\"{name}\"")), "{name} is not run");
        let text = std::fs::read_to_string(&path).expect("an example is text");
        assert!(text.lines().count() <= 40, "{name} is long");
    }
}
