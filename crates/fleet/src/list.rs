//! Lists, page by page: however long a list and its pages are, only a piece of one is held as JSON.

use crate::{
    Cause, Cluster, ClusterError, ResourceType,
    arriving::{Arriving, Given},
    connection::Ask,
    resource_type::query_value,
};
use serde::{Deserialize, de::DeserializeOwned};
use std::fmt::Write as _;

/// How often a list that became too old on the way is begun anew.
const RESTARTS: u32 = 2;

/// Which objects of a collection, and how they come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListParams {
    /// One namespace; all when absent or empty.
    pub namespace: Option<String>,
    /// Label selector.
    pub label_selector: Option<String>,
    /// Field selector.
    pub field_selector: Option<String>,
    /// Objects a page.
    pub page_size: u32,
    /// Stop after the page with which so many objects have come.
    pub most: Option<usize>,
    /// Where to go on, from [`Listing::continue_token`].
    pub continue_token: Option<String>,
}

impl Default for ListParams {
    /// Everything, 500 a page.
    fn default() -> Self {
        Self {
            namespace: None,
            label_selector: None,
            field_selector: None,
            page_size: 500,
            most: None,
            continue_token: None,
        }
    }
}

impl ListParams {
    /// Everything in one namespace, or in all.
    #[must_use]
    pub fn in_namespace(namespace: Option<&str>) -> Self {
        Self { namespace: namespace.map(str::to_owned), ..Self::default() }
    }

    fn path(&self, kind: &ResourceType, page_size: Option<u32>, token: Option<&str>) -> String {
        let mut path = kind.path(self.namespace.as_deref().filter(|namespace| !namespace.is_empty()));
        let mut sign = '?';
        let limit = page_size.map(|size| size.to_string());
        let values = [
            ("labelSelector", self.label_selector.as_deref()),
            ("fieldSelector", self.field_selector.as_deref()),
            ("limit", limit.as_deref()),
            ("continue", token),
        ];
        for (name, value) in values {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                // Writing to a text cannot fail.
                let _ = write!(path, "{sign}{name}={}", query_value(value));
                sign = '&';
            }
        }
        path
    }
}

/// What came of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing<S> {
    /// What the pages were folded into.
    pub value: S,
    /// Objects that came.
    pub objects: usize,
    /// Pages.
    pub pages: usize,
    /// How often the list was begun anew because it had become too old on the way; nothing came twice into `value`.
    pub restarts: u32,
    /// Resource version of the list.
    pub resource_version: String,
    /// Objects that were not fetched, where the server told.
    pub remaining: Option<u64>,
    /// Where to go on, if there is more.
    pub continue_token: Option<String>,
}

impl<S> Listing<S> {
    /// What people should know about how it came.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        match self.restarts {
            0 => Vec::new(),
            1 => vec!["the list became too old on the way and was begun anew".to_owned()],
            times => vec![format!("the list became too old on the way and was begun anew {times} times")],
        }
    }

    /// The same listing of something made of its value.
    pub fn map<T>(self, change: impl FnOnce(S) -> T) -> Listing<T> {
        Listing {
            value: change(self.value),
            objects: self.objects,
            pages: self.pages,
            restarts: self.restarts,
            resource_version: self.resource_version,
            remaining: self.remaining,
            continue_token: self.continue_token,
        }
    }
}

/// Some rows of a server-side table.
#[derive(Clone, Debug, Default)]
pub struct TablePage {
    /// Columns, before the first rows; what comes later leaves them out.
    pub columns: Vec<TableColumn>,
    /// Rows.
    pub rows: Vec<TableRow>,
}

/// A column of a server-side table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct TableColumn {
    /// Its name, such as `Ready`.
    pub name: String,
    /// `string`, `integer`, `date`…
    #[serde(rename = "type")]
    pub kind: String,
    /// 0 for what is always shown.
    pub priority: i32,
    /// What it means.
    pub description: String,
}

/// A row of a server-side table.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct TableRow {
    /// Cells: texts, numbers, booleans or null.
    #[serde(deserialize_with = "nullable")]
    pub cells: Vec<serde_json::Value>,
    /// The object's metadata, as `{"metadata": {…}}`.
    pub object: Option<serde_json::Value>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ListMeta {
    #[serde(rename = "continue", deserialize_with = "nullable")]
    pub(crate) token: String,
    #[serde(deserialize_with = "nullable")]
    resource_version: String,
    remaining_item_count: Option<u64>,
}

/// `null` as what an absent member means: Go writes empty lists so.
fn nullable<'de, D: serde::Deserializer<'de>, T: Deserialize<'de> + Default>(deserializer: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// In which form a list is asked for, and where its objects stand in the answer.
#[derive(Clone, Copy)]
struct Form {
    accept: &'static str,
    member: &'static str,
}

impl Form {
    const OBJECTS: Self = Self { accept: Ask::JSON, member: "items" };
    const METADATA: Self = Self { accept: Ask::METADATA, member: "items" };
    const TABLE: Self = Self { accept: Ask::TABLE, member: "rows" };
}

