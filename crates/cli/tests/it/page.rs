//! Pages of answers: one file that loads nothing.

use super::Desk;

/// Writes the page of a command and returns it.
fn page(desk: &Desk, words: &str) -> String {
    desk.hayase(&format!("{words} -q -o page.html")).assert().success();
    let html = desk.read("page.html");
    assert!(html.starts_with("<!doctype html>") && html.trim_end().ends_with("</html>"), "{words}");
    assert_eq!(html.matches("<script>").count(), 1, "{words}");
    let data = html.matches("<script type=\"application/json\" id=\"data\">").count();
    assert_eq!(html.matches("<script").count(), 1 + data.min(1), "{words}");
    // Nothing is loaded: names of formats are the only addresses.
    let addresses = html.split("://").skip(1).filter(|rest| !rest.starts_with("www.w3.org/"));
    assert_eq!(addresses.count(), 0, "{words}");
    html
}

#[test]
fn every_kind_of_work_has_a_page_with_its_answer_first() {
    let desk = Desk::new().file("plan.toml", PLAN);
    let pattern = "-t fat-tree-54 -p all-to-all-simple-spread --size 20KB";
    let cases = [
        (format!("run {pattern} --placement random"), "times the lower bound by", 3),
        ("replay gaussian-elimination:n=64 -m myrinet -t torus-4x4".to_owned(), "Ranks spend", 5),
        ("run -t fat-tree-54 --job a=ring:8 --job b=all-to-all-simple-spread:8".to_owned(), "", 3),
        ("compare -t fat-tree-54 -p ring,all-to-all-simple-spread --placement regular,random".to_owned(), "", 1),
        ("throughput -t dragonfly-72 --traffic adversarial=1".to_owned(), "", 0),
        ("schedule all-gather -t torus-4x4".to_owned(), "times the optimum", 3),
        ("rates -t fat-tree-54 -p ring".to_owned(), "", 1),
        ("whatif gaussian-elimination:n=64 -m myrinet".to_owned(), "", 1),
        ("sweep plan.toml -o results".to_owned(), "The shortest mean", 1),
    ];
    for (words, sentence, pictures) in cases {
        let html = page(&desk, &words);
        assert!(html.contains(sentence), "{words}");
        assert_eq!(html.matches("<figure").count(), pictures, "{words}");
        let command: String = words.chars().take_while(|c| *c != ' ').collect();
        assert!(html.contains(&format!("<pre id=\"command\">hayase {command}")), "{words}");
    }
    // The order of the page is that of reading.
    let html = page(&desk, &format!("run {pattern}"));
    let place = |text: &str| html.find(text).unwrap_or_else(|| panic!("{text}"));
    assert!(place("id=\"answer\"") < place("<table>") && place("<table>") < place("<svg"));
    assert!(place("<svg") < place("id=\"command\"") && html.contains("<b>fingerprint</b>"));
}

const PLAN: &str = "topology = \"torus-4x4\"\nworkload = \"ring\"\n[grid]\nsize = [\"1 KB\", \"2 KB\"]\n";

#[test]
fn a_page_of_a_run_that_stops_early_has_no_pictures_and_says_so() {
    // Each waits for the other.
    let waits = "num_ranks 2\nrank 0 {\nl1: recv 8b from 1 tag 0\nl2: send 8b to 1 tag 0\nl2 requires l1\n}\nrank 1 {\n\
                 l1: recv 8b from 0 tag 0\nl2: send 8b to 0 tag 0\nl2 requires l1\n}\n";
    let desk = Desk::new().file("x.goal", waits);
    let said = desk.hayase("replay x.goal -t torus-4x4 --node ideal -o page.html").assert();
    assert!(!said.get_output().status.success());
    let html = desk.read("page.html");
    assert!(html.contains("DEADLOCKED") && !html.contains("<figure"));
}

#[test]
fn names_of_files_are_text_on_a_page() {
    let desk = Desk::new().file("<script>x.goal", "num_ranks 1\nrank 0 {\nl1: calc 1000\n}\n");
    let html = page(&desk, "replay <script>x.goal --node ideal");
    assert!(html.contains("&lt;script&gt;x.goal"));
}
