//! Whole sources: the recorded program, and one with all moved versions.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::PASSES;
use super::dialect::Dialect;
use super::plan::Plan;
use super::program::{
    ARRAYS, ENTRIES, Language, Object, Operation, Program, REQUESTS, STATUSES, Statement, VARIABLES, WINDOW,
};

/// Source, with the item and rank of each line.
pub struct Source {
    pub text: String,
    pub lines: BTreeMap<u32, (usize, usize)>,
    /// Line of the head of the loop.
    count: u32,
}

impl Source {
    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
        self.count += 1 + text.matches('\n').count() as u32;
    }
}

/// Returns the source of the program that is recorded.
pub fn recorded(program: &Program) -> Source {
    write(program, &[], false)
}

/// Returns a program with the original and all moved versions, which runs those that its arguments name, or all.
pub fn moved(program: &Program, plans: &[Plan]) -> Source {
    write(program, plans, true)
}

fn write(program: &Program, plans: &[Plan], moved: bool) -> Source {
    let dialect = Dialect(program.language);
    let mut out = Source { text: String::new(), lines: BTreeMap::new(), count: 0 };
    let head = if dialect.is_c() { C_HEAD.to_owned() } else { fortran_head(program.language) };
    out.line(head.trim_end());
    if dialect.is_c() {
        for array in 0..ARRAYS {
            out.line(&format!("static int b{array}[{ENTRIES}], *volatile p{array} = b{array}, *h{array};"));
        }
        if moved {
            out.line(C_MOVED.trim_end());
        }
    }
    body(program, None, moved, &mut out);
    for (number, plan) in plans.iter().enumerate() {
        body(program, Some((number + 1, plan)), moved, &mut out);
    }
    out.line(&main(dialect, plans.len(), moved, program.errors_return));
    out
}

fn body(program: &Program, plan: Option<(usize, &Plan)>, moved: bool, out: &mut Source) {
    let dialect = Dialect(program.language);
    let number = plan.map_or(0, |(number, _)| number);
    let numbers = |count: usize, prefix: &str, value: &str| -> String {
        (0..count).map(|i| format!("{prefix}{i}{value}")).collect::<Vec<_>>().join(", ")
    };
    if dialect.is_c() {
        out.line(&format!(
            "static void body{number}(void) {{\n  int i, j, k, flag = 0, chk = 1 + me, sum = 0, ids[4] = {{0}};\n  int {};\n  \
             MPI_Status st[{STATUSES}]; MPI_Request q[{REQUESTS}]; MPI_Win win; MPI_Comm half;\n  \
             memset(st, 0, sizeof st); for (i = 0; i < {REQUESTS}; i++) q[i] = MPI_REQUEST_NULL;\n  \
             (void)j; (void)flag; (void)ids; (void)win;",
            numbers(VARIABLES, "v", " = 0")
        ));
    } else {
        let (status, request, handle) = match program.language {
            Language::Fortran08 => (
                format!("type(MPI_Status) :: st(0:{})", STATUSES - 1),
                "type(MPI_Request)",
                ["type(MPI_Win)", "type(MPI_Comm)"],
            ),
            _ => (format!("integer :: st(MPI_STATUS_SIZE, 0:{})", STATUSES - 1), "integer", ["integer", "integer"]),
        };
        out.line(&format!(
            "subroutine body{number}\n  integer :: i, j, k, e, chk, sum, ids(0:3), touched\n  logical :: flag\n  integer :: {}\n  \
             {status}\n  {request} :: q(0:{})\n  {} :: win\n  {} :: half\n  chk = 1 + me; sum = 0; ids = 0; q = MPI_REQUEST_NULL",
            numbers(VARIABLES, "v", ""),
            REQUESTS - 1,
            handle[0],
            handle[1],
        ));
        out.line(&format!("  {}", (0..VARIABLES).map(|i| format!("v{i} = 0")).collect::<Vec<_>>().join("; ")));
    }
    let split = ["w".to_owned(), dialect.modulo("me", 2), "0".to_owned(), dialect.address("half")];
    out.line(&dialect.mpi("Comm_split", &split, None));
    if program.window {
        let (memory, size, unit) = match dialect.is_c() {
            true => (format!("b{WINDOW}"), (4 * ENTRIES).to_string(), "4".to_owned()),
            false => (format!("b{WINDOW}"), format!("int({}, MPI_ADDRESS_KIND)", 4 * ENTRIES), "4".to_owned()),
        };
        let window = [memory, size, unit, "MPI_INFO_NULL".into(), "w".into(), dialect.address("win")];
        out.line(&dialect.mpi("Win_create", &window, None));
        out.line(&dialect.mpi("Barrier", &["w".into()], None));
    }
    if moved {
        out.line(&dialect.call("hm_comms", &["w".into(), "half".into()]));
    }
    for (rank, calls) in program.persistent.iter().enumerate().filter(|(_, calls)| !calls.is_empty()) {
        let calls: Vec<String> = calls.iter().map(|call| dialect.persistent(call)).collect();
        out.line(&dialect.guarded(&dialect.equal("me", rank), &dialect.chain(&calls)));
    }
    let iterations = program.iterations;
    match dialect.is_c() {
        true => out.line(&format!("  for (k = 0; k < {iterations}; k++) {{")),
        false => out.line(&format!("  do k = 0, {}", iterations - 1)),
    }
    for rank in 0..program.ranks {
        match (dialect.is_c(), rank) {
            (true, 0) => out.line("  if (me == 0) {"),
            (true, _) => out.line(&format!("  }} else if (me == {rank}) {{")),
            (false, 0) => out.line("  if (me == 0) then"),
            (false, _) => out.line(&format!("  else if (me == {rank}) then")),
        }
        items(program, rank, plan.map(|(_, plan)| plan), moved, out);
    }
    out.line(if dialect.is_c() { "  } }" } else { "  end if\n  end do" });
    for (rank, calls) in program.persistent.iter().enumerate().filter(|(_, calls)| !calls.is_empty()) {
        let free = |request| dialect.mpi("Request_free", &[dialect.request(request)], None);
        let calls: Vec<String> = calls.iter().filter_map(|call| call.request).map(free).collect();
        out.line(&dialect.guarded(&dialect.equal("me", rank), &dialect.chain(&calls)));
    }
    let touched = match (moved, dialect.is_c()) {
        (false, _) => "0",
        (true, true) => "hm_end()",
        (true, false) => {
            out.line("  call hm_end(touched)");
            "touched"
        }
    };
    out.line(&match dialect.is_c() {
        true => format!("  printf(\"@ {number} %d %d %d %d\\n\", me, chk, sum, {touched}); fflush(stdout);"),
        false => format!("  print '(a,5(i0,1x))', '@ ', {number}, me, chk, sum, {touched}; flush(6)"),
    });
    if program.window {
        out.line(&dialect.mpi("Win_free", &[dialect.address("win")], None));
    }
    out.line(&dialect.mpi("Comm_free", &[dialect.address("half")], None));
    out.line(if dialect.is_c() { "}" } else { "end subroutine" });
}

