"""Page files: what a page of the documentation shows as a file, for the pictures of it."""

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"


def page_file(page: str, name: str, folder: Path) -> Path:
    """Writes the file ``name`` that a page shows into a folder and returns where it is."""
    text = (DOCS / page).read_text(encoding="utf-8")
    found = re.search(rf"^```\S+ file={re.escape(name)}\n(.*?)^```$", text, re.M | re.S)
    if found is None:
        raise ValueError(f"docs/{page} shows no file {name!r}")
    path = folder / name
    path.write_text(found[1], encoding="utf-8")
    return path
