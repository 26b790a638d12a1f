//! Policies in other processes. The other process is this test itself, in another role; so the file
//! has its own `main`, and its tests are listed there.

#[allow(dead_code)]
#[path = "it/support/libtest.rs"]
mod libtest;
#[allow(dead_code)]
#[path = "it/support/runs.rs"]
mod runs;
#[allow(dead_code)]
#[path = "it/support/situations.rs"]
mod situations;

use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};

use runs::*;
use situations::*;
use xrsim::cost::{CostTable, LayerCost, NetworkCost};
use xrsim::engine;
use xrsim::external;
use xrsim::hardware::Device;
use xrsim::hardware::device::{Point, Points};
use xrsim::ids::{ModelId, RequestId};
use xrsim::scenario::Choice;
use xrsim::schedule::Policy;
use xrsim::sweep::RunError;
use xrsim::trace::{DropReason, Outcome, Record};
use xrsim::units::ClockRate;

/// First argument of this program in the role of a policy.
const ROLE: &str = "--act-as";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [first, role] = &arguments[..]
        && first == ROLE
    {
        act(role);
        return ExitCode::SUCCESS;
    }
    let beside_others: [(&str, fn()); 13] = [
        ("an_external_policy_decides_like_the_same_one_inside", like_the_same_one_inside),
        ("an_external_policy_makes_the_same_run", the_same_run),
        ("an_external_policy_may_drop_wait_and_take_pieces", drop_wait_and_pieces),
        ("wrong_answers_fail_the_run_and_are_quoted", wrong_answers),
        ("an_external_policy_chooses_points_and_networks", points_and_networks),
        ("an_external_policy_that_is_not_there_fails_the_run", not_there),
        ("an_external_policy_can_give_up_with_a_message", gives_up),
        ("no_process_outlives_its_run", no_process_outlives_its_run),
        ("the_message_does_not_depend_on_which_pipe_closes_first", one_message),
        ("what_lies_in_the_machine_is_transient", transient),
        ("a_policy_that_stops_its_processes_holds_nothing_up", stops_its_processes),
        ("a_policy_ends_with_a_program_that_is_killed", ends_with_the_program),
        ("the_example_in_python_is_edf", the_example_in_python),
    ];
    let arguments = match libtest::Arguments::parse(arguments, &[]) {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::from(2);
        }
    };
    let run = |name: &str, test: fn()| {
        if arguments.runs(name) {
            test();
            println!("test {name} ... ok");
        }
    };
    // Most of their time they wait for other processes.
    thread::scope(|scope| {
        for (name, test) in beside_others {
            scope.spawn(move || run(name, test));
        }
    });
    // It counts descriptors and threads of this process.
    run("nothing_that_a_policy_started_is_left_behind", nothing_left_behind);
    ExitCode::SUCCESS
}

/// The policy that this program is in `role`.
fn acting(role: &str, parameters: &str) -> Policy {
    let program = std::env::current_exe().expect("a test knows its program");
    with_patience(&format!("external:{} {ROLE} {role}", quoted(&program)), parameters)
}

/// An external policy. Unless the time for an answer is given, it is longer than any answer or start of a
/// process takes, even on a busy machine.
fn with_patience(command: &str, parameters: &str) -> Policy {
    let patience = if parameters.contains("timeout_ms") { "" } else { ",timeout_ms=120000" };
    let policy = external::policy(&format!("{command}{parameters}{patience}"));
    policy.expect("the command has words")
}

/// A path as a word of a command.
fn quoted(path: &Path) -> String {
    let path = path.to_str().expect("the path is UTF-8");
    shlex::try_quote(path).expect("a path has no null character").into()
}

