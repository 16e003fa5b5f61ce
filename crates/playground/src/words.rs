//! Words of a command with their places.

/// Word of a command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Word {
    /// The word without quotes.
    pub text: String,
    /// Offset of its first character, of a quote if there is one \[B\].
    pub at: usize,
    /// Offset behind its last character \[B\].
    pub end: usize,
}

/// Splits a command as a shell does, at spaces and line breaks outside of quotes; `#` begins a comment. The error is
/// the offset of a quote that is never closed.
pub fn split(text: &str) -> Result<Vec<Word>, usize> {
    let mut words: Vec<Word> = Vec::new();
    let (mut open, mut quote): (bool, Option<(char, usize)>) = (false, None);
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        let begins = !open;
        match (letter, quote) {
            ('#', None) if begins => {
                letters.by_ref().find(|(_, letter)| *letter == '\n');
                continue;
            }
            (letter, None) if letter.is_whitespace() => {
                open = false;
                continue;
            }
            // A prompt, and the end of a line that goes on.
            ('$', None) if words.is_empty() => continue,
            ('\\', None) if text[at + 1..].trim_start_matches([' ', '\r']).starts_with('\n') => continue,
            _ => {}
        }
        if begins {
            open = true;
            words.push(Word { text: String::new(), at, end: at });
        }
        let Some(word) = words.last_mut() else { continue };
        match (letter, quote) {
            ('"' | '\'', None) => quote = Some((letter, at)),
            (letter, Some((begun, _))) if letter == begun => quote = None,
            ('\\', None) => word.text.extend(letters.next().map(|(_, escaped)| escaped)),
            _ => word.text.push(letter),
        }
        word.end = text.len() - letters.as_str().len();
    }
    quote.map_or(Ok(words), |(_, at)| Err(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_a_shell() {
        let texts = |text| split(text).map(|words| words.into_iter().map(|word| word.text).collect::<Vec<_>>());
        let line = "$ hayase run \\\n  --size \"20 KB\" -t='a b'c  # a comment\n -p x#y";
        assert_eq!(texts(line).unwrap(), ["hayase", "run", "--size", "20 KB", "-t=a bc", "-p", "x#y"]);
        assert_eq!(texts("a 'b").unwrap_err(), 2);
        let words = split("é \"b c\" d").unwrap();
        assert_eq!((words[1].at, words[1].end, words[2].at), (3, 8, 9));
    }
}
