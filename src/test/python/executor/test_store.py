"""The store in a script."""

from typing import Any

from executor import Executor


def test_a_store_is_a_mutable_mapping(executor: Executor) -> None:
    result = executor.run(
        """
        import collections.abc

        def main(request, store):
            assert isinstance(store, collections.abc.MutableMapping)
            store["b"] = {"x": [1, 2.5, None, "é\\0"]}
            store["a"] = 1
            store.update({"user/1": "one", "user/2": "two"})
            seen = [
                len(store), list(store), list(store.items(prefix="user/")), list(store.keys(prefix="u")),
                list(store.values(prefix="user/")), store.get("none"), store.get("none", 7), "a" in store,
                "none" in store, 5 in store, store.setdefault("a", 9), store.setdefault("c", 9),
                store.pop("a"), store.pop("a", None), store["b"], dict(store.items())["c"],
            ]
            del store["b"]
            for missing in (lambda: store["b"], lambda: store.__delitem__("b"), lambda: store.pop("b")):
                try:
                    missing()
                    seen.append("no error")
                except KeyError as error:
                    seen.append(error.args[0])
            store.clear()
            return seen + [len(store), bool(store)]
        """
    )
    assert result.value == [
        4,
        ["a", "b", "user/1", "user/2"],
        [["user/1", "one"], ["user/2", "two"]],
        ["user/1", "user/2"],
        ["one", "two"],
        None,
        7,
        True,
        False,
        False,
        1,
        9,
        1,
        None,
        {"x": [1, 2.5, None, "é\0"]},
        9,
        "b",
        "b",
        "b",
        0,
        False,
    ]


def test_errors_need_no_import(executor: Executor) -> None:
    result = executor.run(
        """
        def main(request, store):
            found = []
            for key, value in (("k", {"a": {1}}), ("k", "x" * 2_000_000), ("k" * 600, 1), ("", 1), (5, 1)):
                try:
                    store[key] = value
                except store.Error as error:
                    found.append([type(error).__name__, str(error)[:40]])
                except TypeError as error:
                    found.append(["TypeError", str(error)])
            assert issubclass(store.Conflict, store.Error) and issubclass(store.Full, store.Error)
            return found
        """
    )
    assert [name for name, _ in result.value] == [
        "NotSerializable",
        "ValueTooLarge",
        "ValueTooLarge",
        "ValueTooLarge",
        "TypeError",
    ]
    assert result.value[0][1] == "value of 'k': $.a is a set"


def test_long_scans_are_read_in_pages(executor: Executor) -> None:
    result = executor.run(
        """
        def main(request, store):
            return [len(list(store)), sum(v for _, v in store.items(prefix="k"))]
        """,
    )
    assert result.value == [0, 0]
    with executor.plane.changed:
        entries = {f"k{n:05}": (str(n), n + 1, None) for n in range(2500)}
        executor.plane.stores.entries["store_main"] = entries  # type: ignore[assignment]
    assert executor.run("").value == [2500, sum(range(2500))]


def test_a_store_works_from_threads_and_forked_and_spawned_processes(executor: Executor) -> None:
    result = executor.run(
        """
        import multiprocessing, threading

        def put(store, name):
            for n in range(20):
                store[f"{name}/{n}"] = n

        def main(request, store):
            store["first"] = 1
            threads = [threading.Thread(target=put, args=(store, f"t{n}")) for n in range(4)]
            workers = [
                multiprocessing.get_context(method).Process(target=put, args=(store, method))
                for method in ("fork", "spawn")
            ]
            for worker in threads + workers:
                worker.start()
            for worker in threads + workers:
                worker.join()
            return len(store)
        """
    )
    assert result.value == 121


def test_operations_are_tried_again(executor: Executor) -> None:
    failures = [(503, None), (None, None), (500, {"code": "internal"})]

    def fault(call: str) -> Any:
        return failures.pop() if call == "operations" and failures else None

    executor.plane.fault = fault
    result = executor.run("def main(r, store):\n    store['a'] = 5\n    return store['a']\n")
    assert result.value == 5 and not failures


