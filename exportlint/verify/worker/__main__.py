"""What Python runs: makes a package of the folder, under a name that nobody else has."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys


def _package() -> str:
    """Import the package; its modules have names that those of the user may have, too, so the folder is not a path."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != here]
    name = "exportlint_verify_worker"
    spec = importlib.util.spec_from_file_location(
        name, os.path.join(here, "__init__.py"), submodule_search_locations=[here]
    )
    assert spec is not None
    assert spec.loader is not None
    sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[name])
    return name


if __name__ == "__main__":
    importlib.import_module(f"{_package()}.host").main()
