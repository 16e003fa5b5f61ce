//! The idioms of which programs are made.

use super::generate::Builder;

type Idiom = (&'static str, fn(&mut Builder));

const IDIOMS: [Idiom; 20] = [
    ("plain", Builder::plain),
    ("plain", Builder::plain),
    ("row", Builder::row),
    ("status-reply", Builder::status_reply),
    ("counted", Builder::counted),
    ("header", Builder::header),
    ("conditional", Builder::conditional),
    ("pack", Builder::pack),
    ("reduce-local", Builder::reduce_local),
    ("library", Builder::library),
    ("codes", Builder::codes),
    ("some", Builder::some),
    ("heap", Builder::heap),
    ("scope", Builder::scope_of_buffer),
    ("ring", Builder::ring),
    ("persistent", Builder::persistent),
    ("collective", Builder::collective),
    ("collectives in a row", Builder::collectives),
    ("collective with counts", Builder::gathered),
    ("window", Builder::window),
];

impl Builder {
    /// Adds an idiom.
    pub fn idiom(&mut self) {
        let (name, add) = self.random.choose(&IDIOMS);
        self.program.idioms.push(name);
        add(self);
    }
}
