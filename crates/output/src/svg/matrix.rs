//! The communication matrix: bytes by sender and receiver.

use super::axis::{Axis, BYTES};
use super::canvas::{Anchor, Canvas, FAINT, GREY, MARGIN, Point, text_width};
use super::scale::LoadScale;
use hayase::record::Matrix;
use hayase::units::Bytes;

/// Most rows of a picture.
const MOST: u32 = 64;
const SIDE: f64 = 680.0;
const LABELS: f64 = 70.0;

/// The colour of a part of the most; what is not nothing is not white.
pub(super) fn shade(part: f64) -> String {
    LoadScale::up_to(1.0).colour(0.1 + 0.9 * part)
}

/// Draws who sent how many bytes to whom: senders down, receivers across, darker is more. More than 64 ranks are put
/// together in groups of neighbours, which the picture says.
pub fn matrix(matrix: &Matrix, ranks: u32, title: &str, subtitle: &str) -> String {
    let group = ranks.div_ceil(MOST).max(1);
    let count = ranks.div_ceil(group).max(1) as usize;
    let mut cells = vec![0_u64; count * count];
    for (src, dst, _, bytes) in matrix.iter() {
        cells[(src / group) as usize * count + (dst / group) as usize] += bytes;
    }
    let most = cells.iter().copied().max().unwrap_or(0);
    let side = (SIDE / count as f64).clamp(9.0, 56.0);
    let width = MARGIN * 2.0 + LABELS + (side * count as f64).max(400.0) + 20.0;
    let mut canvas = Canvas::new();
    let mut y = canvas.heading(title, subtitle, width);
    let axis = Axis::new(most as f64, 4, BYTES);
    scale(&mut canvas, y, &axis, "sent");
    y += 52.0;
    if group > 1 {
        let remark =
            format!("Too many ranks for one picture: a cell is {group} by {group} ranks, named by the first of them.");
        y = canvas.remarks(&[remark], y - 14.0, width) + 12.0;
    }
    let (left, top) = (MARGIN + LABELS, y + 34.0);
    let all = side * count as f64;
    canvas.text(left + all / 2.0, top - 24.0, 11.0, Anchor::Middle, "receiving rank", "");
    canvas.text(MARGIN, top - 8.0, 11.0, Anchor::Start, "sending rank", "");
    // Labels at distances at which they can be read.
    let widest = text_width(&ranks.to_string(), 10.0) + 6.0;
    let every = (widest / side).ceil().max(1.0) as usize;
    for i in 0..count {
        let at = (i as f64 + 0.5) * side;
        if i % every == 0 {
            let rank = (i as u32 * group).to_string();
            canvas.text(left + at, top - 8.0, 10.0, Anchor::Middle, &rank, "");
            canvas.text(left - 8.0, top + at + 3.5, 10.0, Anchor::End, &rank, "");
        }
        for j in 0..count {
            let bytes = cells[i * count + j];
            if bytes == 0 {
                continue;
            }
            let part = bytes as f64 / axis.end;
            let (x, y) = (left + j as f64 * side, top + i as f64 * side);
            canvas.rect(x, y, side, side, &format!(r#"fill="{}""#, shade(part)));
            let text = Bytes(bytes).to_string();
            if text_width(&text, 9.0) + 3.0 < side {
                let ink = if part > 0.45 { "#ffffff" } else { "#1b1f24" };
                let attributes = format!(r#"fill="{ink}""#);
                canvas.text(x + side / 2.0, y + side / 2.0 + 3.2, 9.0, Anchor::Middle, &text, &attributes);
            }
        }
    }
    for i in 0..=count {
        let at = i as f64 * side;
        let line = format!(r#"stroke="{FAINT}" stroke-width="0.6""#);
        canvas.line(Point::new(left + at, top), Point::new(left + at, top + all), &line);
        canvas.line(Point::new(left, top + at), Point::new(left + all, top + at), &line);
    }
    canvas.finish(width, top + all + MARGIN, title)
}

/// The scale with its numbers.
pub(super) fn scale(canvas: &mut Canvas, y: f64, axis: &Axis, what: &str) {
    let width = 320.0;
    for step in 0..64 {
        let fill = format!(r#"fill="{}""#, shade((f64::from(step) + 0.5) / 64.0));
        canvas.rect(MARGIN + width * f64::from(step) / 64.0, y, width / 64.0 + 0.3, 12.0, &fill);
    }
    canvas.rect(MARGIN, y, width, 12.0, &format!(r#"fill="none" stroke="{GREY}" stroke-width="0.7""#));
    for (value, text) in &axis.ticks {
        let at = MARGIN + width * value / axis.end;
        canvas.line(Point::new(at, y + 12.0), Point::new(at, y + 16.0), &format!(r#"stroke="{GREY}""#));
        canvas.text(at, y + 27.0, 10.0, Anchor::Middle, text, "");
    }
    canvas.text(
        MARGIN + width + 14.0,
        y + 10.0,
        11.0,
        Anchor::Start,
        &format!("{what} [{}]; white: nothing", axis.unit),
        "",
    );
}
