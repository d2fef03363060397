"""Model files written again with something changed, as by someone who writes such files."""

import io
import json
import zipfile

import numpy as np

from manyview.pipeline.persistence import seal


def rewrite(path, change):
    """Write the archive again with its members changed by ``change(name, content)``; None drops.

    The digest is made anew, as by someone who writes such files: what is tested lies behind it.
    """
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    del members["digest.json"]
    changed = {name: change(name, content) for name, content in members.items()}
    kept = {name: content for name, content in changed.items() if content is not None}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in (kept | {"digest.json": seal(kept)}).items():
            archive.writestr(name, content)


def change_json(path, edit):
    def change(name, content):
        if name != "model.json":
            return content
        document = json.loads(content)
        edit(document)
        return json.dumps(document).encode()

    rewrite(path, change)


def set_array(path, find, change):
    """Write the archive again with one of its arrays changed in place, as its digest says."""
    with zipfile.ZipFile(path) as archive:
        name = find(json.loads(archive.read("model.json")))["array"] + ".npy"

    def edit(member, content):
        if member != name:
            return content
        array = np.load(io.BytesIO(content))
        change(array)
        buffer = io.BytesIO()
        np.save(buffer, array)
        return buffer.getvalue()

    rewrite(path, edit)
