//! Tables of Markdown.

/// Rows of Markdown whose columns line up; the first is the heading.
///
/// ```
/// let rows = [["what", "±"], ["x", "1.00"]].map(|row| row.map(String::from));
/// assert_eq!(egg_results::markdown_table(&rows), ["| what | ±    |", "|------|------|", "| x    | 1.00 |"]);
/// ```
pub fn markdown_table<const N: usize>(rows: &[[String; N]]) -> Vec<String> {
    let width = |i: usize| rows.iter().map(|row| row[i].chars().count()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(widths);
        let cells: Vec<_> = cells.map(|(cell, width)| format!("{cell:<width$}")).collect();
        format!("| {} |", cells.join(" | "))
    };
    let mut lines: Vec<String> = rows.iter().map(line).collect();
    let rule = format!("|{}|", widths.map(|width| "-".repeat(width + 2)).join("|"));
    lines.insert(1.min(lines.len()), rule);
    lines
}
