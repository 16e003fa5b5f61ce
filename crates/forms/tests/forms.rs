//! Types in a form are read, written and described by a schema as if all of it had been spelled out.

#![allow(missing_docs, reason = "they are tables of a test")]

#[macro_use]
extern crate hayase_forms;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, schema_for};

mod spelled_out {
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields, rename_all = "kebab-case")]
    pub struct Table {
        /// A number.
        pub of_ranks: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub its_name: Option<String>,
        #[serde(default)]
        pub policy: Policy,
    }

    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Policy {
        #[default]
        MaxMin,
        #[serde(alias = "queue")]
        Fifo,
    }

    #[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
    pub struct Options {
        pub count: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        pub policy: Option<Policy>,
    }

    #[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
    pub struct Answer {
        #[serde(flatten)]
        pub options: Options,
        #[serde(skip_serializing_if = "Option::is_none")]
        pub error_s: Option<f64>,
        pub end_s: Option<f64>,
    }
}

mod formed {
    #[spec]
    pub struct Table {
        /// A number.
        pub of_ranks: u32,
        pub its_name: Option<String>,
        #[serde(default)]
        pub policy: Policy,
    }

    #[spec(Copy, Eq, Default, Named)]
    pub enum Policy {
        #[default]
        MaxMin,
        #[serde(alias = "queue")]
        #[name("first come, first served")]
        Fifo,
    }

    #[spec(partial, Default)]
    pub struct Options {
        pub count: u32,
        pub policy: Option<Policy>,
    }

    #[report(Default)]
    pub struct Answer {
        #[serde(flatten)]
        pub options: Options,
        pub error_s: Option<f64>,
        #[always]
        pub end_s: Option<f64>,
    }
}

fn same_schema<A: JsonSchema, B: JsonSchema>() {
    assert_eq!(schema_for!(A), schema_for!(B));
    let written = || SchemaSettings::default().for_serialize().into_generator();
    assert_eq!(written().into_root_schema_for::<A>(), written().into_root_schema_for::<B>());
}

#[test]
fn schemas_are_those_of_what_is_spelled_out() {
    same_schema::<spelled_out::Table, formed::Table>();
    same_schema::<spelled_out::Options, formed::Options>();
    same_schema::<spelled_out::Answer, formed::Answer>();
}

#[test]
fn tables_are_read_and_written_with_the_same_mistakes() {
    fn through<T: serde::Serialize + serde::de::DeserializeOwned>(text: &str) -> Result<String, String> {
        let read: T = serde_json::from_str(text).map_err(|mistake| mistake.to_string())?;
        serde_json::to_string(&read).map_err(|mistake| mistake.to_string())
    }
    for text in [
        r#"{"of-ranks":1}"#,
        r#"{"of-ranks":1,"its-name":"a","policy":"queue"}"#,
        r#"{"of-ranks":1,"its-name":null}"#,
        r#"{"of-ranks":1,"of_ranks":2}"#,
        "{}",
    ] {
        assert_eq!(through::<formed::Table>(text), through::<spelled_out::Table>(text), "{text}");
        assert_eq!(through::<formed::Options>(text), through::<spelled_out::Options>(text), "{text}");
    }
}

#[test]
fn reports_leave_out_what_has_no_value_but_where_it_is_always_said() {
    let text = serde_json::to_string(&formed::Answer::default()).unwrap();
    assert_eq!(text, r#"{"count":0,"end_s":null}"#);
    assert_eq!(text, serde_json::to_string(&spelled_out::Answer::default()).unwrap());
}

#[test]
fn choices_have_the_names_that_are_written() {
    assert_eq!(formed::Policy::ALL.map(formed::Policy::name), ["max-min", "first come, first served"]);
}
