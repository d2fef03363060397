"""Downloads, from a server on this machine and from stand-ins for scikit-learn's fetchers."""

import dataclasses
import functools
import hashlib
import http.server
import io
import sys
import tarfile
import threading
import zipfile
from types import SimpleNamespace

import numpy as np
import pytest
import sklearn.datasets
from scipy import sparse

from manyview import datasets
from manyview.datasets import download
from manyview.datasets.registry import Source
from manyview.errors import DatasetNotFoundError

LABELS = np.repeat([0, 1, 2], 2)


@pytest.fixture
def site(tmp_path):
    """A folder, and the address at which a server on this machine offers it."""
    folder = tmp_path / "site"
    folder.mkdir()

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

        def do_GET(self):
            scheme = self.path.removeprefix("/sent-to/")
            if scheme == self.path:
                return super().do_GET()
            self.send_response(302)
            self.send_header("Location", f"{scheme}://example.org/small.npz")
            return self.end_headers()

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))
    )
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield folder, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.delenv("MANYVIEW_DATA", raising=False)
    monkeypatch.setenv("MANYVIEW_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def npz(views_of_small):
    file = io.BytesIO()
    np.savez(file, labels=LABELS, view_0=views_of_small[0], view_1=views_of_small[1])
    return file.getvalue()


def sha256(raw):
    return hashlib.sha256(raw).hexdigest()


def pack_tar(name, raw):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as tar:
        member = tarfile.TarInfo(name)
        member.size = len(raw)
        tar.addfile(member, io.BytesIO(raw))
    return file.getvalue()


def pack_zip(name, raw):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as zipped:
        zipped.writestr(name, raw)
    return file.getvalue()


fetch = functools.partial(download.download, may_be_unverified=True)


@pytest.mark.filterwarnings("ignore:.* which is unverified")
class TestFromAServer:
    def test_a_file_is_checked_and_kept(self, site, cache, small, npz, views_of_small):
        (site[0] / "small.npz").write_bytes(npz)
        info = dataclasses.replace(small, sources=(Source(f"{site[1]}/small.npz", sha256(npz)),))
        views = download.download(info)
        assert np.array_equal(views["first"], views_of_small[0])
        assert [path.name for path in cache.iterdir()] == ["small.npz"]

    def test_what_has_no_checksum_is_not_asked_unless_told(self, site, cache, small, npz):
        (site[0] / "small.npz").write_bytes(npz)
        info = dataclasses.replace(small, sources=(Source(f"{site[1]}/small.npz"),))
        with pytest.raises(DatasetNotFoundError, match="not asked, because no checksum of it is"):
            download.download(info)
        assert not cache.exists()
        with pytest.warns(
            UserWarning, match=r"small\.npz, which is unverified: no checksum is known"
        ):
            fetch(info)

    def test_a_wrong_checksum_is_refused(self, site, cache, small, npz):
        (site[0] / "small.npz").write_bytes(npz)
        info = dataclasses.replace(small, sources=(Source(f"{site[1]}/small.npz", "0" * 64),))
        with pytest.raises(DatasetNotFoundError, match=r"small\.npz \(verified\): .*hash"):
            fetch(info)
        assert not cache.exists()

    @pytest.mark.parametrize("pack", [pack_tar, pack_zip])
    def test_the_wanted_members_of_an_archive(self, site, cache, small, npz, pack):
        raw = pack("package-1.0/deep/small.npz", npz)
        (site[0] / "package.archive").write_bytes(raw)
        source = Source(f"{site[1]}/package.archive", sha256(raw), members=("small.npz",))
        assert len(fetch(dataclasses.replace(small, sources=(source,)))) == 6

    @pytest.mark.parametrize("pack", [pack_tar, pack_zip])
    def test_an_archive_without_the_members(self, site, cache, small, npz, pack):
        (site[0] / "package.archive").write_bytes(pack("not-small.npz", npz))
        source = Source(f"{site[1]}/package.archive", members=("small.npz",))
        with pytest.raises(DatasetNotFoundError, match=r"package\.archive has no small\.npz"):
            fetch(dataclasses.replace(small, sources=(source,)))

    @pytest.mark.parametrize("scheme", ["http", "ftp", "file"])
    def test_only_https_is_asked_and_followed(self, site, cache, small, scheme):
        for address in (f"{scheme}://example.org/small.npz", f"{site[1]}/sent-to/{scheme}"):
            with pytest.raises(DatasetNotFoundError, match="is not an address of https"):
                fetch(dataclasses.replace(small, sources=(Source(address),)))

    def test_no_site_sends_us_to_a_plain_address_of_this_machine(self):
        response = SimpleNamespace(
            is_redirect=True, url="https://example.org/", headers={"location": "http://localhost/a"}
        )
        with pytest.raises(ValueError, match="is not an address of https"):
            download._refuse_plain_redirects(response)

    @pytest.mark.parametrize("name", ["../../../small.npz", "/tmp/manyview-test/small.npz"])
    def test_a_tar_that_leads_outside_is_refused(self, site, cache, small, npz, name):
        (site[0] / "package.archive").write_bytes(pack_tar(name, npz))
        source = Source(f"{site[1]}/package.archive", members=("small.npz",))
        with pytest.raises(DatasetNotFoundError, match="written outside its folder"):
            fetch(dataclasses.replace(small, sources=(source,)))

    def test_a_zip_writes_nothing_outside(self, site, cache, small, npz, tmp_path):
        (site[0] / "package.archive").write_bytes(pack_zip("../../../small.npz", npz))
        source = Source(f"{site[1]}/package.archive", members=("small.npz",))
        assert len(fetch(dataclasses.replace(small, sources=(source,)))) == 6
        assert not list(tmp_path.glob("small.npz"))

    def test_a_damaged_archive(self, site, cache, small):
        (site[0] / "package.tgz").write_bytes(b"no archive")
        source = Source(f"{site[1]}/package.tgz", members=("small.npz",))
        with pytest.raises(DatasetNotFoundError, match=r"package\.tgz \(unverified\)"):
            fetch(dataclasses.replace(small, sources=(source,)))

    def test_the_files_of_a_folder(self, site, cache):
        info = dataclasses.replace(
            datasets.info("handwritten"), n_samples=20, class_counts=(2,) * 10
        )
        source = info.sources[1]
        for member, width in zip(source.members, info.n_features, strict=True):
            np.savetxt(site[0] / member, np.ones((20, width)), fmt="%g")
        source = dataclasses.replace(source, address=f"{site[1]}/")
        views = fetch(dataclasses.replace(info, sources=(source,)))
        assert views.n_features == info.n_features

    def test_the_next_source_is_tried(self, site, cache, small, npz):
        (site[0] / "good.npz").write_bytes(npz)
        sources = (Source(f"{site[1]}/gone.npz"), Source(f"{site[1]}/good.npz", note="a copy"))
        with pytest.warns(UserWarning, match="Data set 'small' is a copy"):
            views = fetch(dataclasses.replace(small, sources=sources))
        assert len(views) == 6

    def test_other_data_at_the_address(self, site, cache, small, npz):
        (site[0] / "small.npz").write_bytes(npz)
        info = dataclasses.replace(small, n_samples=9, sources=(Source(f"{site[1]}/small.npz"),))
        with pytest.raises(DatasetNotFoundError, match="expected 9 samples"):
            fetch(info)
        assert not cache.exists()

    def test_a_cache_that_cannot_be_written_is_no_error(self, site, small, npz, monkeypatch):
        (site[0] / "small.npz").write_bytes(npz)
        (site[0] / "file").write_text("in the way")
        monkeypatch.setenv("MANYVIEW_CACHE", str(site[0] / "file" / "cache"))
        info = dataclasses.replace(small, sources=(Source(f"{site[1]}/small.npz"),))
        assert len(fetch(info)) == 6


def test_without_sources_there_is_nothing_to_try(bare_machine, small):
    with pytest.raises(DatasetNotFoundError, match="no address"):
        download.download(small)


def test_without_network_every_source_is_reported(bare_machine):
    with pytest.raises(DatasetNotFoundError) as caught:
        fetch(datasets.info("handwritten"))
    for source in datasets.info("handwritten").sources:
        assert f"{source.address} ({source.status})" in str(caught.value)


def test_without_pooch_the_message_says_what_to_install(bare_machine, small, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    info = dataclasses.replace(small, sources=(Source("https://example.org/small.npz"),))
    with pytest.raises(DatasetNotFoundError, match=r"pip install 'manyview\[datasets\]'"):
        fetch(info)


class TestCacheFolder:
    def test_the_variable_wins(self, monkeypatch, tmp_path):
        monkeypatch.setenv("MANYVIEW_CACHE", str(tmp_path))
        assert download.cache_folder() == tmp_path

    def test_the_platforms_place(self, monkeypatch):
        monkeypatch.delenv("MANYVIEW_CACHE", raising=False)
        assert "manyview" in str(download.cache_folder())

    def test_none_without_pooch(self, monkeypatch):
        monkeypatch.delenv("MANYVIEW_CACHE", raising=False)
        monkeypatch.setitem(sys.modules, "pooch", None)
        assert download.cache_folder() is None


class TestScikitLearn:
    """The registry's fetchers, on made data in the form that scikit-learn gives."""

    def shrink(self, name, **changes):
        info = datasets.info(name)
        sources = tuple(s for s in info.sources if s.address.startswith("sklearn."))
        return dataclasses.replace(info, n_samples=6, sources=sources, **changes)

    def test_covtype(self, cache, monkeypatch):
        data = np.random.default_rng(0).integers(0, 7000, (6, 54)).astype(float)
        monkeypatch.setattr(
            sklearn.datasets, "fetch_covtype", lambda return_X_y: (data, LABELS + 1)
        )
        info = self.shrink("covtype", n_clusters=3, class_counts=(2, 2, 2))
        views = download.download(info)
        assert views.arrays[0].dtype == np.int16
        assert np.array_equal(views.arrays[0], data)

    def test_mnist(self, cache, monkeypatch):
        data = np.random.default_rng(0).integers(0, 256, (6, 784))
        monkeypatch.setattr(
            sklearn.datasets, "fetch_openml", lambda *a, **k: (data, LABELS.astype(str))
        )
        views = download.download(self.shrink("mnist", n_clusters=3, class_counts=(2, 2, 2)))
        assert views.arrays[0].dtype == np.uint8
        assert np.array_equal(views.arrays[0], data)
        assert views.target.tolist() == LABELS.tolist()

    def test_rcv1_has_its_rarest_topic_as_target(self, cache, monkeypatch):
        data = sparse.random(6, 47236, density=0.001, format="csr", random_state=0)
        topics = sparse.csr_matrix(
            [[1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1], [1, 0, 0]]
        )
        monkeypatch.setattr(sklearn.datasets, "fetch_rcv1", lambda return_X_y: (data, topics))
        views = download.download(self.shrink("rcv1-sklearn"))
        assert isinstance(views.arrays[0], sparse.csr_array)
        assert views.arrays[0].dtype == np.float32
        assert views.target.tolist() == [0, 1, 2, 1, 2, 0]

    def test_documents_without_a_topic_are_refused(self):
        with pytest.raises(ValueError, match="no topic"):
            download.rarest_topic(sparse.csr_array([[1, 0], [0, 0]]))
