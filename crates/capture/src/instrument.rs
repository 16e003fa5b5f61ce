//! Compiles programs so that they report their memory accesses.
//!
//! The compilers' own instrumentation for finding data races (`-fsanitize=thread`) calls a function at every
//! access. Clang's leaves out arrays on the stack, so clang uses the one for addresses in kernels
//! (`-fsanitize=kernel-address`). Programs are linked with Hayase's library in place of the race detector.
//!
//! All other changes make the accesses of the program those of its source, each at its place. Some
//! optimisations would hide accesses or move them: a vector instruction for four elements, a copy that the
//! compiler writes out as instructions, a read that is covered by an earlier write, a store that is moved out
//! of its loop.
//!
//! gcc instruments late, so every earlier pass is one too many. Of all levels `-Og` has the fewest, and those
//! of them that touch loads and stores have options (`GNU_PASSES`). The remaining ones (inlining, registers
//! for variables) move no access. clang instruments after everything else and has no such options: only `-O0`
//! leaves accesses unchanged. A test compiles random programs in both ways
//! (`crates/memory/tests/differential`).

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Family of a compiler, by the options it takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// gcc, g++, gfortran.
    Gnu {
        /// First number of its version.
        version: u32,
        /// True for gfortran, which does not take options about functions of C.
        fortran: bool,
    },
    /// clang, clang++.
    Clang {
        /// First number of its version.
        version: u32,
    },
}

impl Family {
    /// Returns the family of a compiler from its answer to `--version`; `None` if it is not known to have the
    /// instrumentation.
    pub fn of(answer: &str) -> Option<Self> {
        let first = answer.lines().next().unwrap_or_default();
        if let Some((_, version)) = first.split_once("clang version ") {
            return Some(Self::Clang { version: version.split('.').next()?.parse().ok()? });
        }
        let fortran = first.starts_with("GNU Fortran");
        // "true (GNU coreutils) 8.32" comes from the same foundation.
        let other = first.contains("(GNU ") && !first.contains("Toolchain");
        if !fortran && (other || !answer.contains("Free Software Foundation")) {
            return None;
        }
        // "gcc (Debian 12.2.0-14+deb12u1) 12.2.0": the text in brackets is the distribution's.
        let after = first.rsplit(')').next().unwrap_or_default();
        let version = after.trim().split('.').next().and_then(|number| number.parse().ok());
        Some(Self::Gnu { version: version?, fortran })
    }
}

/// Changed arguments of a compiler, and a description of the changes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RewrittenArguments {
    /// Arguments for the compiler.
    pub arguments: Vec<OsString>,
    /// Remarks for the user, each a sentence without its full stop.
    pub changes: Vec<String>,
    /// True if anything is compiled or linked.
    pub compiles: bool,
    /// True if anything is linked.
    pub links: bool,
}

/// Reason why a program cannot be instrumented.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InstrumentError {
    /// It is to be linked without shared libraries.
    #[error("`{option}` links without shared libraries, and the library that records memory accesses is one")]
    Static {
        /// Option that requests it.
        option: String,
    },
    /// Another instrumentation is requested.
    #[error("`{option}` asks for another instrumentation; a program can have only one")]
    Sanitizer {
        /// Option that requests it.
        option: String,
    },
}

/// Options with which nothing is linked.
const COMPILE_ONLY: &[&str] = &["-c", "-S", "-E", "-M", "-MM", "-fsyntax-only"];
/// Options that only ask for information.
const QUERY_OPTIONS: &[&str] =
    &["--version", "-v", "-V", "-###", "-show", "--show", "--showme", "-compile_info", "-link_info", "--help"];
/// Options whose value is the next argument, which is therefore not an input.
const WITH_VALUE: &[&str] = &["-o", "-I", "-L", "-x", "-D", "-U", "-include", "-isystem", "-MF", "-MT", "-MQ", "-J"];

/// Options of clang's instrumentation for addresses in kernels, and the first version that knows each. They
/// make it call a function of this project at each memory access that can leave its function, and do nothing
/// else.
const CLANG_OPTIONS: &[(&str, u32)] = &[
    ("-asan-instrumentation-with-call-threshold=0", 4),
    ("-asan-memory-access-callback-prefix=__hayase_", 4),
    ("-asan-max-ins-per-bb=2000000000", 4),
    ("-asan-stack=0", 4),
    ("-asan-globals=0", 4),
    ("-asan-opt=0", 4),
    ("-asan-use-stack-safety=0", 14),
];

