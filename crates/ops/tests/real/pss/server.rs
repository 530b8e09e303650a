//! The server that judges: a namespace for each level and version, and requests that change nothing.

use std::collections::BTreeMap;
use std::time::Duration;

use http_body_util::BodyExt;
use k8s_openapi::api::core::v1::PodSpec;
use kube::{Client, Config, client::Body, config::KubeConfigOptions, config::Kubeconfig};
use pintle_ops::rules::pss::{Level, Version};
use pintle_testkit::cluster::Clusters;
use serde_json::{Value, json};

use super::case::{Case, Put, Standing};
use super::warning::{Forbidden, parse};

/// What the server made of a case, and what it said.
#[derive(Debug)]
pub struct Judged {
    pub spec: PodSpec,
    pub annotations: BTreeMap<String, String>,
    pub forbidden: Vec<Forbidden>,
}

/// One cluster with the namespaces of this run; they go with the value.
pub struct Server<'a> {
    client: Client,
    clusters: &'a Clusters,
    context: &'a str,
    run: String,
}

/// How many times a namespace is asked for its service account before the test gives up.
const PATIENCE: usize = 600;

impl<'a> Server<'a> {
    pub async fn new(clusters: &'a Clusters, context: &'a str) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let kubeconfig = Kubeconfig::read_from(clusters.kubeconfig()).unwrap();
        let options = KubeConfigOptions { context: Some(context.to_owned()), ..KubeConfigOptions::default() };
        let config = Config::from_custom_kubeconfig(kubeconfig, &options).await.unwrap();
        let client = Client::try_from(config).unwrap();
        Self { client, clusters, context, run: format!("pss-{}", std::process::id()) }
    }

    fn namespace(&self, level: Level, version: Version) -> String {
        format!("{}-{level}-{}", self.run, version.to_string().replace('.', "-"))
    }

    /// Makes the namespace of a level and version, with the pods that ephemeral containers are put into.
    pub async fn prepare(&self, level: Level, version: Version) {
        let name = self.namespace(level, version);
        let labels = json!({
            "pintle-test": self.run,
            "pod-security.kubernetes.io/warn": level.to_string(),
            "pod-security.kubernetes.io/warn-version": version.to_string(),
        });
        let namespace = json!({"metadata": {"name": name, "labels": labels}});
        self.send("POST", "/api/v1/namespaces", "application/json", &namespace).await.unwrap();
        let account = format!("/api/v1/namespaces/{name}/serviceaccounts/default");
        let mut tries = 0;
        while let Err(why) = self.send("GET", &account, "application/json", &Value::Null).await {
            tries += 1;
            assert!(tries < PATIENCE, "no service account in {name}: {why}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        for standing in Standing::ALL {
            let mut spec = standing.spec();
            // nobody runs it: it only stands there
            spec["schedulerName"] = json!("nobody");
            let pod = json!({"metadata": {"name": standing.name()}, "spec": spec});
            let path = format!("/api/v1/namespaces/{name}/pods");
            self.send("POST", &path, "application/json", &pod).await.unwrap();
        }
    }

    /// What the server says of a case; an error when it refuses it for another reason.
    pub async fn judge(&self, case: &Case, level: Level, version: Version) -> Result<Judged, String> {
        let namespace = self.namespace(level, version);
        let pod = json!({"metadata": {"annotations": case.annotations, "labels": {"app": "tried"}}, "spec": case.spec});
        let (answer, warnings) = match case.put {
            Put::Pod => {
                let mut pod = pod;
                pod["metadata"]["name"] = json!("tried");
                let path = format!("/api/v1/namespaces/{namespace}/pods?dryRun=All");
                self.send("POST", &path, "application/json", &pod).await?
            }
            Put::Into(standing) => {
                let name = standing.name();
                let path = format!("/api/v1/namespaces/{namespace}/pods/{name}/ephemeralcontainers?dryRun=All");
                let patch = json!({"spec": case.spec});
                self.send("PATCH", &path, "application/strategic-merge-patch+json", &patch).await?
            }
            Put::Template(kind) => {
                let (group, plural) = resource(kind);
                let path = format!("/{group}/namespaces/{namespace}/{plural}?dryRun=All");
                self.send("POST", &path, "application/json", &object(kind, &pod)).await?
            }
        };
        let judged = match case.put {
            Put::Template(kind) => answer.pointer(pointer(kind)).ok_or("no template in the answer")?,
            Put::Pod | Put::Into(_) => &answer,
        };
        let spec = serde_json::from_value(judged["spec"].clone()).map_err(|why| why.to_string())?;
        let annotations = judged["metadata"].get("annotations").cloned().unwrap_or_else(|| json!({}));
        let annotations = serde_json::from_value(annotations).map_err(|why| why.to_string())?;
        let mut forbidden = warnings.iter().filter_map(|warning| parse(warning));
        let first = forbidden.next().unwrap_or_default();
        if forbidden.next().is_some() {
            Err("two warnings".into())
        } else {
            Ok(Judged { spec, annotations, forbidden: first })
        }
    }

    async fn send(&self, method: &str, path: &str, kind: &str, body: &Value) -> Result<(Value, Vec<String>), String> {
        let body = if body.is_null() { Vec::new() } else { serde_json::to_vec(body).unwrap() };
        let request = http::Request::builder().method(method).uri(path).header("content-type", kind);
        let response = self.client.send(request.body(Body::from(body)).unwrap()).await.map_err(|e| e.to_string())?;
        let status = response.status();
        let headers = response.headers().get_all("warning").iter();
        let warnings = headers.map(|value| value.to_str().map(str::to_owned)).collect::<Result<_, _>>();
        let warnings = warnings.map_err(|why| why.to_string())?;
        let bytes = response.into_body().collect().await.map_err(|why| why.to_string())?.to_bytes();
        let value: Value = serde_json::from_slice(&bytes).map_err(|why| why.to_string())?;
        if status.is_success() { Ok((value, warnings)) } else { Err(format!("{status}: {}", value["message"])) }
    }
}

