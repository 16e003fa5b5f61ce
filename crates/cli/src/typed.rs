//! Arguments of commands, parsed on demand and with messages of our own.

use std::any::TypeId;
use std::cell::RefCell;
use std::ffi::OsString;
use std::fmt::Display;
use std::num::{NonZeroU32, NonZeroU64};
use std::ops::Deref;
use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::ValueParser;
use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches, Id, Subcommand};

use hayase::diagnostic::file_names;

/// Arguments of a command, built only if the command was typed. Numbers report their allowed range, and files
/// may have any name.
///
/// Building the options of all commands takes longer than a small run.
#[derive(Debug)]
pub struct InOurWords<T>(T);

thread_local! {
    /// Words of the command line while the command is built.
    static TYPED: RefCell<Option<Vec<OsString>>> = const { RefCell::new(None) };
}

/// Builds a command with access to the words of the command line.
pub(super) fn while_typed(words: &[OsString], command: impl FnOnce() -> Command) -> Command {
    TYPED.set(Some(words.to_vec()));
    let command = command();
    TYPED.set(None);
    command
}

/// Returns the command with its arguments, or without them if another command was typed.
fn followed(verb: Command, augment: impl FnOnce(Command) -> Command) -> Command {
    let is_meant = |words: &Option<Vec<OsString>>| {
        words.as_ref().is_none_or(|words| words.iter().any(|word| word == verb.get_name()))
    };
    if TYPED.with_borrow(is_meant) { in_our_words(augment(verb)) } else { verb }
}

impl<T> Deref for InOurWords<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: FromArgMatches> FromArgMatches for InOurWords<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches(matches).map(Self)
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches_mut(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl<T: Args> Args for InOurWords<T> {
    fn group_id() -> Option<Id> {
        T::group_id()
    }

    fn augment_args(verb: Command) -> Command {
        followed(verb, T::augment_args)
    }

    fn augment_args_for_update(verb: Command) -> Command {
        followed(verb, T::augment_args_for_update)
    }
}

impl<T: Subcommand> Subcommand for InOurWords<T> {
    fn augment_subcommands(verb: Command) -> Command {
        followed(verb, T::augment_subcommands)
    }

    fn augment_subcommands_for_update(verb: Command) -> Command {
        followed(verb, T::augment_subcommands_for_update)
    }

    fn has_subcommand(name: &str) -> bool {
        T::has_subcommand(name)
    }
}

/// Returns the command with our parsers: numbers report their allowed range, and files may have any name.
fn in_our_words(command: Command) -> Command {
    let command = command.mut_args(with_our_parser);
    let verbs: Vec<String> = command.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    verbs.into_iter().fold(command, |command, verb| command.mut_subcommand(verb, in_our_words))
}

pub(super) fn with_our_parser(arg: Arg) -> Arg {
    let parsed = arg.get_value_parser().type_id();
    let parser: ValueParser = if parsed == TypeId::of::<NonZeroU32>() {
        ValueParser::from(|text: &str| number::<NonZeroU32>(text, 1, u32::MAX))
    } else if parsed == TypeId::of::<NonZeroU64>() {
        ValueParser::from(|text: &str| number::<NonZeroU64>(text, 1, u64::MAX))
    } else if parsed == TypeId::of::<PathBuf>() {
        ValueParser::from(|text: &str| match text {
            "" => Err("the name of a file is expected".to_owned()),
            text => Ok(file_names::path(text)),
        })
    } else if parsed == TypeId::of::<OsString>() {
        ValueParser::from(|text: &str| Ok::<_, String>(file_names::name(text)))
    } else {
        return arg;
    };
    arg.value_parser(parser)
}

/// Parses a whole number from 0, for `value_parser`.
pub fn whole<T: FromStr + Display>(text: &str) -> Result<T, String> {
    let most = if size_of::<T>() == 4 { u64::from(u32::MAX) } else { u64::MAX };
    number(text, 0, most)
}

/// Parses a whole number from 0 to `MOST`, for `value_parser`.
pub fn up_to<T: FromStr + Copy + Into<u64>, const MOST: u64>(text: &str) -> Result<T, String> {
    let wrong = || format!("a whole number from 0 to {MOST} is expected");
    text.parse().ok().filter(|value: &T| (*value).into() <= MOST).ok_or_else(wrong)
}

/// Parses a whole number within these limits.
fn number<T: FromStr>(text: &str, least: impl Display, most: impl Display) -> Result<T, String> {
    text.parse().map_err(|_| format!("a whole number from {least} to {most} is expected"))
}
