//! From the word for a kind to the type that a server serves.

use pintle_fleet::{Cause, Cluster, ClusterError, Discovery, ResourceType, Unknown};
use std::sync::Arc;

/// The type that the word means on this cluster. What is not known is asked for once more: it may be new.
///
/// # Errors
/// Nothing is called so there, several kinds are, or the cluster does not answer.
pub(crate) async fn resolve(cluster: &Cluster, word: &str) -> Result<(ResourceType, Arc<Discovery>), ClusterError> {
    let known = cluster.discovery().await?;
    let unknown = match known.find(word) {
        Ok(kind) => return Ok((kind.clone(), known)),
        Err(several @ Unknown::Several(_)) => several,
        Err(Unknown::Nothing(_)) => {
            let anew = cluster.rediscover().await?;
            match anew.find(word) {
                Ok(kind) => return Ok((kind.clone(), anew)),
                Err(unknown) => unknown,
            }
        }
    };
    let said = match unknown {
        Unknown::Nothing(None) => "the server serves nothing called so".to_owned(),
        Unknown::Nothing(Some(near)) => format!("did you mean `{near}`?"),
        Unknown::Several(names) => format!("several are called so: write {}", names.join(" or ")),
    };
    let what = format!("kind `{}`", pintle_core::Foreign::one_line(word));
    Err(ClusterError { cluster: cluster.name().to_owned(), cause: Cause::NotFound { what, said } })
}
