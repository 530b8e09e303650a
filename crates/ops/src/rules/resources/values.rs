//! Values that contradict themselves or are out of all proportion.

use super::{Kind, Look};
use crate::rules::{
    containers::View,
    finding::{Finding, Severity},
    quantity::Amount,
};

/// Less memory than this runs nothing, in bytes.
const LEAST_MEMORY: i64 = 1 << 20;

/// More cores than any one container asks for; `500` was meant as `500m`.
const MOST_CPU: i64 = 256;

/// A limit that many percent above its request promises what a full node cannot keep.
const WIDE_MEMORY: i128 = 400;

/// CPU is throttled and not killed for, so it may be wider.
const WIDE_CPU: i128 = 2_000;

pub(super) fn check(look: &Look<'_>, view: &View<'_>, found: &mut Vec<Finding>) {
    let Some(resources) = view.resources else { return };
    for kind in [Kind::Requests, Kind::Limits] {
        for (name, quantity) in kind.of(resources).into_iter().flatten() {
            let field = view.path(&format!("resources.{}.{name}", kind.word()));
            match Amount::try_from(quantity) {
                Err(error) => found.push(
                    look.find("resources/unreadable", Severity::Medium, view, error.to_string())
                        .shown_by(field, &quantity.0)
                        .next("write a number with one of m, k, M, G, T, Ki, Mi, Gi, Ti"),
                ),
                Ok(amount) => found.extend(absurd(look, view, name, amount).map(|f| f.shown_by(field, &quantity.0))),
            }
        }
    }
    let amount = |kind: Kind, name: &str| kind.of(resources)?.get(name).and_then(|q| Amount::try_from(q).ok());
    let names = resources.limits.iter().flatten().map(|(name, _)| name);
    for name in names {
        let (Some(request), Some(limit)) = (amount(Kind::Requests, name), amount(Kind::Limits, name)) else { continue };
        found.extend(against(look, view, name, request, limit));
    }
}

/// A value nobody means.
fn absurd(look: &Look<'_>, view: &View<'_>, name: &str, amount: Amount) -> Option<Finding> {
    let (severity, words, next) = match name {
        "memory" | "ephemeral-storage" if !amount.is_whole() => {
            (Severity::High, format!("asks for a fraction of a byte of {name}"), "`m` means thousandths: write Mi or M")
        }
        "memory" if !amount.is_zero() && amount < Amount::units(LEAST_MEMORY) => {
            (Severity::High, format!("is given {} bytes of memory", amount.ceil_units()), "add the unit: Mi or Gi")
        }
        "cpu" if amount > Amount::units(MOST_CPU) => {
            (Severity::Medium, format!("is given {} cores", amount.as_cpu()), "add `m` when thousandths were meant")
        }
        name if is_whole_only(name) && !amount.is_whole() => {
            (Severity::High, format!("asks for a fraction of {name}"), "such resources are given out whole")
        }
        _ => return None,
    };
    Some(look.find("resources/absurd", severity, view, words).next(next))
}

/// Devices and huge pages cannot be shared or overcommitted.
fn is_whole_only(name: &str) -> bool {
    name.contains('/') || name.starts_with("hugepages-")
}

/// A limit beside its request.
fn against(look: &Look<'_>, view: &View<'_>, name: &str, request: Amount, limit: Amount) -> Option<Finding> {
    let (id, severity, words, next) = if limit < request {
        (
            "resources/limit-below-request",
            Severity::High,
            format!("its {name} limit is below its request"),
            "raise the limit or lower the request",
        )
    } else if is_whole_only(name) && limit != request {
        (
            "resources/not-equal",
            Severity::High,
            format!("its {name} limit differs from its request"),
            "set both to the same: such resources cannot be overcommitted",
        )
    } else {
        let wide = match name {
            "memory" => WIDE_MEMORY,
            "cpu" => WIDE_CPU,
            _ => return None,
        };
        let percent = limit.percent_of(request).filter(|p| *p > wide)?;
        (
            "resources/wide",
            Severity::Low,
            format!("its {name} limit is {} times its request", percent / 100),
            "raise the request toward the real use: the scheduler counts requests alone",
        )
    };
    let text = |amount: Amount| if name == "cpu" { amount.as_cpu() } else { amount.as_bytes() };
    Some(
        look.find(id, severity, view, words)
            .shown_by(view.path(&format!("resources.requests.{name}")), text(request))
            .shown_by(view.path(&format!("resources.limits.{name}")), text(limit))
            .next(next),
    )
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use serde_json::json;

    #[test]
    fn an_2_3_requests_over_limits() {
        let found = examine_one(&pod(json!({
            "requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "1000m", "memory": "1G"},
        })));
        assert_eq!(found.iter().map(|f| f.id).collect::<Vec<_>>(), ["resources/limit-below-request"]);
        assert_eq!(found[0].evidence_of("spec.containers[app].resources.limits.memory"), Some("1000000000"));
    }

    #[test]
    fn an_2_3_absurd_units_are_told() {
        for (name, value, id) in [
            ("memory", "128m", "resources/absurd"),
            ("memory", "100", "resources/absurd"),
            ("cpu", "500", "resources/absurd"),
            ("nvidia.com/gpu", "500m", "resources/absurd"),
            ("memory", "1gib", "resources/unreadable"),
        ] {
            let mut resources = full();
            resources["requests"][name] = json!(value);
            resources["limits"][name] = json!(value);
            let found = examine_one(&pod(resources));
            assert!(found.iter().all(|f| f.id == id) && found.len() == 2, "{name}={value}: {found:?}");
        }
    }

    #[test]
    fn an_2_3_devices_and_huge_pages_have_equal_request_and_limit() {
        for name in ["nvidia.com/gpu", "hugepages-2Mi"] {
            let mut resources = full();
            resources["requests"][name] = json!("1");
            resources["limits"][name] = json!("2");
            assert_eq!(examine_one(&pod(resources.clone()))[0].id, "resources/not-equal", "{name}");
            resources["limits"][name] = json!("1");
            assert_eq!(examine_one(&pod(resources)), [], "{name}");
        }
    }

    #[test]
    fn an_2_3_wide_ratios_are_told_mildly() {
        let found = examine_one(&pod(json!({
            "requests": {"cpu": "100m", "memory": "100Mi"}, "limits": {"cpu": "1", "memory": "600Mi"},
        })));
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].id, found[0].message.as_str()),
            ("resources/wide", "its memory limit is 6 times its request")
        );
    }
}
