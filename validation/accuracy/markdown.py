"""Tables of the documents that scripts write."""
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MODELS = ROOT / "docs/models.md"
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
    """Prints a table, or writes it into docs/models.md between `<!-- NAME -->` and `<!-- end -->`."""
    if not write:
        print(f"{name}:\n\n{text}")
        return
    document = MODELS.read_text()
    before, begin, rest = document.partition(f"<!-- {name} -->\n")
    _, end, after = rest.partition("<!-- end -->\n")
    if not begin or not end:
        raise SystemExit(f"{MODELS}: there is no `<!-- {name} -->` with `<!-- end -->` behind it")
    MODELS.write_text(before + begin + text + end + after)
