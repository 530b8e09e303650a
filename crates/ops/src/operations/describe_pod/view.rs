//! A described pod as people read it.

use super::{Described, ToldContainer};
use pintle_core::View;
use pintle_fleet::{FleetRow, FleetValue};
use std::collections::BTreeMap;

impl FleetValue for Described {
    fn view(&self) -> View {
        let mut head = vec![format!(
            "Pod {}/{}: {}, {} ready, {} restarts, age {}",
            self.namespace, self.name, self.status, self.ready, self.restarts, self.age
        )];
        let mut line = |name: &str, value: Option<String>| {
            head.extend(value.filter(|value| !value.is_empty()).map(|value| format!("{name}: {value}")));
        };
        line("Reason", self.reason.clone());
        line("Deleted", self.deleted.map(|time| time.to_string()));
        line("Finalizers", Some(self.finalizers.join(", ")));
        line("Node", self.node.clone());
        line("IP", self.ip.clone());
        line("Started", self.started.map(|time| time.to_string()));
        line("QoS", self.qos.clone());
        line("Service account", self.service_account.clone());
        line("Priority class", self.priority_class.clone());
        line("Owners", Some(self.owners.join(", ")));
        line("Labels", Some(pairs(&self.labels)));
        line("Annotations", Some(self.annotations.join(", ")));
        line("Node selector", Some(pairs(&self.node_selector)));
        line("Scheduling gates", Some(self.scheduling_gates.join(", ")));
        let mut view = View::text(head.join("\n"));
        for container in &self.containers {
            view = view.and_text(container.text());
        }
        let conditions = self.conditions.iter().map(|condition| {
            let text = |text: &Option<String>| text.clone().unwrap_or_default();
            let (reason, message) = (text(&condition.reason), text(&condition.message));
            vec![condition.kind.clone(), condition.status.clone(), reason, message]
        });
        if !self.conditions.is_empty() {
            view = view.and_table(["CONDITION", "STATUS", "REASON", "MESSAGE"], conditions.collect::<Vec<_>>());
        }
        if !self.volumes.is_empty() {
            let volumes: Vec<String> =
                self.volumes.iter().map(|volume| format!("  {}: {}", volume.name, volume.source)).collect();
            view = view.and_text(format!("Volumes:\n{}", volumes.join("\n")));
        }
        view = if self.events.is_empty() {
            view.and_text("No events.")
        } else {
            let columns = crate::model::event::EventRow::COLUMNS.iter().copied();
            view.and_table(columns, self.events.iter().map(FleetRow::cells).collect::<Vec<_>>())
        };
        if self.notes.is_empty() { view } else { view.and_text(self.notes.join("\n")) }
    }
}

impl ToldContainer {
    fn text(&self) -> String {
        let mut lines = vec![
            format!("Container {} ({}): {}", self.name, self.role, self.state),
            format!(
                "  image {}, {}ready, {} restarts",
                self.image,
                if self.ready { "" } else { "not " },
                self.restarts
            ),
        ];
        let mut line = |name: &str, value: String| {
            if !value.is_empty() {
                lines.push(format!("  {name}: {value}"));
            }
        };
        line("last", self.last.clone().unwrap_or_default());
        line("requests", pairs(&self.requests));
        line("limits", pairs(&self.limits));
        line("ports", self.ports.join(", "));
        line("probes", self.probes.join(", "));
        line("environment", self.env.join("; "));
        line("mounts", self.mounts.join("; "));
        lines.join("\n")
    }
}

fn pairs(map: &BTreeMap<String, String>) -> String {
    map.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(", ")
}
