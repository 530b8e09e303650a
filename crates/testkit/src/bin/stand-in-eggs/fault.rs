//! Misbehaviour.

use crate::say::{Out, complain};
use pintle_testkit::eggs::{Fault, Noise};
use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Write},
    os::unix::process::CommandExt,
    process::{Command, ExitCode, Stdio},
    time::Duration,
};

/// Tells the stand-in that it is a process left behind, and for how many seconds.
const LEFT_BEHIND: &str = "EGGS_LEFT_BEHIND_SECS";
const MIB: usize = 1024 * 1024;

/// Plays the process left behind, where this is one.
pub fn left_behind() -> Option<ExitCode> {
    let secs = std::env::var(LEFT_BEHIND).ok()?.parse().ok()?;
    std::thread::sleep(Duration::from_secs(secs));
    Some(ExitCode::SUCCESS)
}

/// What goes wrong before the work.
pub fn before(fault: &Fault, out: &Out) -> Result<(), String> {
    if fault.ignore_term {
        ignore_signals().map_err(|why| format!("ignoring signals: {why}"))?;
    }
    if let Some(secs) = fault.grandchild_secs {
        leave_behind(secs, fault.grandchild_own_group).map_err(|why| format!("leaving a process behind: {why}"))?;
    }
    let print = |bytes: &[u8]| {
        if fault.noise_on_stderr { drop(io::stderr().write_all(bytes)) } else { out.bytes(bytes) }
    };
    fault.noise.iter().for_each(|noise| print(&bytes_of(*noise)));
    let line = [&b"a line of output that nobody asked for, to the last of its sixty-"[..], b"four\n"].concat();
    for _ in 0..fault.print_mib {
        print(&line.repeat(MIB / line.len() + 1)[..MIB]);
    }
    if fault.print_mib > 0 {
        print(b"\n");
    }
    if fault.read_terminal {
        ask(out);
    }
    if let Some(signal) = fault.die_by {
        let signal = rustix::process::Signal::from_named_raw(signal).ok_or("die_by: no such signal")?;
        // The first one may be caught, by what looks for a full stack.
        for _ in 0..2 {
            rustix::process::kill_process(rustix::process::getpid(), signal).map_err(|why| why.to_string())?;
        }
    }
    if let Some(ms) = fault.close_stdout_ms {
        let nowhere = OpenOptions::new().write(true).open("/dev/null").map_err(|why| why.to_string())?;
        rustix::stdio::dup2_stdout(&nowhere).map_err(|why| why.to_string())?;
        std::thread::sleep(Duration::from_millis(ms));
    }
    if fault.hang {
        hang();
    }
    Ok(())
}

/// What goes wrong after it.
pub fn after(fault: &Fault, out: &Out) -> Result<(), String> {
    if fault.says_error {
        complain("");
        out.error("something went wrong that the exit code does not tell");
    }
    Ok(())
}

pub fn hang() -> ! {
    loop {
        std::thread::park();
    }
}

fn bytes_of(noise: Noise) -> Vec<u8> {
    match noise {
        Noise::InvalidUtf8 => b"caf\xe9 \xff\xfe \xc3\x28 \xed\xa0\x80 end\n".to_vec(),
        Noise::Nul => b"before\0after\n".to_vec(),
        Noise::Ansi => {
            b"\x1b[31mred\x1b[0m \x1b]0;a title\x07\x1b[2J\x1b[1;1Hhome\x1b[?25l \x9b32m8-bit\n\x1b[1A\x1b[2Kup\n"
                .to_vec()
        }
        Noise::JsonRpc => concat!(
            r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"forged"}]}}"#,
            "\n",
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
            "\n",
            r#"{"jsonrpc":"2.0","id":9,"method":"sampling/createMessage","params":{}}"#,
            "\nContent-Length: 2\r\n\r\n{}\n"
        )
        .into(),
        Noise::LongLine => {
            let mut line = vec![b'x'; 10 * MIB];
            line.push(b'\n');
            line
        }
    }
}

/// A handler that does nothing keeps the process alive, and stays when its runtime has gone.
fn ignore_signals() -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let _entered = runtime.enter();
    for kind in [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()] {
        drop(signal(kind)?);
    }
    Ok(())
}

fn leave_behind(secs: u64, own_group: bool) -> io::Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    command.env(LEFT_BEHIND, secs.to_string()).stdin(Stdio::null());
    if own_group {
        command.process_group(0);
    }
    command.spawn().map(drop)
}

/// Waits for an answer where one could come.
fn ask(out: &Out) {
    out.line("Do you want to go on? [y/N] ");
    let mut answer = [0; 1];
    let read = match File::open("/dev/tty") {
        Ok(mut terminal) => terminal.read(&mut answer),
        Err(_) => io::stdin().read(&mut answer),
    };
    let heard = matches!(read, Ok(1));
    out.line(if heard { "an answer came" } else { "no answer came" });
}
