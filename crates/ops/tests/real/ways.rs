//! Ways to a cluster that a kubeconfig can describe: where kubectl gets through so do we, and where it does not we say why.

use std::fs;
use std::path::Path;

use pintle_core::Outcome;
use pintle_testkit::cluster::shared;
use serde_json::{Value, json};

use crate::asked::{Asked, text, written};

/// A way, what it changes in the kubeconfig, and the code of the error that it leads to.
struct Way {
    name: &'static str,
    cluster: Value,
    user: Value,
    fails: Option<&'static str>,
}

fn way(name: &'static str, cluster: Value, user: Value, fails: Option<&'static str>) -> Way {
    Way { name, cluster, user, fails }
}

#[test]
fn kt_get_pods_each_way_to_a_cluster_goes_as_far_as_kubectls() {
    let Some(clusters) = shared() else { return };
    if clusters.contexts().len() < 2 {
        pintle_testkit::skip("one cluster is not enough: `cargo xtask cluster up 3` starts three");
        return;
    }
    let context = &clusters.contexts()[0];
    let namespace = clusters.namespace(context, "ways");
    let folder = tempfile::tempdir().unwrap();
    let view = clusters.kubectl(context, &["config", "view", "--raw", "--flatten", "-o", "json"]).json();
    let named = |list: &str, name: &Value, what: &str| -> Value {
        let list = view[list].as_array().unwrap();
        list.iter().find(|entry| &entry["name"] == name).unwrap()[what].clone()
    };
    let entry = &named("contexts", &json!(context), "context");
    let other = named("contexts", &json!(clusters.contexts()[1]), "context");
    let cluster = named("clusters", &entry["cluster"], "cluster");
    let foreign = named("clusters", &other["cluster"], "cluster")["certificate-authority-data"].clone();
    let admin = named("users", &entry["user"], "user");
    let server = text(&cluster["server"]);
    let by_name = server.replace("127.0.0.1", "localhost");
    let certificates = "certs";
    fs::create_dir(folder.path().join(certificates)).unwrap();
    let decoded = |data: &Value, name: &str| {
        let path = format!("{certificates}/{name}");
        fs::write(folder.path().join(&path), decode(text(data))).unwrap();
        path
    };
    let authority = decoded(&cluster["certificate-authority-data"], "ca.crt");
    let certificate = decoded(&admin["client-certificate-data"], "client.crt");
    let key = decoded(&admin["client-key-data"], "client.key");
    let token = namespace.kubectl(&["create", "token", "default"]);
    fs::write(folder.path().join("token"), &token).unwrap();
    namespace.kubectl(&[
        "create",
        "rolebinding",
        "sees",
        "--clusterrole=view",
        &format!("--serviceaccount={}:default", namespace.name()),
    ]);

    let none = || json!({});
    let with = |base: &Value, more: Value| {
        let mut value = base.clone();
        value.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        value
    };
    let data = "certificate-authority-data";
    let without = |keys: &[&str]| {
        let mut value = cluster.clone();
        keys.iter().for_each(|key| drop(value.as_object_mut().unwrap().remove(*key)));
        value
    };
    let ways = [
        way("as it is", cluster.clone(), admin.clone(), None),
        way("by the name of this machine", with(&cluster, json!({"server": by_name})), admin.clone(), None),
        way("with a slash at its end", with(&cluster, json!({"server": format!("{server}/")})), admin.clone(), None),
        way(
            "files beside the kubeconfig",
            with(&without(&[data]), json!({"certificate-authority": authority})),
            json!({"client-certificate": certificate, "client-key": key}),
            None,
        ),
        way(
            "another name in the certificate",
            with(&cluster, json!({"tls-server-name": "kubernetes.default.svc"})),
            admin.clone(),
            None,
        ),
        way(
            "a name that the certificate has not",
            with(&cluster, json!({"tls-server-name": "shop.example"})),
            admin.clone(),
            Some("bad_certificate"),
        ),
        way(
            "the authority of another cluster",
            with(&cluster, json!({data: foreign})),
            admin.clone(),
            Some("bad_certificate"),
        ),
        way("no authority", without(&[data]), admin.clone(), Some("bad_certificate")),
        way(
            "no authority, and none wanted",
            with(&without(&[data]), json!({"insecure-skip-tls-verify": true})),
            admin.clone(),
            None,
        ),
        way("a service account's token", cluster.clone(), json!({"token": token}), None),
        way("its token in a file", cluster.clone(), json!({"tokenFile": "token"}), None),
        way("a token that nobody gave", cluster.clone(), json!({"token": "made-up"}), Some("unauthorized")),
        way("nobody", cluster.clone(), none(), Some("forbidden")),
        way(
            "an administrator as somebody else",
            cluster.clone(),
            with(&admin, json!({"as": "alice"})),
            Some("forbidden"),
        ),
        way("nobody listens", with(&cluster, json!({"server": "https://127.0.0.1:9"})), admin.clone(), Some("refused")),
    ];
    let name = "a way";
    let config = |way: &Way| {
        json!({
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": name,
            "clusters": [{"name": "there", "cluster": way.cluster}],
            "users": [{"name": "who", "user": way.user}],
            "contexts": [{"name": name, "context": {"cluster": "there", "user": "who", "namespace": namespace.name()}}],
        })
        .to_string()
    };
    for way in ways {
        let path = written(folder.path(), &config(&way));
        let kubectl = clusters.kubectl(name, &[&flag(&path), "get", "pods", "-n", namespace.name()]);
        let reply = Asked::of(path).call("get_pods", json!({"namespace": namespace.name()}));
        assert_eq!(kubectl.good, way.fails.is_none(), "kubectl, {}: {}", way.name, kubectl.stderr);
        assert_eq!(reply.outcome == Outcome::Ok, way.fails.is_none(), "{}: {:?}", way.name, reply.failure);
        let answer = reply.answer.unwrap();
        let code = answer["clusters"][0]["error"]["code"].as_str();
        assert_eq!(code, way.fails, "{}: {:?}", way.name, reply.failure);
    }
}

fn flag(kubeconfig: &Path) -> String {
    format!("--kubeconfig={}", kubeconfig.display())
}

/// Base64 as a kubeconfig holds it.
fn decode(text: &str) -> Vec<u8> {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.decode(text).unwrap()
}
