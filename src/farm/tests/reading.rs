//! Tasks from tables and tasks files, and the messages for mistakes in them.

use super::*;
use crate::diagnostic::{Invalid, Sources};
use crate::reading::Input;

fn table(text: &str) -> Result<Executed, String> {
    let input = Input::from_bytes("tasks.csv", text.as_bytes().to_vec());
    source::read_table(input, Size { input: 8, output: 4 })
        .map_err(|diagnostics| Invalid { diagnostics, sources: Sources::default() }.lines())
}

#[test]
fn a_table_has_coordinates_times_and_sizes() {
    let executed = table("i1,i2,time,bytes_in\n1,-2,1.5e-6,100\n1,3,20 us,5 KB\n").unwrap();
    assert_eq!((executed.dimensions(), executed.len()), (2, 2));
    assert_eq!((executed.point(0), executed.point(1)), (&[1, -2][..], &[1, 3][..]));
    assert_eq!(executed.times(), [ps(1.5e6), ps(20e6)]);
    assert_eq!([executed.size(0), executed.size(1)], [Size { input: 100, output: 4 }, Size { input: 5000, output: 4 }]);
    let list = table("time\n1\n2\n").unwrap();
    assert_eq!((list.dimensions(), list.len(), list.common_size()), (0, 2, Some(Size { input: 8, output: 4 })));
}

#[test]
fn mistakes_of_a_table_are_found_at_their_places_all_at_once() {
    let error = table("i1,time\n1,2 us\nx,3 us\n3,-1\n4\n").unwrap_err();
    let lines: Vec<&str> = error.lines().collect();
    assert_eq!(lines.len(), 3, "{error}");
    assert!(lines[0].starts_with("tasks.csv:3:1: \"x\" is not a whole number"), "{error}");
    assert!(lines[1].starts_with("tasks.csv:4:3: a time is finite and not negative"), "{error}");
    assert!(lines[2].starts_with("tasks.csv:5:"), "{error}");
    assert!(table("i1,i3,time\n1,1,1\n").unwrap_err().contains("a column `i3` but none `i2`"));
    assert!(table("i1,bytes\n").unwrap_err().contains("time"));
}

/// Loads a tasks file from a folder with a table.
fn load(text: &str) -> Result<Tasks, String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("few.csv"), "i1,time\n1,10 ns\n3,30 ns\n").unwrap();
    let path = folder.path().join("tasks.toml");
    std::fs::write(&path, text).unwrap();
    let mut sources = Sources::default();
    let name = path.display().to_string();
    let shorten = |error: String| error.replace(&folder.path().display().to_string(), "");
    let file = TasksFile::read(&name.into(), &mut sources)
        .map_err(|diagnostics| shorten(Invalid { diagnostics, sources: sources.clone() }.lines()))?;
    file.load(1, &mut sources).map_err(|invalid| shorten(invalid.lines()))
}

#[test]
fn a_tasks_file_names_a_table_lists_tasks_or_gives_a_rule() {
    let tasks = load("grid = \"3\"\nbytes-in = \"1 KB\"\n[tasks.file]\npath = \"few.csv\"\n").unwrap();
    assert_eq!(tasks.times(), [ps(10e3), ps(20e3), ps(30e3)]);
    assert_eq!(tasks.size(1), Size { input: 1000, output: 0 });
    let listed = "grid = \"2x2\"\n[tasks.executed]\npoints = [\n{ at = [1, 1], time = \"1 ns\" },\n{ at = [1, 2], time = \
                  \"2 ns\" },\n{ at = [2, 1], time = \"3 ns\" },\n{ at = [2, 2], time = \"4 ns\", bytes-out = \"6 B\" },\n]\n";
    let tasks = load(listed).unwrap();
    assert_eq!((tasks.len(), tasks.work(), tasks.size(3).output), (4, ps(10e3), 6));
    let tasks = load("[tasks.constant]\ncount = 3\ntime = \"1 ms\"\n").unwrap();
    assert_eq!(tasks.work(), ps(3e9));
}

#[test]
fn mistakes_of_a_tasks_file_have_their_places_too() {
    let error = load("grid = \"3\"\n[tasks.file]\npth = \"few.csv\"\n").unwrap_err();
    assert!(error.starts_with("/tasks.toml:3:1: unknown key `pth` in [tasks.file]; did you mean `path`?"), "{error}");
    let error = load("grid = \"3\"\n").unwrap_err();
    assert!(
        error.starts_with("/tasks.toml:1:1: missing key `tasks`; `hayase master-slave --help` describes"),
        "{error}"
    );
    let error = load("grid = 3x\n[tasks.file]\npath = \n").unwrap_err();
    assert_eq!(error.lines().count(), 2, "{error}");
    let error = load("grid = \"three\"\n[tasks.file]\npath = \"few.csv\"\n").unwrap_err();
    assert!(error.starts_with("/tasks.toml:1:8: \"three\" is not a grid"), "{error}");
    let error = load("[tasks.file]\npath = \"none.csv\"\n").unwrap_err();
    assert!(error.starts_with("/tasks.toml:2:8: there is no file"), "{error}");
    let error = load("[tasks.constant]\ncount = 0\ntime = \"1 s\"\n").unwrap_err();
    assert!(error.starts_with("/tasks.toml:2:9: there cannot be 0 tasks"), "{error}");
    let error = load("[tasks.heavy-tail]\ncount = 5\nmean = \"1 s\"\nshape = 1.0\n").unwrap_err();
    assert!(error.starts_with("/tasks.toml:4:9: a heavy tail of shape 1 has no mean"), "{error}");
    let error = load("[tasks.executed]\npoints = [{ at = [1], time = \"1 s\" },\n{ at = [1, 2], time = \"1 s\" }]\n")
        .unwrap_err();
    assert!(error.starts_with("/tasks.toml:3:1: this task has 2 coordinates"), "{error}");
}
