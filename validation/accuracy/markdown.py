"""Tables that scripts write into documents."""
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BEYOND = 0.1


def signed(value):
    """Whole per cent."""
    text = f"{100 * value:+.0f}"
    return "0" if int(text) == 0 else text


def percent(value):
    """The same; beyond 10 % in bold."""
    return f"**{signed(value)}**" if abs(value) > BEYOND else signed(value)


def table(head, rows):
    """Lines of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines).replace("| --- ", "|---").replace("--- |", "---|") + "\n"


def put(name, text, write):
    """Prints a table, or writes it between `<!-- NAME -->` and `<!-- end -->` of the page of docs/ that has these lines."""
    if not write:
        print(f"{name}:\n\n{text}")
        return
    for path in sorted((ROOT / "docs").rglob("*.md")):
        before, begin, rest = path.read_text().partition(f"<!-- {name} -->\n")
        _, end, after = rest.partition("<!-- end -->\n")
        if begin and end:
            path.write_text(before + begin + text + end + after)
            return
    raise SystemExit(f"no page of docs/ has `<!-- {name} -->` with `<!-- end -->` after it")
