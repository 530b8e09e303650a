//! Volumes of every kind that a server still takes.

use serde_json::{Value, json};

use super::case::{Case, pod};

pub fn cases() -> Vec<Case> {
    let mut all: Vec<Case> = kinds()
        .into_iter()
        .map(|volume| {
            let volumes = vec![named("tried", &volume)];
            pod(format!("volume {volume}"), &[22], &json!({ "volumes": volumes }))
        })
        .collect();
    let path = json!({"hostPath": {"path": "/tmp"}});
    for other in [json!({"emptyDir": {}}), json!({"nfs": {"server": "nfs.example", "path": "/"}})] {
        let volumes = vec![named("first", &other), named("second", &path)];
        all.push(pod(format!("volumes of the host and {other}"), &[], &json!({ "volumes": volumes })));
    }
    let allowed: Vec<Value> =
        kinds().iter().take(9).enumerate().map(|(index, kind)| named(&format!("v{index}"), kind)).collect();
    all.push(pod("all volumes that are allowed", &[], &json!({ "volumes": allowed })));
    all
}

fn named(name: &str, volume: &Value) -> Value {
    let mut volume = volume.clone();
    volume["name"] = json!(name);
    volume
}

/// The nine that `restricted` allows first.
fn kinds() -> Vec<Value> {
    vec![
        json!({"configMap": {"name": "settings"}}),
        json!({"csi": {"driver": "csi.example"}}),
        json!({"downwardAPI": {"items": [{"path": "name", "fieldRef": {"fieldPath": "metadata.name"}}]}}),
        json!({"emptyDir": {"medium": "Memory"}}),
        json!({"ephemeral": {"volumeClaimTemplate": {"spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}}}),
        json!({"image": {"reference": "registry.example/data:1"}}),
        json!({"persistentVolumeClaim": {"claimName": "data"}}),
        json!({"projected": {"sources": [{"configMap": {"name": "settings"}}]}}),
        json!({"secret": {"secretName": "keys"}}),
        json!({"hostPath": {"path": "/var/run/docker.sock"}}),
        json!({"hostPath": {"path": "/tmp", "type": "DirectoryOrCreate"}}),
        json!({"awsElasticBlockStore": {"volumeID": "vol-1"}}),
        json!({"azureDisk": {"diskName": "d", "diskURI": "https://disks.example/d.vhd"}}),
        json!({"azureFile": {"secretName": "s", "shareName": "s"}}),
        json!({"cephfs": {"monitors": ["10.0.0.1:6789"]}}),
        json!({"cinder": {"volumeID": "v"}}),
        json!({"fc": {"targetWWNs": ["50060e801049cfd1"], "lun": 0}}),
        json!({"flexVolume": {"driver": "example/d"}}),
        json!({"flocker": {"datasetName": "d"}}),
        json!({"gcePersistentDisk": {"pdName": "d"}}),
        json!({"gitRepo": {"repository": "https://git.example/r.git"}}),
        json!({"glusterfs": {"endpoints": "e", "path": "p"}}),
        json!({"iscsi": {"targetPortal": "10.0.0.1:3260", "iqn": "iqn.2026-01.example:a", "lun": 0}}),
        json!({"nfs": {"server": "nfs.example", "path": "/"}}),
        json!({"photonPersistentDisk": {"pdID": "d"}}),
        json!({"portworxVolume": {"volumeID": "v"}}),
        json!({"quobyte": {"registry": "registry.example:7861", "volume": "v"}}),
        json!({"rbd": {"monitors": ["10.0.0.1:6789"], "image": "i"}}),
        json!({"scaleIO": {"gateway": "https://scaleio.example", "system": "s", "secretRef": {"name": "s"}, "volumeName": "v"}}),
        json!({"storageos": {"volumeName": "v"}}),
        json!({"vsphereVolume": {"volumePath": "[d] v"}}),
    ]
}
