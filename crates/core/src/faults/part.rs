//! Parts of a whole: `1 %`.

/// Parses a part written as `1 %`, or 0. Returns `None` for a text of another form.
///
/// # Errors
/// The inner error describes a part below 0 % or above 100 %, or a text that is not a number.
pub fn part(text: &str) -> Option<Result<f64, String>> {
    let text = text.trim();
    if text == "0" {
        return Some(Ok(0.0));
    }
    let number = text.strip_suffix('%')?.trim();
    let wrong = || format!("`{text}` is not a fraction");
    Some(match number.parse::<f64>() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent / 100.0),
        Ok(percent) if percent > 100.0 => Err(format!("`{text}` is more than there is")),
        _ => Err(wrong()),
    })
}
