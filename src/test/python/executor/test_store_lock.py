"""Locks of a store in a script."""

from executor import Executor

HOLD = """
    import time

    def main(request, store):
        with store.lock("report", ttl={ttl}) as lock:
            print("held", lock.held, flush=True)
            while "go" not in store:
                time.sleep(0.01)
            while not lock.held:  # its lease may be over, until it is renewed
                time.sleep(0.01)
            print("still", lock.held)
        return lock.held
    """


def test_a_lock_is_renewed_while_it_is_held_and_then_freed(executor: Executor) -> None:
    stores = executor.plane.stores
    name = executor.submit(HOLD.format(ttl=0.3))
    executor.plane.wait_for(lambda: stores.renewals >= 6)  # for at least twice its lease
    assert stores.locks["store_main", "report"]["execution"] == name
    stores.put("store_main", "go", "1")
    result = executor.finished(name)
    assert result.value is False and result.lines == ["held True", "still True"]
    assert not stores.locks and not any(stores.lost.values())


def test_a_lost_lock_stops_every_write_until_its_block_is_left(executor: Executor) -> None:
    stores = executor.plane.stores
    name = executor.submit(
        """
        import time

        def main(request, store):
            found = []
            other = request.stores["other"]
            try:
                with store.lock("report", ttl=0.3) as lock:
                    store["a"] = 1
                    print("held", flush=True)
                    while "go" not in store or lock.held:
                        time.sleep(0.01)
                    for write in (lambda: store.set("a", 2), lambda: other.set("a", 2), lambda: store.pop("a"), store.clear,
                                  lambda: store.increment("a"), lambda: store.transact(lambda tx: tx.set("a", 2))):
                        try:
                            write()
                            found.append("accepted")
                        except store.LockLost as error:
                            assert isinstance(error, store.Conflict)
                    found.append(store["a"])
            except store.LockLost as error:
                found.append(str(error))
            store["a"] = 3
            try:
                with store.lock("report", timeout=0):
                    found.append("accepted")
            except store.LockTimeout as error:
                assert isinstance(error, (store.Error, TimeoutError))
                found.append(str(error))
            return found + [store["a"]]
        """,
        stores=[{"name": "main", "id": "store_main"}, {"name": "other", "id": "store_other"}],
    )
    executor.logged(name, "held")
    stores.take_lock("store_main", "report")
    stores.put("store_main", "go", "1")
    assert executor.finished(name).value == [
        1,
        "the lock 'report' was lost: its lease ran out and it was taken",
        "the lock 'report' wasn't free",
        3,
    ]


def test_what_the_block_raises_is_not_hidden_by_a_lost_lock(executor: Executor) -> None:
    stores = executor.plane.stores
    name = executor.submit(
        """
        import time

        def main(request, store):
            try:
                with store.lock("report", ttl=60):
                    print("held", flush=True)
                    while "go" not in store:
                        time.sleep(0.01)
                    raise ValueError("the block's own")
            except ValueError as error:
                store["a"] = 1
                return str(error)
        """
    )
    executor.logged(name, "held")
    stores.take_lock("store_main", "report")
    stores.put("store_main", "go", "1")
    assert executor.finished(name).value == "the block's own"


def test_a_lock_that_another_holds_is_waited_for(executor: Executor) -> None:
    stores = executor.plane.stores
    stores.take_lock("store_main", "report")
    name = executor.submit(
        """
        import threading, time

        def main(request, store):
            found = []
            for timeout in (0, 0.2):
                began = time.monotonic()
                try:
                    store.lock("report", timeout=timeout).__enter__()
                except store.LockTimeout as error:
                    found += [str(error), time.monotonic() - began >= timeout]

            def other_thread():
                store["meanwhile"] = 1  # waiting for a lock keeps nobody from the store

            thread = threading.Thread(target=other_thread)
            threading.Timer(0.1, thread.start).start()
            with store.lock("report"):
                found.append(store["meanwhile"])
            return found
        """
    )
    executor.plane.wait_for(lambda: "meanwhile" in stores.entries.get("store_main", {}))
    with executor.plane.changed:
        stores.locks.clear()
        executor.plane.changed.notify_all()
    assert executor.finished(name).value == [
        "the lock 'report' wasn't free",
        True,
        "the lock 'report' wasn't free within 0.2 s",
        True,
        1,
    ]


