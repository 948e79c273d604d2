"""Proves that the stores of a Mooncake cluster give each other's data back.

The master's own view cannot tell: it shows full capacity also when no store
reaches another one. So this writes values through the stores' HTTP interfaces
until every segment holds one, and reads each through other stores. It compares
bytes, because a store answers 200 with an empty body when a transfer failed.
Only Python's standard library: it runs in the image of the cluster.
"""

import base64
import itertools
import json
import os
import re
import signal
import socket
import struct
import sys
import time
import uuid
from urllib.parse import quote

from masters import ANSWER_SECONDS, NoMaster, Refused, addresses, ask_leader, request

READERS = 8  # of each value at most: in a large cluster all pairs would take long
VALUE_BYTES = 64 * 1024  # more than one slice of an RDMA transfer, once written as hex
LONGEST_LEASE_SECONDS = 30  # a longer one is not waited for, to remove the values
TRIES = 2  # a store that was just replaced may still be dialled at its old address


class Failed(Exception):
    """What is wrong, as the user reads it."""


class Misconfigured(Failed):
    """What no waiting repairs, once the stores of before are forgotten."""


class OutOfTime(BaseException):
    """The check's own end. No Exception, so that nothing takes it for an answer."""


class Store:
    def __init__(self, text):
        self.name, _, self.address = text.partition("=")

    def request(self, method, path, body=None):
        """Returns status and body; raises Failed when there is no answer."""
        try:
            return request(self.address, method, path, body)
        except OSError as e:
            raise Failed(f"{self.name} does not answer on {self.address}: {e or 'timed out'}") from e


class Value:
    """A value in the cluster: who wrote it, and the segments that hold it."""

    def __init__(self, key, text, writer, endpoints):
        self.key, self.text, self.writer, self.endpoints = key, text, writer, endpoints


