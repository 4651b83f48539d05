"""What a store raises.

    StoreError
    ├── StoreConflict      someone else changed what this depended on
    │   └── StoreLockLost  a lock was lost and someone else has taken it
    ├── StoreFull          the store has reached its size limit
    ├── ValueTooLarge      a key or a value is over its limit
    ├── NotSerializable    a value isn't JSON; the message has the path
    ├── StoreUnavailable   no answer, after retries; the message says whether a write may have been applied
    └── StoreLockTimeout   a lock wasn't free in time

A missing key is a KeyError, as with a dict.
"""


class StoreError(Exception):
    """Any failure of a store."""


class StoreConflict(StoreError):  # noqa: N818
    """Someone else changed what this operation depended on."""


class StoreLockLost(StoreConflict):  # noqa: N818
    """A lock's lease ran out and someone else has taken it; writes are refused until its block is left."""


class StoreFull(StoreError):  # noqa: N818
    """The store has reached its size limit."""


class ValueTooLarge(StoreError):  # noqa: N818
    """A key or a value is over its limit."""


class NotSerializable(StoreError, TypeError):  # noqa: N818
    """A value can't be written as JSON."""


class StoreUnavailable(StoreError):  # noqa: N818
    """The store gave no answer, after retries."""


class StoreLockTimeout(StoreError, TimeoutError):  # noqa: N818
    """A lock wasn't free within the time that its caller wanted to wait."""


BY_CODE = {
    "conflict": StoreConflict,
    "precondition_failed": StoreConflict,
    "lock_lost": StoreLockLost,
    "store_full": StoreFull,
    "too_large": ValueTooLarge,
    "unavailable": StoreUnavailable,
}
