use proptest::prelude::*;
use serde::Deserialize;

use super::*;
use crate::diagnostic::Located;
use crate::reading::tree::{self, parse};
use crate::topology::OneOrList;

#[derive(Clone, Deserialize, PartialEq, Debug)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Ship {
    name: String,
    crew: u32,
    #[serde(default)]
    draught: Option<f64>,
    #[serde(default)]
    sails: Vec<Located<Sail>>,
    #[serde(default)]
    engine: Option<Engine>,
    #[serde(default)]
    home: Option<(i8, bool)>,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Debug)]
#[serde(rename_all = "kebab-case")]
enum Sail {
    Jib,
    MainSail,
}

#[derive(Clone, Deserialize, PartialEq, Debug)]
#[serde(rename_all = "kebab-case")]
enum Engine {
    Steam { boilers: u8 },
    Diesel(Located<u16>),
}

/// Returns the mistake of a text: its kind, the keys to it, and the marked characters.
fn mistake(text: &str) -> (MismatchKind, String, &str) {
    let mismatch = ship(text).unwrap_err();
    let path: Vec<String> = mismatch
        .path
        .iter()
        .map(|step| match step {
            Step::Key(key) => key.clone(),
            Step::Item(i) => i.to_string(),
        })
        .collect();
    let span = mismatch.span.unwrap();
    (mismatch.what, path.join("."), &text[span.start..span.end])
}

fn tree_of(text: &str) -> Tree {
    let (table, mistakes) = parse(text, 0);
    assert!(mistakes.is_empty(), "{text}: {mistakes:?}");
    Tree { span: Span::new(0, 0), kind: tree::Kind::Table(table) }
}

fn ship(text: &str) -> Result<Ship, Mismatch> {
    typed(&tree_of(text))
}

fn unfit(found: &str, wanted: &str) -> MismatchKind {
    MismatchKind::Unfit { found: found.to_owned(), wanted: wanted.to_owned() }
}

#[test]
fn a_value_is_read_with_the_places_of_its_parts() {
    let text = "name = 'Rurik'\ncrew = 0x10\ndraught = 7\nsails = ['jib', 'main-sail']\nengine.diesel = 300\nhome = [-3, true]\n";
    let ship = ship(text).unwrap();
    assert_eq!((ship.name.as_str(), ship.crew, ship.draught, ship.home), ("Rurik", 16, Some(7.0), Some((-3, true))));
    assert_eq!(ship.sails, [Sail::Jib.into(), Sail::MainSail.into()]);
    let span = ship.sails[1].span().unwrap();
    assert_eq!(&text[span.start..span.end], "'main-sail'");
    let Some(Engine::Diesel(power)) = &ship.engine else { panic!("{ship:?}") };
    assert_eq!((**power, &text[power.span().unwrap().start..power.span().unwrap().end]), (300, "300"));
}

#[test]
fn each_kind_of_mistake_is_told_in_its_parts() {
    let (what, path, marked) = mistake("name = 'a'\ncrew = 1\nsail = []\n");
    assert!(
        matches!(&what, MismatchKind::UnknownKey { name, known } if name == "sail" && known.contains(&"sails")),
        "{what:?}"
    );
    assert_eq!((path.as_str(), marked), ("sail", "sail"));
    assert_eq!(mistake("name = 'a'\n").0, MismatchKind::MissingKey("crew"));
    let number = "a whole number from 0 to 4294967295";
    for (value, found) in [
        ("-1", "the number -1"),
        ("4294967296", "the number 4294967296"),
        ("99999999999999999999999", "the number 99999999999999999999999"),
        ("1.5", "the number 1.5"),
        ("1e999", "the number 1e999"),
        ("nan", "the number nan"),
        ("'7'", "the text \"7\""),
        ("true", "true"),
        ("1979-05-27", "the date 1979-05-27"),
        ("[1]", "a list"),
        ("{ x = 1 }", "a table"),
    ] {
        let text = format!("name = 'a'\ncrew = {value}\n");
        let (what, path, marked) = mistake(&text);
        assert_eq!(what, unfit(found, number), "{value}");
        assert_eq!((path.as_str(), marked), ("crew", value));
    }
    assert_eq!(mistake("name = 3\ncrew = 1\n").0, unfit("the number 3", "a text in quotes"));
    assert_eq!(mistake("name = 'a'\ncrew = 1\ndraught = 'x'\n").0, unfit("the text \"x\"", "a number"));
    assert_eq!(mistake("name = 'a'\ncrew = 1\nsails = 'jib'\n").0, unfit("the text \"jib\"", "a list in [ ]"));
}