fn act(role: &str) {
    let mut lines = io::stdin().lines().map(|line| line.expect("input is text"));
    let setup: Value = match role {
        "deaf" => sleep(),
        "leaves" => return,
        _ => serde_json::from_str(&lines.next().expect("the setup")).expect("it is JSON"),
    };
    for line in lines {
        let view: Value = serde_json::from_str(&line).expect("a view is JSON");
        let id = &view["id"];
        let (request, accelerator) = edf(&setup, &view);
        let dispatch = json!({
            "id": id, "do": "dispatch", "request": request, "accelerator": accelerator
        });
        match role {
            "edf" => say(&dispatch.to_string()),
            "slow-and-light" => {
                let (points, variants) = (&setup["points"][0], &setup["variants"][0]);
                assert_eq!(setup["xrsim_scheduler"], 2);
                assert_eq!(
                    (&points["clock_mhz"], &points["nominal"]),
                    (&json!([500.0, 1000.0]), &json!(1))
                );
                assert_eq!(points["latency_ns"], json!([[8_000_000], [4_000_000]]));
                assert_eq!(variants[1]["latency_ns"], json!([1_000_000]));
                let device = &view["device"];
                assert_eq!((&device["cap"], &device["charge"]), (&json!([1]), &Value::Null));
                assert_eq!(view["ready"][0]["variant"], 0);
                let answer: Value =
                    serde_json::from_str(&with(dispatch, "point", 0)).expect("JSON");
                say(&with(answer, "variant", 1));
            }
            "no-point" => say(&with(dispatch, "point", 2)),
            "no-variant" => say(&with(dispatch, "variant", 2)),
            "waits-at-a-point" => say(&json!({"id": id, "do": "wait", "point": 0}).to_string()),
            "by-turns" => say(&by_turns(&view, dispatch).to_string()),
            "unknown-request" => say(&with(dispatch, "request", 123_456)),
            "busy-accelerator" => say(&with(dispatch, "accelerator", 99)),
            "no-request" => say(&json!({"id": id, "do": "drop"}).to_string()),
            "no-length" => say(&with(dispatch, "extent", "block")),
            "late-answer" => say(&with(dispatch, "id", 0)),
            "no-json" => say("dispatch 3"),
            "long" => say(&"x".repeat(1 << 17)),
            "no-text" => write(b"\xff\xfe\n"),
            "half" => return write(b"{\"id\": 1, \"do\":"),
            "gives-up" => say(&json!({"id": id, "do": "fail", "message": "no idea"}).to_string()),
            "silent" => sleep(),
            "clings" => {
                let message = std::process::id().to_string();
                say(&json!({"id": id, "do": "fail", "message": message}).to_string());
                sleep()
            }
            "leaves-later" if *id == 3 => return,
            _ => say(&dispatch.to_string()),
        }
    }
}

fn sleep() -> ! {
    loop {
        thread::sleep(Duration::from_secs(3600));
    }
}

fn say(line: &str) {
    write(format!("{line}\n").as_bytes());
}

fn write(bytes: &[u8]) {
    let mut out = io::stdout().lock();
    // The reader may be gone, which is not this side's concern.
    let _ = out.write_all(bytes).and_then(|()| out.flush());
}

fn with(mut answer: Value, key: &str, value: impl Into<Value>) -> String {
    answer[key] = value.into();
    answer.to_string()
}

/// Request and accelerator of earliest deadline first.
fn edf(setup: &Value, view: &Value) -> (u64, u64) {
    let number = |value: &Value| value.as_u64().expect("a number");
    let key = |job: &&Value| {
        ["deadline_ns", "release_ns", "model", "frame"].map(|field| number(&job[field]))
    };
    let job = view["ready"].as_array().and_then(|jobs| jobs.iter().min_by_key(key));
    let job = job.expect("something is ready");
    let (model, next_layer) = (&job["model"], number(&job["next_layer"]) as usize);
    let time = |at: u64| -> u64 {
        let layers = setup["layer_latency_ns"][number(model) as usize][at as usize].as_array();
        layers.expect("a list")[next_layer..].iter().map(number).sum()
    };
    let idle = view["idle"].as_array().expect("a list").iter().map(number);
    (number(&job["request"]), idle.min_by_key(|&at| time(at)).expect("something is idle"))
}

/// By turns waits, gives the frame up, and runs it in blocks or as a whole.
fn by_turns(view: &Value, mut dispatch: Value) -> Value {
    let (id, job) = (&view["id"], &view["ready"][0]);
    match job["frame"].as_u64().expect("a number") % 4 {
        0 => json!({"id": id, "do": "wait"}),
        1 => json!({"id": id, "do": "drop", "request": job["request"]}),
        2 => {
            dispatch["extent"] = json!("block");
            dispatch["block_ms"] = json!(2.5);
            dispatch
        }
        _ => dispatch,
    }
}

fn like_the_same_one_inside() {
    let inside = Policy::parse("edf").expect("it exists");
    let outside = acting("edf", "");
    proptest!(
        ProptestConfig {
            cases: 60,
            rng_seed: proptest::test_runner::RngSeed::Fixed(7),
            failure_persistence: None,
            ..ProptestConfig::default()
        },
        |((world, situations) in any_case())| {
            let (mut inside, mut outside) = (world.build(&inside), world.build(&outside));
            for situation in &situations {
                let decision = situation.ask(&world, &mut *outside);
                prop_assert!(situation.check(&decision).is_ok(), "{decision:?}");
                prop_assert_eq!(decision, situation.ask(&world, &mut *inside));
            }
        }
    );
}

