"""The parts of the benchmark; `bench/run.py` runs them."""
