//! Views as text that fits the terminal.

use anstyle::{AnsiColor, Style};
use comfy_table::{ContentArrangement, Table as Layout, presets};
use pintle_core::{Block, Failure, Part, Table, View};

const HEADER: Style = Style::new().bold();
const ERROR: Style = Style::new().bold().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Red)));
const HINT: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Cyan)));

/// The view for a terminal of that width; without one, for a pipe: a row a line, nothing folded.
pub(crate) fn view(view: &View, width: Option<usize>, colors: bool) -> String {
    let mut out = String::new();
    for block in &view.blocks {
        if !out.is_empty() && !out.ends_with('\n') {
            out.push('\n');
        }
        match block {
            Block::Exact(text) => out.push_str(text),
            Block::Text(text) if text.is_empty() => {}
            Block::Text(text) => {
                out.push_str(text.trim_end_matches('\n'));
                out.push('\n');
            }
            Block::Table(rows) => out.push_str(&table(rows, width, colors)),
        }
    }
    out
}

fn table(table: &Table, width: Option<usize>, colors: bool) -> String {
    let mut layout = Layout::new();
    layout.load_style(presets::NOTHING);
    match width {
        Some(width) => {
            layout.set_content_arrangement(ContentArrangement::Dynamic);
            layout.set_width(u16::try_from(width).unwrap_or(u16::MAX));
        }
        None => {
            layout.set_content_arrangement(ContentArrangement::Disabled);
        }
    }
    layout.set_header(&table.columns);
    for row in &table.rows {
        layout.add_row(row.iter().map(|cell| if width.is_none() { cell.replace('\n', " ") } else { cell.clone() }));
    }
    let last = table.columns.len().saturating_sub(1);
    for (index, column) in layout.column_iter_mut().enumerate() {
        column.set_padding((0, if index == last { 0 } else { 2 }));
    }
    let mut out = String::new();
    for (index, line) in layout.lines().enumerate() {
        let line = line.trim_end();
        if colors && index == 0 {
            out.push_str(&format!("{HEADER}{line}{HEADER:#}\n"));
        } else {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

/// `error: message`, every problem, `hint: …`.
pub(crate) fn failure(failure: &Failure, colors: bool) -> String {
    let mut out = String::new();
    for (index, line) in failure.text().lines().enumerate() {
        let hint = line.trim_start().strip_prefix("hint: ").map(|rest| (line.len() - line.trim_start().len(), rest));
        match hint {
            _ if index == 0 && colors => out.push_str(&format!("{ERROR}error:{ERROR:#} {line}")),
            _ if index == 0 => out.push_str(&format!("error: {line}")),
            Some((indent, rest)) if colors => {
                out.push_str(&format!("{:indent$}{HINT}hint:{HINT:#} {rest}", ""));
            }
            _ => out.push_str(line),
        }
        out.push('\n');
    }
    out
}

/// A line for each piece that a terminal cannot show.
pub(crate) fn parts(parts: &[Part]) -> Vec<String> {
    let bytes = |base64: &str| base64.trim_end_matches('=').len() * 3 / 4;
    parts
        .iter()
        .filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Image { mime, data } => Some(format!("[image {mime}, {} bytes]", bytes(data))),
            Part::Audio { mime, data } => Some(format!("[audio {mime}, {} bytes]", bytes(data))),
            Part::Resource(contents) => Some(format!("[resource {}]", contents.uri)),
            Part::Link(link) => Some(format!("[{} at {}]", link.name, link.uri)),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pintle_core::{Code, Problem};

    fn boxes() -> View {
        View::text("two boxes\n").and_table(
            ["NAME", "DESCRIPTION"],
            [
                vec!["web".into(), "a small web service that answers with the time of day".into()],
                vec!["数据库".into(), "rows".into()],
            ],
        )
    }

    #[test]
    fn tables_fit_the_terminal_by_display_width() {
        let text = view(&boxes(), Some(36), false);
        assert!(text.lines().all(|line| line.chars().count() <= 36), "{text}");
        let second = text.lines().find(|line| line.contains("数据库")).unwrap();
        assert!(second.starts_with("数据库  rows"), "three wide letters take six columns: {text}");
        assert!(text.starts_with("two boxes\nNAME    DESCRIPTION\nweb     a small web"), "{text}");
    }

    #[test]
    fn a_pipe_gets_a_row_a_line_and_no_colours() {
        let mut wide = boxes();
        if let Block::Table(table) = &mut wide.blocks[1] {
            table.rows[0][1] = "first\nsecond".into();
        }
        let text = view(&wide, None, false);
        assert_eq!(text, "two boxes\nNAME    DESCRIPTION\nweb     first second\n数据库  rows\n");
        assert!(view(&boxes(), None, true).contains("\u{1b}[1mNAME"));
    }

    #[test]
    fn exact_bytes_stay_as_they_are() {
        assert_eq!(view(&View::exact("no newline"), Some(10), true), "no newline");
        assert_eq!(view(&View::exact("\r\n\n\u{1b}[0m").and_text("x"), None, false), "\r\n\n\u{1b}[0m\nx\n");
    }

    #[test]
    fn failures_say_error_and_hint_with_and_without_colour() {
        let told = Failure::new(Code::Invalid, "charly.yml has 2 errors")
            .problem(Problem::new("`base` is missing").at("charly.yml", 3, 5).hint("set it"))
            .problem(Problem::new("unknown key").at("charly.yml", 4, 5))
            .hint("`box validate` lists them");
        assert_eq!(
            failure(&told, false),
            "error: charly.yml has 2 errors\n  charly.yml:3:5: `base` is missing\n    hint: set it\n  charly.yml:4:5: unknown key\nhint: `box validate` lists them\n"
        );
        let colored = failure(&told, true);
        assert!(colored.contains("error:") && colored.contains("\u{1b}["), "colour is never the only sign");
    }
}