def test_a_refusal_is_reported_unchanged(executor: Executor) -> None:
    executor.plane.fault = lambda call: (
        (409, {"code": "fenced", "detail": "the execution has ended"}) if call == "operations" else None
    )
    result = executor.run(
        """
        def main(r, store):
            try:
                store["a"] = 5
            except store.Error as error:
                return [type(error).__name__, str(error)]
        """
    )
    assert result.value == ["StoreError", "the execution has ended"]


def test_a_script_reaches_its_own_stores_alone(executor: Executor) -> None:
    result = executor.run(
        """
        def main(r, store):
            store._operations.connection.store_id = "store_of_others"
            try:
                return store["a"]
            except store.Error as error:
                return str(error)
        """
    )
    assert "no such store" in result.value
    assert not any("store_of_others" in path for path, _ in executor.plane.requests)


def test_every_single_operation(executor: Executor) -> None:
    result = executor.run(
        """
        import datetime

        def main(request, store):
            first = store.set("a", 1)
            second = store.set("a", {"x": 2})
            entry = store.entry("a")
            found = [second > first, entry.version == second, entry.value, entry.expires_at]
            store.set("short", 1, ttl=100)
            left = store.entry("short").expires_at - datetime.datetime.now(datetime.timezone.utc)
            found.append(90 < left.total_seconds() <= 100)
            found += [store.increment("n"), store.increment("n", -3), store.increment("n", 0.1), store.increment("n", 0.2)]
            found.append(store.increment("big", 10**5000) == 10**5000)
            found += [store.increment("short", 5), store.entry("short").expires_at is not None]
            found += [store.setdefault("d", (1, 2)), store.setdefault("d", 3), store["d"]]
            store.clear()
            store.update({"b": 1, "a": 2}, c=3)
            store.update([("d", 4), ("d", 5)])
            found += [store.popitem(), store.pop("b"), store.pop("b", "gone"), dict(store)]
            store.update((f"k{n:04}", "x" * 2000) for n in range(3000))
            found += [len(store), len(store.keys("k1")), len(store.items("k")), len(store.values("none"))]
            found += ["k0001" in store.keys("k"), "c" in store.keys("k"), ("c", 3) in store.items(), ("c", 4) in store.items()]
            found += [sum(len(value) for value in store.values("k")), store.keys("k") & {"k0001", "c"} == {"k0001"}]
            store.clear()
            try:
                store.popitem()
            except KeyError as error:
                found.append(str(error))
            try:
                store.entry("a")
            except KeyError as error:
                found.append(str(error))
            return found
        """
    )
    assert result.value == (
        [True, True, {"x": 2}, None, True, 1, -2, -1.9, -1.7, True, 6, True, [1, 2], [1, 2], [1, 2]]
        + [["a", 2], 1, "gone", {"c": 3, "d": 5}, 3002, 1000, 3000, 0, True, False, True, False, 6_000_000, True]
        + ["'the store is empty'", "'a'"]
    )


