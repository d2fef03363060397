import numpy as np
from PIL import Image

from manyview.bench.results import Results
from tests.bench.test_results import line


def test_ranks_and_scores_are_drawn(tmp_path):
    rng = np.random.default_rng(0)
    lines = [line(m, f"set {d}", rng.random()) for m in "ABCDE" for d in range(6)]
    lines.append(line("F", "set 0", 0, status="failed"))
    results = Results(lines)
    for draw in (results.draw_ranks, results.draw_scores):
        draw(tmp_path / "new" / "picture.png")
        pixels = np.asarray(Image.open(tmp_path / "new" / "picture.png").convert("L"))
        assert pixels.shape[1] > 500 and pixels.min() < 50 < 200 < np.median(pixels)