/// Passes of gcc that move, merge, widen or remove loads and stores before the instrumentation, or that make
/// two instructions of one; and the first version that knows the option.
///
/// Passes after the first group do not run at `-Og`, except for functions whose source asks for another
/// level.
const GNU_PASSES: &[(&str, u32)] = &[
    ("tree-fre", 4),
    ("tree-dse", 4),
    ("tree-dce", 4),
    ("tree-sra", 4),
    ("tree-forwprop", 4),
    ("tree-phiprop", 4),
    ("tree-bit-ccp", 4),
    ("tree-vrp", 4),
    ("thread-jumps", 4),
    ("ssa-phiopt", 5),
    ("optimize-sibling-calls", 4),
    ("ipa-pure-const", 4),
    ("ipa-reference", 4),
    ("ipa-modref", 11),
    ("optimize-strlen", 4),
    // Runs after the instrumentation: so an access comes right after its report.
    ("tree-ter", 4),
    // From here on: not at -Og.
    ("tree-pre", 4),
    ("tree-loop-im", 4),
    ("move-loop-stores", 12),
    ("tree-loop-optimize", 4),
    ("tree-loop-distribute-patterns", 4),
    ("tree-sink", 4),
    ("tree-dominator-opts", 4),
    ("tree-ch", 4),
    ("tree-cselim", 4),
    ("tree-switch-conversion", 4),
    ("tree-tail-merge", 4),
    ("tree-slsr", 4),
    ("tree-vectorize", 4),
    ("code-hoisting", 7),
    ("split-paths", 6),
    ("store-merging", 7),
    ("ipa-sra", 4),
    ("ipa-cp", 4),
    ("ipa-icf", 5),
    ("partial-inlining", 4),
];

