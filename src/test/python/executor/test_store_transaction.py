"""Transactions of a store in a script."""

from typing import Any

from executor import Executor

CASE = """
    store.clear()
    store.update({{"a": 1, "b": 2, "c": 3, "d": 4}})
    try:
        with store.transaction() as tx:
            tx["result"] = {body}
            {change}
        found.append("result" in store)
    except store.Conflict as error:
        assert "result" not in store
        found.append(str(error))
"""


def conflicts(executor: Executor, cases: "list[tuple[str, str]]") -> "list[tuple[Any, str, str]]":
    """What transactions come to: each reads as the first text says, then somebody does what the second says."""
    parts = "".join(CASE.format(body=body, change=change) for body, change in cases)
    result = executor.run(f"def main(request, store):\n    found = []\n{parts}\n    return found\n")
    assert len(result.value) == len(cases)
    return [(outcome, *case) for outcome, case in zip(result.value, cases)]


def test_a_transaction_sees_its_own_writes_and_writes_at_the_end(executor: Executor) -> None:
    result = executor.run(
        """
        import collections.abc

        def main(request, store):
            store.update({"a": 1, "b": 2, "n": 5, "x/1": 10})
            with store.transaction() as tx:
                assert isinstance(tx, collections.abc.MutableMapping)
                tx["c"] = [1]
                tx["c"].append(2)
                del tx["b"]
                tx.set("t", 1, ttl=50)
                seen = [tx["a"], tx.get("b"), "b" in tx, tx["c"], len(tx), list(tx), tx.pop("a"), tx.pop("a", 0)]
                seen += [list(tx.items("x/")), list(tx.keys()), len(tx.keys("x/")), tx.setdefault("n", 6), tx.setdefault("m", 7)]
                tx.update({"x/0": 1}, z=1)
                seen += [dict(tx), tx.popitem()]
                assert dict(store) == {"a": 1, "b": 2, "n": 5, "x/1": 10} and len(store) == 4
            seen.append(dict(store))
            seen.append([key for key, version in tx.versions.items() if version == 0])
            assert all(store.entry(key).version == version for key, version in tx.versions.items() if version)
            assert store.entry("t").expires_at
            for wrong in (lambda: tx["a"], lambda: tx.set("a", 1), lambda: list(tx), lambda: len(tx), lambda: tx.__enter__(),
                          lambda: store.transaction()["a"]):
                try:
                    wrong()
                    seen.append("accepted")
                except store.Error:
                    pass
            with store.transaction() as tx:
                try:
                    del tx["none"]
                except KeyError:
                    seen.append("absent")
                tx["x"] = 1
                del tx["x"]
                assert "x" not in tx and len(tx) == len(store)
                tx.clear()
                assert len(tx) == 0 and not list(tx)
            return seen + [len(store)]
        """
    )
    middle = {"c": [1], "m": 7, "n": 5, "t": 1, "x/0": 1, "x/1": 10, "z": 1}
    after = {key: value for key, value in middle.items() if key != "c"}
    assert result.value == (
        [1, None, False, [1], 5, ["a", "c", "n", "t", "x/1"], 1, 0, [["x/1", 10]], ["c", "n", "t", "x/1"], 1, 5, 7]
        + [middle, ["c", [1]], after, ["c", "b", "a"], "absent", 0]
    )


def test_a_block_that_raises_writes_nothing(executor: Executor) -> None:
    result = executor.run(
        """
        def main(request, store):
            try:
                with store.transaction() as tx:
                    tx["a"] = 1
                    raise ValueError("no")
            except ValueError as error:
                return [str(error), len(store), tx.versions]
        """
    )
    assert result.value == ["no", 0, {}]
    assert executor.plane.stores.applied == []


def test_an_empty_transaction_asks_nothing(executor: Executor) -> None:
    executor.run("def main(r, store):\n    with store.transaction():\n        pass\n")
    assert not any(path.endswith("operations") for path, _ in executor.plane.requests)


