//! Table of texts, aligned for a terminal or as Markdown.

use std::fmt::Write;

use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};

/// Table with formatted figures: headings, alignments and rows of texts.
pub(super) struct Written {
    pub headings: Vec<String>,
    /// By column: true for text, which may be broken. Numbers are never broken.
    pub texts: Vec<bool>,
    pub rows: Vec<Vec<String>>,
    pub keys: usize,
    /// Longest line of the last column \[characters\], if it holds sentences.
    pub sentence: Option<usize>,
}

impl Written {
    /// Returns the width of each column.
    pub fn widths(&self) -> Vec<usize> {
        self.table().column_max_content_widths().into_iter().map(usize::from).collect()
    }

    /// Formats the table, aligned, with a light line under the headings, without a limit of width.
    pub fn aligned(&self) -> String {
        let mut table = self.table();
        let last = self.headings.len().saturating_sub(1);
        for (i, column) in table.column_iter_mut().enumerate() {
            let alignment = if self.texts[i] { CellAlignment::Left } else { CellAlignment::Right };
            column.set_padding((0, u16::from(i < last))).set_cell_alignment(alignment);
        }
        let mut text = table.trim_fmt();
        text.push('\n');
        text
    }

    fn table(&self) -> Table {
        let mut table = Table::new();
        table
            .load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')))
            .set_header(self.headings.clone());
        for row in &self.rows {
            table.add_row(row.clone());
        }
        table
    }

    /// Formats the table as HTML.
    pub fn to_html(&self) -> String {
        let row = |tag: &str, cells: &[String]| {
            let cell = |(cell, is_text): (&String, &bool)| {
                let side = if *is_text { "left" } else { "right" };
                format!(r#"<{tag} style="text-align:{side}">{}</{tag}>"#, escape(cell))
            };
            format!("<tr>{}</tr>\n", cells.iter().zip(&self.texts).map(cell).collect::<String>())
        };
        let rows: String = self.rows.iter().map(|cells| row("td", cells)).collect();
        format!("<table>\n<thead>{}</thead>\n<tbody>\n{rows}</tbody>\n</table>\n", row("th", &self.headings).trim_end())
    }

    /// Formats the table as Markdown.
    pub fn to_markdown(&self) -> String {
        let mut text = String::new();
        let mut line = |cells: &mut dyn Iterator<Item = String>| {
            for cell in cells {
                let _ = write!(text, "| {cell} ");
            }
            text.push_str("|\n");
        };
        let cell = |cell: &String| cell.replace('|', "\\|");
        line(&mut self.headings.iter().map(cell));
        line(&mut self.texts.iter().map(|&text| if text { ":--".to_owned() } else { "--:".to_owned() }));
        for row in &self.rows {
            line(&mut row.iter().map(cell));
        }
        text
    }
}

/// Escapes text for HTML, also inside attributes.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
