"""What `draft_export` finds besides the first failure."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

from .failures import failure, silent, told_as_failure
from .frames import Frames, frame_event, ranked, same_places, user_frames


def further_failures(export: Callable[[Any], Any], root: str, strict: bool) -> Iterator[dict[str, Any]]:
    """What `draft_export` trips over, which goes on where export stops. From torch 2.6 on."""
    try:
        drafts: Any = importlib.import_module("torch.export._draft_export")
    except ImportError:
        return
    logged: list[tuple[str, Any]] = []
    record = drafts.LogRecord

    class Record(record):  # type: ignore[misc,valid-type]
        def try_add(self, element: Any) -> Any:
            logged.append(element)
            return super().try_add(element)

    error: BaseException | None = None
    variable = getattr(sys.modules["torch._logging._internal"], "DTRACE_ENV_VAR", "TORCH_TRACE")
    before = os.environ.get(variable)
    with tempfile.TemporaryDirectory() as directory:
        os.environ[variable] = directory  # where it writes a report that nobody asked for
        drafts.LogRecord = Record
        try:
            with contextlib.redirect_stdout(io.StringIO()), silent("torch.export", "torch.fx", "torch._dynamo"):
                export(drafts.draft_export)
        except Exception as raised:
            error = raised
        finally:
            drafts.LogRecord = record
            os.environ.pop(variable)
            if before is not None:
                os.environ[variable] = before
    seen: list[Frames] = []
    for name, data in logged:
        found = _logged_failure(name, data, root)
        if found is not None and found["frames"] not in seen:
            seen.append(found["frames"])
            yield found
    if error is not None:
        frames = user_frames(error, root, strict)
        if frames and not any(same_places(frames, known) for known in seen):
            yield failure(error, "export", frames, further=True)


def _logged_failure(name: str, data: Any, root: str) -> dict[str, Any] | None:
    if name.startswith("propagate_real_tensors"):
        kind = "GuardOnDataDependentSymNode"
        text = f"Could not guard on data-dependent expression {data.get('expr')}"
    elif name == "guard_added" and data.get("symbol_to_sources") and data.get("prefix") != "runtime_assert":
        if not str(data.get("expr", "")).startswith("Eq("):
            return None
        sources = ", ".join(f"{symbol} is {source}" for symbol, source in data["symbol_to_sources"].items())
        kind, text = "ConstraintViolation", f"This holds only where {data['expr']}, where {sources}"
    elif name in ("missing_fake_kernel", "mismatched_fake_kernel"):
        what = name.replace("_", " ")
        return told_as_failure("export", "FakeKernel", f"{what}: {data.get('op')}", [], [], True)
    else:
        return None
    table = getattr(importlib.import_module("torch._logging.structured"), "INTERN_TABLE", {})
    files = {number: file for file, number in table.items()}
    stack = data.get("user_stack") or data.get("stack") or []
    frames = [frame_event(str(files.get(f["filename"], f["filename"])), f["line"], f["name"]) for f in stack]
    frames = ranked(frames, root)
    return told_as_failure("export", kind, text, frames, [], True) if frames else None