def test_what_was_read_and_has_changed_is_a_conflict(executor: Executor) -> None:
    cases = [
        ("tx['a']", "store['a'] = 1"),
        ("tx.get('z')", "store['z'] = 1"),
        ("'a' in tx", "del store['a']"),
        ("tx.pop('a')", "store['a'] = 1"),
        ("tx.popitem()", "store['A'] = 1"),
        ("list(tx)", "store['e'] = 1"),
        ("list(tx.items('b'))", "store['bb'] = 1"),
        ("list(tx.items('b'))", "store['b'] = 2"),
        ("len(tx)", "store['e'] = 1"),
        ("len(tx.keys('b'))", "store['bb'] = 1"),
        ("next(iter(tx))", "store['A'] = 1"),
        ("next(iter(tx))", "store['a'] = 1"),
        # zip takes a third key before it finds that the other one has ended.
        ("[key for key, _ in zip(tx, 'ab')]", "store['bb'] = 1"),
        ("tx.increment('a') or tx['a']", "store['a'] = 9"),
        ("tx.setdefault('z', 1)", "store['z'] = 1"),
    ]
    for found, body, change in conflicts(executor, cases):
        assert isinstance(found, str) and "has changed" in found, (body, change, found)


def test_what_was_not_read_is_no_conflict(executor: Executor) -> None:
    cases = [
        ("tx['a']", "store['b'] = 1"),
        ("list(tx.items('b'))", "store['c'] = 1"),
        ("next(iter(tx))", "store['b'] = 1"),
        ("tx.popitem()", "store['b'] = 1"),
        ("[key for _, key in zip('ab', tx)]", "store['bb'] = 1"),
        ("len(tx)", "store['a'] = 5"),
        ("len(tx.keys('b'))", "store['c'] = 5"),
        ("tx.increment('a')", "store['a'] = 9"),
        ("iter(tx) is None", "store['A'] = 1"),
    ]
    for found, body, change in conflicts(executor, cases):
        assert found is True, (body, change, found)


def test_a_read_that_is_repeated_and_differs_fails_at_once(executor: Executor) -> None:
    bodies = ("tx['a']", "len(tx)", "list(tx)", "dict(tx)", "[tx['a'], list(tx.items())]", "[tx.get('e'), list(tx)]")
    change = "store['a'] = 5; store['e'] = 5; {}; raise OSError"
    for found, body, _ in conflicts(executor, [(body, change.format(body)) for body in bodies]):
        assert isinstance(found, str) and "has changed since" in found, (body, found)


def test_a_broken_off_iteration_with_own_writes_reaches_as_far_as_it_was_seen(executor: Executor) -> None:
    result = executor.run(
        """
        def main(request, store):
            found = []
            for change in ("a", "b", "bb", "bbb", "c", "d"):
                store.clear()
                store.update({"a": 1, "c": 3, "d": 4, "e": 5})
                try:
                    with store.transaction() as tx:
                        tx["bb"] = 2
                        del tx["a"]
                        tx["e"] = 6
                        for key, value in tx.items():
                            if key == "bb":
                                break
                        store[change] = 7
                    found.append(True)
                except store.Conflict:
                    found.append(False)
            return found
        """
    )
    assert result.value == [False, False, False, True, True, True]


def test_writing_while_iterating_changes_what_is_there_and_adds_nothing(executor: Executor) -> None:
    result = executor.run(
        """
        def main(request, store):
            store.update((f"{n:05}", n) for n in range(0, 3000, 2))
            with store.transaction() as tx:
                seen = []
                for key, value in tx.items():
                    seen.append(key)
                    if value % 6 == 0:
                        tx[f"{value + 1:05}"] = value + 1
                        tx[key] = -value
                        del tx[f"{value + 2:05}"]
            assert seen == sorted(seen)
            with store.transaction() as tx:
                for key in tx:
                    tx[key + "!"] = 0
            return [len(seen), store["00006"], store["00007"], "00008" in store, len(store)]
        """
    )
    assert result.value == [1000, -6, 7, False, 3000]