/// Returns the arguments of a compiler of this family, with the instrumentation; `folder` is that of
/// [`place_for_linking`](super::library::Library::place_for_linking).
///
/// # Errors
/// The user's options exclude the instrumentation.
pub fn rewrite(family: Family, arguments: &[OsString], folder: &Path) -> Result<RewrittenArguments, InstrumentError> {
    let text = |argument: &OsStr| argument.to_string_lossy().into_owned();
    let is_any = |list: &[&str]| arguments.iter().any(|argument| list.iter().any(|&option| argument == option));
    let asks = arguments.iter().any(|argument| {
        let argument = text(argument);
        QUERY_OPTIONS
            .iter()
            .any(|&question| argument == question || (question == "--showme" && argument.starts_with("--showme:")))
            || argument.starts_with("-print-")
            || argument.starts_with("--print-")
            || argument.starts_with("-dump")
    });
    if asks || !has(arguments, |_| true) {
        return Ok(RewrittenArguments { arguments: arguments.to_vec(), ..RewrittenArguments::default() });
    }
    let links = !is_any(COMPILE_ONLY);

    let mut rewritten = RewrittenArguments { compiles: true, links, ..RewrittenArguments::default() };
    let level = match family {
        Family::Gnu { .. } => "-Og",
        Family::Clang { .. } => "-O0",
    };
    let mut optimises = false;
    let mut value_of_another = false;
    for argument in arguments {
        let option = text(argument);
        if std::mem::replace(&mut value_of_another, WITH_VALUE.contains(&option.as_str())) {
            rewritten.arguments.push(argument.clone());
            continue;
        }
        match option.as_str() {
            "-static" | "--static" | "-static-pie" if links => return Err(InstrumentError::Static { option }),
            "-O" | "-O1" | "-O2" | "-O3" | "-O4" | "-Og" | "-Os" | "-Oz" | "-Ofast" => {
                optimises = true;
                if option != level {
                    rewritten
                        .changes
                        .push(format!("{level} in the place of {option}, so that each access is one of the source"));
                }
                rewritten.arguments.push(level.into());
                if option == "-Ofast" {
                    rewritten.arguments.push("-ffast-math".into());
                }
                continue;
            }
            "-ftree-vectorize" | "-fvectorize" | "-fslp-vectorize" | "-ftree-slp-vectorize" => {
                rewritten.changes.push(format!("{option} left out, so that each access is one of the source"));
                continue;
            }
            // Added below, if needed.
            "-fsanitize=thread" => continue,
            _ if option.starts_with("-O") => optimises = true,
            _ if option.starts_with("-fsanitize=") => {
                return Err(InstrumentError::Sanitizer { option });
            }
            _ => {}
        }
        rewritten.arguments.push(argument.clone());
    }
    let add = &mut rewritten.arguments;
    if !optimises {
        add.push(level.into());
    }
    if !arguments.iter().any(|argument| text(argument).starts_with("-g")) {
        add.push("-g".into());
    }
    // The frame pointer marks the end of a function's variables.
    add.push("-fno-omit-frame-pointer".into());
    match family {
        Family::Gnu { version, fortran } => {
            add.push("-fsanitize=thread".into());
            let passes = GNU_PASSES.iter().filter(|&&(_, since)| version >= since);
            add.extend(passes.map(|(pass, _)| format!("-fno-{pass}").into()));
            if cfg!(target_arch = "x86_64") {
                // Copies of fixed size become calls, which are seen, instead of loops of one instruction.
                add.extend(["memcpy", "memset"].map(|f| format!("-m{f}-strategy=libcall:-1:noalign").into()));
            }
            if fortran {
                add.push("-fno-frontend-optimize".into());
                if version >= 8 {
                    add.push("-fno-frontend-loop-interchange".into());
                }
            } else {
                add.extend(["memcpy", "memmove", "memset"].map(|f| format!("-fno-builtin-{f}").into()));
            }
            if links {
                let mut before = OsString::from("-B");
                before.push(folder);
                // gcc wants a slash at the end of a folder.
                before.push("/");
                let mut library = OsString::from("-L");
                library.push(folder);
                add.extend([before, library]);
            }
        }
        Family::Clang { version } => {
            add.extend(["-fsanitize=kernel-address", "-finstrument-functions"].map(OsString::from));
            add.extend(["memcpy", "memmove", "memset"].map(|f| format!("-fno-builtin-{f}").into()));
            // clang complains about them if there is nothing to compile.
            if has(arguments, |input| !is_object(input)) {
                let options = CLANG_OPTIONS.iter().filter(|&&(_, since)| version >= since);
                add.extend(options.flat_map(|&(option, _)| ["-mllvm", option]).map(OsString::from));
            }
            if links {
                add.push(folder.join("libhayase_memory.so").into());
            }
        }
    }
    if links {
        // Separate words: a comma in the name of the folder would split an argument of -Wl.
        for word in ["-Xlinker", "-rpath", "-Xlinker"] {
            add.push(word.into());
        }
        add.push(folder.into());
    }
    Ok(rewritten)
}

/// Returns true if an input is already compiled.
fn is_object(input: &str) -> bool {
    let name = input.rsplit('/').next().unwrap_or_default();
    [".o", ".a", ".so", ".lo", ".obj"].iter().any(|end| name.ends_with(end)) || name.contains(".so.")
}

