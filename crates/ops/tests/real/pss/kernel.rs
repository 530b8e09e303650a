//! What pods ask of the kernel: capabilities, seccomp, AppArmor, SELinux, sysctls, /proc.

use serde_json::{Value, json};

use super::case::{Case, LISTS, List, Standing, bare, hard, in_list, in_lists, into, merged, pod, whole};

pub fn cases() -> Vec<Case> {
    let mut all = capabilities();
    all.extend(seccomp());
    all.extend(app_armor());
    all.extend(se_linux());
    all.extend(sysctls());
    all.extend(proc_mount());
    all
}

fn context(value: &Value) -> Value {
    json!({ "securityContext": value })
}

fn capabilities() -> Vec<Case> {
    const CHANGES: &[u32] = &[22, 25];
    const IN_DEFAULT_SET: [&str; 13] = [
        "AUDIT_WRITE",
        "CHOWN",
        "DAC_OVERRIDE",
        "FOWNER",
        "FSETID",
        "KILL",
        "MKNOD",
        "NET_BIND_SERVICE",
        "SETFCAP",
        "SETGID",
        "SETPCAP",
        "SETUID",
        "SYS_CHROOT",
    ];
    let mut all = Vec::new();
    // the words that are no capability are other names to the server
    for name in IN_DEFAULT_SET.into_iter().chain(["NET_RAW", "SYS_TIME", "ALL", "CAP_CHOWN", "chown", "BPF"]) {
        let change = context(&json!({"capabilities": {"add": [name], "drop": ["ALL"]}}));
        all.extend(in_lists(&format!("adds {name}"), CHANGES, &[List::Main], &change));
    }
    for (label, capabilities) in [
        ("adds NET_ADMIN and drops ALL", json!({"add": ["NET_ADMIN"], "drop": ["ALL"]})),
        ("adds NET_BIND_SERVICE and drops ALL", json!({"add": ["NET_BIND_SERVICE"], "drop": ["ALL"]})),
        ("adds two, one too many", json!({"add": ["NET_BIND_SERVICE", "CHOWN"], "drop": ["ALL"]})),
        ("drops ALL among others", json!({"drop": ["NET_RAW", "ALL"]})),
        ("drops all in lower case", json!({"drop": ["all"]})),
        ("drops one only", json!({"drop": ["NET_RAW"]})),
        ("drops nothing", json!({"drop": []})),
        ("capabilities with nothing in them", json!({"drop": null})),
        ("no capabilities said", json!(null)),
    ] {
        all.extend(in_lists(label, CHANGES, &LISTS, &context(&json!({ "capabilities": capabilities }))));
    }
    // SYS_ADMIN allows escalation by itself
    let admin = json!({"capabilities": {"add": ["SYS_ADMIN"]}, "allowPrivilegeEscalation": null});
    all.extend(in_lists("adds SYS_ADMIN", CHANGES, &LISTS, &context(&admin)));
    all
}

const PROFILES: [&str; 4] = ["unset", "RuntimeDefault", "Localhost", "Unconfined"];

fn profile(field: &str, kind: &str) -> Value {
    match kind {
        "unset" => json!({ field: null }),
        "Localhost" => json!({ field: {"type": kind, "localhostProfile": "profiles/app.json"} }),
        _ => json!({ field: {"type": kind} }),
    }
}

/// Every profile of the pod with every one of a container, in each list that the pod can be created with.
fn profiles(field: &str, changes: &'static [u32]) -> Vec<Case> {
    let mut all = Vec::new();
    for of_pod in PROFILES {
        for of_container in PROFILES {
            for list in [List::Main, List::Init] {
                let container = merged(hard("tried"), &context(&profile(field, of_container)));
                let label = format!("{field} {of_pod} of the pod, {of_container} of the container");
                let mut case = in_list(&label, changes, list, &container);
                case.spec = merged(case.spec, &context(&profile(field, of_pod)));
                all.push(case);
            }
        }
    }
    for of_container in PROFILES {
        for standing in [Standing::Hard, Standing::Inherits, Standing::Plain] {
            let container = merged(hard("tried"), &context(&profile(field, of_container)));
            all.push(into(
                format!("{field} {of_container} put into {}", standing.name()),
                changes,
                standing,
                &container,
            ));
        }
    }
    all
}

