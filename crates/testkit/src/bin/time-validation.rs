//! How long one validation of a call takes, for `cargo xtask bench`: reads `{tool, schema, arguments}` as JSON on
//! stdin, prints the median of many rounds in microseconds.

use std::hint::black_box;
use std::io::Read;
use std::process::ExitCode;
use std::time::Instant;

use pintle_dispatch::Validator;
use serde_json::Value;

const ROUNDS: usize = 200;
const CALLS: u32 = 100;

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for the benchmark")]
fn main() -> ExitCode {
    match median() {
        Ok(microseconds) => {
            println!("{microseconds}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("time-validation: {why}");
            ExitCode::FAILURE
        }
    }
}

fn median() -> Result<f64, String> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(|error| error.to_string())?;
    let input: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let tool = input["tool"].as_str().ok_or("`tool` is no text")?;
    let validator = Validator::new(input["schema"].clone());
    let arguments = &input["arguments"];
    // a refused call takes another path, and the first one builds the validator
    validator.check(tool, arguments).map_err(|failure| failure.text())?;
    let mut rounds: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..CALLS {
                let _ = black_box(validator.check(tool, black_box(arguments)));
            }
            start.elapsed().as_secs_f64() * 1e6 / f64::from(CALLS)
        })
        .collect();
    rounds.sort_by(f64::total_cmp);
    Ok(rounds[ROUNDS / 2])
}
