use crate::{get, kube as connect, start};
use k8s_openapi::{
    List,
    api::{
        apps::v1::{Deployment, ReplicaSet},
        authorization::v1::SelfSubjectAccessReview,
        core::v1::{ConfigMap, Event, Namespace, Node, Pod, Secret},
    },
    apimachinery::pkg::{
        apis::meta::v1::{APIGroupList, APIResourceList, APIVersions, Status},
        version::Info,
    },
};
use kube::{
    api::{Api, ListParams, LogParams, PostParams},
    core::{DynamicObject, PartialObjectMeta, discovery::v2::APIGroupDiscoveryList},
    discovery::Discovery,
};
use pintle_testkit::kube::{Certificate, FakeCluster, Fault, Log, Objects};
use serde_json::{Value, json};

const JSON: &str = "application/json";
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

#[tokio::test]
async fn lists_are_of_the_real_types_and_pods_of_real_size() {
    let cluster = start(Objects::new().pods(120)).await;
    let (status, list) = get(&cluster, "/api/v1/pods", JSON).await;
    assert_eq!(status, 200);
    assert!(list["items"][0].get("kind").is_none(), "items of built-in lists carry no type");
    let one = list["items"][0].to_string().len();
    assert!((5000..8000).contains(&one), "{one} bytes");
    let pods: List<Pod> = serde_json::from_value(list).unwrap();
    assert_eq!(pods.items.len(), 120);
    let status = pods.items[0].status.as_ref().unwrap();
    assert_eq!(status.container_statuses.as_ref().unwrap().len(), 2);
    let waiting = pods.items.iter().filter(|pod| {
        let statuses = pod.status.as_ref().and_then(|status| status.container_statuses.as_ref());
        statuses
            .is_some_and(|all| all.iter().any(|one| one.state.as_ref().is_some_and(|state| state.waiting.is_some())))
    });
    assert_eq!(waiting.count(), 2, "one crashes and one has no image");
    let client = connect(&cluster.kubeconfig(["a"])).await;
    assert_eq!(Api::<Node>::all(client.clone()).list(&ListParams::default()).await.unwrap().items.len(), 20);
    assert_eq!(Api::<Deployment>::all(client.clone()).list(&ListParams::default()).await.unwrap().items.len(), 5);
    assert_eq!(Api::<ReplicaSet>::all(client.clone()).list(&ListParams::default()).await.unwrap().items.len(), 5);
    assert_eq!(Api::<Namespace>::all(client).list(&ListParams::default()).await.unwrap().items.len(), 9);
}

#[tokio::test]
async fn paging_gives_everything_once() {
    let cluster = start(Objects::new().pods(103)).await;
    let client = connect(&cluster.kubeconfig(["a"])).await;
    let pods = Api::<Pod>::all(client.clone());
    let mut params = ListParams::default().limit(25);
    let mut names = Vec::new();
    let mut left = Vec::new();
    loop {
        let page = pods.list(&params).await.unwrap();
        names.extend(page.items.into_iter().filter_map(|pod| pod.metadata.name));
        left.push(page.metadata.remaining_item_count);
        match page.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => params = params.continue_token(&token),
            None => break,
        }
        // What comes in between does not disturb the later pages.
        cluster.apply(json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": format!("late-{}", names.len()), "namespace": "a"},
            "spec": {"containers": [{"name": "c"}]}}));
    }
    assert_eq!(left, [Some(78), Some(53), Some(28), Some(3), None]);
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 103);
    let selected = ListParams::default().labels("app.kubernetes.io/name in (app-001),tier=backend").limit(5);
    let page = pods.list(&selected).await.unwrap();
    assert_eq!((page.items.len(), page.metadata.remaining_item_count), (5, None));
    let running = ListParams::default().fields("status.phase!=Running,spec.nodeName!=");
    assert_eq!(pods.list(&running).await.unwrap().items.len(), 1, "the one without image");
    let wrong = ListParams::default().fields("spec.containers=x");
    assert!(matches!(pods.list(&wrong).await, Err(kube::Error::Api(status)) if status.code == 400));
}

