"""The clock and the calendar: `time`, `datetime`, `timeit`, `calendar`."""

from __future__ import annotations

from exportlint.analysis.domain.values import NONE
from exportlint.analysis.library_functions import functions

functions("time.*", source="clock")
functions("time.sleep", returns=NONE, effect="act")
functions("time.mktime time.strptime time.struct_time", source=None)  # they compute with what they are given
functions("datetime.datetime.now datetime.datetime.utcnow datetime.datetime.today", source="clock")
functions("datetime.date.today timeit.default_timer", source="clock")
functions("datetime.timedelta", numbers=(0,), strict="refuses")
functions("datetime.datetime calendar.monthrange", strict="refuses")
functions("datetime.date datetime.time", strict="refuses")
functions("datetime.date.fromisoformat datetime.datetime.strptime", strict="refuses")
