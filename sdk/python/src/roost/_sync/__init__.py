"""The package without `async`, made from `_async` by `generate.py`."""
