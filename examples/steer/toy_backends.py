"""Toy backends with latencies that drift: `python toy_backends.py eu-1:8001:50 eu-2:8002:100`.

Each argument is NAME:PORT:MILLISECONDS. A backend answers every request after about that long, and
`/metrics` counts requests and seconds for Prometheus. `/set?ms=300` makes it slow, `--drift 120`
lets latencies rise and fall by a third within 120 s.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import random
import re
import time

METRICS = """# TYPE toy_request_seconds summary
toy_request_seconds_sum{{server="{name}"}} {total:.6f}
toy_request_seconds_count{{server="{name}"}} {count}
"""


class Backend:
    """One backend: a name, a latency, and what it counted."""

    def __init__(self, name: str, milliseconds: float, drift: float):
        self.name, self.milliseconds, self.drift = name, milliseconds, drift
        self.total, self.count, self.phase = 0.0, 0, random.uniform(0.0, math.tau)  # noqa: S311

    def latency(self) -> float:
        """Return the seconds that a request takes now."""
        wave = math.sin(math.tau * time.time() / self.drift + self.phase) if self.drift else 0.0
        noise = random.lognormvariate(0.0, 0.1)
        return self.milliseconds / 1000.0 * (1.0 + wave / 3.0) * noise

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request and close the connection."""
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            path = head.split(b" ", 2)[1].decode()
            if path == "/metrics":
                body = METRICS.format(name=self.name, total=self.total, count=self.count)
            elif found := re.fullmatch(r"/set\?ms=(\d+)", path):
                self.milliseconds = float(found[1])
                body = f"{self.milliseconds:g} ms\n"
            elif path == "/health":
                body = "well\n"
            else:
                begin = time.perf_counter()
                await asyncio.sleep(self.latency())
                self.total += time.perf_counter() - begin
                self.count += 1
                body = f"{self.name}\n"
            answer = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
            writer.write((answer + body).encode())
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, IndexError):
            pass
        finally:
            writer.close()


async def main() -> None:
    """Serve all backends until the process ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("backends", nargs="+", metavar="NAME:PORT:MILLISECONDS")
    parser.add_argument("--drift", type=float, default=0.0, help="seconds of a rise and fall")
    given = parser.parse_args()
    servers = []
    for text in given.backends:
        name, port, milliseconds = text.split(":")
        backend = Backend(name, float(milliseconds), given.drift)
        servers.append(await asyncio.start_server(backend.answer, "127.0.0.1", int(port)))
    await asyncio.gather(*(server.serve_forever() for server in servers))


if __name__ == "__main__":
    asyncio.run(main())