#[tokio::test]
async fn objects_go_in_and_come_out() {
    let secret = Secret {
        metadata: kube::api::ObjectMeta {
            name: Some("s".into()),
            namespace: Some("default".into()),
            ..Default::default()
        },
        string_data: Some([("a".to_owned(), "b".to_owned())].into()),
        ..Default::default()
    };
    let list = json!({"kind": "List", "items": [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}, "data": {"k": "v"}},
        {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e", "namespace": "x"}, "type": "Warning",
            "involvedObject": {"kind": "Pod", "name": "p"}, "source": {"component": "kubelet"}}
    ]});
    let cluster = start(Objects::new().with(secret).with(list)).await;
    let client = connect(&cluster.kubeconfig(["a"])).await;
    let secret = Api::<Secret>::namespaced(client.clone(), "default").get("s").await.unwrap();
    assert!(secret.metadata.uid.is_some() && secret.metadata.resource_version.is_some());
    let map = Api::<ConfigMap>::namespaced(client.clone(), "default").get("one").await.unwrap();
    assert_eq!(map.data.unwrap()["k"], "v");
    let events = Api::<Event>::all(client.clone());
    let fields = "involvedObject.name=p,involvedObject.kind=Pod,type=Warning,source=kubelet";
    assert_eq!(events.list(&ListParams::default().fields(fields)).await.unwrap().items.len(), 1);
    let (status, missing) = get(&cluster, "/apis/apps/v1/namespaces/default/deployments/web", JSON).await;
    let told: Status = serde_json::from_value(missing).unwrap();
    assert_eq!((status, told.code, told.reason.as_deref()), (404, Some(404), Some("NotFound")));
    assert_eq!(told.message.as_deref(), Some("deployments.apps \"web\" not found"));
    assert_eq!(told.details.unwrap().group.as_deref(), Some("apps"));
    let (status, missing) = get(&cluster, "/api/v1/namespaces/default/secrets/s/log", JSON).await;
    assert_eq!((status, &missing["reason"]), (404, &json!("NotFound")));
    assert_eq!(get(&cluster, "/apis/nobody.example.com/v1/things", JSON).await, (404, json!("404 page not found\n")));
    cluster.remove("secrets", "default", "s");
    assert!(Api::<Secret>::namespaced(client, "default").get_opt("s").await.unwrap().is_none());
}

