"""Data sets from the network, decoded, checked and kept in the user's cache."""

from __future__ import annotations

import logging
import os
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urljoin, urlsplit

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.datasets.loaders import find_files, read_views, save_npz, to_views
from manyview.datasets.originals import RawData
from manyview.datasets.registry import DatasetInfo, Source
from manyview.errors import DatasetNotFoundError, warn_user
from manyview.views.container import Views

_LOG = logging.getLogger(__name__)
_TIMEOUT_SECONDS = 60
_BAD_ARCHIVE = (tarfile.TarError, zipfile.BadZipFile)
_NEEDS_POOCH = "it needs pooch: pip install 'manyview[datasets]'"


def cache_folder() -> Path | None:
    """Where downloads are kept: ``$MANYVIEW_CACHE``, else the platform's place for caches.

    None where the variable is not set and pooch, which knows the platforms, is missing.
    """
    if chosen := os.environ.get("MANYVIEW_CACHE"):
        return Path(chosen).expanduser()
    try:
        import pooch
    except ImportError:
        return None
    return Path(pooch.os_cache("manyview"))


def download(info: DatasetInfo, *, may_be_unverified: bool = False) -> Views:
    """Fetch a data set from the first of its sources that gives it, and keep it in the cache.

    Where none gives it, the message of the error says why for each. Sources without a known checksum
    are not asked, unless they may be unverified.
    """
    failures = []
    for source in info.sources:
        is_unverified = source.status == "unverified"
        if is_unverified and not may_be_unverified:
            failures.append(f"{source.address}: not asked, because no checksum of it is known")
            continue
        _LOG.info("downloading %s from %s (%s)", info.name, source.address, source.status)
        try:
            views = _fetch(source, info)
        # Network errors are OSErrors; a wrong checksum or shape is a ValueError.
        except (OSError, ValueError, EOFError, ImportError, *_BAD_ARCHIVE) as error:
            failures.append(f"{source.address} ({source.status}): {error}")
            continue
        if is_unverified:
            warn_user(
                f"Data set {info.name!r} is from {source.address}, which is unverified: no checksum is "
                "known. Its shape and its classes are what they should be.",
                UserWarning,
            )
        if source.note:
            warn_user(f"Data set {info.name!r} is {source.note}.", UserWarning)
        _keep(views, info)
        return views
    raise DatasetNotFoundError("; ".join(failures) or "no address for downloading it is known")


def _fetch(source: Source, info: DatasetInfo) -> Views:
    if source.address.startswith("sklearn."):
        return to_views(_FETCHERS[source.address](), info, origin=source.address)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if source.address.endswith("/"):
            for member in source.members:
                _retrieve(source.address + member, folder, sha256=None)
        elif source.members:
            folder = _unpack(_retrieve(source.address, folder, sha256=source.sha256), source)
        else:
            return read_views(_retrieve(source.address, folder, sha256=source.sha256), info)
        found = find_files(folder, info)
        if found is None:
            raise ValueError(f"what arrived has none of the files {list(info.files)}")
        return read_views(found, info)


def _retrieve(address: str, folder: Path, *, sha256: str | None) -> Path:
    try:
        import pooch
    except ImportError as error:
        raise ImportError(_NEEDS_POOCH) from error
    _refuse_plain(address)
    return Path(
        pooch.retrieve(
            address,
            known_hash=f"sha256:{sha256}" if sha256 else None,
            fname=address.rpartition("/")[2],
            path=folder,
            downloader=pooch.HTTPDownloader(
                timeout=_TIMEOUT_SECONDS, hooks={"response": _refuse_plain_redirects}
            ),
        )
    )


def _refuse_plain(address: str, sender: str | None = None) -> None:
    """Raise ValueError unless an address is one of https, or of this machine and sent from it."""
    hosts = {urlsplit(address).hostname, urlsplit(sender or address).hostname}
    if urlsplit(address).scheme != "https" and not hosts <= {"localhost", "127.0.0.1"}:
        raise ValueError(f"{address} is not an address of https, so anyone could have changed it")


def _refuse_plain_redirects(response: Any, *args: Any, **kwargs: Any) -> None:
    if response.is_redirect:
        _refuse_plain(urljoin(response.url, response.headers["location"]), response.url)


def _unpack(archive: Path, source: Source) -> Path:
    """The folder that the wanted members of an archive are in."""
    import pooch

    unpack = pooch.Unzip() if zipfile.is_zipfile(archive) else pooch.Untar()
    # Before Python 3.12, unpacking a tar writes wherever a name or link leads.
    if isinstance(unpack, pooch.Untar):
        with tarfile.open(archive) as tar:
            for entry in tar.getmembers():
                if _leads_out(entry.name):
                    raise ValueError(
                        f"{archive.name} has files that would be written outside its folder"
                    )
                if not (entry.isreg() or entry.isdir()):
                    raise ValueError(
                        f"{archive.name} has {entry.name!r}, which is a link or a device: only files "
                        "are taken from archives"
                    )
    files = [Path(file).as_posix() for file in unpack(str(archive), "download", None)]
    for member in source.members:
        inside = [file for file in files if file.endswith(f"/{member}")]
        if not inside:
            raise ValueError(f"{archive.name} has no {member}")
    return Path(inside[0].removesuffix(member))


def _leads_out(name: str) -> bool:
    return PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts


def _keep(views: Views, info: DatasetInfo) -> None:
    folder = cache_folder()
    if folder is None:
        _LOG.warning("%s is not kept: %s", info.name, _NEEDS_POOCH)
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        save_npz(folder / f"{info.name}.npz", views)
    except OSError as error:
        _LOG.warning("%s is not kept in %s: %s", info.name, folder, error)


def _fetch_covtype() -> RawData:
    from sklearn.datasets import fetch_covtype

    data, labels = fetch_covtype(return_X_y=True)
    return RawData([data.astype(np.int16)], labels)


def _fetch_mnist() -> RawData:
    from sklearn.datasets import fetch_openml

    data, labels = fetch_openml("mnist_784", version=1, as_frame=False, return_X_y=True)
    return RawData([np.asarray(data).astype(np.uint8)], np.asarray(labels).astype(np.int64))


def _fetch_rcv1() -> RawData:
    from sklearn.datasets import fetch_rcv1

    data, topics = fetch_rcv1(return_X_y=True)
    return RawData([sparse.csr_array(data, dtype=np.float32)], rarest_topic(topics))


def rarest_topic(topics: Any) -> npt.NDArray[np.int64]:
    """Of each document's topics (non-zeros of a row), the one with the fewest documents in all.

    Between equally rare topics the first is taken.
    """
    table = sparse.csr_array(topics)
    table.eliminate_zeros()
    if not np.all(np.diff(table.indptr)):
        raise ValueError("some documents have no topic")
    by_rarity = np.argsort(np.bincount(table.indices, minlength=table.shape[1]), kind="stable")
    rank = np.empty_like(by_rarity)
    rank[by_rarity] = np.arange(len(by_rarity))
    rarest = np.minimum.reduceat(rank[table.indices], table.indptr[:-1])
    return np.asarray(by_rarity[rarest], dtype=np.int64)


_FETCHERS: dict[str, Callable[[], RawData]] = {
    "sklearn.datasets.fetch_covtype": _fetch_covtype,
    "sklearn.datasets.fetch_openml": _fetch_mnist,
    "sklearn.datasets.fetch_rcv1": _fetch_rcv1,
}
