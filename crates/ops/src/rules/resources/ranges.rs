//! The LimitRanges of a namespace: defaults, least, most, ratio.

use super::{Kind, Look};
use crate::rules::{
    containers::View,
    finding::{Finding, Severity},
    quantity::Amount,
};
use k8s_openapi::api::core::v1::{LimitRange, LimitRangeItem};

/// Whether a LimitRange would fill in that value of a container.
pub(super) fn has_default(ranges: &[LimitRange], kind: Kind, name: &str) -> bool {
    items(ranges).any(|(_, item)| {
        let of =
            |map: &Option<std::collections::BTreeMap<String, _>>| map.as_ref().is_some_and(|m| m.contains_key(name));
        match kind {
            Kind::Limits => of(&item.default),
            // A default limit becomes the request where no default request stands beside it.
            Kind::Requests => of(&item.default_request) || of(&item.default),
        }
    })
}

/// What a container has that a LimitRange of today would refuse: the pod cannot come back once it is gone.
pub(super) fn check(look: &Look<'_>, view: &View<'_>, found: &mut Vec<Finding>) {
    let Some(resources) = view.resources else { return };
    let amount = |kind: Kind, name: &str| kind.of(resources)?.get(name).and_then(|q| Amount::try_from(q).ok());
    for (range, item) in items(look.ranges) {
        let bound = |map: &Option<std::collections::BTreeMap<String, _>>| -> Vec<(String, Amount)> {
            map.iter().flatten().filter_map(|(name, q)| Some((name.clone(), Amount::try_from(q).ok()?))).collect()
        };
        let mut tell = |name: &str, field: &str, words: String, bound: Amount| {
            let text = if name == "cpu" { bound.as_cpu() } else { bound.as_bytes() };
            found.push(
                look.find("resources/outside-limit-range", Severity::Medium, view, words)
                    .shown_by(format!("limitrange/{range}.spec.limits[Container].{field}.{name}"), text)
                    .next("bring the container within the range: a new pod of it would be refused"),
            );
        };
        for (name, least) in bound(&item.min) {
            if amount(Kind::Requests, &name).or_else(|| amount(Kind::Limits, &name)).is_some_and(|a| a < least) {
                tell(&name, "min", format!("its {name} request is below the namespace's minimum"), least);
            }
        }
        for (name, most) in bound(&item.max) {
            if amount(Kind::Limits, &name).is_some_and(|a| a > most) {
                tell(&name, "max", format!("its {name} limit is above the namespace's maximum"), most);
            }
        }
        for (name, ratio) in bound(&item.max_limit_request_ratio) {
            let (Some(request), Some(limit)) = (amount(Kind::Requests, &name), amount(Kind::Limits, &name)) else {
                continue;
            };
            let allowed = ratio.percent_of(Amount::units(1));
            if limit.percent_of(request).zip(allowed).is_some_and(|(is, may)| is > may) {
                tell(&name, "maxLimitRequestRatio", format!("its {name} limit is too far above its request"), ratio);
            }
        }
    }
}

/// The items for containers, with the name of their LimitRange.
fn items(ranges: &[LimitRange]) -> impl Iterator<Item = (&str, &LimitRangeItem)> {
    ranges.iter().flat_map(|range| {
        let name = range.metadata.name.as_deref().unwrap_or("");
        let limits = range.spec.as_ref().map(|s| s.limits.as_slice()).unwrap_or_default();
        limits.iter().filter(|l| l.type_ == "Container").map(move |l| (name, l))
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Demands, examine, testing::*};
    use super::*;
    use serde_json::{Value, json};

    fn range(item: Value) -> LimitRange {
        let mut item = item;
        item["type"] = json!("Container");
        serde_json::from_value(json!({"metadata": {"name": "lr"}, "spec": {"limits": [item]}})).unwrap()
    }

    #[test]
    fn an_2_3_limit_range_defaults_fill_in_for_new_pods() {
        let ranges = [range(json!({"default": {"memory": "1Gi", "cpu": "1"}}))];
        let found = examine(&pod(json!(null)), &ranges, Demands::default());
        assert_eq!((found.len(), found[0].severity), (1, Severity::Info));
        let value = found[0].evidence_of("spec.containers[app].resources.limits.memory").unwrap();
        assert!(value.contains("LimitRange"));
    }

    #[test]
    fn an_2_3_limit_range_bounds_and_ratio() {
        for (item, expected) in [
            (
                json!({"min": {"memory": "32Mi"}, "max": {"memory": "1Gi"}, "maxLimitRequestRatio": {"memory": "2"}}),
                None,
            ),
            (json!({"min": {"memory": "100Mi"}}), Some("its memory request is below the namespace's minimum")),
            (json!({"max": {"cpu": "100m"}}), Some("its cpu limit is above the namespace's maximum")),
            (json!({"maxLimitRequestRatio": {"cpu": "1.5"}}), Some("its cpu limit is too far above its request")),
        ] {
            let found = examine(&pod(full()), &[range(item.clone())], Demands::default());
            assert_eq!(found.first().map(|f| f.message.as_str()), expected, "{item}");
        }
        let of_pod = serde_json::from_value(
            json!({"metadata": {}, "spec": {"limits": [{"type": "Pod", "max": {"cpu": "1m"}}]}}),
        );
        assert_eq!(examine(&pod(full()), &[of_pod.unwrap()], Demands::default()), []);
    }
}