fn seccomp() -> Vec<Case> {
    const CHANGES: &[u32] = &[19, 25];
    const POD: &str = "seccomp.security.alpha.kubernetes.io/pod";
    const CONTAINER: &str = "container.seccomp.security.alpha.kubernetes.io/app";
    let mut all = profiles("seccompProfile", CHANGES);
    // the server wants fields that say the same as annotations, or nothing
    let unset = |name: &str| merged(hard(name), &context(&json!({"seccompProfile": null})));
    let plain = || json!({"containers": [unset("app")]});
    for value in ["runtime/default", "docker/default", "localhost/a.json", "unconfined"] {
        for key in [POD, CONTAINER] {
            all.push(pod(format!("{key}={value}"), CHANGES, &plain()).annotated(json!({ key: value })));
        }
        let hardened = pod(format!("{POD}={value}, hardened"), CHANGES, &json!({}));
        all.push(hardened.annotated(json!({ POD: value })));
        let field = profile("seccompProfile", if value == "unconfined" { "Unconfined" } else { "RuntimeDefault" });
        if matches!(value, "unconfined" | "runtime/default") {
            let both = json!({"containers": [merged(hard("app"), &context(&field))]});
            all.push(
                pod(format!("{CONTAINER}={value} and a field"), CHANGES, &both).annotated(json!({ CONTAINER: value })),
            );
        }
    }
    let both = json!({POD: "unconfined", CONTAINER: "unconfined"});
    all.push(pod("both annotations", CHANGES, &plain()).annotated(both));
    let apart = json!({POD: "unconfined", CONTAINER: "runtime/default"});
    all.push(pod("two annotations that differ", CHANGES, &plain()).annotated(apart));
    let foreign = json!({"container.seccomp.security.alpha.kubernetes.io/absent": "unconfined"});
    all.push(pod("annotation of no container", CHANGES, &json!({})).annotated(foreign));
    let before = json!({"initContainers": [unset("before")]});
    let annotation = json!({"container.seccomp.security.alpha.kubernetes.io/before": "unconfined"});
    all.push(pod("annotation of an init container", CHANGES, &before).annotated(annotation));
    let bare_one = json!({"containers": [bare("app")]});
    let annotation = json!({POD: "runtime/default"});
    all.push(whole("an annotation in place of a field", CHANGES, bare_one).annotated(annotation));
    all
}

fn app_armor() -> Vec<Case> {
    const KEY: &str = "container.apparmor.security.beta.kubernetes.io/app";
    let mut all = profiles("appArmorProfile", &[]);
    for value in ["runtime/default", "localhost/profile", "unconfined"] {
        all.push(pod(format!("{KEY}={value}"), &[], &json!({})).annotated(json!({ KEY: value })));
        let two = json!({ KEY: value, "container.apparmor.security.beta.kubernetes.io/before": "unconfined" });
        let before = json!({"initContainers": [hard("before")]});
        all.push(pod(format!("{KEY}={value} and one more"), &[], &before).annotated(two));
    }
    let field = merged(hard("app"), &context(&profile("appArmorProfile", "Unconfined")));
    let both = json!({"containers": [field]});
    all.push(pod("AppArmor by field and annotation", &[], &both).annotated(json!({ KEY: "unconfined" })));
    all
}

