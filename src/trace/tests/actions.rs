//! Reading of SimGrid's time-independent traces.

use super::*;

fn actions(files: &[(&str, &str)]) -> Result<Program, String> {
    let open = |name: &str| match files.iter().find(|(known, _)| *known == name) {
        Some((_, text)) => Ok(Input::from_bytes(name, text.as_bytes().into())),
        None => Err(Diagnostic::new("missing-file", format!("there is no file `{name}`"))),
    };
    let mut program = ToProgram::new(files[0].0, "line");
    time_independent::read(files[0].0, &open, 1e9, &mut program).map_err(text_of)?;
    program.finish().map_err(text_of)
}

#[test]
fn actions_of_the_present_dialect_are_read() {
    let program = actions(&[(
        "t.txt",
        "0 init\n1 init\n0 compute 1e3\n0 isend 1 7 10 0\n0 isend 1 8 10 6\n0 wait 0 1 8\n0 waitall\n1 recv 0 8 10 6\n\
         1 irecv 0 7 10 0\n1 test 0 1 7\n1 wait 0 1 7\n0 allreduce 5 2e3 1\n1 allreduce 5 2e3 1 \n0 sleep 1e-6\n\
         0 location x.c 3\n1 finalize\n0 finalize\n",
    )])
    .unwrap();
    let to = |tag| Envelope::world(1, tag);
    assert_eq!(
        ops(&program, 0),
        [
            Op::calc(ns(1000.0)),
            Op::isend(to(7), 80),
            Op::isend(to(8), 10),
            Op::wait(2),
            Op::wait(1),
            Op::collective(0),
            Op::calc(ns(3000.0)),
        ]
    );
    assert_eq!(program.collectives[0].counts, Counts::Same(20));
    assert_eq!(ops(&program, 1)[1..3], [Op::irecv(Envelope::world(0, 7), 80), Op::wait(1)]);
}

#[test]
fn actions_of_the_dialect_of_the_papers_are_read() {
    let program = actions(&[("t.txt", "p0 init\np1 init\n\np0 send p1 1e9\n~   \n")]);
    assert!(program.unwrap_err().contains("`p1` is not a rank"), "only the rank that acts has a letter");
    let program = actions(&[(
        "t.txt",
        "p0 init 1\np1 init 1\n\np0 send 1 1e3\np0 compute 5\np0 Irecv 1 4 3\np0 wait\np1 Irecv 0 1e3\np1 wait\n\
         ~       \np1 Isend 0 4 3\np0 allToAll 500 500\np1 allToAll 500 500\np0 finalize\np1 finalize\n",
    )])
    .unwrap();
    let from = Envelope::world(1, 0);
    assert_eq!(
        ops(&program, 0),
        [Op::send(from, 8000), Op::calc(ns(5.0)), Op::irecv(from, 8), Op::wait(2), Op::collective(0)]
    );
    assert_eq!(program.collectives[0].counts, Counts::Same(4000));
}

#[test]
fn a_list_of_files_is_followed_from_its_folder() {
    let program = actions(&[
        ("run/t.txt", "t_files/0\nt_files/1\n"),
        ("run/t_files/0", "0 init\n0 send 1 0 8 6\n0 gatherv 8 8 3 0\n0 finalize\n"),
        ("run/t_files/1", "1 init\n1 recv 0 0 8 6\n1 gatherv 3 8 3 0\n1 finalize\n"),
    ])
    .unwrap();
    assert_eq!(ops(&program, 0)[0], Op::send(Envelope::world(1, 0), 8));
    let counts: Vec<_> = program.collectives.iter().map(|collective| collective.counts.clone()).collect();
    assert_eq!(counts, [Counts::Each([8, 3].into()), Counts::Each([0, 3].into())]);
}

#[test]
fn optional_words_of_actions_are_read_to_the_end() {
    // Sizes, root and both types; counts, both types and places; only counts and places.
    let lines = |rank: u32| {
        format!(
            "{rank} init\n{rank} gather 8 8 0 6 6\n{rank} alltoall 8 8 6 6\n{rank} allgatherv 8 8 8 8 6 6 0 8 16\n\
             {rank} allgatherv 1 1 1 1 0 1 2\n{rank} waitall 0\n{rank} finalize\n"
        )
    };
    let program = actions(&[("t.txt", &(0..3).map(lines).collect::<String>())]).unwrap();
    let counts: Vec<_> = program.collectives.iter().map(|collective| collective.counts.clone()).collect();
    let each = |bytes: u64| Counts::Each([bytes; 3].into());
    assert_eq!(counts, [Counts::Same(8), Counts::Same(8), each(8), each(1)]);
}

#[test]
fn mistakes_in_actions_have_file_line_and_column() {
    for (text, what) in [
        ("0 init\n0 frobnicate\n", "t.txt:2:3: unknown action `frobnicate`"),
        ("0 init\n0 alreduce 1 1\n", "write `allreduce`"),
        ("0 init\n0 compute\n", "t.txt:2:10: the line ends where a number of operations is expected"),
        ("0 init\n0 compute -1\n", "t.txt:2:11: `-1` is not a number of operations"),
        ("0 init\n0 compute nan\n", "is not a number of operations"),
        ("0 init\n0 compute 1e300\n", "is not a number of operations"),
        ("0 init\n0 send 1 7 8 6\n", "t.txt:2:8: `1` is not a rank (there are 1)"),
        ("0 init\n0 wait\n", "t.txt:2:3: a wait, and nothing to wait for"),
        ("0 init\n2 init\n", "rank 1 is missing"),
        ("0 init\nsend 1 2\n", "t.txt:2:1: a line starts with the number of a rank"),
        ("0 init\n0\n", "t.txt:2:1: the line ends where an action is expected"),
        ("0 init\n0 bcast 1 1\n", "`1` is not a rank"),
        ("0 init\n0 alltoallv 1 1 1\n", "the line ends where a count for each rank is expected"),
        ("0 init\n0 compute 5 6 7\n", "t.txt:2:13: `compute` has no more words than those before `6`"),
        ("0 init\n0 barrier x\n", "t.txt:2:11: `barrier` has no more words than those before `x`"),
        ("0 init\n0 bcast 8 0 6 6\n", "t.txt:2:15: `bcast` has no more words"),
        ("0 init\n0 allreduce 8 1 x\n", "t.txt:2:17: `x` is not the number of a type"),
        ("0 init\n0 allgatherv 8 8 0 0 0 0\n", "t.txt:2:24: `allgatherv` has no more words"),
        ("0 init 0 0\n", "t.txt:1:10: `init` has no more words"),
        ("", "holds no actions"),
        ("no/such/file\n", "there is no file `no/such/file`"),
    ] {
        let error = actions(&[("t.txt", text)]).unwrap_err();
        assert!(error.contains(what), "{text:?}: {error}");
    }
}
