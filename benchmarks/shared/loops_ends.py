"""The far end of a rival of the loops' benchmark: a process of ``.venv-bench`` with one engine.

python loops_ends.py exudyn|bullet|drake|newton
"""

from __future__ import annotations

import importlib
import json
import sys
import traceback
from typing import Any

import numpy as np

from shared.child import answer
from shared.linkages import CASES, Motion


def plain(motion: Motion) -> list[Any]:
    """A motion as lists."""
    return [motion.x.tolist(), motion.turn.tolist(), motion.v.tolist(), motion.w.tolist()]


def main(name: str) -> None:
    """Serves one engine: ``load``, ``run`` and ``trace``, each a JSON list of words."""
    try:
        engine: Any = importlib.import_module(f"shared.loops_{name}")
    except ImportError as error:
        answer({"missing": str(error.name)}, lambda _: None)
        return
    loaded: list[Any] = []

    def word(text: str) -> Any:
        asked, *more = json.loads(text)
        try:
            if asked == "load":
                loaded[:] = [engine.Engine(CASES[more[0]]())]
                return True
            if asked == "run":
                spent, centres = loaded[0].run(*more)
                if centres is None or not np.isfinite(centres).all():
                    return spent, None
                return spent, centres.tolist()
            return [plain(each) for each in loaded[0].trace(*more)]
        except Exception:
            traceback.print_exc(file=sys.stderr)
            return None

    answer({"settings": list(engine.SETTINGS), "name": engine.NAME}, word)


if __name__ == "__main__":
    main(sys.argv[1])
