//! Kinds of volumes.

use super::{Breach, Place, Subject, breach};
use k8s_openapi::api::core::v1::Volume;

/// Restricted: only kinds that belong to the pod or are claimed. A volume without any kind is not allowed either.
pub(super) fn restricted(subject: &Subject<'_>) -> Option<Breach> {
    let places = subject
        .spec
        .volumes
        .iter()
        .flatten()
        .filter(|v| !is_allowed(v))
        .map(|v| Place::pod(format!("spec.volumes[{}]", v.name), kind(v)));
    breach("restricted volume types", places.collect())
}

fn is_allowed(v: &Volume) -> bool {
    v.config_map.is_some()
        || v.csi.is_some()
        || v.downward_api.is_some()
        || v.empty_dir.is_some()
        || v.ephemeral.is_some()
        || v.image.is_some()
        || v.persistent_volume_claim.is_some()
        || v.projected.is_some()
        || v.secret.is_some()
}

/// The kind of a volume that is not allowed, as its field is called.
fn kind(v: &Volume) -> &'static str {
    [
        ("hostPath", v.host_path.is_some()),
        ("awsElasticBlockStore", v.aws_elastic_block_store.is_some()),
        ("azureDisk", v.azure_disk.is_some()),
        ("azureFile", v.azure_file.is_some()),
        ("cephfs", v.cephfs.is_some()),
        ("cinder", v.cinder.is_some()),
        ("fc", v.fc.is_some()),
        ("flexVolume", v.flex_volume.is_some()),
        ("flocker", v.flocker.is_some()),
        ("gcePersistentDisk", v.gce_persistent_disk.is_some()),
        ("gitRepo", v.git_repo.is_some()),
        ("glusterfs", v.glusterfs.is_some()),
        ("iscsi", v.iscsi.is_some()),
        ("nfs", v.nfs.is_some()),
        ("photonPersistentDisk", v.photon_persistent_disk.is_some()),
        ("portworxVolume", v.portworx_volume.is_some()),
        ("quobyte", v.quobyte.is_some()),
        ("rbd", v.rbd.is_some()),
        ("scaleIO", v.scale_io.is_some()),
        ("storageos", v.storageos.is_some()),
        ("vsphereVolume", v.vsphere_volume.is_some()),
    ]
    .into_iter()
    .find_map(|(name, is_set)| is_set.then_some(name))
    .unwrap_or("unknown")
}

#[cfg(test)]
mod tests {
    use super::super::{Level, testing::*};
    use serde_json::json;

    #[test]
    fn an_2_2_restricted_volumes_allow_nine_kinds() {
        let found = |volume: serde_json::Value| {
            let mut volume = volume;
            volume["name"] = json!("v");
            broken(&json!({"volumes": [volume]}), Level::Restricted, 37).contains(&"restrictedVolumes")
        };
        for allowed in [
            json!({"configMap": {}}),
            json!({"csi": {"driver": "d"}}),
            json!({"downwardAPI": {}}),
            json!({"emptyDir": {}}),
            json!({"ephemeral": {}}),
            json!({"image": {}}),
            json!({"persistentVolumeClaim": {"claimName": "c"}}),
            json!({"projected": {}}),
            json!({"secret": {}}),
        ] {
            assert!(!found(allowed.clone()), "{allowed}");
        }
        for forbidden in [
            json!({"hostPath": {"path": "/"}}),
            json!({"nfs": {"path": "/", "server": "s"}}),
            json!({"gitRepo": {"repository": "r"}}),
            json!({"iscsi": {"iqn": "i", "lun": 0, "targetPortal": "p"}}),
            json!({"flexVolume": {"driver": "d"}}),
            json!({}),
        ] {
            assert!(found(forbidden.clone()), "{forbidden}");
        }
    }
}
