"""Schemathesis finds nothing: no 500, and no answer that the document doesn't allow."""

import os

from fuzz import SECONDS, SEED, fuzz


def test_the_fuzz_finds_nothing(live):
    seconds = int(os.environ.get("ROOST_FUZZ_SECONDS", SECONDS))
    seed = int(os.environ.get("ROOST_FUZZ_SEED", SEED))
    assert fuzz(live.url, live.key, seconds, seed) == 0, "what it has found is printed above"
