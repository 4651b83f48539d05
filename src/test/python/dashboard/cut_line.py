"""A way to a server that can be cut and comes back: what a browser has when a network is bad."""

import contextlib
import socket
import threading
from urllib.parse import urlsplit


class CutLine:
    """Passes connections on. While it is cut, open ones are gone and new ones are refused."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._target = (parts.hostname, parts.port or 80)
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._is_cut = False
        # Never listens: keeps the port from everybody else while the line is cut.
        self._holder = socket.socket()
        self._holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._holder.bind(("127.0.0.1", 0))
        self._port = self._holder.getsockname()[1]
        self._listener = self._listen()
        self.url = f"http://127.0.0.1:{self._port}"

    def cut(self) -> None:
        """Ends everything that is open, at once."""
        end(self._listener)
        with self._lock:
            self._is_cut = True
            for connection in self._open:
                end(connection)
            self._open.clear()

    def restore(self) -> None:
        """Connections go through again, at the same address."""
        self._is_cut = False
        self._listener = self._listen()

    def close(self) -> None:
        """Cuts it for good."""
        self.cut()
        self._holder.close()

    def _listen(self) -> socket.socket:
        listener = socket.create_server(("127.0.0.1", self._port), backlog=100)
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()
        return listener

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                server = socket.create_connection(self._target)
                with self._lock:
                    if self._is_cut:  # It was on its way when the line was cut.
                        end(client)
                        end(server)
                        continue
                    self._open |= {client, server}
                for source, target in ((client, server), (server, client)):
                    threading.Thread(target=self._pass_on, args=(source, target), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                target.sendall(data)
        for connection in (source, target):
            end(connection)
        with self._lock:
            self._open -= {source, target}


def end(connection: socket.socket) -> None:
    """Closes it even while another thread waits in it."""
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
