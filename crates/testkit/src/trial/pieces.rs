//! A tool whose answer is more than text.

use super::World;
use pintle_core::{Answer, Call, Contents, Part, Query, Resource, Stop, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A red dot, 1 by 1.
pub(crate) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/// Gives a picture, a resource and a link.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Pieces {}

#[derive(Serialize, JsonSchema)]
pub(super) struct ThreePieces {
    pieces: u32,
}

impl Query for Pieces {
    type Host = World;
    type Answer = ThreePieces;
    const NAME: &str = "trial.pieces";

    async fn run(self, _: &World, _: &Call) -> Result<ThreePieces, Stop> {
        Ok(ThreePieces { pieces: 3 })
    }
}

impl Answer for ThreePieces {
    fn view(&self) -> View {
        View::text("a picture, a resource and a link")
    }

    fn parts(&self) -> Vec<Part> {
        vec![
            Part::Image { mime: "image/png".to_owned(), data: PNG.to_owned() },
            Part::Resource(Contents::text("trial://note", "text/plain", "a note")),
            Part::Link(Resource { uri: "trial://more".to_owned(), name: "more".to_owned(), ..Resource::default() }),
        ]
    }
}