fn items(program: &Program, rank: usize, plan: Option<&Plan>, moved: bool, out: &mut Source) {
    let dialect = Dialect(program.language);
    let body = &program.bodies[rank];
    for number in 0..=body.len() {
        let here = plan.map_or(&[][..], |plan| &plan.insertions[rank]);
        for insertion in here.iter().filter(|insertion| insertion.at == number) {
            out.line(&format!("    {}", dialect.insertion(insertion, rank)));
        }
        let Some(item) = body.get(number) else { break };
        if moved {
            match &item.statement {
                Statement::Call(call) if !matches!(call.operation, Operation::Collective(_)) => {
                    out.line(&format!("    {}", pause(dialect)));
                }
                Statement::ScopeClose { scope, entries } => {
                    out.line(&format!("    {}", dialect.scrub(Object::Scope(*scope), *entries)));
                }
                Statement::Free { heap } | Statement::Reallocate { heap, .. } => {
                    let entries = match &item.statement {
                        Statement::Reallocate { .. } => 0,
                        _ => allocated(program, rank, *heap, number),
                    };
                    if entries > 0 {
                        out.line(&format!("    {}", dialect.scrub(Object::Heap(*heap), entries)));
                    }
                }
                _ => {}
            }
        }
        let mut text = dialect.item(item);
        let replacements = plan.map_or(&[][..], |plan| &plan.replacements[rank]);
        for replacement in replacements.iter().filter(|replacement| replacement.item == number) {
            let by = replacement
                .by
                .as_ref()
                .map(|by| dialect.guarded(&dialect.in_iterations(replacement.iterations), &dialect.statement(by)));
            text = dialect.guarded(&dialect.otherwise(replacement.iterations), &text);
            text = by.map_or(text.clone(), |by| dialect.chain(&[by, text]));
        }
        out.line(&format!("    {text}"));
        out.lines.insert(out.count, (rank, number));
    }
}

fn pause(dialect: Dialect) -> String {
    if dialect.is_c() { "hm_pause();" } else { "call hm_pause()" }.to_owned()
}

/// Returns how many entries a heap array has at an item.
fn allocated(program: &Program, rank: usize, heap: usize, at: usize) -> usize {
    let sizes = program.bodies[rank][..at].iter().rev();
    sizes
        .filter_map(|item| match item.statement {
            Statement::Allocate { heap: this, entries } | Statement::Reallocate { heap: this, entries }
                if this == heap =>
            {
                Some(entries)
            }
            _ => None,
        })
        .next()
        .unwrap_or(0)
}

