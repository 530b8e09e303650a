//! As whom containers run, and what more they may become.

use serde_json::{Value, json};

use super::case::{Case, LISTS, List, Standing, hard, in_list, in_lists, into, merged};

pub fn cases() -> Vec<Case> {
    let mut all = escalation();
    all.extend(non_root());
    all.extend(user());
    all.extend(strangers());
    all
}

fn escalation() -> Vec<Case> {
    const CHANGES: &[u32] = &[8, 25];
    let mut all = Vec::new();
    for (label, context) in [
        // a privileged container allows escalation by itself
        ("privileged", json!({"privileged": true, "allowPrivilegeEscalation": null})),
        ("not privileged", json!({"privileged": false})),
        ("escalation unset", json!({"allowPrivilegeEscalation": null})),
        ("escalation allowed", json!({"allowPrivilegeEscalation": true})),
        ("escalation forbidden", json!({"allowPrivilegeEscalation": false})),
    ] {
        all.extend(in_lists(label, CHANGES, &LISTS, &json!({ "securityContext": context })));
    }
    all
}

/// A field of the pod with the same field of a container, in every list, with and without a user namespace.
fn crossed(field: &str, values: &[Value], changes: &'static [u32]) -> Vec<Case> {
    let mut all = Vec::new();
    for of_pod in values {
        for of_container in values {
            for host_users in [json!(null), json!(false)] {
                for list in [List::Main, List::Init] {
                    let label =
                        format!("{field} {of_pod} of the pod, {of_container} of the container, hostUsers {host_users}");
                    let context = json!({"securityContext": { field: of_container }});
                    let mut case = in_list(&label, changes, list, &merged(hard("tried"), &context));
                    let change = json!({"hostUsers": host_users, "securityContext": { field: of_pod }});
                    case.spec = merged(case.spec, &change);
                    all.push(case);
                }
            }
        }
    }
    for of_container in values {
        for standing in Standing::ALL {
            let context = json!({"securityContext": { field: of_container }});
            let label = format!("{field} {of_container} put into {}", standing.name());
            all.push(into(label, changes, standing, &merged(hard("tried"), &context)));
        }
    }
    all
}

fn non_root() -> Vec<Case> {
    crossed("runAsNonRoot", &[json!(null), json!(true), json!(false)], &[35])
}

fn user() -> Vec<Case> {
    crossed("runAsUser", &[json!(null), json!(0), json!(1000)], &[23, 35])
}

/// Fields of the same context that no control looks at.
fn strangers() -> Vec<Case> {
    [json!({"runAsGroup": 0}), json!({"readOnlyRootFilesystem": true}), json!({"readOnlyRootFilesystem": false})]
        .iter()
        .flat_map(|context| {
            in_lists(
                &format!("only {context}"),
                &[],
                &[List::Main, List::Ephemeral],
                &json!({ "securityContext": context }),
            )
        })
        .collect()
}
