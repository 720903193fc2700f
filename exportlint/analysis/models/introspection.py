"""What looks at the interpreter and at code: `sys`, `inspect`, `gc`, `importlib`, `ast`."""

from __future__ import annotations

from exportlint.analysis.library_functions import functions

functions("sys._getframe sys.getrefcount sys.getsizeof sys.setrecursionlimit", strict="refuses")
functions("inspect.stack inspect.currentframe inspect.getmembers inspect.getsource", strict="refuses")
functions("inspect.getdoc inspect.getfile inspect.getfullargspec inspect.isgeneratorfunction", strict="refuses")
functions("importlib.import_module ast.parse gc.isenabled gc.get_count typing.get_type_hints", strict="refuses")
functions("gc.collect gc.disable gc.enable", effect="act")
