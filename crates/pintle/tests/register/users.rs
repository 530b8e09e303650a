//! Root acts as the user whose files they are. Needs root, and a mount namespace in which that user is known.

use crate::home::{Home, done, pintle};
use std::{fs, os::unix::fs::MetadataExt as _, os::unix::fs::chown, process::Command};

const UID: u32 = 34_567;

/// A home of a user `web`, in a file of users that only the command sees.
fn as_root(home: &Home, environment: &[(&str, &str)], words: &[&str]) -> Option<crate::home::Done> {
    if !rustix::process::geteuid().is_root() {
        pintle_testkit::skip("only root can act as another user");
        return None;
    }
    let user = home.path().join("web");
    let passwd =
        home.write("passwd", &format!("root:x:0:0::/root:/bin/sh\nweb:x:{UID}:{UID}::{}:/bin/sh\n", user.display()));
    // The program must be where that user can run it.
    let program = home.path().join("pintle");
    if !program.exists() {
        fs::copy(pintle(), &program).unwrap();
        fs::set_permissions(home.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    let script = format!("mount --bind {} /etc/passwd && exec \"$0\" \"$@\"", passwd.display());
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", &script]).arg(&program).args(words);
    command
        .current_dir("/")
        .env_clear()
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .env("HOME", home.path().join("root"));
    command.envs(environment.iter().copied());
    let ended = done(&mut command);
    if ended.err.contains("unshare") || ended.err.contains("mount:") {
        pintle_testkit::skip("this place has no mount namespaces of its own");
        return None;
    }
    Some(ended)
}

fn own(home: &Home, files: &[&str]) {
    for file in files {
        chown(home.path().join(file), Some(UID), Some(UID)).unwrap();
    }
}

#[test]
fn eg_047_eg_055_s_13_s_24_root_registers_as_the_user_and_what_is_made_is_theirs() {
    for environment in [&[][..], &[("SUDO_USER", "web")], &[("DOAS_USER", "web")], &[("PKEXEC_UID", "34567")]] {
        let home = Home::new();
        home.write("web/.cursor/mcp.json", "{}");
        fs::create_dir_all(home.path().join("web/.junie")).unwrap();
        fs::create_dir_all(home.path().join("root/.cursor")).unwrap();
        if rustix::process::geteuid().is_root() {
            own(&home, &["web", "web/.cursor", "web/.cursor/mcp.json", "web/.junie"]);
        }
        let mut words = vec!["register", "--no-verify"];
        if environment.is_empty() {
            words.extend(["--user", "web"]);
        }
        let Some(ended) = as_root(&home, environment, &words) else { return };
        ended.ends(0);
        assert!(home.read("web/.cursor/mcp.json").contains("pintle"));
        for made in
            ["web/.cursor/mcp.json", "web/.junie/mcp", "web/.junie/mcp/mcp.json", "web/.local/state/pintle/register"]
        {
            let metadata = fs::metadata(home.path().join(made)).unwrap();
            assert_eq!((metadata.uid(), metadata.gid()), (UID, UID), "{made}");
        }
        assert!(!home.path().join("root/.cursor/mcp.json").exists(), "root's own clients are not meant");
    }
}

#[test]
fn s_13_a_link_into_another_home_is_not_followed_by_root_either() {
    let home = Home::new();
    home.write("web/.cursor/other", "");
    let secret = home.write("root/mcp.json", "{}");
    std::os::unix::fs::symlink(&secret, home.path().join("web/.cursor/mcp.json")).unwrap();
    if rustix::process::geteuid().is_root() {
        own(&home, &["web", "web/.cursor"]);
    }
    let Some(ended) = as_root(&home, &[], &["register", "--user", "web", "--no-verify"]) else { return };
    let ended = ended.ends(1);
    assert!(ended.err.contains("is a link to"), "{}", ended.err);
    assert_eq!(fs::read_to_string(secret).unwrap(), "{}");
}

#[test]
fn eg_047_a_user_that_is_not_there_is_refused() {
    let home = Home::new();
    let Some(ended) = as_root(&home, &[], &["register", "--user", "wbe"]) else { return };
    assert!(ended.ends(64).err.contains("did you mean `web`?"));
}
