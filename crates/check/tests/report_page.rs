//! The HTML report in a real browser: light, dark, narrow, by keyboard alone, and without any script error.

#![expect(clippy::unwrap_used, reason = "what cannot be set up is a failed test")]
#![expect(clippy::print_stderr, reason = "a skip is told to whoever watches")]

#[path = "report/chromium.rs"]
mod chromium;
#[path = "report/sample.rs"]
mod sample;

use chromium::Browser;
use pintle_check::RunOutcome;
use pintle_check::report::{Records, html};
use pintle_core::Redactor;
use serde_json::json;
use std::path::{Path, PathBuf};

struct Page {
    browser: Browser,
    file: PathBuf,
    _folder: tempfile::TempDir,
}

/// None where there is no Chromium, which the runner is told.
fn open(run: &RunOutcome) -> Option<Page> {
    let program = chromium::find()?;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.html");
    std::fs::write(&file, html(run)).unwrap();
    Some(Page { browser: Browser::open(&program, &file), file, _folder: folder })
}

/// Text whose contrast to what lies behind it is under the 4.5 of WCAG AA, as `text: ratio`.
const FAINT: &str = r#"
(() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const paint = (colors) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const color of colors) { canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1); }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (rgb) => {
    const [r, g, b] = rgb.map((c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const faint = [];
  let seen = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.data.trim();
    const at = walker.currentNode.parentElement;
    if (!text || !at.checkVisibility() || at.closest("button:disabled, script")) continue;
    const behind = [];
    for (let e = at; e; e = e.parentElement) behind.unshift(getComputedStyle(e).backgroundColor);
    const ground = paint(behind);
    const [a, b] = [light(paint([...behind, getComputedStyle(at).color])), light(ground)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    seen += 1;
    if (ratio < 4.5) faint.push(text.slice(0, 30) + ": " + ratio.toFixed(2));
  }
  return seen > 50 ? faint : ["only " + seen + " texts were seen"];
})()"#;

/// For whoever wants to look: pictures are kept in the folder that PINTLE_PICTURES names.
fn keep(name: &str, picture: &[u8]) {
    assert!(picture.starts_with(b"\x89PNG\r\n\x1a\n"), "{name} is no picture");
    if let Some(folder) = std::env::var_os("PINTLE_PICTURES") {
        std::fs::write(Path::new(&folder).join(format!("{name}.png")), picture).unwrap();
    }
}

#[test]
fn cw_52_page_is_readable_light_dark_and_narrow() {
    let Some(mut page) = open(&sample::run()) else { return };
    let browser = &mut page.browser;
    let mut pictures = Vec::new();
    for (name, scheme, width) in
        [("light", "light", 1280), ("dark", "dark", 1280), ("narrow-light", "light", 360), ("narrow-dark", "dark", 360)]
    {
        browser.look(scheme, width, 1000);
        assert_eq!(browser.eval(FAINT), json!([]), "{name}");
        let overflow = browser.eval("document.documentElement.scrollWidth - document.documentElement.clientWidth");
        assert_eq!(overflow, json!(0), "{name}: the page is wider than the window");
        let picture = browser.picture();
        keep(name, &picture);
        browser.eval("scrollTo(0, 1600)");
        keep(&format!("{name}-below"), &browser.picture());
        browser.eval("scrollTo(0, 0)");
        assert!(!pictures.contains(&picture), "{name} looks like another");
        pictures.push(picture);
    }
    // The caret of a line that is longer than the window is in view.
    let caret = "(() => {
        const caret = document.querySelector('#step-2 .caret').getBoundingClientRect();
        const source = document.querySelector('#step-2 .source').getBoundingClientRect();
        return source.left < caret.left && caret.right < source.right;
    })()";
    assert_eq!(browser.eval(caret), json!(true));
    assert_eq!(browser.troubles, Vec::<serde_json::Value>::new());
}

