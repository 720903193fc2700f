"""What is around the process: `os`, `pathlib`, `tempfile`, `subprocess`, `platform`, `signal`, `locale`."""

from __future__ import annotations

from exportlint.analysis.domain.values import Python
from exportlint.analysis.library_functions import functions

functions("os.urandom", source="random")
functions("os.getenv os.environ.get os.environb.get os.getenvb", source="environment")
functions("os.getpid os.getcwd os.cpu_count os.listdir os.stat os.access", source="environment")
functions("os.path.exists os.path.isfile os.path.isdir os.path.getmtime", source="environment")
functions("socket.gethostname getpass.getuser", source="environment")
functions("platform.node", source="environment", strict="bakes")
functions("os.makedirs os.mkdir os.putenv tempfile.mkdtemp", effect="act")
functions("subprocess.run subprocess.Popen subprocess.check_output subprocess.call", effect="act")
functions("pathlib.Path.write_text pathlib.Path.write_bytes pathlib.Path.mkdir", effect="act")
functions("pathlib.Path", returns=Python("pathlib.Path"))
functions("os.system os.path.abspath os.walk shutil.which tempfile.NamedTemporaryFile", strict="refuses")
functions("glob.glob pathlib.Path.exists pathlib.Path.read_text os.path.getsize", strict="refuses")
functions("os.getppid os.uname locale.getpreferredencoding", strict="refuses")
functions("fnmatch.fnmatch", strict="refuses", traced_from=(2, 15))
functions("signal.getsignal signal.signal locale.getlocale configparser.ConfigParser", strict="refuses")
