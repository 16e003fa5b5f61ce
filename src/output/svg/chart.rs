//! Curves with axes, by plotters.

use plotters::prelude::*;

use super::scale::Axis;

/// A descending curve of `values` over their rank, as a picture of this size; `None` where it cannot be drawn.
pub(super) fn sorted_curve(
    values: &[f64],
    axis: &Axis,
    size: (u32, u32),
    x_label: &str,
    y_label: &str,
) -> Option<String> {
    let mut svg = String::new();
    draw(&mut svg, values, axis, size, x_label, y_label).ok()?;
    Some(svg)
}

fn draw(
    svg: &mut String,
    values: &[f64],
    axis: &Axis,
    size: (u32, u32),
    x_label: &str,
    y_label: &str,
) -> Result<(), Box<dyn std::error::Error>> {
    let area = SVGBackend::with_string(svg, size).into_drawing_area();
    area.fill(&WHITE)?;
    let unit =
        axis.ticks.iter().find(|tick| tick.0 > 0.0).map_or(1.0, |tick| {
            tick.1.parse::<f64>().map_or(1.0, |shown| if shown > 0.0 { tick.0 / shown } else { 1.0 })
        });
    let end = axis.end / unit;
    let count = values.len().max(1) as f64;
    let ink = RGBColor(0x1b, 0x1f, 0x24);
    let font = |size: u32| ("sans-serif", size).into_font().color(&ink);
    let mut chart = ChartBuilder::on(&area)
        .margin(8)
        .margin_right(20)
        .x_label_area_size(42)
        .y_label_area_size(62)
        .build_cartesian_2d(0.0..count, 0.0..end)?;
    let decimals = axis.ticks.last().map_or(0, |tick| tick.1.split('.').nth(1).map_or(0, str::len));
    chart
        .configure_mesh()
        .axis_desc_style(font(13))
        .label_style(font(12))
        .x_desc(x_label)
        .y_desc(y_label)
        .x_labels(9)
        .y_labels(axis.ticks.len().max(2))
        .x_label_formatter(&|x| format!("{x:.0}"))
        .y_label_formatter(&|y| format!("{y:.decimals$}"))
        .light_line_style(TRANSPARENT)
        .bold_line_style(RGBColor(0xd9, 0xdd, 0xe3))
        .draw()?;
    let mut steps = Vec::with_capacity(2 * values.len());
    let mut last = None;
    for (i, &value) in values.iter().enumerate() {
        // Equal values in a row are one step.
        if last != Some(value) {
            if let Some(last) = last {
                steps.push((i as f64, last / unit));
            }
            steps.push((i as f64, value / unit));
            last = Some(value);
        }
    }
    steps.extend(last.map(|last| (count, last / unit)));
    let line = ShapeStyle { color: RGBColor(0x2f, 0x6f, 0x8f).to_rgba(), filled: false, stroke_width: 2 };
    let mut outline = vec![(0.0, 0.0)];
    outline.extend(&steps);
    outline.push((count, 0.0));
    chart.draw_series([Polygon::new(outline, RGBColor(0x9d, 0xbc, 0xcc).mix(0.35))])?;
    chart.draw_series(LineSeries::new(steps, line))?;
    area.present()?;
    Ok(())
}
