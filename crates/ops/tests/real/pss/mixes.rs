//! Pods that do several things wrong at once, pods that say little, and templates of every kind that makes pods.

use serde_json::{Value, json};

use super::case::{Case, Put, bare, hard, hardened, merged, pod_context, whole};

const CHANGES: &[u32] = &[8, 19, 22, 23, 25, 34, 35];

pub fn cases() -> Vec<Case> {
    let mut all = sparse();
    all.extend(mixed());
    all.extend(templates());
    all
}

fn sparse() -> Vec<Case> {
    let with = |context: Value, containers: Value| json!({"securityContext": context, "containers": containers});
    vec![
        whole("nothing said", CHANGES, json!({"containers": [bare("app")]})),
        whole("all said by the container", CHANGES, hardened()),
        whole("all said by the pod that it can", CHANGES, with(pod_context(), json!([bare("app")]))),
        whole("one of two containers hardened", CHANGES, json!({"containers": [hard("app"), bare("other")]})),
        whole("the pod covers the second", CHANGES, with(pod_context(), json!([hard("app"), bare("other")]))),
        whole(
            "an empty context",
            CHANGES,
            with(json!({}), json!([merged(bare("app"), &json!({"securityContext": {}}))])),
        ),
        whole(
            "the pod covers all lists",
            CHANGES,
            merged(
                with(pod_context(), json!([bare("app")])),
                &json!({"initContainers": [bare("before"), merged(bare("beside"), &json!({"restartPolicy": "Always"}))]}),
            ),
        ),
    ]
}

/// Changes that do not exclude one another: of the pod, and of its container.
fn wrongs() -> Vec<Value> {
    let container = |change: Value| json!({ "container": change });
    let context = |change: Value| container(json!({ "securityContext": change }));
    vec![
        json!({"hostPID": true}),
        json!({"hostNetwork": true}),
        json!({"hostUsers": true}),
        json!({"volumes": [{"name": "host", "hostPath": {"path": "/"}}]}),
        json!({"volumes": [{"name": "net", "nfs": {"server": "nfs.example", "path": "/"}}]}),
        json!({"securityContext": {"runAsNonRoot": false}}),
        json!({"securityContext": {"runAsUser": 0}}),
        json!({"securityContext": {"seccompProfile": {"type": "Unconfined"}}}),
        json!({"securityContext": {"seLinuxOptions": {"type": "container_engine_t"}}}),
        json!({"securityContext": {"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}}),
        json!({"securityContext": {"appArmorProfile": {"type": "Unconfined"}}}),
        context(json!({"privileged": true, "allowPrivilegeEscalation": null})),
        context(json!({"runAsNonRoot": null})),
        context(json!({"runAsUser": 0})),
        context(json!({"capabilities": {"add": ["NET_RAW"], "drop": ["ALL"]}})),
        context(json!({"capabilities": null})),
        context(json!({"seccompProfile": null})),
        context(json!({"seccompProfile": {"type": "Unconfined"}})),
        context(json!({"appArmorProfile": {"type": "Unconfined"}})),
        context(json!({"seLinuxOptions": {"user": "system_u"}})),
        container(json!({"ports": [{"containerPort": 80, "hostPort": 80}]})),
        container(json!({"livenessProbe": {"tcpSocket": {"port": 80, "host": "a.example"}}})),
    ]
}

/// Two to five of them in one pod, picked by a fixed sequence; all of them last.
fn mixed() -> Vec<Case> {
    const COUNT: usize = 40;
    let wrongs = wrongs();
    let mut state = 37_u64;
    let mut pick = move |below: usize| {
        // the multiplier of Knuth's MMIX; its high bits are the good ones
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    let mut all = Vec::new();
    for index in 0..COUNT {
        let chosen: Vec<&Value> = (0..2 + pick(4)).map(|_| &wrongs[pick(wrongs.len())]).collect();
        all.push(mix(format!("mix {index}"), &chosen, pick(3)));
    }
    all.push(mix("everything wrong".into(), &wrongs.iter().collect::<Vec<_>>(), 0));
    all
}

/// The pod's changes, and the container's in one of the lists.
fn mix(label: String, chosen: &[&Value], list: usize) -> Case {
    let mut spec = hardened();
    let mut tried = hard("tried");
    for wrong in chosen {
        match wrong.get("container") {
            Some(change) => tried = merged(tried, change),
            None => spec = merged(spec, wrong),
        }
    }
    match list {
        0 => spec["containers"].as_array_mut().unwrap().push(tried),
        // an init container has no probes, one that stays has
        _ => spec["initContainers"] = json!([merged(tried, &json!({"restartPolicy": "Always"}))]),
    }
    whole(label, CHANGES, spec)
}

fn templates() -> Vec<Case> {
    const KINDS: [&str; 8] = [
        "CronJob",
        "DaemonSet",
        "Deployment",
        "Job",
        "PodTemplate",
        "ReplicaSet",
        "ReplicationController",
        "StatefulSet",
    ];
    let specs = [
        ("hardened", hardened()),
        ("plain", json!({"containers": [bare("app")]})),
        ("wrong", mix(String::new(), &wrongs().iter().collect::<Vec<_>>(), 1).spec),
    ];
    let mut all = Vec::new();
    for kind in KINDS {
        for (label, spec) in &specs {
            let mut case = whole(format!("{kind} with a {label} template"), &[8, 19, 22, 25, 34, 35], spec.clone());
            case.put = Put::Template(kind);
            all.push(case);
        }
    }
    all
}
