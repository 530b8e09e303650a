//! Commands that are short.

use crate::scene::{Ended, Scene};
use std::io::Read;

/// The tag and the version on one line, then what the program is for.
pub fn version(scene: &mut Scene) -> Ended {
    let version = scene.version();
    if scene.orders.legacy {
        scene.out.line(&format!("penguins-eggs/{version} linux-x64 node-v20.1.0"));
        return Ok(());
    }
    scene.out.coa(&format!("coa {version}"));
    scene.out.line("a stand-in: it remasters nothing");
    Ok(())
}

pub fn config(scene: &mut Scene) -> Ended {
    if !scene.has_terminal() {
        return Err(scene.fatal("the configuration is edited on a terminal, and this is none"));
    }
    scene.out.coa("left as it was");
    Ok(())
}

pub fn adapt(scene: &mut Scene) -> Ended {
    for output in ["Virtual-0", "Virtual-1", "Virtual-2", "Virtual-3"] {
        scene.out.coa(&format!("{output}: not there"));
    }
    Ok(())
}

/// Reads a step and runs nothing.
pub fn ell(scene: &mut Scene) -> Ended {
    let mut step = String::new();
    std::io::stdin().read_to_string(&mut step)?;
    if !scene.is_root() {
        return Err(scene.fatal("the step failed"));
    }
    scene.out.line(&format!("a step of {} bytes that a stand-in does not run", step.len()));
    Ok(())
}

pub fn gen_docs(scene: &mut Scene) -> Ended {
    scene.out.coa(&format!("no manuals written to {}", scene.text("target")));
    Ok(())
}

pub fn completion(scene: &mut Scene) -> Ended {
    scene.out.line(&format!("# nothing to complete in {}", scene.command.join(" ")));
    Ok(())
}

/// Serves nobody until its input ends.
pub fn mcp_start(_: &mut Scene) -> Ended {
    std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink())?;
    Ok(())
}

pub fn mcp_stop(scene: &mut Scene) -> Ended {
    scene.out.coa("no server found");
    Ok(())
}

/// As the real one, it never sees a server.
pub fn mcp_status(scene: &mut Scene) -> Ended {
    scene.out.coa("status");
    scene.out.coa("sudoers: NOT CONFIGURED");
    scene.out.coa("server: STOPPED");
    Ok(())
}

pub fn mcp_change(scene: &mut Scene) -> Ended {
    scene.out.warning("a stand-in changes no other program's configuration");
    Ok(())
}
