"""What looks at the interpreter and at code: `sys`, `inspect`, `gc`, `importlib`, `ast`."""

from __future__ import annotations

from exportlint.analysis.library_functions import functions

functions("sys._getframe sys.getrefcount sys.getsizeof sys.setrecursionlimit", strict="refuses")
functions("inspect.stack inspect.currentframe inspect.getsource inspect.getdoc inspect.getfile", strict="refuses")
functions("inspect.getfullargspec inspect.isgeneratorfunction", strict="refuses", traced_from=(2, 9))
functions("typing.get_type_hints", strict="refuses", traced_from=(2, 9))  # but for some classes
functions("inspect.getmembers", strict="refuses", traced_from=(2, 9))  # of functions and classes from 2.13 on only
functions("importlib.import_module ast.parse gc.isenabled gc.get_count", strict="refuses")
functions("gc.collect gc.disable gc.enable", effect="act")
