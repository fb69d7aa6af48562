//! An HTML page, built section by section, and escaping.

use crate::svg::{Chart, style_sheet};

/// Escapes text for HTML and SVG, in elements and in quoted attributes. Characters that are not
/// allowed in a document become U+FFFD.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\t' => escaped.push(c),
            c if c.is_control() || ('\u{fdd0}'..='\u{fdef}').contains(&c) => escaped.push('\u{fffd}'),
            c if (c as u32) & 0xfffe == 0xfffe => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// The logo: an egg with a plane through it.
const MARK: &str = "<svg viewBox=\"0 0 40 52\" aria-hidden=\"true\">\
<path d=\"M20 2C31 2 38 19 38 31a18 19 0 0 1-36 0C2 19 9 2 20 2z\" fill=\"none\" class=\"l-s0\" stroke=\"#0072b2\" stroke-width=\"3.2\"/>\
<path d=\"M4 38 18 22l18 5-14 16z\" class=\"f-s1\" fill=\"#d55e00\" opacity=\".85\"/></svg>";

/// The page under construction.
#[derive(Debug)]
pub(super) struct Page {
    title: String,
    head: String,
    body: String,
    sections: Vec<(String, String)>,
}

impl Page {
    pub(super) fn new(title: &str) -> Self {
        Self {
            title: escape(title),
            head: String::new(),
            body: String::new(),
            sections: Vec::new(),
        }
    }

    /// Adds HTML above all sections.
    pub(super) fn head(&mut self, html: &str) {
        self.head += html;
    }

    /// Adds HTML.
    pub(super) fn add(&mut self, html: &str) {
        self.body += html;
        self.body.push('\n');
    }

    /// Adds a heading that the list at the top links to.
    pub(super) fn section(&mut self, title: &str) {
        let id = format!("part-{}", self.sections.len() + 1);
        self.add(&format!("<h2 id=\"{id}\">{}</h2>", escape(title)));
        self.sections.push((id, escape(title)));
    }

    /// Adds a heading within a section.
    pub(super) fn heading(&mut self, title: &str) {
        self.add(&format!("<h3>{}</h3>", escape(title)));
    }

    /// Adds a paragraph of plain text.
    pub(super) fn paragraph(&mut self, class: &str, text: &str) {
        self.add(&format!("<p class=\"{class}\">{}</p>", escape(text)));
    }

    /// Adds charts with captions (plain text), in columns where there is room.
    pub(super) fn figures(&mut self, figures: &[(Chart, String)]) {
        if figures.is_empty() {
            return;
        }
        self.add("<div class=\"grid\">");
        for (chart, caption) in figures {
            self.add(&figure(chart, caption));
        }
        self.add("</div>");
    }

    pub(super) fn finish(self) -> String {
        let mut nav = String::new();
        if self.sections.len() > 2 {
            nav += "<nav aria-label=\"Contents\">";
            for (id, title) in &self.sections {
                nav += &format!("<a href=\"#{id}\">{title}</a>");
            }
            nav += "</nav>";
        }
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
             script-src 'unsafe-inline'; img-src data:\">\n\
             <link rel=\"icon\" href=\"data:,\">\n<title>{title}</title>\n<style>\n{inks}{style}</style>\n</head>\n<body>\n\
             <header>\n<div class=\"brand\">{MARK}EGG report</div>\n<h1>{title}</h1>\n{head}{nav}\n</header>\n\
             <main>\n{body}</main>\n\
             <footer>One file, without network. Point at a chart, or tap it, to see its numbers.</footer>\n\
             <script>\n{script}</script>\n</body>\n</html>\n",
            title = self.title,
            inks = style_sheet(":root"),
            style = include_str!("style.css"),
            head = self.head,
            body = self.body,
            script = include_str!("script.js"),
        )
    }
}

/// A chart with its title and caption.
pub(super) fn figure(chart: &Chart, caption: &str) -> String {
    let caption = if caption.is_empty() {
        String::new()
    } else {
        format!("<figcaption>{}</figcaption>", escape(caption))
    };
    format!(
        "<figure><h4>{}</h4>{}{caption}</figure>",
        escape(chart.title()),
        chart.inline()
    )
}

/// A table in a box that scrolls sideways on narrow screens. Cells are
/// ready-made HTML; columns after the first `words` are numbers.
pub(super) fn table(header: &[&str], numbers: &[bool], rows: &[Vec<String>]) -> String {
    let class = |i: usize| {
        if numbers.get(i) == Some(&true) {
            " class=\"n\""
        } else {
            ""
        }
    };
    let mut html = "<div class=\"scroll\"><table><thead><tr>".to_owned();
    for (i, name) in header.iter().enumerate() {
        html += &format!("<th scope=\"col\"{}>{}</th>", class(i), escape(name));
    }
    html += "</tr></thead><tbody>";
    for row in rows {
        html += "<tr>";
        for (i, cell) in row.iter().enumerate() {
            html += &if i == 0 {
                format!("<th scope=\"row\">{cell}</th>")
            } else {
                format!("<td{}>{cell}</td>", class(i))
            };
        }
        html += "</tr>\n";
    }
    html + "</tbody></table></div>"
}

/// A name with a dot in its colour.
pub(super) fn named(name: &str, colour: usize) -> String {
    let colour = colour % 8;
    // Wide enough for most names, so that they don't break at every hyphen.
    let room = name.chars().count().min(18) + 3;
    format!(
        "<span class=\"name\" style=\"min-width:{room}ch\"><span class=\"dot\" style=\"--dot:var(--s{colour})\"></span>{}</span>",
        escape(name)
    )
}
