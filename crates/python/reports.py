#!/usr/bin/env python3
"""Writes python/hayase/reports.py, the types of reports, from their JSON schema (src/report/schema.json).

`reports.py --check` fails if the file differs from the schema, and writes nothing.
"""

import json
import keyword
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SCHEMA = HERE.parents[1] / "src" / "report" / "schema.json"
TYPES = HERE / "python" / "hayase" / "reports.py"

HEAD = '''"""The types of reports, as JSON has them: `hayase.Result.report` is one of these.

Written by `crates/python/reports.py` from the JSON schema of reports; not to be changed by hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired
'''

SIMPLE = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}


def said_of(schema: Any) -> str:
    """Returns the description of a schema in one line, without the escapes of rustdoc."""
    text = schema.get("description", "") if isinstance(schema, dict) else ""
    return " ".join(text.replace("\\[", "[").replace("\\]", "]").split())


def type_of(schema: Any) -> str:
    """Returns the type that a schema allows."""
    if not isinstance(schema, dict):
        return "Any"
    if "$ref" in schema:
        return str(schema["$ref"].rsplit("/", 1)[-1])
    if "const" in schema:
        return f"Literal[{schema['const']!r}]"
    if "enum" in schema:
        return f"Literal[{', '.join(map(repr, schema['enum']))}]"
    for word in ("anyOf", "oneOf"):
        if word in schema:
            return union(type_of(one) for one in schema[word])
    kind = schema.get("type")
    if isinstance(kind, list):
        return union(type_of({**schema, "type": one}) for one in kind)
    if kind == "array":
        return f"list[{type_of(schema.get('items'))}]"
    if kind == "object":
        return f"dict[str, {type_of(schema.get('additionalProperties'))}]"
    return SIMPLE.get(str(kind), "Any")


def union(types: Any) -> str:
    """Returns the union of types, each once."""
    return " | ".join(dict.fromkeys(types))


def class_of(name: str, schema: dict[str, Any]) -> str:
    """Returns the definition of a type."""
    text = said_of(schema)
    if "properties" not in schema:
        said = f"#: {text}\n" if text else ""
        return f"{said}{name}: TypeAlias = {type_of(schema)!r}\n"
    required = set(schema.get("required", []))
    # A class has no field like `from`, which is a keyword.
    is_class = not any(keyword.iskeyword(key) for key in schema["properties"])
    if is_class:
        lines = [f"class {name}(TypedDict):", *([f'    """{text}"""\n'] if text else [])]
    else:
        lines = [*([f"#: {text}"] if text else []), f'{name} = TypedDict("{name}", {{']
    for key, value in schema["properties"].items():
        if said := said_of(value):
            lines.append(f"    #: {said}")
        kind = type_of(value) if key in required else f"NotRequired[{type_of(value)}]"
        lines.append(f"    {key}: {kind}" if is_class else f'    "{key}": {kind!r},')
    return "\n".join(lines if is_class else [*lines, "})"]) + "\n"


def written() -> str:
    """Returns the whole file."""
    schema = json.loads(SCHEMA.read_text())
    parts = [class_of(name, schema["$defs"][name]) for name in sorted(schema["$defs"])]
    return HEAD + "".join("\n\n" + part for part in parts)


if __name__ == "__main__":
    text = written()
    if "--check" in sys.argv:
        sys.exit(None if TYPES.read_text() == text else f"{TYPES.name} is not what the schema says: run reports.py")
    TYPES.write_text(text)