fn busy(scheduler: Policy) -> Case {
    plan(six_models(), six_models_table()).scheduled(scheduler)
}

fn the_same_run() {
    for parameters in ["", ",admission=hopeless"] {
        let inside = Policy::parse(&format!("edf:{}", parameters.trim_start_matches(',')));
        let inside = trace(&busy(inside.expect("it exists")));
        assert_eq!(trace(&busy(acting("edf", parameters))), inside);
    }
}

/// Ten frames: 0, 4 and 8 wait for their deadline, 1, 5 and 9 are given up, and four run.
fn drop_wait_and_pieces() {
    let mut plan = plan(scenario(Vec::new(), vec![model("A", 10.0)]), table_ms(&[[5.0]]));
    plan.scheduler = acting("by-turns", "");
    let trace = trace(&plan);
    let dropped = |wanted| {
        let reasons = trace
            .records()
            .iter()
            .filter(|it| matches!(it.outcome, Outcome::Dropped { reason, .. } if reason == wanted));
        reasons.count()
    };
    assert_eq!((dropped(DropReason::Deadline), dropped(DropReason::Scheduler)), (3, 3));
    assert_eq!(plan.score(&trace).total.counts.executed, 4);
}

/// Networks of 4 and 1 million cycles on an accelerator of 500 and 1000 MHz.
fn with_points_and_networks(scheduler: Policy) -> Case {
    let system = system(1);
    let network = |cycles: u64| {
        let layer =
            LayerCost { cycles, energy_nj: 1e6, chip_cycles: cycles, ..LayerCost::default() };
        Arc::new(NetworkCost::of_layers(vec![layer], &system.accelerators()[0]))
    };
    let mut choosing = model("A", 10.0);
    choosing.choice =
        Some(Choice { measured: vec![None, None], published: Vec::new(), shares_weights: false });
    choosing.variants = vec![Arc::clone(&choosing.unit.network)];
    let costs = CostTable::new(vec![network(4_000_000)], 1)
        .with_batches(ModelId::new(0), vec![network(1_000_000)]);
    let mut case = plan(scenario(Vec::new(), vec![choosing]), costs).scheduled(scheduler);
    let point = |(mhz, volt)| Point { clock: ClockRate::from_mhz(mhz).expect("a clock"), volt };
    let points = [(500.0, 0.6), (1000.0, 0.8)].map(point).to_vec();
    let mut device = Device::default();
    device.accelerators.points =
        Some(Arc::new(Points::new("two", points, Vec::new()).expect("they are points")));
    case.plan.device = Some(Arc::new(device));
    let supplied = case.plan.supplied().expect("the device fits");
    let costs = CostTable::clone(&case.costs).with_points(&supplied);
    case.costs = Arc::new(costs.expect("layers have parts"));
    case
}

/// The second network takes 2 ms at 500 MHz. A program that knows nothing of points and networks runs the first at 1000 MHz.
fn points_and_networks() {
    let times = |role: &str| -> Vec<(u32, u64)> {
        let trace = trace(&with_points_and_networks(acting(role, "")));
        let of = |(id, it): (usize, &Record)| match it.outcome {
            Outcome::Executed { start, end, .. } => {
                (trace.variant_of(RequestId::new(id)), (end - start).ns())
            }
            other => panic!("{other:?}"),
        };
        trace.records().iter().enumerate().map(of).collect()
    };
    assert_eq!(times("slow-and-light"), [(1, 2_000_000); 10]);
    assert_eq!(times("edf"), [(0, 4_000_000); 10]);
    let failure = |case: Case| {
        let run = engine::run(&case, &case.costs, &requests(&case));
        run.expect_err("the policy is wrong").to_string()
    };
    for (role, message) in [
        ("no-point", "accelerator 0 has the points 0 to 1"),
        ("no-variant", "model 0 has variants 0 to 1"),
        ("waits-at-a-point", "point and variant belong to dispatch"),
    ] {
        let found = failure(with_points_and_networks(acting(role, "")));
        assert!(found.contains(message), "{role}: {found}");
    }
    let found = failure(busy(acting("no-point", "")));
    assert!(found.contains("there is no device, and so no points"), "{found}");
    let found = failure(busy(acting("no-variant", "")));
    assert!(found.contains("has no variants"), "{found}");
}