#[test]
fn mistakes_inside_lists_and_choices_have_the_way_to_them() {
    let ship = |rest: &str| format!("name = 'a'\ncrew = 1\n{rest}\n");
    let text = ship("sails = ['jib', 'spinaker']");
    let (what, path, marked) = mistake(&text);
    assert!(
        matches!(&what, MismatchKind::UnknownChoice { name, known: ["jib", "main-sail"] } if name == "spinaker"),
        "{what:?}"
    );
    assert_eq!((path.as_str(), marked), ("sails.1", "'spinaker'"));
    let text = ship("sails = [3]");
    assert_eq!(mistake(&text), (unfit("the number 3", "one of jib, main-sail"), "sails.0".to_owned(), "3"));
    let text = ship("engine.steem.boilers = 2");
    let (what, path, marked) = mistake(&text);
    assert!(
        matches!(&what, MismatchKind::UnknownChoice { name, known: ["steam", "diesel"] } if name == "steem"),
        "{what:?}"
    );
    assert_eq!((path.as_str(), marked), ("engine.steem", "steem"));
    let text = ship("engine.steam.boilers = 256");
    let wanted = "a whole number from 0 to 255";
    assert_eq!(mistake(&text), (unfit("the number 256", wanted), "engine.steam.boilers".to_owned(), "256"));
    let text = ship("engine = 'steam'");
    assert_eq!(mistake(&text), (unfit("the text \"steam\"", "a table"), "engine".to_owned(), "'steam'"));
    let text = ship("engine = { steam.boilers = 1, diesel = 2 }");
    assert_eq!(mistake(&text).0, MismatchKind::NotOneChoice);
    let text = ship("engine = {}");
    assert_eq!(mistake(&text), (MismatchKind::NotOneChoice, "engine".to_owned(), "{}"));
    let text = ship("sails = [{ jib = { x = 1 } }]");
    assert_eq!((mistake(&text).0, mistake(&text).1.as_str()), (unfit("a table", "an empty table"), "sails.0.jib"));
    // Too few and too many items.
    for list in ["[1]", "[1, true, 3]"] {
        let text = ship(&format!("home = {list}"));
        let (what, path, marked) = mistake(&text);
        assert_eq!((what, path.as_str(), marked), (unfit("a list", "a list of 2 in [ ]"), "home", list));
    }
}

#[test]
fn one_value_or_a_list_of_them_is_told_as_both() {
    #[derive(Deserialize, Debug)]
    struct Torus {
        wrap: Located<OneOrList<bool>>,
    }
    let wrap = |text: &str| typed::<Torus>(&tree_of(text)).map(|torus| torus.wrap.into_inner());
    assert_eq!(wrap("wrap = true").unwrap(), OneOrList::One(true));
    let OneOrList::List(list) = wrap("wrap = [true, false]").unwrap() else { panic!("no list") };
    assert_eq!((list.len(), list[1].span()), (2, Some(Span::new(14, 19))));
    for (value, found) in [("3", "the number 3"), ("{}", "a table")] {
        let mismatch = wrap(&format!("wrap = {value}")).unwrap_err();
        assert_eq!(mismatch.what, unfit(found, "true or false, or a list of them,"));
    }
    let mismatch = wrap("wrap = [true, 3]").unwrap_err();
    assert_eq!((mismatch.what, mismatch.path.len()), (unfit("the number 3", "true or false"), 2));
}

/// Generates TOML text for a value.
fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(|number| format!("{number:?}")),
        any::<bool>().prop_map(|value| value.to_string()),
        "[a-z ]{0,8}".prop_map(|text| format!("\"{text}\"")),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(", "))),
            prop::collection::btree_map("[a-z]{1,3}", inner, 0..4).prop_map(|table| {
                let entries: Vec<String> = table.iter().map(|(key, value)| format!("{key} = {value}")).collect();
                format!("{{ {} }}", entries.join(", "))
            }),
        ]
    })
}

proptest! {
    /// Compares with TOML's own reader: both give the same value, or both refuse.
    #[test]
    fn what_is_read_is_what_tomls_own_reader_gives(value in value()) {
        let text = format!("value = {value}\n");
        let theirs: toml::Table = toml::from_str(&text).unwrap();
        prop_assert_eq!(typed::<toml::Table>(&tree_of(&text)).unwrap(), theirs);
        macro_rules! same {
            ($($type:ty),*) => {$(
                let theirs = toml::from_str::<std::collections::BTreeMap<String, $type>>(&text).ok();
                prop_assert_eq!(typed::<std::collections::BTreeMap<String, $type>>(&tree_of(&text)).ok(), theirs);
            )*};
        }
        same!(u8, i32, u64, f32, f64, bool, String, Vec<i64>, Vec<Vec<bool>>, Option<String>, Sail);
        same!(std::collections::BTreeMap<String, f64>);
    }
}
