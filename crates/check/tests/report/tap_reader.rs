//! A small strict reader of TAP 14, enough to see that what is written means what was meant.

use serde_json::Value;

pub struct Point {
    pub ok: bool,
    pub description: String,
    pub skip: Option<String>,
    pub yaml: Option<Value>,
}

pub fn read(text: &str) -> Result<Vec<Point>, String> {
    let mut lines = text.lines().peekable();
    if lines.next() != Some("TAP version 14") {
        return Err("no version line".into());
    }
    let plan = lines.next().and_then(|line| line.strip_prefix("1..")).ok_or("no plan line")?;
    let planned: usize = plan.split(' ').next().unwrap_or(plan).parse().map_err(|e| format!("plan: {e}"))?;
    let mut points: Vec<Point> = Vec::new();
    while let Some(line) = lines.next() {
        let (ok, rest) = match (line.strip_prefix("ok "), line.strip_prefix("not ok ")) {
            (Some(rest), _) => (true, rest),
            (_, Some(rest)) => (false, rest),
            _ => return Err(format!("neither a test point nor its diagnostics: {line}")),
        };
        let (number, rest) = rest.split_once(" - ").ok_or_else(|| format!("no description: {line}"))?;
        if number.parse() != Ok(points.len() + 1) {
            return Err(format!("test points out of order: {line}"));
        }
        let (description, directive) = split_directive(rest);
        let skip = match directive {
            None => None,
            Some(text) => {
                Some(text.strip_prefix("SKIP ").ok_or_else(|| format!("unknown directive: {text}"))?.to_owned())
            }
        };
        let yaml = match lines.peek() {
            Some(&"  ---") => {
                lines.next();
                let mut block = String::new();
                loop {
                    match lines.next() {
                        Some("  ...") => break,
                        Some("") => block.push('\n'),
                        Some(inner) => {
                            block += inner.strip_prefix("  ").ok_or_else(|| format!("not indented: {inner}"))?;
                            block.push('\n');
                        }
                        None => return Err("diagnostics without end".into()),
                    }
                }
                let document = pintle_yaml::Document::parse(&block, pintle_yaml::Limits::default())
                    .map_err(|problems| format!("diagnostics of {description}: {problems:?}\n{block}"))?;
                Some(document.to_json())
            }
            _ => None,
        };
        points.push(Point { ok, description, skip, yaml });
    }
    if points.len() == planned { Ok(points) } else { Err(format!("{planned} planned, {} there", points.len())) }
}

/// Parts at the first `#` that is not escaped, and takes the escapes off.
fn split_directive(text: &str) -> (String, Option<String>) {
    let (mut description, mut directive) = (String::new(), None::<String>);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let c = match c {
            '\\' => chars.next().unwrap_or('\\'),
            '#' if directive.is_none() => {
                directive = Some(String::new());
                continue;
            }
            c => c,
        };
        directive.as_mut().unwrap_or(&mut description).push(c);
    }
    (description.trim().to_owned(), directive.map(|text| text.trim().to_owned()))
}
