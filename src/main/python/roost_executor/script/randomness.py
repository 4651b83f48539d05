"""Generators of random numbers that a template's forks would share: each execution seeds them anew.

Python seeds the functions of `random` after a fork itself; OpenSSL and the operating system's generator need nothing.
"""

import random
import sys
import weakref
from typing import Any

NUMPY_TYPES = ("Generator", "RandomState")


class Unseeded:
    """The instances of `random.Random` that are created without a seed while this is active.

    Those with a seed are meant to repeat themselves, and are left alone.
    """

    def __init__(self) -> None:
        self._instances: weakref.WeakSet[random.Random] = weakref.WeakSet()
        self._seed: Any = None

    def __enter__(self) -> "Unseeded":
        original = self._seed = random.Random.seed
        instances = self._instances

        def seed(self: random.Random, a: Any = None, version: int = 2) -> None:
            if a is None:
                instances.add(self)
            else:
                instances.discard(self)
            original(self, a, version)

        random.Random.seed = seed  # type: ignore[method-assign]
        return self

    def __exit__(self, *_: object) -> None:
        random.Random.seed = self._seed  # type: ignore[method-assign]

    def seed(self) -> None:
        """Seeds them, and the global generators of NumPy and PyTorch, from the operating system's randomness."""
        for instance in self._instances:
            instance.seed()
        numpy_random = sys.modules.get("numpy.random")
        if numpy_random is not None:
            numpy_random.seed()
        torch = sys.modules.get("torch")
        if torch is not None:
            torch.seed()


def numpy_generators() -> int:
    """How many generators of NumPy's there are besides the global one, seeded or not: they don't show it."""
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is None:
        return 0
    import gc

    types = tuple(getattr(numpy_random, name) for name in NUMPY_TYPES)
    shared = numpy_random.mtrand._rand
    return sum(1 for item in gc.get_objects() if isinstance(item, types) and item is not shared)