def test_locks_exclude_each_other_and_are_not_reentrant(executor: Executor) -> None:
    result = executor.run(
        """
        import multiprocessing

        def add(store):
            for _ in range(15):
                with store.lock("n", ttl=5):
                    store["n"] = store.get("n", 0) + 1

        def main(request, store):
            workers = [multiprocessing.get_context(m).Process(target=add, args=(store,)) for m in ("fork", "fork", "spawn")]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
            found = [store["n"]]
            with store.lock("n") as lock, store.lock("m"):
                for again in (lock.__enter__, store.lock("n").__enter__):
                    try:
                        again()
                        found.append("accepted")
                    except RuntimeError as error:
                        found.append("reentrant" in str(error) or "never end" in str(error))
                try:
                    store.lock("n", timeout=0).__enter__()
                except store.LockTimeout:
                    found.append("not free")
            with lock:
                found.append(lock.held)
            return found
        """
    )
    assert result.value == [45, True, True, "not free", True]


def test_a_forked_child_neither_holds_nor_frees_its_parents_lock(executor: Executor) -> None:
    stores = executor.plane.stores
    result = executor.run(
        """
        import os

        def main(request, store):
            with store.lock("report") as lock:
                child = os.fork()
                if child == 0:
                    try:
                        with store.lock("report", timeout=0):
                            os._exit(1)
                    except store.LockTimeout:
                        os.environ["HELD"] = str(lock.held)
                if child:
                    status = os.waitpid(child, 0)[1]
                    held = lock.held
                    store["a"] = 1
            if not child:
                os._exit(2 if lock.held or os.environ["HELD"] == "True" else 3)
            return [os.waitstatus_to_exitcode(status), held]
        """
    )
    assert result.value == [3, True] and not stores.locks and not any(stores.lost.values())


def test_a_wait_that_is_interrupted_leaves_no_lock_behind(executor: Executor) -> None:
    stores = executor.plane.stores
    stores.take_lock("store_main", "report")
    name = executor.submit(
        """
        import signal, time

        def stop(*_):
            raise KeyboardInterrupt

        def main(request, store):
            signal.signal(signal.SIGALRM, stop)
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            try:
                with store.lock("report"):
                    return "accepted"
            except KeyboardInterrupt:
                print("interrupted", flush=True)
            while "go" not in store:
                time.sleep(0.01)
            with store.lock("report", ttl=60, timeout=60):
                return "free"
        """
    )
    executor.logged(name, "interrupted")
    with executor.plane.changed:
        stores.locks.clear()
        executor.plane.changed.notify_all()
    stores.put("store_main", "go", "1")
    assert executor.finished(name).value == "free"


def test_a_control_plane_that_is_away_for_a_while_costs_no_lock(executor: Executor) -> None:
    stores = executor.plane.stores
    name = executor.submit(HOLD.format(ttl=0.3))
    executor.logged(name, "held")
    failures = [(503, None)] * 5
    executor.plane.fault = lambda call: failures.pop() if call == "operations" and failures else None
    executor.plane.wait_for(lambda: not failures)
    before = stores.renewals
    executor.plane.wait_for(lambda: stores.renewals > before)
    stores.put("store_main", "go", "1")
    assert executor.finished(name).lines == ["held True", "still True"]


def test_a_process_that_stands_still_loses_its_lock(executor: Executor) -> None:
    stores = executor.plane.stores
    name = executor.submit(
        """
        import os, signal, time

        def main(request, store):
            ready, done = os.pipe(), os.pipe()
            child = os.fork()
            if child == 0:
                try:
                    with store.lock("report", ttl=0.5) as lock:
                        os.write(ready[1], b"x")
                        os.read(done[0], 1)
                        store["a"] = "written"
                except store.LockLost:
                    os._exit(4)
                os._exit(5)
            os.read(ready[0], 1)
            os.kill(child, signal.SIGSTOP)
            with store.lock("report"):
                print("taken", flush=True)
            os.write(done[1], b"x")
            os.kill(child, signal.SIGCONT)
            return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), "a" in store]
        """
    )
    assert executor.finished(name).value == [4, False] and not stores.locks
