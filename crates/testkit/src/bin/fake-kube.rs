//! Fake clusters for benches against any program: starts them, writes a kubeconfig, stays until its input ends, and
//! tells how many requests came.

use pintle_core::{Code, Failure};
use pintle_testkit::kube::{Certificate, FakeCluster, Fault, Kubeconfig, Mode, Objects};
use std::{path::PathBuf, process::ExitCode, time::Duration};
use tokio::io::AsyncReadExt;

const USAGE: &str = "fake-kube --kubeconfig FILE [--servers N] [--pods N] [--definitions N] [--black-hole N] \
[--half-closed N] [--gone N] [--slow MS] [--too-many PATH] [--tls] [--token TOKEN] [--contexts NAME,NAME…]";

#[derive(Default)]
struct Arguments {
    kubeconfig: Option<PathBuf>,
    servers: usize,
    pods: usize,
    definitions: usize,
    /// How many of the last servers are in each mode, the first of these behind the serving ones.
    black_hole: usize,
    half_closed: usize,
    gone: usize,
    slow: Option<Duration>,
    too_many: Option<String>,
    tls: bool,
    token: Option<String>,
    contexts: Vec<String>,
}

fn main() -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return told(&Failure::io("starting", &error)),
    };
    let ended = runtime.block_on(run());
    // Whoever reads the input may still be at it.
    runtime.shutdown_background();
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => told(&failure),
    }
}

#[expect(clippy::print_stderr, reason = "where a server speaks to its operator")]
fn told(failure: &Failure) -> ExitCode {
    eprintln!("fake-kube: {}", failure.text());
    ExitCode::from(failure.code.exit().code())
}

#[expect(clippy::print_stderr, reason = "the first and the last line")]
async fn run() -> Result<(), Failure> {
    let arguments = parse(std::env::args().skip(1))?;
    let Some(file) = &arguments.kubeconfig else {
        return Err(Failure::new(Code::InvalidArgument, "no --kubeconfig was given").hint(USAGE));
    };
    let objects = Objects::new().pods(arguments.pods).definitions(arguments.definitions);
    let mut clusters = Vec::new();
    let mut kubeconfig = Kubeconfig::default();
    for index in 0..arguments.servers {
        let mut setup = FakeCluster::setup(objects.clone()).unrecorded().mode(arguments.mode(index));
        if arguments.tls {
            setup = setup.tls(Certificate::Good);
        }
        if let Some(token) = &arguments.token {
            setup = setup.token(token);
        }
        let cluster = setup.start().await.map_err(|error| Failure::io("starting a server", &error))?;
        if let Some(time) = arguments.slow {
            cluster.fault("*", Fault::Slow(time));
        }
        if let Some(path) = &arguments.too_many {
            cluster.fault(path, Fault::TooManyRequests(1).times(1));
        }
        let name = arguments.contexts.get(index).cloned().unwrap_or_else(|| format!("fake-{index:02}"));
        kubeconfig = kubeconfig.and(cluster.kubeconfig([name]));
        clusters.push(cluster);
    }
    kubeconfig.write(file).map_err(|error| Failure::io(format!("writing `{}`", file.display()), &error))?;
    eprintln!("fake-kube: {} servers; KUBECONFIG={}", clusters.len(), file.display());
    wait().await.map_err(|error| Failure::io("waiting", &error))?;
    eprintln!("fake-kube: {} requests", clusters.iter().map(FakeCluster::asked).sum::<u64>());
    Ok(())
}

/// Until the input ends or somebody interrupts.
async fn wait() -> std::io::Result<()> {
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    let mut input = tokio::io::stdin();
    let mut heard = [0; 256];
    loop {
        tokio::select! {
            read = input.read(&mut heard) => if read? == 0 { return Ok(()) },
            _ = terminate.recv() => return Ok(()),
            ended = tokio::signal::ctrl_c() => return ended,
        }
    }
}

impl Arguments {
    fn mode(&self, index: usize) -> Mode {
        let last = [(self.black_hole, Mode::BlackHole), (self.half_closed, Mode::HalfClosed), (self.gone, Mode::Gone)];
        let mut from = self.servers.saturating_sub(self.black_hole + self.half_closed + self.gone);
        for (count, mode) in last {
            if (from..from + count).contains(&index) {
                return mode;
            }
            from += count;
        }
        Mode::Serve
    }
}

fn parse(mut given: impl Iterator<Item = String>) -> Result<Arguments, Failure> {
    let mut arguments = Arguments { servers: 1, ..Arguments::default() };
    while let Some(flag) = given.next() {
        let mut value = || {
            given
                .next()
                .ok_or_else(|| Failure::new(Code::InvalidArgument, format!("{flag}: needs a value")).hint(USAGE))
        };
        match flag.as_str() {
            "--kubeconfig" => arguments.kubeconfig = Some(value()?.into()),
            "--servers" => arguments.servers = number(&flag, &value()?)?,
            "--pods" => arguments.pods = number(&flag, &value()?)?,
            "--definitions" => arguments.definitions = number(&flag, &value()?)?,
            "--black-hole" => arguments.black_hole = number(&flag, &value()?)?,
            "--half-closed" => arguments.half_closed = number(&flag, &value()?)?,
            "--gone" => arguments.gone = number(&flag, &value()?)?,
            "--slow" => arguments.slow = Some(Duration::from_millis(number(&flag, &value()?)? as u64)),
            "--too-many" => arguments.too_many = Some(value()?),
            "--tls" => arguments.tls = true,
            "--token" => arguments.token = Some(value()?),
            "--contexts" => arguments.contexts = value()?.split(',').map(str::to_owned).collect(),
            _ => return Err(Failure::new(Code::InvalidArgument, format!("unknown option `{flag}`")).hint(USAGE)),
        }
    }
    Ok(arguments)
}

fn number(flag: &str, text: &str) -> Result<usize, Failure> {
    text.parse().map_err(|_| Failure::new(Code::InvalidArgument, format!("{flag} `{text}`: is not a number")))
}