#[test]
fn cw_52_history_is_readable_light_dark_and_narrow() {
    let Some(program) = chromium::find() else { return };
    let folder = tempfile::tempdir().unwrap();
    let records = Records::in_folder(folder.path());
    let mut page = None;
    for _ in 0..6 {
        page = Some(records.keep(&sample::run(), &Redactor::new()).unwrap().page);
    }
    let mut browser = Browser::open(&program, &page.unwrap());
    for (scheme, width) in [("light", 1280), ("dark", 1280), ("light", 360), ("dark", 360)] {
        browser.look(scheme, width, 1000);
        assert_eq!(browser.eval(FAINT), json!([]), "{scheme} {width}");
        let overflow = browser.eval("document.documentElement.scrollWidth - document.documentElement.clientWidth");
        assert_eq!(overflow, json!(0), "{scheme} {width}: the page is wider than the window");
        keep(&format!("history-{scheme}-{width}"), &browser.picture());
    }
    assert_eq!(browser.eval("document.querySelectorAll('rect').length"), json!(6 * sample::run().steps().count()));
    assert_eq!(browser.troubles, Vec::<serde_json::Value>::new());
}

#[test]
fn cw_52_page_works_by_keyboard_alone() {
    let Some(mut page) = open(&sample::run()) else { return };
    let browser = &mut page.browser;
    browser.look("light", 1280, 1000);
    let focused = "document.activeElement.id || document.activeElement.parentElement.id";
    let shown = "[...document.querySelectorAll('.step')].filter(s => s.checkVisibility()).map(s => s.id).join(' ')";
    let count = "document.getElementById('count').textContent";

    // The search field by its key; the key itself is not typed.
    browser.key("/");
    assert_eq!(browser.eval(focused), json!("query"));
    browser.write("index BUILT");
    assert_eq!(browser.eval(shown), json!("step-6"));
    assert_eq!(browser.eval(count), json!("1 of 8 steps"));
    assert_eq!(browser.eval("CSS.highlights.get('found').size"), json!(2));

    // From there down to the step, open it and close it.
    let open = "document.getElementById('step-6').open";
    browser.key("ArrowDown");
    assert_eq!(browser.eval(focused), json!("step-6"));
    assert_eq!(browser.eval(open), json!(false));
    browser.key("Enter");
    assert_eq!(browser.eval(open), json!(true));
    browser.key(" ");
    assert_eq!(browser.eval(open), json!(false));
    browser.key("ArrowUp");
    assert_eq!(browser.eval(focused), json!("query"));

    // Nothing found is said; Escape brings all back.
    browser.write("zzzz");
    assert_eq!(browser.eval(count), json!("0 of 8 steps"));
    assert_eq!(browser.eval("document.getElementById('none').checkVisibility()"), json!(true));
    browser.key("Escape");
    assert_eq!(browser.eval(count), json!("8 of 8 steps"));

    // Filters are buttons in tab order, told to those who do not see them.
    browser.key("Tab");
    browser.key("Tab");
    assert_eq!(browser.eval("document.activeElement.dataset.status"), json!("failed"));
    assert_eq!(browser.eval("getComputedStyle(document.activeElement).outlineStyle"), json!("solid"));
    browser.key("Enter");
    assert_eq!(browser.eval(shown), json!("step-2 step-3 step-4 step-7"));
    let pressed = "[...document.querySelectorAll('[aria-pressed=true]')].map(b => b.dataset.status).join()";
    assert_eq!(browser.eval(pressed), json!("failed"));
    browser.key("Tab");
    browser.key(" ");
    assert_eq!(browser.eval(shown), json!("step-8"));

    assert_eq!(browser.troubles, Vec::<serde_json::Value>::new());
}

