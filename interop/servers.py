"""Servers on the loopback interface, each for the duration of one test."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from werkzeug.serving import make_server

Application = Callable[[dict, Callable], list[bytes]]


@contextmanager
def serving(application: Application) -> Iterator[str]:
    """The address of a server of this application."""
    server = make_server("127.0.0.1", 0, application, threaded=True)
    worker = threading.Thread(target=server.serve_forever)
    worker.start()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.shutdown()
        worker.join()


def static(root: Path, *, ranges: bool) -> Application:
    """The files of a directory on a plain web server: without listing, with or without range requests."""

    def application(environ: dict, start_response: Callable) -> list[bytes]:
        path = root / environ["PATH_INFO"].lstrip("/")
        if environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
            start_response("501 Unsupported method", [])
            return []
        if not path.is_file():
            start_response("404 Not Found", [])
            return []
        content = path.read_bytes()
        wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", environ.get("HTTP_RANGE", ""))
        if wanted and ranges:
            first, last = int(wanted[1]), min(int(wanted[2]), len(content) - 1)
            where = ("Content-Range", f"bytes {first}-{last}/{len(content)}")
            content = content[first : last + 1]
            start_response("206 Partial Content", [("Content-Length", str(len(content))), where])
        else:
            start_response("200 OK", [("Content-Length", str(len(content)))])
        return [] if environ["REQUEST_METHOD"] == "HEAD" else [content]

    return application
