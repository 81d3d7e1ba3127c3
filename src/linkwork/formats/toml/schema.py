"""JSON schemas of part and scene files, so that editors complete and check them.

An editor with TOML support (Taplo, Even Better TOML) takes the schema that a file's first line
names, by path or address::

    #:schema ./part.schema.json

``python -m linkwork.formats.toml.schema`` prints where the installed package keeps them. They are
generated from :mod:`linkwork.formats.toml.words` by the same command with ``--write``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from linkwork.formats.toml.words import AT, FORMS, SHAPE

#: Where the package keeps its schemas.
FOLDER = Path(__file__).resolve().parent.parent / "schema"

#: How the schemas are made anew.
COMMAND = "python -m linkwork.formats.toml.schema --write"


#: Tables that stand in many places and are defined once.
_SHARED = {"pose": AT, "shape": SHAPE}


def make(form: str) -> dict[str, Any]:
    """The schema of files whose ``format`` is ``form``."""
    schema = FORMS[form].schema()
    schema["properties"]["format"]["const"] = form
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": f"Linkwork {_word(form)}",
        **_referring(schema),
        "definitions": {
            name: {key: _referring(value) for key, value in table.schema().items()}
            for name, table in _SHARED.items()
        },
    }


def _word(form: str) -> str:
    """``part`` of ``linkwork/part 1``."""
    return form.split("/")[1].split()[0]


def _referring(schema: Any) -> Any:
    """The schema with shared tables replaced by references to their one definition."""
    if isinstance(schema, list):
        return [_referring(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    for name, table in _SHARED.items():
        if schema.get("properties") == table.schema()["properties"]:
            reference = {"$ref": f"#/definitions/{name}"}
            if "description" not in schema:
                return reference
            return {"description": schema["description"], "allOf": [reference]}
    return {key: _referring(value) for key, value in schema.items()}


def text(form: str) -> str:
    """The schema's file, as the package holds it."""
    return json.dumps(make(form), indent=2, ensure_ascii=False) + "\n"


def files() -> dict[Path, str]:
    """Every schema file and what it must hold."""
    return {FOLDER / f"{_word(form)}.schema.json": text(form) for form in FORMS}


def main(arguments: list[str]) -> int:
    """Prints where the schemas are; with ``--write`` makes them anew."""
    for path, content in files().items():
        if arguments == ["--write"]:
            path.parent.mkdir(exist_ok=True)
            path.write_text(content, encoding="utf-8")
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