def test_increments_are_blind_and_exact(executor: Executor) -> None:
    result = executor.run(
        """
        def main(request, store):
            store.update({"n": 1, "x": 0.1, "list": [1], "gone": 1})
            with store.transaction() as tx:
                tx.increment("n")
                tx.increment("n", 10**30)
                tx.increment("x", 0.2)
                tx.increment("new", 5)
                tx["own"] = 1
                tx.increment("own", 1.5)
                del tx["gone"]
                tx.increment("gone", 3)
                store["n"] = 100
                store["x"] = 0.3
            found = [store["n"] == 101 + 10**30, store["x"], store["new"], store["own"], store["gone"]]
            with store.transaction() as tx:
                tx.increment("x", 0.1)
                tx.increment("new2", 7)
                found += [tx["x"], tx["new2"], len(tx) == len(store) + 1, dict(tx.items("new")), "new2" in tx]
            found += [store["x"], store["new2"]]
            for number in (1e300, 1e-300, -1):
                with store.transaction() as tx:
                    tx.increment("wide", number)
                    inside = tx["wide"]
                assert store["wide"] == inside
            for wrong in (lambda tx: tx.increment("list"), lambda tx: tx.increment("list") or tx["list"],
                          lambda tx: tx.update(s="1") or tx.increment("s")):
                try:
                    store.transact(wrong)
                    found.append("accepted")
                except store.Error as error:
                    found.append(type(error).__name__)
            return found
        """
    )
    assert result.value == (
        [True, 0.5, 5, 2.5, 3, 0.6, 7, True, {"new": 5, "new2": 7}, True, 0.6, 7]
        + ["StoreError", "StoreError", "StoreError"]
    )


def test_a_transaction_with_a_lock_excludes_others_and_lets_the_block_use_the_store(executor: Executor) -> None:
    result = executor.run(
        """
        import threading

        def main(request, store):
            def count():
                for _ in range(5):
                    with store.transaction(lock=True):
                        store["n"] = store.get("n", 0) + 1
            threads = [threading.Thread(target=count) for _ in range(3)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            try:
                with store.transaction(lock=True):
                    with store.transaction(lock=True):
                        pass
            except RuntimeError as error:
                nested = str(error)
            with store.transaction(lock=True) as tx:
                tx["n"] = tx["n"] * 2
            with store.lock("transaction", timeout=0):
                return [store["n"], nested]
        """
    )
    count, nested = result.value
    assert count == 30
    assert "this thread holds" in nested


def test_transact_does_it_again_after_a_conflict(executor: Executor) -> None:
    result = executor.run(
        """
        import multiprocessing

        def count(store):
            for _ in range(20):
                store.transact(lambda tx: tx.set("n", tx.get("n", 0) + 1))

        def main(request, store):
            calls = []

            def meddled(tx):
                calls.append(tx.get("m"))
                if len(calls) < 4:
                    store["m"] = len(calls)
                tx["m"] = "done"
                return tx.get("m")

            found = [store.transact(meddled), calls]
            try:
                store.transact(lambda tx: (tx["m"], store.set("m", 1)), attempts=3)
            except store.Conflict as error:
                found.append(str(error))

            async def wrong(tx):
                pass

            try:
                store.transact(wrong)
            except TypeError as error:
                found.append("TypeError")
            workers = [multiprocessing.Process(target=count, args=(store,)) for _ in range(3)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
            return found + [store["n"]]
        """
    )
    assert result.value == ["done", [None, 1, 2, 3], "'m' has changed", "TypeError", 60]


def test_a_batch_is_written_whole_or_not_at_all(executor: Executor) -> None:
    result = executor.run(
        """
        def main(request, store):
            found = []
            for pairs in ([("a", 1), ("b", "x" * (1 << 20))], [("a", 1), ("b", {2})], [("a", 1), ("", 2)]):
                try:
                    store.update(pairs)
                except store.Error as error:
                    found.append([type(error).__name__, len(store)])
            store.update([])
            return found
        """
    )
    assert result.value == [["ValueTooLarge", 0], ["NotSerializable", 0], ["ValueTooLarge", 0]]


def test_items_are_popped_once_each(executor: Executor) -> None:
    result = executor.run(
        """
        import multiprocessing

        def take(store, results):
            while True:
                try:
                    results.send(store.popitem()[1])
                except KeyError:
                    results.send(None)
                    return

        def main(request, store):
            store.update((f"{n:03}", n) for n in range(40))
            found = []
            pipes = [multiprocessing.Pipe(False) for _ in range(3)]
            workers = [multiprocessing.Process(target=take, args=(store, pipe[1])) for pipe in pipes]
            for worker in workers:
                worker.start()
            for pipe in pipes:
                while (value := pipe[0].recv()) is not None:
                    found.append(value)
            return sorted(found)
        """
    )
    assert result.value == list(range(40))
