"""Programs that try to break the library: each has an oracle, and ends with 1 if it was broken.

``python -m tests.faults.fuzz_estimator --n 3000 --seed 0``, and so on; ``make faults`` runs them all.
"""