#[test]
fn cw_52_page_searches_details_and_orders_by_time() {
    let Some(mut page) = open(&sample::run()) else { return };
    let browser = &mut page.browser;
    let type_in = |browser: &mut Browser, text: &str| {
        browser.eval("document.getElementById('query').focus(); document.getElementById('query').select()");
        browser.write(text);
    };
    // What matches only inside is opened to show why, and closed with the search.
    type_in(browser, "127.0.0.1:8080");
    let first = "document.getElementById('step-1').open + ' ' + document.getElementById('step-1').hidden";
    assert_eq!(browser.eval(first), json!("true false"));
    browser.key("Escape");
    assert_eq!(browser.eval(first), json!("false false"));

    let order = "[...document.querySelectorAll('.step')].map(s => s.id.slice(5)).join('')";
    assert_eq!(browser.eval(order), json!("12345678"));
    browser
        .eval("{ const o = document.getElementById('order'); o.value = 'slow'; o.dispatchEvent(new Event('change')) }");
    assert_eq!(browser.eval(order), json!("63421578"));
    browser
        .eval("{ const o = document.getElementById('order'); o.value = 'plan'; o.dispatchEvent(new Event('change')) }");
    assert_eq!(browser.eval(order), json!("12345678"));

    let all_open = "[...document.querySelectorAll('.step')].every(s => s.open)";
    browser.eval("document.getElementById('expand').click()");
    assert_eq!(browser.eval(all_open), json!(true));
    // The toggle event that renames the button comes a moment later.
    let label = "new Promise(done => setTimeout(() => done(document.getElementById('expand').textContent)))";
    assert_eq!(browser.eval(label), json!("Collapse all"));
    browser.eval("document.getElementById('expand').click()");
    assert_eq!(browser.eval("document.querySelectorAll('.step[open]').length"), json!(0));

    // A link to a step opens it.
    browser.eval("new Promise(done => { addEventListener('hashchange', () => done()); location.hash = 'step-6' })");
    assert_eq!(browser.eval("document.getElementById('step-6').open"), json!(true));
    assert_eq!(browser.troubles, Vec::<serde_json::Value>::new());
}

#[test]
fn page_runs_nothing_that_a_server_sent() {
    let Some(mut page) = open(&sample::run()) else { return };
    let browser = &mut page.browser;
    assert_eq!(browser.eval("typeof window.hacked"), json!("undefined"));
    assert_eq!(browser.eval("document.querySelectorAll('img, iframe, object, link, base, form').length"), json!(0));
    assert_eq!(browser.eval("document.scripts.length"), json!(1));
    assert_eq!(browser.eval("document.querySelector('#step-7 .id').textContent"), json!("<script>alert(1)</script>"));
    assert_eq!(browser.troubles, Vec::<serde_json::Value>::new());
    // And what got in all the same could not run: the policy refuses it, which the browser reports.
    browser.eval(
        "{ const s = document.createElement('script'); s.textContent = 'window.hacked = 1'; document.body.append(s) }",
    );
    assert_eq!(browser.eval("typeof window.hacked"), json!("undefined"));
    let refused = browser.troubles.iter().any(|trouble| trouble.to_string().contains("Content Security Policy"));
    assert!(refused, "{:?}", browser.troubles);
}

#[test]
fn page_of_a_good_run_and_of_an_empty_one_work_too() {
    let Some(mut page) = open(&sample::good_run()) else { return };
    page.browser.look("light", 1280, 700);
    assert_eq!(page.browser.eval("document.querySelector('h1').textContent"), json!("✓All 2 steps passed"));
    keep("good", &page.browser.picture());
    std::fs::write(&page.file, html(&RunOutcome { plans: Vec::new(), ..sample::run() })).unwrap();
    let file = page.file.clone();
    page.browser.go(&file);
    assert_eq!(page.browser.eval("document.getElementById('count').textContent"), json!("0 of 0 steps"));
    keep("empty", &page.browser.picture());
    assert_eq!(page.browser.troubles, Vec::<serde_json::Value>::new());
}
