"""What goes to the worker and what comes back: a `Target` becomes jobs, the events of a job become a `Run`."""

from __future__ import annotations
