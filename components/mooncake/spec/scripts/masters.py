"""How the other scripts here talk to a cluster's masters, stores, engines and servers of metadata.

What those answer is data from the network, perhaps an attacker's: none of them
knows a password. It is read, bounded and checked here, and printed only as
printable() leaves it.
"""

import http.client
import io
import json
import os
import re
import socket
import threading
import time

ANSWER_SECONDS = 15  # a store gives up on a peer that does not answer after 5 s
ANSWER_BYTES = 6 << 20  # a master tells of 10,000 segments in 4.3 MB
ANSWER_VALUES = 200_000  # of those 130,000; Python takes up to 232 bytes for each
NUMBER_CHARACTERS = 40  # older Pythons take minutes for a number of a million digits


class NoMaster(Exception):
    """No master serves. Of a highly available cluster's masters only one does."""


class Refused(Exception):
    """Somebody who is there does not do what it was asked, or answers as no release does."""


class Malformed(Exception):
    """What is wrong with an answer, to be read after "somebody answers with"."""


# Questions.


def ask_leader(masters, path, method="GET", body=None, read=str):
    """Returns the answer of the master that serves, among all behind the name host:port."""
    try:
        return ask("the master", leader(masters), path, method, body, read)
    except OSError as e:
        raise NoMaster(f"the master does not answer {path}: {printable(e)}") from e


def leader(masters):
    """Returns the address of the master that serves. The others answer too, but not what they cannot know."""
    host, port = masters.rsplit(":", 1)
    seen, problem = [], NoMaster
    for address in addresses(host):
        try:
            status, _ = request(f"{address}:{port}", "GET", "/get_all_segments")
        except OSError as e:
            seen.append(f"{address}: {printable(e)}")
            continue
        except Malformed as e:
            seen.append(f"{address}: {printable(e)}")
            problem = Refused  # one that answers nonsense is not gone
            continue
        if status == 200:
            return f"{address}:{port}"
        seen.append(f"{address}: status {status}")
    raise problem(f"no master serves at {masters}: {'; '.join(seen) or 'the name has no IPv4 address'}")


def ask(who, address, path, method="GET", body=None, read=str):
    """Returns what read makes of the text of an answer; raises OSError when there is none."""
    try:
        status, answer = request(address, method, path, body)
        if status == 200:
            return read(decode(answer))
    except Malformed as e:
        raise Refused(f"{who} answers {path} with {printable(e)}") from e
    raise Refused(f"{who} answers {path} with status {status}, {printable(answer)}")


def request(address, method, path, body=None):
    """Returns status and body; raises OSError when there is no answer, Malformed when it is not HTTP."""
    connection = http.client.HTTPConnection(address)
    with Wire((connection.host, connection.port)) as wire:
        try:
            connection.sock = wire
            connection.request(method, path, body, {"Content-Type": "application/json"} if body else {})
            with http.client.HTTPResponse(wire, method=method) as answer:
                answer.begin()
                text = answer.read(ANSWER_BYTES)  # without a number, it reserves what the answer claims to be
        except OSError:
            raise  # also what is an HTTPException too: the other side hung up without a word
        except (http.client.HTTPException, ValueError) as e:
            raise Malformed(f"what is not HTTP: {e!r}") from e
    if answer.length:
        raise Malformed(f"{len(text)} bytes and claims {answer.length} more")
    return answer.status, text


class Wire(io.RawIOBase):
    """A connection whose answer ends in time and in size, however it is sent.

    A socket's own timeout begins again with every byte, and http.client reads a chunk
    of length -1 until the end. Before the first byte of an answer an error is an
    OSError: nobody is there. After it, the answer is Malformed.
    """

    peer = None  # Python closes also what was never connected

    def __init__(self, address):
        super().__init__()
        self.left, self.end = ANSWER_BYTES, time.monotonic() + ANSWER_SECONDS
        self.peer = socket.create_connection(address, ANSWER_SECONDS)

    def sendall(self, data):
        self.peer.settimeout(self.seconds())
        self.peer.sendall(data)

    def makefile(self, _):
        """Returns what http.client reads an answer from."""
        return io.BufferedReader(self)

    def readable(self):
        return True

    def readinto(self, buffer):
        if not self.left:
            raise Malformed(f"more than {ANSWER_BYTES} bytes")
        try:
            self.peer.settimeout(self.seconds())
            count = self.peer.recv_into(memoryview(buffer)[: self.left])
        except OSError as e:
            if self.left == ANSWER_BYTES:
                raise
            raise Malformed(f"{ANSWER_BYTES - self.left} bytes that have no end: {e}") from e
        self.left -= count
        return count

    def seconds(self):
        """Returns how long this may still take."""
        left = self.end - time.monotonic()
        if left <= 0:
            raise socket.timeout("timed out")
        return left

    def close(self):
        super().close()
        if self.peer:
            self.peer.close()