const C_HEAD: &str = r#"
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int me, size, g[64];
static MPI_Comm w;
static char text[64];
static FILE *file;
struct job { int *at, count, k; };
static struct job job;
static pthread_t thread;
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static void *filler(void *of) { struct job *job = of; for (int i = 0; i < job->count; i++) job->at[i] = (job->k * 17 + i * 5 + 3) % 9973; return 0; }
static void handler(int s) { (void)s; filler(&job); }
"#;

const C_MOVED: &str = r#"
void hm_reset(int, int), hm_comms(MPI_Comm, MPI_Comm), hm_pause(void), hm_scrub(void *, int), hm_begin(int, int);
void hm_in(int, void *, int, int, int), hm_out(int, void *, int, int), hm_dead(int), hm_counts(int, int *, int *);
void hm_send(int, int, int, int, int), hm_recv(int, int, int, int), hm_collective(int, int, int, int, int);
void hm_finish(int), hm_status(int, int, MPI_Status *), hm_code(int, int *);
int hm_end(void);
"#;

fn fortran_head(language: Language) -> String {
    let (module, comm) = match language {
        Language::Fortran08 => ("mpi_f08", "type(MPI_Comm)"),
        _ => ("mpi", "integer"),
    };
    let mut text = format!(
        "module all\n  use {module}\n  implicit none\n  integer :: me, size, g(0:63) = 0\n  {comm} :: w\n  character(64) :: text\n"
    );
    for array in 0..ARRAYS {
        let _ = writeln!(
            text,
            "  integer, target :: b{array}(0:{})\n  integer, pointer :: p{array}(:)\n  integer, allocatable :: h{array}(:)",
            ENTRIES - 1
        );
    }
    text + "contains"
}

fn main(dialect: Dialect, plans: usize, moved: bool, errors_return: bool) -> String {
    let mut text = String::new();
    let clean: Vec<String> = (0..ARRAYS)
        .map(|array| match dialect.is_c() {
            true => format!("memset(b{array}, 0, sizeof b{array});"),
            false => format!("b{array} = 0; p{array}(0:) => b{array}"),
        })
        .collect();
    let clean = dialect.chain(&clean);
    let world = if errors_return {
        let handler = ["MPI_COMM_WORLD".into(), "MPI_ERRORS_RETURN".into()];
        dialect.mpi("Comm_set_errhandler", &handler, None)
    } else {
        String::new()
    };
    if dialect.is_c() {
        text += &format!(
            "int main(int c, char **a) {{\n  (void)a; MPI_Init(&c, &a); MPI_Comm_rank(MPI_COMM_WORLD, &me); \
             MPI_Comm_size(MPI_COMM_WORLD, &size);\n  file = tmpfile(); signal(SIGUSR1, handler); (void)compare; (void)file; \
             (void)text; (void)thread; (void)g; {world}\n"
        );
        if moved {
            text += "  int first = c > 1 ? atoi(a[1]) : 0, last = c > 2 ? atoi(a[2]) : 1 << 20;\n";
            for number in 0..=plans {
                text += &format!(
                    "  for (int pass = 0; pass < {PASSES} && first <= {number} && {number} <= last; pass++) {{ MPI_Comm_dup(MPI_COMM_WORLD, &w); hm_reset(pass, me); {clean} body{number}(); MPI_Barrier(MPI_COMM_WORLD); }}\n"
                );
            }
        } else {
            text += "  w = MPI_COMM_WORLD; body0();\n";
        }
        return text + "  MPI_Finalize();\n  return 0;\n}";
    }
    text += "end module\nprogram main\n  use all\n  implicit none\n  integer :: e, pass, first, last\n  character(8) :: word\n";
    text += &format!(
        "  call MPI_Init(e); call MPI_Comm_rank(MPI_COMM_WORLD, me, e); call MPI_Comm_size(MPI_COMM_WORLD, size, e)\n  \
         open(10, status='scratch', form='unformatted'); pass = 0; first = 0; last = 1000000; word = ' '\n  {world}\n  {clean}\n"
    );
    if moved {
        text += "  call get_command_argument(1, word); if (word /= ' ') read(word, *) first\n  call get_command_argument(2, word); if (word /= ' ') read(word, *) last\n";
        for number in 0..=plans {
            text += &format!(
                "  do pass = 0, {PASSES} - 1; if (first > {number} .or. {number} > last) exit; call MPI_Comm_dup(MPI_COMM_WORLD, w, e); call hm_reset(pass, me); {clean}; call body{number}; call MPI_Barrier(MPI_COMM_WORLD, e); end do\n"
            );
        }
    } else {
        text += "  w = MPI_COMM_WORLD; call body0\n";
    }
    text + "  call MPI_Finalize(e)\nend program"
}