class Cluster:
    def __init__(self, environment):
        self.stores = [Store(s) for s in environment["STORES"].split()]
        self.master = environment["MASTER"]
        self.segment_bytes = int(environment["SEGMENT_BYTES"])
        self.protocol = environment["PROTOCOL"]
        self.lists_endpoints = environment["LISTS_ENDPOINTS"] == "true"
        self.metadata = environment["METADATA"]
        self.cluster_id = environment["CLUSTER_ID"]
        self.lease_seconds = float(environment["LEASE_SECONDS"])
        self.forget_seconds = float(environment["FORGET_SECONDS"])
        self.settle_seconds = float(environment["SETTLE_SECONDS"])
        self.keys = []  # all that was written, to be removed

    def verify(self):
        endpoints = self.wait_for_segments()
        for left in reversed(range(TRIES)):
            problems, reached = self.exchange(endpoints)
            if not problems:
                break
            if left:
                say(f"{len(problems)} problems, for example: {problems[0]}; trying once more")
        self.remove_keys()
        if problems:
            raise Failed("\n".join(problems))
        self.check_protocol(endpoints or sorted(reached))

    # The master's view.

    def wait_for_segments(self):
        """Waits until the master shows one segment of each store; returns where peers dial them."""
        start = time.monotonic()
        while True:
            try:
                return self.segments()
            except Failed as e:
                patience = self.forget_seconds if isinstance(e, Misconfigured) else self.settle_seconds
                if time.monotonic() > start + patience:
                    raise
            time.sleep(1)

    def segments(self):
        names = self.ask_leader("/get_all_segments").split()
        for name in names:
            if is_loopback(name):
                raise Misconfigured(
                    f"the master knows a store as {name}, which every peer takes for itself: "
                    "the stores need their pod's address in MOONCAKE_LOCAL_HOSTNAME and LOCAL_HOSTNAME"
                )
        if len(names) != len(self.stores):
            raise Failed(f"the master shows {len(names)} segments ({', '.join(names)}) of {len(self.stores)} stores")
        capacity = metric(self.ask_leader("/metrics"), "master_total_capacity_bytes")
        if capacity != self.segment_bytes * len(self.stores):
            raise Failed(
                f"the master shows a capacity of {capacity} bytes instead of "
                f"{len(self.stores)} x {self.segment_bytes}"
            )
        endpoints = self.endpoints()
        say(f"{len(names)} segments, {capacity} bytes, none on loopback")
        return endpoints

    def endpoints(self):
        """Returns where peers dial the segments; an older master tells it only of a value."""
        if not self.lists_endpoints:
            return []
        endpoints = [s["te_endpoint"] for s in json.loads(self.ask_leader("/get_segments_detail"))["segments"]]
        for endpoint in endpoints:
            if is_loopback(endpoint):
                raise Misconfigured(registered(endpoint))
        return endpoints

    def ask_leader(self, path):
        try:
            return ask_leader(self.master, path)
        except (NoMaster, Refused) as e:
            raise Failed(str(e)) from e

    # The transport. The master repeats what a store was told to use, also when the
    # store found no device and took TCP. What a store tells its peers is true, in the
    # oldest release too, so this asks as a peer does.

    def check_protocol(self, endpoints):
        for endpoint in endpoints:
            used = self.describe(endpoint).get("protocol")
            if used != self.protocol:
                raise Failed(f"{self.owner(endpoint)} moves its data over {used}, not over {self.protocol}")
        say(f"every store moves its data over {self.protocol}")

    def describe(self, endpoint):
        """Returns what a store tells its peers: itself, or where they share such things."""
        try:
            if self.metadata == "P2PHANDSHAKE":
                return ask_engine(endpoint)
            kind, servers = self.metadata.split("://", 1)
            if kind == "http":
                server, path = servers.split("/", 1)
                return json.loads(request(server, "GET", f"/{path}?key={quote('mooncake/ram/' + endpoint, safe='')}")[1])
            key = base64.b64encode(f"mooncake/{self.cluster_id}/ram/{endpoint}".encode()).decode()
            answer = ask_any(servers.split(";"), "/v3/kv/range", json.dumps({"key": key}))
            return json.loads(base64.b64decode(json.loads(answer)["kvs"][0]["value"]))
        except (OSError, ValueError, KeyError, struct.error) as e:
            raise Failed(f"{self.owner(endpoint)} cannot be asked how it moves its data: {e!r}") from e

    # The data.

    def exchange(self, endpoints):
        """Writes and reads; returns the problems, each with the stores that it is between, and the segments reached."""
        values, problems, reached = self.write(endpoints)
        reads = 0
        for value in values:
            for reader in self.readers(value.writer):
                problem = self.read(value, reader)
                reads += 1
                if problem:
                    problems.append(problem)
        if not problems:
            say(f"{len(values)} values written, {reads} reads through other stores, every byte equal")
        return problems, reached

    def write(self, endpoints):
        """Writes through the stores in turn, until each wrote a value and each segment holds one."""
        writers, silent = list(self.stores), set(self.stores)
        values, problems, reached = [], [], set()
        for n in range(50 + 20 * len(self.stores)):
            if not writers or not silent and len(reached) == len(self.stores):
                break
            writer = writers[n % len(writers)]
            try:
                value = self.put(writer)
            except Failed as e:
                problems.append(str(e))
                writers.remove(writer)
            else:
                if writer in silent or value.endpoints - reached:
                    values.append(value)
                reached |= value.endpoints
            silent.discard(writer)
        problems += [registered(endpoint) for endpoint in sorted(reached) if is_loopback(endpoint)]
        for endpoint in sorted(set(endpoints) - reached) if writers else []:
            problems.append(f"no value reached the segment of {self.owner(endpoint)}")
        if writers and not endpoints and len(reached) < len(self.stores):
            problems.append(f"values reached only {len(reached)} of {len(self.stores)} segments: {', '.join(sorted(reached))}")
        return values, problems, reached

    def put(self, writer):
        """Writes under a fresh key: of one that exists the cluster keeps the old value."""
        key, text = f"kvinfra-verify-{uuid.uuid4().hex}", os.urandom(VALUE_BYTES).hex()
        status, answer = writer.request("PUT", "/api/put", json.dumps({"key": key, "value": text}))
        if status != 200:
            raise Failed(f"{writer.name} cannot write: status {status}, {answer.decode(errors='replace')}")
        self.keys.append(key)
        where = self.ask_leader(f"/query_key?key={key}")
        return Value(key, text, writer, set(re.findall(r'"transport_endpoint_":\s*"([^"]+)"', where)))

    def readers(self, writer):
        """Returns the stores after the writer, so that every store reads something."""
        first = self.stores.index(writer) + 1
        ring = itertools.islice(itertools.cycle(self.stores), first, first + len(self.stores) - 1)
        return list(itertools.islice(ring, READERS))

    def read(self, value, reader):
        holders = " and ".join(self.owner(e) for e in sorted(value.endpoints))
        try:
            status, body = reader.request("GET", f"/api/get/{value.key}")
        except Failed as e:
            return f"{e} when it reads what {value.writer.name} wrote to the segment of {holders}"
        if status == 200 and body == value.text.encode():
            return None
        what = f"{len(body)} bytes that differ from the {len(value.text)} written"
        if status != 200:
            what = f"status {status}, {body.decode(errors='replace')}"
        elif len(body) != len(value.text):
            what = f"{len(body)} of {len(value.text)} bytes"
        return f"{reader.name} cannot read what {value.writer.name} wrote to the segment of {holders}: got {what}"

    def owner(self, endpoint):
        """Returns the store at an endpoint, with the endpoint."""
        address = endpoint.rsplit(":", 1)[0]
        for store in self.stores:
            if address in addresses(store.address.rsplit(":", 1)[0]):
                return f"{store.name} ({endpoint})"
        return endpoint

    def remove_keys(self):
        """Removes what was written. A value that was read is leased for a while and stays that long."""
        left = set(self.keys)
        remaining, _ = signal.getitimer(signal.ITIMER_REAL)
        if self.lease_seconds > min(LONGEST_LEASE_SECONDS, remaining / 2):
            say(f"{len(left)} values of this check stay until they are evicted: their lease of {self.lease_seconds:g} s is not waited for")
            return
        time.sleep(self.lease_seconds)
        for store in self.stores:
            try:
                for key in list(left):
                    if store.request("DELETE", f"/api/remove/{key}")[0] == 200:
                        left.discard(key)
                break
            except Failed:
                continue  # any store removes any key
        if left:
            say(f"{len(left)} of {len(self.keys)} values of this check stay until they are evicted")


