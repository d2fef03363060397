"""The machine a fit runs on: memory, cores, time, files written whole, and what is installed besides."""

from __future__ import annotations

import ctypes
import errno
import gc
import os
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from numbers import Integral
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from manyview.errors import InUseError, ParameterError, WriteError
from manyview.wording import bytes_in_words

_MEMINFO = Path("/proc/meminfo")
_OWN_GROUPS = Path("/proc/self/cgroup")
_GROUPS = Path("/sys/fs/cgroup")

# Of a control group, in version 2 and 1: its limit, what it uses, and how much of that is files' pages
# that were not touched lately, which are given back on demand.
_FILES = ("memory.max", "memory.current", "inactive_file")
_OLD_FILES = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")

_STATM = Path("/proc/self/statm")
_EVERY = 0.02


def count_jobs(n_jobs: Any = None) -> int:
    """Number of threads that ``n_jobs`` asks for; None and -1 are all cores this process may use.

    Quotas of containers and the cores a process is bound to count.

    Examples
    --------
    >>> count_jobs(3), count_jobs(-1) == count_jobs(None)
    (3, True)
    """
    from joblib import cpu_count

    if n_jobs is None:
        return int(cpu_count())
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise ParameterError(
            "n_jobs", f"must be a number of threads, or -1 for all cores; got {n_jobs!r}."
        )
    wanted = int(n_jobs)
    return wanted if wanted > 0 else max(int(cpu_count()) + 1 + wanted, 1)


@cache
def find_plugins(group: str) -> dict[str, EntryPoint]:
    """What installed packages add to manyview, by name; nothing is imported yet.

    A group is "manyview.baselines" or "manyview.readers", an entry point of which packages declare.
    """
    return {found.name: found for found in entry_points(group=group)}


def load_plugin(found: EntryPoint) -> Any:
    """What a package adds, or ImportError with its name if that cannot be loaded, whatever is wrong."""
    try:
        return found.load()
    except Exception as error:
        package = "PACKAGE" if found.dist is None else found.dist.name
        raise ImportError(
            f"{found.name!r}, which package {package!r} adds to {found.group}, cannot be loaded "
            f"({type(error).__name__}: {error}). Upgrade it (pip install --upgrade {package}), or "
            "uninstall it."
        ) from error


@contextmanager
def whole_file(path: Path, *, durable: bool = False) -> Iterator[Path]:
    """A path to write to, which becomes ``path`` at the end: whole, or not at all.

    A file that is there is replaced. ``durable`` waits until the file and its name are on the disk.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "labels.txt"
    >>> with whole_file(path) as unfinished:
    ...     _ = unfinished.write_text("0 1 1")
    >>> path.read_text(), [entry.name for entry in path.parent.iterdir()]
    ('0 1 1', ['labels.txt'])
    """
    # Of this process alone: another may be writing the same file.
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield unfinished
        if durable:
            sync(unfinished)
        os.replace(unfinished, path)
        if durable:
            sync(path.parent)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def write_error(
    error: OSError, path: Path, what: str, *, remedy: str = "", parameter: str = ""
) -> WriteError:
    """What went wrong with writing a file, ``what`` in words, and how much room there is."""
    free = ""
    with suppress(OSError):
        free = f" {bytes_in_words(shutil.disk_usage(path.parent).free)} are free there."
    problem = f"Could not write {what}: {error.strerror or error}.{free}"
    return WriteError(problem, remedy=remedy, parameter=parameter)


_HOLDER = re.compile(rb"(?:(\d+) (\d+\.\d+))?")  # of a lock: process and time, or nothing yet


class Lock:
    """A file that is there, and locked, until this is closed or the process ends, however it ends.

    The lock is the system's, not the file: one that a killed process has left keeps nobody out.

    Raises
    ------
    InUseError
        If another process, or another lock of this one, holds it.
    FileExistsError
        If a file is in its place that is no lock of ours; it stays as it is.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "lock"
    >>> lock = Lock(path)
    >>> path.exists(), lock.close(), path.exists()
    (True, None, False)
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = open_locked(path)
        self._file.seek(0)
        if not _HOLDER.fullmatch(self._file.read(100)):
            self._file.close()
            problem = "a file that manyview did not write is where its lock would be"
            raise FileExistsError(errno.EEXIST, problem, str(path))
        self._file.truncate(0)
        self._file.write(f"{os.getpid()} {time.time()}".encode())
        self._file.flush()

    def close(self) -> None:
        """Remove the file, and let others in."""
        # While it is locked: what another process makes from now on is another file.
        with suppress(OSError):
            self._path.unlink()
        self._file.close()


def open_locked(path: Path) -> BinaryIO:
    """A file that is locked by this process; InUseError if it is by another."""
    while True:
        file = path.open("a+b")
        try:
            import fcntl
        except ImportError:  # not on every system
            return file
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Who held it before may have removed it meanwhile.
            if path.exists() and os.path.samestat(os.fstat(file.fileno()), path.stat()):
                return file
        except BlockingIOError:
            raise _in_use(path, file) from None
        except FileNotFoundError:
            pass
        file.close()


def _in_use(path: Path, file: BinaryIO) -> InUseError:
    with file:
        for _ in range(20):  # who has only just locked it will say so in a moment
            file.seek(0)
            if (found := _HOLDER.fullmatch(file.read(100))) and found[1]:
                return InUseError(path, int(found[1]), time.time() - float(found[2]))
            time.sleep(0.05)
    return InUseError(path, None, None)


def sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk, where one can ask for it."""
    if path.is_dir() and os.name != "posix":
        return
    # Some systems sync only what may be written to, and open folders only to be read.
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def free_memory() -> int | None:
    """Bytes that can be allocated now without swapping, or None where it cannot be told.

    The operating system's own estimate, or what is left of the limit of a control group (a container,
    a batch job) where that is less. Where the system has no estimate: its physical memory.

    Examples
    --------
    >>> free = free_memory()
    >>> free is None or free >= 0
    True
    """
    known = [_free_of_machine(), *_left_in_groups()]
    return min((free for free in known if free is not None), default=None)