fn failure(scheduler: Policy) -> String {
    let plan = busy(scheduler);
    engine::run(&plan, &plan.costs, &requests(&plan))
        .expect_err("the policy is wrong")
        .message
        .into()
}

fn wrong_answers() {
    let check_with = |parameters: &str, role: &str, expected: &str| {
        let message = failure(acting(role, parameters));
        assert!(message.contains(expected), "{role}: {message}");
    };
    let check = |role: &str, expected: &str| check_with("", role, expected);
    check("unknown-request", "answered `{");
    check("unknown-request", "\"request\":123456}`: request 123456 is not ready");
    check("busy-accelerator", "`: accelerator 99 is not idle");
    check("no-request", "answered `{\"do\":\"drop\",\"id\":1}`: it names no request");
    check("no-length", "block_ms belongs to granularity block");
    check("late-answer", "the id of the question was 1");
    check("no-json", "answered `dispatch 3`: expected value");
    check("long", "answered a line of more than 65536 bytes");
    check("no-text", "answered a line that is no UTF-8 text");
    check("half", "answered `{\"id\": 1, \"do\":`: EOF while parsing");
    check("leaves", "without an answer");
    check("leaves-later", "without an answer");
    check_with(",timeout_ms=300", "silent", "no answer within 300 ms");
    check_with(",timeout_ms=300", "deaf", "no answer within 300 ms");
}

fn not_there() {
    let plan = busy(external::policy("external:no-such-program at-all").expect("it has words"));
    let failure =
        engine::run(&plan, &plan.costs, &requests(&plan)).expect_err("there is none").to_string();
    let expected = "scheduler external:no-such-program at-all: cannot start `no-such-program`: ";
    assert!(failure.starts_with(expected), "{failure}");
}

fn gives_up() {
    assert_eq!(failure(acting("gives-up", "")), "no idea");
}

/// The process says its number, and does not end with its input.
fn no_process_outlives_its_run() {
    let id: u32 = failure(acting("clings", "")).parse().expect("a number");
    if cfg!(target_os = "linux") {
        assert!(!std::path::Path::new(&format!("/proc/{id}")).exists(), "{id} is still there");
    }
}

/// A policy in shell, where there is one.
fn in_shell(script: &str, parameters: &str) -> Option<Policy> {
    cfg!(unix).then(|| with_patience(&format!("external:sh -c '{script}'"), parameters))
}

/// Its output closes before, with, or after its end, or never because of a process that it has started; it
/// reads all, some or nothing of what it is sent.
fn one_message() {
    for script in [
        "read a; read b; exit 3",
        "read a; read b; exec >&-; sleep 0.1; exit 3",
        "exit 3",
        "exec <&- >&-; sleep 0.1; exit 3",
        "sleep 1000 & exit 3",
    ] {
        for _ in 0..3 {
            let Some(policy) = in_shell(script, "") else { return };
            assert_eq!(failure(policy), "ended without an answer (exit status: 3)", "{script}");
        }
    }
    closes_its_output();
}

/// Times for an answer that are tried until a shell has started in one of them.
const LENGTHS_MS: [u64; 5] = [500, 1_000, 4_000, 16_000, 64_000];

/// It closes its output and stays, and is waited for as long as for an answer.
fn closes_its_output() {
    let message = |ms: u64| {
        let policy = in_shell("read a; read b; exec >&-; sleep 1000", &format!(",timeout_ms={ms}"));
        failure(policy.expect("there is a shell"))
    };
    let mut messages = LENGTHS_MS.into_iter().map(message);
    let found = messages.find(|message| !message.starts_with("no answer within"));
    assert_eq!(found.as_deref(), Some("closed its output without an answer"));
}

fn transient() {
    let is_transient = |policy: Policy| {
        let plan = busy(policy);
        let failure =
            engine::run(&plan, &plan.costs, &requests(&plan)).expect_err("the policy is wrong");
        RunError::from(failure).is_transient()
    };
    assert!(is_transient(external::policy("external:no-such-program").expect("it has words")));
    assert!(is_transient(acting("silent", ",timeout_ms=50")));
    assert!(!is_transient(acting("no-json", "")));
    assert!(!is_transient(acting("gives-up", "")));
    let Some(exits) = in_shell("exit 3", "") else { return };
    assert!(is_transient(exits));
    let killed = in_shell("read a; kill -KILL $$", "").expect("there is a shell");
    assert!(is_transient(killed));
}

/// Whether a process runs; one that has ended may be listed until somebody asks for its status.
fn runs(id: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
}