#[tokio::test]
async fn tables_have_cells_for_their_columns() {
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "labels": {"a": "b"}},
        "spec": {"containers": [{"name": "c"}], "nodeName": "n"},
        "status": {"phase": "Running", "containerStatuses": [{"name": "c", "ready": false, "restartCount": 3,
            "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]}});
    let objects =
        Objects::new().with(pod).define("example.com", "Crate", "crates", true, &[("Size", ".spec.size")]).with(
            json!({"apiVersion": "example.com/v1", "kind": "Crate", "metadata": {"name": "big"}, "spec": {"size": 9}}),
        );
    let cluster = start(objects).await;
    let (_, table) = get(&cluster, "/api/v1/pods", TABLE).await;
    let names = |table: &Value| -> Vec<String> {
        let columns = table["columnDefinitions"].as_array().unwrap().iter();
        columns.map(|column| column["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!((&table["kind"], &table["apiVersion"]), (&json!("Table"), &json!("meta.k8s.io/v1")));
    assert_eq!(
        names(&table),
        ["Name", "Ready", "Status", "Restarts", "Age", "IP", "Node", "Nominated Node", "Readiness Gates"]
    );
    let cells = table["rows"][0]["cells"].as_array().unwrap();
    assert_eq!(cells[..4], [json!("p"), json!("0/1"), json!("CrashLoopBackOff"), json!("3")]);
    let object: PartialObjectMeta<Pod> = serde_json::from_value(table["rows"][0]["object"].clone()).unwrap();
    assert_eq!(object.metadata.labels.unwrap()["a"], "b");
    let (_, table) = get(&cluster, "/apis/example.com/v1/namespaces/default/crates?includeObject=None", TABLE).await;
    assert_eq!(names(&table), ["Name", "Size", "Age"]);
    assert_eq!(table["rows"][0]["cells"][1], 9);
    assert!(table["rows"][0].get("object").is_none());
    let client = connect(&cluster.kubeconfig(["a"])).await;
    let metadata = Api::<Pod>::all(client).list_metadata(&ListParams::default()).await.unwrap();
    assert_eq!(metadata.items[0].metadata.name.as_deref(), Some("p"));
}

#[tokio::test]
async fn discovery_in_one_piece_and_in_many_agree() {
    let cluster = start(Objects::new().definitions(300)).await;
    let accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
    let (_, groups) = get(&cluster, "/apis", accept).await;
    let groups: APIGroupDiscoveryList = serde_json::from_value(groups).unwrap();
    let resources = |list: &APIGroupDiscoveryList| {
        list.items.iter().flat_map(|group| &group.versions).map(|version| version.resources.len()).sum::<usize>()
    };
    let (_, core) = get(&cluster, "/api", accept).await;
    let core: APIGroupDiscoveryList = serde_json::from_value(core).unwrap();
    assert_eq!(core.items.len(), 1);
    assert!(resources(&groups) > 320 && resources(&core) == 14);
    cluster.take_requests();
    let client = connect(&cluster.kubeconfig(["a"])).await;
    let known = Discovery::new(client.clone()).run_aggregated().await.unwrap();
    assert_eq!(cluster.requests().len(), 2);
    let old = Discovery::new(client.clone()).run().await.unwrap();
    assert_eq!(known.groups().count(), old.groups().count());
    let widgets = known.groups().flat_map(|group| group.recommended_resources());
    assert_eq!(widgets.filter(|(resource, _)| resource.kind == "Widget").count(), 30);
    let (_, versions) = get(&cluster, "/api", JSON).await;
    assert_eq!(serde_json::from_value::<APIVersions>(versions).unwrap().versions, ["v1"]);
    let (_, groups) = get(&cluster, "/apis", JSON).await;
    assert!(serde_json::from_value::<APIGroupList>(groups).unwrap().groups.len() > 40);
    let (_, list) = get(&cluster, "/api/v1", JSON).await;
    let list: APIResourceList = serde_json::from_value(list).unwrap();
    assert!(list.resources.iter().any(|resource| resource.name == "pods/log"));
    let one = known.resolve_gvk(&kube::core::GroupVersionKind::gvk("group-00.example.com", "v1", "Widget000")).unwrap();
    assert!(
        Api::<DynamicObject>::all_with(client, &one.0).list(&ListParams::default()).await.unwrap().items.is_empty()
    );
}

#[tokio::test]
async fn whoever_asks_whether_he_may_list_is_told() {
    let cluster = start(Objects::new()).await;
    let reviews = Api::<SelfSubjectAccessReview>::all(connect(&cluster.kubeconfig(["a"])).await);
    let may = |group: &str, resource: &str, namespace: &str| {
        let attributes = json!({"verb": "list", "group": group, "resource": resource, "namespace": namespace});
        let review = json!({"metadata": {}, "spec": {"resourceAttributes": attributes}});
        let (reviews, review) = (reviews.clone(), serde_json::from_value(review).unwrap());
        async move { reviews.create(&PostParams::default(), &review).await.unwrap().status.unwrap().allowed }
    };
    cluster.fault("/api/v1/pods", Fault::Forbidden);
    cluster.fault("/apis/apps/v1/namespaces/shop/**", Fault::Forbidden);
    assert!(!may("", "pods", "").await);
    assert!(may("", "pods", "shop").await);
    assert!(!may("apps", "deployments", "shop").await);
    assert!(may("apps", "deployments", "").await);
    assert!(cluster.requests().iter().all(|request| !request.reads()), "a question is no read, and is on record");
}

#[tokio::test]
async fn version_and_health_tell_what_they_are_asked() {
    let cluster = start(Objects::new().version("v1.34.1+k3s1")).await;
    let (_, version) = get(&cluster, "/version", JSON).await;
    let version: Info = serde_json::from_value(version).unwrap();
    assert_eq!(
        (version.major.as_str(), version.minor.as_str(), version.git_version.as_str()),
        ("1", "34", "v1.34.1+k3s1")
    );
    assert_eq!(get(&cluster, "/livez", JSON).await, (200, json!("ok")));
    let (_, told) = get(&cluster, "/readyz?verbose", JSON).await;
    assert!(told.as_str().unwrap().starts_with("[+]ping ok\n"));
    cluster.rebuild(|objects| objects.failing_check("etcd"));
    let (status, told) = get(&cluster, "/readyz?verbose", JSON).await;
    let told = told.as_str().unwrap();
    assert!(
        status == 500 && told.contains("[-]etcd failed: reason withheld\n") && told.ends_with("readyz check failed\n")
    );
    assert_eq!(get(&cluster, "/readyz/ping", JSON).await.0, 200);
    assert_eq!(get(&cluster, "/readyz/nothing", JSON).await.0, 404);
}

#[tokio::test]
async fn logs_have_every_byte_and_every_parameter() {
    let pod = |name: &str, containers: Value| {
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {"containers": containers}})
    };
    let log = Log::new([b"one".as_slice(), b"t\xff\xfe\0wo", b"\x1b[31mthree\x1b[0m"]).previous(["before"]);
    let objects = Objects::new()
        .with(pod("single", json!([{"name": "app"}])))
        .with(pod("double", json!([{"name": "app"}, {"name": "side"}])))
        .log("default", "single", "app", log);
    let cluster = start(objects).await;
    let asked = |query: &'static str| {
        let url = format!("{}/api/v1/namespaces/default/pods/{query}", cluster.url());
        async move { crate::client().get(url).send().await.unwrap().bytes().await.unwrap() }
    };
    assert_eq!(asked("single/log").await, b"one\nt\xff\xfe\0wo\n\x1b[31mthree\x1b[0m\n".as_slice());
    assert_eq!(asked("single/log?tailLines=1").await, b"\x1b[31mthree\x1b[0m\n".as_slice());
    assert_eq!(asked("single/log?limitBytes=2").await, "on");
    assert_eq!(asked("single/log?sinceSeconds=0").await, "");
    let stamped = asked("single/log?timestamps=true&tailLines=3").await;
    let (time, rest) = std::str::from_utf8(&stamped[..34]).unwrap().split_once(' ').unwrap();
    assert!(time.parse::<k8s_openapi::jiff::Timestamp>().is_ok() && rest.starts_with("one"), "{time} {rest}");
    let client = connect(&cluster.kubeconfig(["a"])).await;
    let pods = Api::<Pod>::namespaced(client, "default");
    let previous = LogParams { previous: true, ..LogParams::default() };
    assert_eq!(pods.logs("single", &previous).await.unwrap(), "before\n");
    let refused = |query: &'static str| async move {
        let told: Status = serde_json::from_slice(&query_bytes(query).await).unwrap();
        (told.code.unwrap(), told.message.unwrap())
    };
    async fn query_bytes(url: &str) -> Vec<u8> {
        crate::client().get(url).send().await.unwrap().bytes().await.unwrap().to_vec()
    }
    let url: &'static str = format!("{}/api/v1/namespaces/default/pods/double/log", cluster.url()).leak();
    let (code, message) = refused(url).await;
    assert_eq!(
        (code, message.as_str()),
        (400, "a container name must be specified for pod double, choose one of: [app side]")
    );
    let url: &'static str = format!("{url}?container=app&previous=true").leak();
    assert_eq!(refused(url).await.1, "previous terminated container \"app\" in pod \"double\" not found");
}

#[tokio::test]
async fn connections_are_encrypted_and_multiplexed_where_asked() {
    let cluster = FakeCluster::setup(Objects::new()).tls(Certificate::Good).token("open sesame").start().await.unwrap();
    let client = connect(&cluster.kubeconfig(["a"])).await;
    let namespaces = Api::<Namespace>::all(client);
    for _ in 0..3 {
        namespaces.list(&ListParams::default()).await.unwrap();
    }
    let requests = cluster.requests();
    assert!(requests.iter().all(|request| request.connection == 1 && request.reads()), "{requests:?}");
    assert!(requests.iter().all(|request| request.header("authorization") == Some("Bearer open sesame")));
    let authority = reqwest::Certificate::from_pem(cluster.authority().unwrap().as_bytes()).unwrap();
    let client = reqwest::Client::builder().no_proxy().tls_certs_only([authority]).build().unwrap();
    let request = || client.get(format!("{}/version", cluster.url())).send();
    assert!(futures::future::join_all((0..8).map(|_| request())).await.into_iter().all(|answer| answer.is_ok()));
    let requests = cluster.requests();
    assert!(requests[3..].iter().all(|request| request.protocol == "HTTP/2.0"), "{requests:?}");
    let stranger = FakeCluster::setup(Objects::new()).token("other").start().await.unwrap();
    let (status, told) = get(&stranger, "/api/v1/pods", JSON).await;
    assert_eq!((status, &told["reason"]), (401, &json!("Unauthorized")));
    for bad in [Certificate::Expired, Certificate::WrongHost, Certificate::UnknownAuthority] {
        let cluster = FakeCluster::setup(Objects::new()).tls(bad).start().await.unwrap();
        let client = connect(&cluster.kubeconfig(["a"])).await;
        let failed = Api::<Namespace>::all(client).list(&ListParams::default()).await.unwrap_err();
        assert!(format!("{failed:?}").to_lowercase().contains("certificate"), "{bad:?}: {failed:?}");
        assert!(cluster.requests().is_empty());
    }
}

#[tokio::test]
async fn twenty_servers_share_their_objects() {
    let objects = Objects::new().pods(200);
    let mut clusters = Vec::new();
    for _ in 0..20 {
        clusters.push(start(objects.clone()).await);
    }
    for cluster in &clusters {
        let (_, list) = get(cluster, "/api/v1/pods?limit=100", JSON).await;
        assert_eq!(list["items"].as_array().unwrap().len(), 100);
        assert_eq!(cluster.requests().len(), 1);
    }
    clusters[0].remove("pods", "team-00", clusters[0].requests()[0].path.as_str());
    let kubeconfig = clusters[0].kubeconfig(["arn:aws:eks:eu-west-1:1:cluster/a", "user@host:6443/ns"]);
    let text: Value =
        serde_json::from_str(&kubeconfig.and(clusters[1].kubeconfig(["ein Öl"])).current("ein Öl").text()).unwrap();
    assert_eq!(text["contexts"].as_array().unwrap().len(), 3);
    assert_eq!(text["current-context"], "ein Öl");
}
