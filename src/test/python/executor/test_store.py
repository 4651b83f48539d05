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
        entries = {f"k{n:05}": (str(n), 1) for n in range(2500)}
        executor.plane.entries["store_main"] = entries
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


def test_a_refusal_is_told_as_it_is(executor: Executor) -> None:
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
            store._id = "store_of_others"
            try:
                return store["a"]
            except store.Error as error:
                return str(error)
        """
    )
    assert "no such store" in result.value
    assert not any("store_of_others" in path for path, _ in executor.plane.requests)
