"""JSON schemas of the file formats, for editors that complete and check.

An editor with TOML support (Taplo, Even Better TOML) uses the schema that a file's first line
names, by path or address::

    #:schema ./part.schema.json

``python -m linkwork.formats.toml.schema`` prints the paths of the installed schemas; with
``--write`` it generates them from the tables of keys.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from linkwork.formats.toml.part_keys import AT, SHAPE
from linkwork.formats.toml.scene_keys import FILE_TABLES

#: Folder of the schemas.
FOLDER = Path(__file__).resolve().parent.parent / "schema"

#: Command that generates the schemas.
COMMAND = "python -m linkwork.formats.toml.schema --write"


#: Tables that several keys share; the schema defines each once.
_SHARED = {"pose": AT, "shape": SHAPE}


def make_schema(form: str) -> dict[str, Any]:
    """Returns the schema of files whose ``format`` is ``form``."""
    schema = FILE_TABLES[form].schema()
    schema["properties"]["format"]["const"] = form
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": f"Linkwork {_file_type(form)}",
        **_with_references(schema),
        "definitions": {
            name: {key: _with_references(value) for key, value in table.schema().items()}
            for name, table in _SHARED.items()
        },
    }


def _file_type(form: str) -> str:
    """Returns ``part`` for ``linkwork/part 1``."""
    return form.split("/")[1].split()[0]


def _with_references(schema: Any) -> Any:
    """Returns the schema with shared tables replaced by references to their definition."""
    if isinstance(schema, list):
        return [_with_references(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    for name, table in _SHARED.items():
        if schema.get("properties") == table.schema()["properties"]:
            reference = {"$ref": f"#/definitions/{name}"}
            if "description" not in schema:
                return reference
            return {"description": schema["description"], "allOf": [reference]}
    return {key: _with_references(value) for key, value in schema.items()}


def text(form: str) -> str:
    """Returns the text of a schema file."""
    return json.dumps(make_schema(form), indent=2, ensure_ascii=False) + "\n"


def files() -> dict[Path, str]:
    """Returns the text of every schema file, by its path."""
    return {FOLDER / f"{_file_type(form)}.schema.json": text(form) for form in FILE_TABLES}


def main(arguments: list[str]) -> int:
    """Prints the paths of the schemas; with ``--write`` generates them."""
    for path, content in files().items():
        if arguments == ["--write"]:
            path.parent.mkdir(exist_ok=True)
            path.write_text(content, encoding="utf-8")
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