def ask_any(servers, path, question):
    """Returns the answer of the first server that gives one."""
    for server in servers[:-1]:
        try:
            return request(server, "POST", path, question)[1]
        except OSError:
            continue
    return request(servers[-1], "POST", path, question)[1]


def ask_engine(endpoint):
    """Returns what a store tells a peer that wants to move data."""
    host, port = endpoint.rsplit(":", 1)
    question = b"\x01{}"
    with socket.create_connection((host, int(port)), ANSWER_SECONDS) as connection:
        connection.sendall(struct.pack("<Q", len(question)) + question)
        with connection.makefile("rb") as answer:
            length = struct.unpack("<Q", answer.read(8))[0]
            return json.loads(answer.read(length)[1:])


def is_loopback(endpoint):
    host = endpoint.rsplit(":", 1)[0].strip("[]")
    return host in ("", "localhost", "0.0.0.0", "::1", "::") or host.startswith("127.")


def registered(endpoint):
    return f"a store registered {endpoint} as the address for its data, which every peer takes for itself"


def metric(text, name):
    found = re.search(rf"^{name}(?:{{[^}}]*}})? ([0-9.e+]+)$", text, re.MULTILINE)
    if not found:
        raise Failed(f"the master's metrics have no {name}")
    return int(float(found.group(1)))


def say(text):
    print(f"verify: {text}", flush=True)


def give_up(*_):
    raise OutOfTime("the check did not end in time; its last line says how far it came")


if __name__ == "__main__":
    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(int(os.environ["DEADLINE_SECONDS"]))
    try:
        Cluster(os.environ).verify()
    except (Failed, OutOfTime) as e:
        for line in str(e).splitlines():
            say(line)
        sys.exit(1)
