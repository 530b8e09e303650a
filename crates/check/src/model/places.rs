//! Places of a step's nodes, so that a copy of the step can tell where its assertions stand in the plan.

use pintle_yaml::{Node, Place};

use super::sink::{Places, Sink};

/// Every value below a node, depth first; keys are left out.
pub(super) fn walk<'n>(node: Node<'n>, seen: &mut dyn FnMut(Node<'n>)) {
    seen(node);
    for (_, value) in node.entries() {
        walk(value, seen);
    }
    for item in node.items() {
        walk(item, seen);
    }
}

/// Places of a node and everything below it, keys included, depth first.
pub(super) fn collect(node: Node<'_>, sink: &Sink<'_>, places: &mut Vec<Place>) {
    places.push(sink.place(node));
    for (key, value) in node.entries() {
        places.push(sink.place(key));
        collect(value, sink, places);
    }
    for item in node.items() {
        collect(item, sink, places);
    }
}

/// Which place in the file each place in a copy of the step stands for. Both have the same shape.
pub(super) fn pair(copy: Node<'_>, places: &[Place]) -> Places {
    let mut own = Vec::new();
    fn own_places(node: Node<'_>, own: &mut Vec<Place>) {
        own.push(node.pos());
        for (key, value) in node.entries() {
            own.push(key.pos());
            own_places(value, own);
        }
        for item in node.items() {
            own_places(item, own);
        }
    }
    own_places(copy, &mut own);
    own.into_iter().zip(places.iter().copied()).collect()
}