def test_keys_and_values_of_every_kind(executor: Executor) -> None:
    result = executor.run(
        """
        def main(request, store):
            found = []
            for key in ("../x", "a%2Fb", "a/b", "nul\\0", "\\U0001f600", "é" * 256, "x" * 512, " ", "\\n", '"', "\\\\"):
                store[key] = key
                assert store[key] == key and key in store and store.entry(key).value == key
                assert list(store.items(key)) == [(key, key)] and store.pop(key) == key and key not in store
            for key in ("", "x" * 513, "é" * 257, "\\ud800", 5, b"x", None):
                for attempt in (store.get, store.increment, store.entry, store.pop, lambda key: store.set(key, 1),
                                lambda key: store.update({key: 1}), lambda key: store.transact(lambda tx: tx.get(key)),
                                store.lock):
                    try:
                        attempt(key)
                        found.append("accepted")
                    except (store.Error, TypeError) as error:
                        found.append(type(error).__name__)
            def deep(levels):
                value = []
                for _ in range(levels):
                    value = [value]
                return value
            for value in ("x" * (1 << 20), float("nan"), 1e400, deep(100_000), {1, 2}, b"", object(), "x" * (33 << 20)):
                try:
                    store["k"] = value
                    found.append("accepted")
                except store.Error as error:
                    found.append(type(error).__name__)
            for value in ("\\0", "\\ud800", "\\U0001f600", 10**5000, -0.0, 1e-300, deep(200), {"": None}, "x" * ((1 << 20) - 2)):
                store["k"] = value
                assert store["k"] == value
            for wrong in (lambda: store.set("k", 1, ttl=0), lambda: store.set("k", 1, ttl="1"), lambda: store.set("k", 1, ttl=True),
                          lambda: store.set("k", 1, ttl=float("inf")), lambda: store.increment("k", "1"),
                          lambda: store.increment("k", float("nan")), lambda: store.increment("k", True),
                          lambda: store.increment("k"), lambda: store.lock("l", ttl=0), lambda: store.lock("l", timeout=-1),
                          lambda: store.transact(print, attempts=0), lambda: store.keys(5), lambda: store.keys("\\ud800")):
                try:
                    wrong()
                    found.append("accepted")
                except (store.Error, TypeError, ValueError) as error:
                    found.append(type(error).__name__)
            return found
        """,
        memory_mib=1024,
    )
    keys = [["ValueTooLarge"] * 8] * 3 + [["NotSerializable"] * 8] + [["TypeError"] * 8] * 3
    values = ["ValueTooLarge", *["NotSerializable"] * 6, "ValueTooLarge"]
    wrong = ["ValueError", "TypeError", "TypeError", "ValueError", "TypeError", "ValueError", "TypeError", "StoreError"]
    wrong += ["ValueError", "ValueError", "ValueError", "TypeError", "NotSerializable"]
    assert result.value == [name for names in keys for name in names] + values + wrong


def test_a_value_that_this_python_cannot_read_is_an_error_that_names_the_key(executor: Executor) -> None:
    executor.plane.stores.put("store_main", "deep", '"x"')
    with executor.plane.changed:
        executor.plane.stores.entries["store_main"]["deep"] = ("[" * 200_000 + "]" * 200_000, 1, None)
    result = executor.run(
        """
        def main(request, store):
            found = []
            for read in (lambda: store["deep"], lambda: list(store.items()), lambda: store.pop("deep"),
                         lambda: store.transact(lambda tx: tx["deep"])):
                try:
                    read()
                except store.Error as error:
                    found.append([type(error).__name__, str(error)])
                except KeyError:
                    found.append("absent")
            return found
        """
    )
    failure = ["StoreError", "the value of 'deep' is nested too deeply for this Python"]
    assert result.value == [failure, failure, failure, "absent"]


def test_the_limit_for_keys_comes_with_the_work(executor: Executor) -> None:
    script = """
        def main(request, store):
            try:
                store["x" * 11] = 1
            except store.ValueTooLarge as error:
                return str(error)
        """
    result = executor.run(script, limits={"store_key_bytes": 10})
    assert result.value == "the key has 11 bytes of UTF-8; 1 to 10 are allowed"


def test_a_signal_handler_may_use_the_store_while_an_operation_waits(executor: Executor) -> None:
    plane = executor.plane
    original = plane.stores.operate

    def slow(store: str, body: bytes) -> Any:
        if b'"key": "slow"' in body:
            plane.wait_for(lambda: "handled" in plane.stores.entries.get("store_main", {}))
        return original(store, body)

    plane.stores.operate = slow  # type: ignore[method-assign]
    result = executor.run(
        """
        import signal

        def main(request, store):
            signal.signal(signal.SIGALRM, lambda *_: store.set("handled", True))
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            store["slow"] = 1
            return [store["slow"], store["handled"]]
        """
    )
    assert result.value == [1, True]
