"""One engine of ``loops.py`` in a process of ``.venv-bench``.

python loops_process.py exudyn|bullet|drake|newton
"""

from __future__ import annotations

import importlib
import json
import sys
import traceback
from typing import Any

import numpy as np

from shared.child import serve
from shared.linkages import CASES, Motion


def plain(motion: Motion) -> list[Any]:
    """A motion as lists, for JSON."""
    return [motion.x.tolist(), motion.turn.tolist(), motion.v.tolist(), motion.w.tolist()]


def main(name: str) -> None:
    """Serves one engine: a request is "load", "run" or "trace" with arguments, as a JSON list."""
    try:
        engine: Any = importlib.import_module(f"shared.loops_{name}")
    except ImportError as error:
        serve({"missing": str(error.name)}, lambda _: None)
        return
    loaded: list[Any] = []

    def reply(request: str) -> Any:
        asked, *more = json.loads(request)
        try:
            if asked == "load":
                loaded[:] = [engine.Engine(CASES[more[0]]())]
                return True
            if asked == "run":
                spent, centers = loaded[0].run(*more)
                if centers is None or not np.isfinite(centers).all():
                    return spent, None
                return spent, centers.tolist()
            return [plain(each) for each in loaded[0].trace(*more)]
        except Exception:
            traceback.print_exc(file=sys.stderr)
            return None

    serve({"settings": list(engine.SETTINGS), "name": engine.NAME}, reply)


if __name__ == "__main__":
    main(sys.argv[1])