def addresses(host):
    """Returns those that can be dialled: no release opens a store's REST port for IPv6."""
    try:
        found = socket.getaddrinfo(host, None, socket.AF_INET, socket.SOCK_STREAM)
    except (OSError, UnicodeError):  # the latter of a name that DNS cannot have
        return []
    return sorted({entry[4][0] for entry in found})


# Answers.


def decode(answer):
    try:
        return answer.decode()
    except UnicodeDecodeError as e:
        raise Malformed(f"what is not UTF-8: {e.reason} at byte {e.start}") from e


def lines(text):
    """Returns the lines that are not empty."""
    if text.count("\n") > ANSWER_VALUES:
        raise Malformed(f"more than {ANSWER_VALUES} lines")
    return [line for line in map(str.strip, text.split("\n")) if line]


def parse(text):
    """Returns what a text says in JSON."""
    if sum(map(text.count, "{[,")) > ANSWER_VALUES:
        raise Malformed(f"more than {ANSWER_VALUES} values")
    try:
        return json.loads(text, parse_int=number(int), parse_float=number(float), parse_constant=no_number)
    except (ValueError, RecursionError) as e:
        raise Malformed(f"what is not JSON: {e}") from e


def number(convert):
    def short(text):
        return convert(text) if len(text) <= NUMBER_CHARACTERS else no_number(f"what has {len(text)} characters")

    return short


def no_number(text):
    raise ValueError(f"{text} is not a number")


KINDS = {dict: "an object", list: "a list", str: "a string", int: "a number", float: "a fraction", bool: "a boolean", type(None): "null"}


def field(of, name, kind):
    """Returns a field of an object in JSON: of that kind, and a number only as a C++ uint64_t has it."""
    if type(of) is not dict:
        raise Malformed(f"{KINDS[type(of)]} instead of an object with {name}")
    if name not in of:
        raise Malformed(f"an object without {name}")
    value = of[name]
    if type(value) is not kind:
        raise Malformed(f"{name} as {KINDS[type(value)]} instead of {KINDS[kind]}")
    if kind is int and not 0 <= value < 1 << 64:
        raise Malformed(f"{value} as {name}")
    return value


def fields(of, kinds):
    return {name: field(of, name, kind) for name, kind in kinds.items()}


def split_endpoint(endpoint):
    """Returns host and port of an address that a store registered."""
    found = re.fullmatch(r"\[?([0-9A-Za-z._:-]{0,253})\]?:([0-9]{1,5})", endpoint)
    if not found or not 1 <= int(found.group(2)) <= 65535:
        raise Malformed(f"{printable(endpoint, 60)!r} instead of host:port")
    return found.group(1), int(found.group(2))


def printable(text, most=300):
    """Returns a text, bytes or an error in one line of ASCII: neither a new line nor a terminal's commands."""
    text = text[: 4 * most].decode(errors="replace") if isinstance(text, bytes) else str(text)[: 4 * most]
    text = re.sub("[^ -~]", "?", " ".join(text.split()))
    return text if len(text) <= most else text[:most] + "..."


# Time.


def end_after(seconds, code, say_why):
    """Ends the process then, whatever it waits for: no signal interrupts a name server that does not answer."""

    def end():
        try:
            say_why()
        finally:
            os._exit(code)

    timer = threading.Timer(seconds, end)
    timer.daemon = True  # else Python would wait for it
    timer.start()