impl Cluster {
    /// A list, page by page: `take` folds the objects, one or a few at a time, into what `start` made. They are
    /// decoded while the page still comes, and what `T` does not name is skipped.
    ///
    /// A list that becomes too old on the way (410) is begun anew from `start`, so nothing is counted twice; the
    /// listing says so. 429 and 503 are waited for as the server asks, within the time of the call.
    ///
    /// # Errors
    /// Everything that goes wrong with a cluster; a page that fails loses the list, because half a list would be
    /// taken for the whole.
    pub async fn list_pages<T, S>(
        &self,
        kind: &ResourceType,
        params: &ListParams,
        start: impl Fn() -> S + Send,
        mut take: impl FnMut(&mut S, Vec<T>) + Send,
    ) -> Result<Listing<S>, ClusterError>
    where
        T: DeserializeOwned + Send + 'static,
        S: Send,
    {
        let take = move |state: &mut S, _, objects| take(state, objects);
        self.named(walk(self, kind, params, Form::OBJECTS, start, take).await)
    }

    /// A list as the objects it consists of; for small kinds or slim types.
    ///
    /// # Errors
    /// As [`list_pages`](Self::list_pages).
    pub async fn list<T>(&self, kind: &ResourceType, params: &ListParams) -> Result<Listing<Vec<T>>, ClusterError>
    where
        T: DeserializeOwned + Send + 'static,
    {
        self.list_pages(kind, params, Vec::new, |all, mut page| all.append(&mut page)).await
    }

    /// Only metadata of the objects (`PartialObjectMetadata`): `T` sees `{"metadata": {…}}`.
    ///
    /// # Errors
    /// As [`list_pages`](Self::list_pages).
    pub async fn list_metadata<T, S>(
        &self,
        kind: &ResourceType,
        params: &ListParams,
        start: impl Fn() -> S + Send,
        mut take: impl FnMut(&mut S, Vec<T>) + Send,
    ) -> Result<Listing<S>, ClusterError>
    where
        T: DeserializeOwned + Send + 'static,
        S: Send,
    {
        let take = move |state: &mut S, _, objects| take(state, objects);
        self.named(walk(self, kind, params, Form::METADATA, start, take).await)
    }

    /// A list as the server's own table (`kubectl get`): the cheapest form, and right for kinds that nobody here knows.
    ///
    /// # Errors
    /// As [`list_pages`](Self::list_pages).
    pub async fn list_table<S: Send>(
        &self,
        kind: &ResourceType,
        params: &ListParams,
        start: impl Fn() -> S + Send,
        mut take: impl FnMut(&mut S, TablePage) + Send,
    ) -> Result<Listing<S>, ClusterError> {
        let take = move |state: &mut S, columns, rows| take(state, TablePage { columns, rows });
        self.named(walk(self, kind, params, Form::TABLE, start, take).await)
    }
}

async fn walk<T, S>(
    cluster: &Cluster,
    kind: &ResourceType,
    params: &ListParams,
    form: Form,
    start: impl Fn() -> S + Send,
    mut take: impl FnMut(&mut S, Vec<TableColumn>, Vec<T>) + Send,
) -> Result<Listing<S>, Cause>
where
    T: DeserializeOwned + Send + 'static,
    S: Send,
{
    let bounds = cluster.bounds();
    let mut restarts = 0;
    let mut page_size = Some(params.page_size.max(1));
    'anew: loop {
        let mut listing = Listing {
            value: start(),
            objects: 0,
            pages: 0,
            restarts,
            resource_version: String::new(),
            remaining: None,
            continue_token: None,
        };
        let mut token = params.continue_token.clone();
        let mut ahead = None;
        loop {
            let path = params.path(kind, page_size, token.as_deref());
            let opened = match ahead.take() {
                Some(opened) => opened,
                None => cluster.pieces(&path, form.accept).await,
            };
            let mut body = match opened {
                // Where the caller goes on from an earlier call, what came before is not ours to repeat.
                Err(Cause::Gone { .. })
                    if listing.pages > 0 && params.continue_token.is_none() && restarts < RESTARTS =>
                {
                    restarts += 1;
                    // The second time one request without pages: it cannot become too old on the way.
                    page_size = (restarts < RESTARTS).then(|| params.page_size.saturating_mul(4));
                    continue 'anew;
                }
                opened => opened?,
            };
            let mut page = Arriving::new(form.member);
            loop {
                let until = page.wanted();
                body.more(&bounds, page.buffer(), until).await?;
                body.is_within()?;
                let last = body.is_whole();
                // With its last piece the next page is on its way, unless this may be the last one wanted.
                let next = page.token().filter(|next| last && params.most.is_none() && token.as_deref() != Some(next));
                let path_ahead = next.map(|next| params.path(kind, page_size, Some(next)));
                let give = |(columns, objects): Given<T>| {
                    listing.objects += objects.len();
                    take(&mut listing.value, columns, objects);
                };
                let decoded = match path_ahead {
                    Some(path_ahead) => {
                        let asking = cluster.pieces(&path_ahead, form.accept);
                        let (opened, decoded) = futures::join!(asking, async { page.decode(&path, last, give) });
                        ahead = Some(opened);
                        decoded
                    }
                    None => page.decode(&path, last, give),
                };
                decoded?;
                if last {
                    break;
                }
                // However fast the server is, other calls have their turn.
                tokio::task::yield_now().await;
            }
            listing.pages += 1;
            listing.resource_version = page.meta.resource_version;
            listing.remaining = page.meta.remaining_item_count;
            let next = Some(page.meta.token).filter(|token| !token.is_empty());
            if next.is_none() {
                listing.remaining = None;
                return Ok(listing);
            }
            if params.most.is_some_and(|most| listing.objects >= most) {
                listing.continue_token = next;
                return Ok(listing);
            }
            if next == token {
                return Err(Cause::BadAnswer { path, why: "its continue token leads to itself".to_owned() });
            }
            token = next;
        }
    }
}
