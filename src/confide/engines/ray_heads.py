"""The head of a Ray cluster: what its address means, and whether one answers there.

Ray itself would try any address for a minute, and print its log meanwhile. So this asks what Ray
asks first, in the few bytes that gRPC needs for it.
"""

import contextlib
import os
import re
import socket
import time

# A machine that is there answers in far less.
SECONDS_TO_ANSWER = 5.0
LARGEST_PORT = 65535
# Numbers of gRPC: the question was answered; or it was not, because it came without a token.
READY, ASKS_FOR_TOKEN = 0, 16
# The kinds of frames of HTTP/2, and their flags: that headers, and that a stream, end with it.
DATA, HEADERS, SETTINGS = 0, 1, 4
END_OF_HEADERS, END_OF_STREAM = 4, 1
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
# Any Ray answers it, and to any process.
QUESTION = "/ray.rpc.NodeInfoGcsService/GetClusterId"
NO_CONTENT = bytes(5)
STATUS = re.compile(rb"grpc-status(?:\x01(\d)|\x02(\d\d))")
BYTES_AT_ONCE = 4096


def answers(address: str) -> bool:
    """Whether a head of Ray answers at an address such as 10.0.0.1:6379."""
    return asked(address) is not None


def asked(address: str, authorization: str = "") -> int | None:
    """What a head of Ray at an address replies to a first question.

    Args:
        address: such as 10.0.0.1:6379.
        authorization: "Bearer" and a token, if the head is to be asked with one.

    Returns:
        `READY` or `ASKS_FOR_TOKEN`; None if nobody answers, or something that is not Ray.
    """
    if (place := place_of(address)) is None:
        return None
    try:
        with socket.create_connection(place, SECONDS_TO_ANSWER) as at:
            if os.environ.get("RAY_USE_TLS") == "1":
                return READY
            at.sendall(_question(authorization))
            if address.startswith("ray://"):  # a server of Ray's clients, who ask other things
                return READY if at.recv(9)[3:4] == bytes([SETTINGS]) else None
            return _status_from(at)
    except OSError:
        return None


def _question(authorization: str) -> bytes:
    headers = {
        ":method": "POST", ":scheme": "http", ":path": QUESTION, ":authority": "ray",
        "te": "trailers", "content-type": "application/grpc",
        **({"authorization": authorization} if authorization else {}),
    }  # fmt: skip
    lines = b"".join(b"\0" + _text(name) + _text(value) for name, value in headers.items())
    return (
        PREFACE
        + _frame(SETTINGS, 0, 0, b"")
        + _frame(HEADERS, END_OF_HEADERS, 1, lines)
        + _frame(DATA, END_OF_STREAM, 1, NO_CONTENT)
    )


def _text(text: str) -> bytes:
    """A text of a header after its length, of which a byte holds seven bits."""
    content, lengths = text.encode(), [len(text.encode())]
    if lengths[0] >= 127:
        lengths = [127, lengths[0] - 127]
        while lengths[-1] >= 128:
            lengths[-1:] = [128 + lengths[-1] % 128, lengths[-1] // 128]
    return bytes(lengths) + content


def _frame(kind: int, flags: int, stream: int, content: bytes) -> bytes:
    return len(content).to_bytes(3) + bytes([kind, flags]) + stream.to_bytes(4) + content


def _status_from(at: socket.socket) -> int | None:
    """The status in a reply: it is plain text in all that Ray's servers send."""
    end, reply = time.monotonic() + SECONDS_TO_ANSWER, b""
    while (left := end - time.monotonic()) > 0:
        at.settimeout(left)
        if not (more := at.recv(BYTES_AT_ONCE)):
            return None
        reply += more
        if found := STATUS.search(reply):
            status = int(found[1] or found[2])
            return status if status in (READY, ASKS_FOR_TOKEN) else None
    return None


def place_of(address: str) -> tuple[str, int] | None:
    """The host and the port of an address; None if it has not both."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    host = host.strip("[]")
    is_port = port.isascii() and port.isdigit() and len(port) <= 5 and int(port) <= LARGEST_PORT
    if not (host and host.isprintable() and is_port):
        return None
    try:
        host.encode("idna")  # as a look-up of the host does
    except UnicodeError:
        return None
    return host, int(port)


def is_same(address: str, head: str) -> bool:
    """Whether both are one head: its host may be given by name, or as the machine's own."""
    given, known = place_of(address), place_of(head)
    if given is None or known is None or given[1] != known[1]:
        return False
    hosts = _numbers_of(given[0])
    return any(host.startswith("127.") or host == "::1" for host in hosts) or bool(
        hosts & _numbers_of(known[0])
    )


def _numbers_of(host: str) -> set[str]:
    """The host's addresses in numbers, and the host as it is given."""
    with contextlib.suppress(OSError):
        return {host, *(str(found[4][0]) for found in socket.getaddrinfo(host, None))}
    return {host}