def _free_of_machine() -> int | None:
    available = _number_after("MemAvailable:", _MEMINFO)
    if available is not None:
        return available * 1024
    for pages in ("SC_AVPHYS_PAGES", "SC_PHYS_PAGES"):
        try:
            found = os.sysconf(pages) * os.sysconf("SC_PAGE_SIZE")
        except (AttributeError, OSError, ValueError):  # not on every system
            continue
        if found > 0:
            return found
    return None


def _left_in_groups() -> list[int]:
    """What the limits of this process's control groups leave, and those of the groups around them."""
    own = {"": "/", "memory": "/"}  # a version 2 group has no controllers before its path
    for line in _read(_OWN_GROUPS).splitlines():
        _, controllers, path = line.split(":", 2)
        own |= dict.fromkeys(controllers.split(","), path)
    return [
        *_left_on_the_way(_GROUPS, own[""], _FILES),
        *_left_on_the_way(_GROUPS / "memory", own["memory"], _OLD_FILES),
    ]


def _left_on_the_way(top: Path, path: str, files: tuple[str, str, str]) -> list[int]:
    """What each group leaves from the top down to ``path``; some may be out of sight."""
    limit_file, used_file, reclaimable = files
    names, left = PurePosixPath(path).parts[1:], []
    for depth in range(len(names) + 1):
        group = top.joinpath(*names[:depth])
        try:
            limit = int(_read(group / limit_file))
            used = int(_read(group / used_file))
        except ValueError:  # no such file, or "max"
            continue
        used -= _number_after(reclaimable, group / "memory.stat") or 0
        left.append(max(limit - used, 0))
    return left


def _number_after(name: str, path: Path) -> int | None:
    """The number on the line of a file that starts with a name."""
    for line in _read(path).splitlines():
        words = line.split()
        if words[:1] == [name]:
            return int(words[1])
    return None


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, ValueError):  # not on every system, or no text
        return ""


class Stopwatch:
    """Times stages; on request, watches how much memory the process holds meanwhile.

    Then ``peak_bytes`` has the most that was seen resident during each stage, looked at fifty times a
    second. It stays empty where the system does not tell (it is read from Linux's /proc). A
    ``progress`` is told of every stage; ``uncounted`` says how many seconds so far count for none.

    Examples
    --------
    >>> watch = Stopwatch()
    >>> with watch.stage("sum"):
    ...     total = sum(range(1000))
    >>> list(watch.seconds)
    ['sum']
    """

    def __init__(
        self,
        *,
        track_memory: bool = False,
        progress: Any = None,
        uncounted: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self._tracks_memory = track_memory and _STATM.exists()
        self._progress, self._uncounted = progress, uncounted
        self.seconds: dict[str, float] = {}
        self.peak_bytes: dict[str, int] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure what happens inside; of a stage that comes again, all of it."""
        started, uncounted = time.perf_counter(), self._uncounted()
        if self._progress is not None:
            self._progress.start(name, 0)
        try:
            with self._watching(name):
                yield
        finally:
            if self._progress is not None:
                self._progress.finish()
        taken = time.perf_counter() - started - (self._uncounted() - uncounted)
        self.seconds[name] = self.seconds.get(name, 0.0) + max(taken, 0.0)

    @contextmanager
    def _watching(self, name: str) -> Iterator[None]:
        if not self._tracks_memory:
            yield
            return
        ended = threading.Event()

        def look() -> None:
            self.peak_bytes[name] = max(self.peak_bytes.get(name, 0), resident_bytes())

        def watch() -> None:
            while not ended.wait(_EVERY):
                look()

        look()
        watcher = threading.Thread(target=watch, name="manyview-memory", daemon=True)
        watcher.start()
        try:
            yield
        finally:
            ended.set()
            watcher.join()
            look()


def resident_bytes() -> int:
    """Memory that this process holds now (Linux)."""
    return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def forget_peak() -> None:
    """Let the peak of this process's memory start anew, from what it holds now (Linux)."""
    gc.collect()
    # What was freed but is still held would hide the first of what is used next.
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")


class PeakMemory:
    """Largest resident memory while this is entered, beyond what was there before.

    ``bytes`` stays None where the system cannot tell (it is read from Linux's /proc).
    """

    def __init__(self) -> None:
        self.bytes: int | None = None
        self._before: int | None = None

    def __enter__(self) -> PeakMemory:
        try:
            forget_peak()
            self._before = resident_bytes()
        except (OSError, AttributeError, TypeError):  # not allowed, or another system
            self._before = None
        return self

    def __exit__(self, *error: object) -> None:
        self.bytes = self.so_far()

    def so_far(self) -> int | None:
        """The peak up to now."""
        peak = peak_bytes()
        return None if self._before is None or peak is None else peak - self._before


def peak_bytes() -> int | None:
    """The most memory this process has held, or None where the system does not tell (Linux does)."""
    kilobytes = _number_after("VmHWM:", Path("/proc/self/status"))
    return None if kilobytes is None else kilobytes * 1024