impl Drop for Server<'_> {
    fn drop(&mut self) {
        let selector = format!("pintle-test={}", self.run);
        let arguments = ["delete", "namespaces", "--selector", &selector, "--wait=false"];
        // the clusters of tests end soon; what a killed run leaves is in nobody's way
        let _ = self.clusters.kubectl(self.context, &arguments);
    }
}

fn resource(kind: &str) -> (&'static str, &'static str) {
    match kind {
        "CronJob" => ("apis/batch/v1", "cronjobs"),
        "DaemonSet" => ("apis/apps/v1", "daemonsets"),
        "Deployment" => ("apis/apps/v1", "deployments"),
        "Job" => ("apis/batch/v1", "jobs"),
        "PodTemplate" => ("api/v1", "podtemplates"),
        "ReplicaSet" => ("apis/apps/v1", "replicasets"),
        "ReplicationController" => ("api/v1", "replicationcontrollers"),
        "StatefulSet" => ("apis/apps/v1", "statefulsets"),
        _ => panic!("no kind {kind}"),
    }
}

fn pointer(kind: &str) -> &'static str {
    match kind {
        "CronJob" => "/spec/jobTemplate/spec/template",
        "PodTemplate" => "/template",
        _ => "/spec/template",
    }
}

fn object(kind: &str, template: &Value) -> Value {
    let mut template = template.clone();
    let labels = json!({"app": "tried"});
    let mut object = json!({"metadata": {"name": "tried"}});
    if matches!(kind, "Job" | "CronJob") {
        template["spec"]["restartPolicy"] = json!("Never");
    }
    match kind {
        "CronJob" => object["spec"] = json!({"schedule": "0 0 1 1 *", "jobTemplate": {"spec": {"template": template}}}),
        "PodTemplate" => object["template"] = template,
        "Job" => object["spec"] = json!({"template": template}),
        "ReplicationController" => object["spec"] = json!({"selector": labels, "template": template}),
        "StatefulSet" => {
            object["spec"] = json!({"selector": {"matchLabels": labels}, "serviceName": "s", "template": template});
        }
        _ => object["spec"] = json!({"selector": {"matchLabels": labels}, "template": template}),
    }
    object
}