/// Whether something comes true within a minute; the system takes its time on a busy machine.
fn eventually(is_true: impl Fn() -> bool) -> bool {
    (0..6_000).any(|_| {
        let is_true = is_true();
        if !is_true {
            thread::sleep(Duration::from_millis(10));
        }
        is_true
    })
}

fn ends(id: &str) -> bool {
    eventually(|| !runs(id))
}

fn n_entries(folder: &str) -> usize {
    std::fs::read_dir(folder).expect("the folder is there").count()
}

/// Neither processes, which hold the pipes and do not listen to polite signals, nor descriptors or
/// threads of this process.
fn nothing_left_behind() {
    let says_its_child = "trap \"\" HUP INT TERM; sleep 1000 & read -r a; read -r b; \
        echo {\\\"id\\\":1,\\\"do\\\":\\\"fail\\\",\\\"message\\\":\\\"$!\\\"}; wait";
    if !cfg!(target_os = "linux") {
        return;
    }
    let run = || failure(in_shell(says_its_child, "").expect("there is a shell"));
    run();
    let [descriptors, threads] = ["/proc/self/fd", "/proc/self/task"].map(n_entries);
    for _ in 0..5 {
        let child = run();
        assert!(child.parse::<u32>().is_ok(), "{child}");
        assert!(ends(&child), "{child} is still there");
    }
    let left = || ["/proc/self/fd", "/proc/self/task"].map(n_entries);
    let is_clean = || left()[0] <= descriptors && left()[1] <= threads;
    assert!(eventually(is_clean), "{:?}, not {:?}", left(), [descriptors, threads]);
}

/// It stops its group, itself and its guard included. The time for an answer must be long enough for a shell
/// to start, so it is tried longer and longer.
fn stops_its_processes() {
    if !cfg!(target_os = "linux") {
        return;
    }
    for signal in ["STOP", "TSTP"] {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let file = folder.path().join("id");
        let script = format!("sleep 1000 & echo $! > \"$0\"; kill -{signal} 0; sleep 1000");
        let id = LENGTHS_MS.into_iter().find_map(|ms| {
            let text = format!("external:sh -c '{script}' {},timeout_ms={ms}", quoted(&file));
            let message = failure_in_a_minute(external::policy(&text).expect("it has words"), ms);
            assert_eq!(message, format!("no answer within {ms} ms"), "{signal}");
            std::fs::read_to_string(&file).ok().filter(|text| text.ends_with('\n'))
        });
        let id = id.expect("a shell starts within a minute");
        assert!(ends(id.trim()), "{id} is still there");
    }
}

/// Ends with the test if the run has not ended a minute after its policy has had `ms` for an answer.
fn failure_in_a_minute(policy: Policy, ms: u64) -> String {
    let (tell, told) = mpsc::channel();
    let run = thread::spawn(move || tell.send(failure(policy)));
    let message = told.recv_timeout(Duration::from_millis(60_000 + ms)).expect("the run ends");
    let _ = run.join();
    message
}

/// The policy does not read, and is not asked to end by the program, which has no time for it.
fn ends_with_the_program() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("id");
    let script = "trap \"\" HUP INT TERM; echo $$ > \"$0\"; while :; do sleep 1000; done";
    let policy = format!("external:sh -c '{script}' {},timeout_ms=3600000", quoted(&file));
    let mut program = Command::new(env!("CARGO_BIN_EXE_xrsim"))
        .args(["run", "--scenario", "AR_gaming", "--system", "A", "--scheduler", &policy])
        .args(["--replications", "1"])
        .env("XRSIM_CACHE", "")
        .spawn()
        .expect("the program starts");
    let written = || std::fs::read_to_string(&file).ok().filter(|text| text.ends_with('\n'));
    let id = loop {
        match written() {
            Some(id) => break id.trim().to_string(),
            None => thread::sleep(Duration::from_millis(5)),
        }
    };
    assert!(runs(&id));
    program.kill().expect("it runs");
    program.wait().expect("it was killed");
    // Nobody can be waited for here: the policy is not a child of this process.
    assert!(ends(&id), "{id} is still there");
}

fn the_example_in_python() {
    if !Command::new("python3").arg("--version").output().is_ok_and(|it| it.status.success()) {
        println!("skipped: python3 is not there");
        return;
    }
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/schedulers/edf.py");
    let policy = with_patience(&format!("external:python3 {}", quoted(example.as_ref())), "");
    let inside = Policy::parse("edf").expect("it exists");
    assert_eq!(trace(&busy(policy)), trace(&busy(inside)));
}