/// Returns true if there is such an input.
fn has(arguments: &[OsString], is: impl Fn(&str) -> bool) -> bool {
    let mut value_of_another = false;
    arguments.iter().any(|argument| {
        let argument = argument.to_string_lossy();
        let is_value = std::mem::replace(&mut value_of_another, WITH_VALUE.contains(&&*argument));
        !is_value && (argument == "-" || !argument.starts_with('-')) && is(&argument)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GCC: &str = "gcc (Debian 12.2.0-14+deb12u1) 12.2.0\nCopyright (C) 2022 Free Software Foundation, Inc.\n";
    const GNU: Family = Family::Gnu { version: 12, fortran: false };
    const CLANG: Family = Family::Clang { version: 14 };

    fn rewritten(family: Family, arguments: &str) -> Result<(String, usize), InstrumentError> {
        let arguments: Vec<OsString> = arguments.split_whitespace().map(OsString::from).collect();
        rewrite(family, &arguments, Path::new("/lib,x")).map(|rewritten| {
            let words: Vec<String> =
                rewritten.arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
            (words.join(" "), rewritten.changes.len())
        })
    }

    #[test]
    fn compilers_are_known_by_what_they_say_of_themselves() {
        assert_eq!(Family::of(GCC), Some(GNU));
        assert_eq!(Family::of("true (GNU coreutils) 8.32\nCopyright (C) 2020 Free Software Foundation, Inc."), None);
        let fortran =
            "GNU Fortran (Debian 12.2.0-14+deb12u1) 12.2.0\nCopyright (C) 2022 Free Software Foundation, Inc.";
        assert_eq!(Family::of(fortran), Some(Family::Gnu { version: 12, fortran: true }));
        assert_eq!(
            Family::of("cc (GCC) 9.5.0\n Free Software Foundation"),
            Some(Family::Gnu { version: 9, fortran: false })
        );
        assert_eq!(Family::of("Debian clang version 14.0.6\nTarget: x86_64-pc-linux-gnu"), Some(CLANG));
        assert_eq!(Family::of("nvfortran 23.1-0 64-bit target"), None);
        assert_eq!(Family::of(""), None);
    }

    #[test]
    fn questions_and_calls_without_input_are_left_alone() {
        for arguments in
            ["--version", "-show", "--showme:link", "a.c -###", "-print-file-name=libm.so", "-o x -I y", ""]
        {
            assert_eq!(rewritten(GNU, arguments), Ok((arguments.into(), 0)));
        }
    }

    #[test]
    fn libraries_are_named_only_where_something_is_linked() {
        for family in [GNU, CLANG] {
            let compiled = rewritten(family, "-c a.c -o a.o").unwrap().0;
            let level = if family == GNU { "-Og" } else { "-O0" };
            assert!(
                compiled.starts_with(&format!("-c a.c -o a.o {level} -g -fno-omit-frame-pointer -fsanitize=")),
                "{compiled}"
            );
            assert!(!compiled.contains("/lib,x"), "{compiled}");
            let linked = rewritten(family, "a.o -lm").unwrap().0;
            assert!(!linked.contains("-mllvm"), "{linked}");
            assert!(linked.contains("/lib,x") && linked.ends_with(" -Xlinker -rpath -Xlinker /lib,x"), "{linked}");
        }
    }

    #[test]
    fn optimisation_that_hides_accesses_is_taken_back_and_said() {
        assert!(rewritten(GNU, "a.c -O3 -march=native").unwrap().0.starts_with("a.c -Og -march=native -g "));
        assert!(rewritten(CLANG, "a.c -O1").unwrap().0.starts_with("a.c -O0 -g "));
        assert_eq!(rewritten(GNU, "a.c -Og").unwrap().1, 0);
        assert_eq!(rewritten(GNU, "a.c -O3 -ftree-vectorize").unwrap().1, 2);
        assert!(rewritten(GNU, "a.c -Ofast").unwrap().0.starts_with("a.c -Og -ffast-math -g "));
        assert_eq!(rewritten(GNU, "a.c -O0").unwrap().1, 0);
        assert!(rewritten(GNU, "a.c -O0 -g3").unwrap().0.starts_with("a.c -O0 -g3 -fno-omit-frame-pointer "));
        let old = Family::Gnu { version: 6, fortran: false };
        let has = |family, option| rewritten(family, "a.c").unwrap().0.contains(option);
        assert!(has(GNU, " -fno-tree-fre ") && has(GNU, " -fno-move-loop-stores ") && !has(old, "-move-loop-stores"));
        // A file of this name is not an option.
        assert_eq!(rewritten(GNU, "a.c -o -O3").unwrap().1, 0);
    }

    #[test]
    fn what_excludes_the_instrumentation_is_refused() {
        assert_eq!(rewritten(GNU, "a.c -static"), Err(InstrumentError::Static { option: "-static".into() }));
        assert!(rewritten(GNU, "-c a.c -static").is_ok(), "nothing is linked yet");
        let option = "-fsanitize=address".to_owned();
        assert_eq!(rewritten(GNU, "a.c -fsanitize=address"), Err(InstrumentError::Sanitizer { option }));
    }
}
