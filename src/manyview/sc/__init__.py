"""Single cells: AnnData and MuData in, annotations added to them, as scanpy and muon do."""

from __future__ import annotations

from manyview.sc import pl, tl

__all__ = ["pl", "tl"]
