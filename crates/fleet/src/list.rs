//! Lists, page by page: however long a list is, only one page of it is held as JSON.

use crate::{Cause, Cluster, ClusterError, ResourceType, cluster::decode, connection::Ask, resource_type::query_value};
use serde::{
    Deserialize, Deserializer as _,
    de::{DeserializeOwned, IgnoredAny, MapAccess, Visitor},
};
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

/// One page of a server-side table.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TablePage {
    /// Columns; later pages may leave them out.
    #[serde(rename = "columnDefinitions")]
    pub columns: Vec<TableColumn>,
    /// Rows.
    pub rows: Vec<TableRow>,
    metadata: ListMeta,
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
struct ListMeta {
    #[serde(rename = "continue", deserialize_with = "nullable")]
    token: String,
    #[serde(deserialize_with = "nullable")]
    resource_version: String,
    remaining_item_count: Option<u64>,
}

#[derive(Deserialize)]
#[serde(bound = "T: DeserializeOwned")]
struct Items<T> {
    #[serde(default, deserialize_with = "nullable")]
    metadata: ListMeta,
    #[serde(default = "Vec::new", deserialize_with = "nullable")]
    items: Vec<T>,
}

/// `null` as what an absent member means: Go writes empty lists so.
fn nullable<'de, D: serde::Deserializer<'de>, T: Deserialize<'de> + Default>(deserializer: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// A page of either form.
trait Page: DeserializeOwned + Send + 'static {
    fn end(&mut self) -> ListMeta;
    fn objects(&self) -> usize;
}

impl<T: DeserializeOwned + Send + 'static> Page for Items<T> {
    fn end(&mut self) -> ListMeta {
        std::mem::take(&mut self.metadata)
    }
    fn objects(&self) -> usize {
        self.items.len()
    }
}

impl Page for TablePage {
    fn end(&mut self) -> ListMeta {
        std::mem::take(&mut self.metadata)
    }
    fn objects(&self) -> usize {
        self.rows.len()
    }
}

impl Cluster {
    /// A list, page by page: `take` folds the objects of each page into what `start` made. What `T` does not name is
    /// skipped while decoding, which large pages have a thread of their own for; the page is gone before the next is
    /// asked for.
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
        let take = move |state: &mut S, page: Items<T>| take(state, page.items);
        self.named(walk(self, kind, params, Ask::JSON, start, take).await)
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
        let take = move |state: &mut S, page: Items<T>| take(state, page.items);
        self.named(walk(self, kind, params, Ask::METADATA, start, take).await)
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
        take: impl FnMut(&mut S, TablePage) + Send,
    ) -> Result<Listing<S>, ClusterError> {
        self.named(walk(self, kind, params, Ask::TABLE, start, take).await)
    }
}

async fn walk<P: Page, S: Send>(
    cluster: &Cluster,
    kind: &ResourceType,
    params: &ListParams,
    accept: &'static str,
    start: impl Fn() -> S + Send,
    mut take: impl FnMut(&mut S, P) + Send,
) -> Result<Listing<S>, Cause> {
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
        let mut fetched = None;
        loop {
            let path = params.path(kind, page_size, token.as_deref());
            let body = match fetched.take() {
                Some(body) => body,
                None => cluster.body(&path, accept).await,
            };
            let body = match body {
                // Where the caller goes on from an earlier call, what came before is not ours to repeat.
                Err(Cause::Gone { .. })
                    if listing.pages > 0 && params.continue_token.is_none() && restarts < RESTARTS =>
                {
                    restarts += 1;
                    // The second time one request without pages: it cannot become too old on the way.
                    page_size = (restarts < RESTARTS).then(|| params.page_size.saturating_mul(4));
                    continue 'anew;
                }
                body => body?,
            };
            // While one page is decoded the next one is on its way, unless this may be the last one wanted.
            let ahead = peek(&body).filter(|next| params.most.is_none() && Some(next) != token.as_ref());
            let mut page: P = match ahead {
                Some(next) => {
                    let path_ahead = params.path(kind, page_size, Some(&next));
                    let (page, body) = futures::join!(decode(&path, body), cluster.body(&path_ahead, accept));
                    fetched = Some(body);
                    page?
                }
                None => decode(&path, body).await?,
            };
            let end = page.end();
            listing.pages += 1;
            listing.objects += page.objects();
            listing.resource_version = end.resource_version;
            listing.remaining = end.remaining_item_count;
            take(&mut listing.value, page);
            let next = Some(end.token).filter(|token| !token.is_empty());
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

/// The continue token of a page that is not decoded yet: API servers write a list's metadata before its items.
fn peek(body: &[u8]) -> Option<String> {
    let mut found = ListMeta::default();
    // It ends with an error as soon as it has seen what it looks for.
    let _ = serde_json::Deserializer::from_slice(body).deserialize_map(Peek(&mut found));
    Some(found.token).filter(|token| !token.is_empty())
}

struct Peek<'a>(&'a mut ListMeta);

impl<'de> Visitor<'de> for Peek<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "metadata" => {
                    *self.0 = map.next_value::<Option<ListMeta>>()?.unwrap_or_default();
                    return Ok(());
                }
                "items" | "rows" => return Ok(()),
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_is_seen_before_the_items_are_read() {
        let page = r#"{"kind":"PodList","apiVersion":"v1","metadata":{"continue":"x"},"items":[{"#;
        assert_eq!(peek(page.as_bytes()).as_deref(), Some("x"), "though the rest is broken");
        for none in [r#"{"items":[],"metadata":{"continue":"x"}}"#, r#"{"metadata":null,"items":[]}"#, "{}", "[", ""] {
            assert_eq!(peek(none.as_bytes()), None, "{none}");
        }
    }
}