fn se_linux() -> Vec<Case> {
    const CHANGES: &[u32] = &[31];
    let mut all = Vec::new();
    for (label, options) in [
        ("level", json!({"level": "s0:c1,c2"})),
        ("type empty", json!({"type": ""})),
        ("type container_t", json!({"type": "container_t"})),
        ("type container_init_t", json!({"type": "container_init_t"})),
        ("type container_kvm_t", json!({"type": "container_kvm_t"})),
        ("type container_engine_t", json!({"type": "container_engine_t"})),
        ("type spc_t", json!({"type": "spc_t"})),
        ("user", json!({"user": "system_u"})),
        ("role", json!({"role": "system_r"})),
        ("all three", json!({"type": "spc_t", "user": "system_u", "role": "system_r"})),
        ("type container_engine_t and a user", json!({"type": "container_engine_t", "user": "system_u"})),
    ] {
        let options = context(&json!({ "seLinuxOptions": options }));
        all.push(pod(format!("SELinux {label}, pod"), CHANGES, &options));
        all.extend(in_lists(&format!("SELinux {label}"), CHANGES, &LISTS, &options));
    }
    let mut twice = in_list(
        "SELinux of pod and",
        CHANGES,
        List::Main,
        &merged(hard("tried"), &context(&json!({"seLinuxOptions": {"type": "spc_t"}}))),
    );
    twice.spec["securityContext"] = json!({"seLinuxOptions": {"user": "system_u"}});
    all.push(twice);
    all
}

fn sysctls() -> Vec<Case> {
    const CHANGES: &[u32] = &[27, 29, 32, 37];
    const NAMES: [&str; 20] = [
        "kernel.shm_rmid_forced",
        "net.ipv4.ip_local_port_range",
        "net.ipv4.ip_unprivileged_port_start",
        "net.ipv4.ping_group_range",
        "net.ipv4.tcp_syncookies",
        "net.ipv4.ip_local_reserved_ports",
        "net.ipv4.tcp_fin_timeout",
        "net.ipv4.tcp_keepalive_intvl",
        "net.ipv4.tcp_keepalive_probes",
        "net.ipv4.tcp_keepalive_time",
        "net.ipv4.tcp_rmem",
        "net.ipv4.tcp_wmem",
        "net.ipv4.tcp_notsent_lowat",
        "net.ipv4.tcp_slow_start_after_idle",
        "kernel.msgmax",
        "kernel.sem",
        "net.core.somaxconn",
        "net.ipv4.conf.all.route_localnet",
        "net/ipv4/tcp_syncookies",
        "fs.mqueue.msg_max",
    ];
    let one = |name: &str| json!({"name": name, "value": "1"});
    let with = |list: Vec<Value>| context(&json!({ "sysctls": list }));
    let mut all: Vec<Case> =
        NAMES.iter().map(|name| pod(format!("sysctl {name}"), CHANGES, &with(vec![one(name)]))).collect();
    all.push(pod("no sysctls", CHANGES, &with(vec![])));
    all.push(pod("all sysctls", CHANGES, &with(NAMES.iter().map(|name| one(name)).collect())));
    all.push(pod("the sysctls allowed first", CHANGES, &with(NAMES[..5].iter().map(|name| one(name)).collect())));
    all.push(pod("the sysctls allowed last", CHANGES, &with(NAMES[..14].iter().map(|name| one(name)).collect())));
    all
}

fn proc_mount() -> Vec<Case> {
    const CHANGES: &[u32] = &[35];
    let mut all = in_lists("procMount Default", CHANGES, &LISTS, &context(&json!({"procMount": "Default"})));
    // the server takes Unmasked in a user namespace alone
    for kind in ["Default", "Unmasked"] {
        let container = merged(hard("tried"), &context(&json!({ "procMount": kind })));
        for list in [List::Main, List::Init, List::Sidecar] {
            let mut case = in_list(&format!("procMount {kind} in a user namespace"), CHANGES, list, &container);
            case.spec["hostUsers"] = json!(false);
            all.push(case);
        }
        all.push(into(
            format!("procMount {kind} put into a user namespace"),
            CHANGES,
            Standing::UserNamespace,
            &container,
        ));
        let plain =
            json!({"hostUsers": false, "containers": [merged(bare("app"), &context(&json!({ "procMount": kind })))]});
        all.push(whole(format!("procMount {kind} and nothing else in a user namespace"), CHANGES, plain));
    }
    all
}
