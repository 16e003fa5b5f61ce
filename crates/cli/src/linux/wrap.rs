//! `hayase cc`, `hayase fc` and `hayase wrap`: compilers that instrument programs for recording their memory
//! accesses.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use super::args::{CompileArgs, WrapArgs};
use crate::{End, Failure, Voice, print, reason};
use hayase::diagnostic::Diagnostic;
use hayase_capture::instrument::{Family, rewrite};
use hayase_capture::{header, library};

/// Compiles with an MPI compiler wrapper.
pub fn compile(args: &CompileArgs, usual: &str, voice: Voice) -> Result<End, Failure> {
    call(args.compiler.as_deref().unwrap_or(OsStr::new(usual)), &args.arguments, voice)
}

/// Compiles with any compiler.
pub fn wrap(args: &WrapArgs, voice: Voice) -> Result<End, Failure> {
    if args.print_include {
        let folder = header::place().map_err(|error| Diagnostic::new("no-header", error.to_string()))?;
        print(&format!("{}\n", folder.display()))?;
        return Ok(End::Done);
    }
    let (compiler, arguments) = args.command.split_first().ok_or_else(|| no_compiler(OsStr::new("")))?;
    call(compiler, arguments, voice)
}

/// Replaces this process by the compiler.
fn call(compiler: &OsStr, arguments: &[OsString], voice: Voice) -> Result<End, Failure> {
    let (family, says) = family(compiler)?;
    let folder = library::MEMORY.place_for_linking();
    let folder = folder.map_err(|error| Diagnostic::new("no-memory-library", error.to_string()))?;
    let rewritten = rewrite(family, arguments, &folder).map_err(|refused| {
        Diagnostic::new("cannot-instrument", refused.to_string()).help("leave the option out for the recording")
    })?;
    for change in &rewritten.changes {
        voice.say(format_args!("hayase: {change}"));
    }
    let mut arguments = rewritten.arguments;
    if rewritten.compiles {
        arguments.extend(regions(compiler, family, &says, rewritten.links));
    }
    let error = Command::new(compiler).args(&arguments).exec();
    Err(cannot_start(compiler, &error).into())
}

/// Returns the compiler arguments for the header or module by which programs mark regions. They come after
/// the user's own, so that a file of the program takes precedence.
fn regions(compiler: &OsStr, family: Family, says: &str, links: bool) -> Vec<OsString> {
    let include = |folder: &Path| {
        let mut option = OsString::from("-I");
        option.push(folder);
        option
    };
    // Without the folder, programs that do not use it compile, and others report the missing file.
    let Ok(folder) = header::place() else { return Vec::new() };
    let mut arguments = vec![include(&folder)];
    if let Family::Gnu { fortran: true, .. } = family
        && let Some(module) = header::module(compiler, says)
    {
        arguments.push(include(&module));
        if links {
            arguments.extend(header::linked(&module));
        }
    }
    arguments
}

/// Asks the compiler for its version, and returns its family and answer.
fn family(compiler: &OsStr) -> Result<(Family, String), Failure> {
    let output = Command::new(compiler).arg("--version").output().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => no_compiler(compiler),
        _ => cannot_start(compiler, &error),
    })?;
    let answer = String::from_utf8_lossy(&output.stdout).into_owned();
    let family = Family::of(&answer).ok_or_else(|| {
        let name = Path::new(compiler).display();
        let said = answer.lines().next().unwrap_or("nothing");
        Diagnostic::new(
            "unknown-compiler",
            format!("`{name}` is not a compiler that can instrument: it calls itself `{said}`"),
        )
        .help("gcc, gfortran and clang can: OMPI_CC=gcc (Open MPI) or -cc=gcc (MPICH) puts one behind mpicc")
    })?;
    Ok((family, answer))
}

fn no_compiler(compiler: &OsStr) -> Diagnostic {
    let name = Path::new(compiler).display();
    Diagnostic::new("no-compiler", format!("there is no compiler `{name}`"))
        .help("name one: hayase cc --compiler mpicc.mpich ..., or hayase wrap COMPILER ...")
}

fn cannot_start(compiler: &OsStr, error: &std::io::Error) -> Diagnostic {
    Diagnostic::new("cannot-start", format!("cannot start `{}`: {}", Path::new(compiler).display(), reason(error)))
}
