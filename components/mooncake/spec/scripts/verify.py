"""Proves that the stores of a Mooncake cluster give each other's data back.

The master's own view cannot tell: it shows full capacity also when no store
reaches another one. So this writes values through the stores' HTTP interfaces
until every segment holds one, and reads each through other stores. It compares
bytes, because a store answers 200 with an empty body when a transfer failed.
Only Python's standard library: it runs in the image of the cluster.
"""

import base64
import hashlib
import itertools
import json
import os
import re
import struct
import sys
import time
import traceback
import uuid
from urllib.parse import quote

from masters import (
    ANSWER_BYTES, Malformed, NoMaster, Refused, Wire,
    addresses, ask, ask_leader, decode, end_after, field, lines, parse, printable, request, split_endpoint,
)

READERS = 8  # of each value at most: in a large cluster all pairs would take long
TEXT_BYTES = 128 * 1024  # of a value, more than one slice of an RDMA transfer
LONGEST_LEASE_SECONDS = 30  # a longer one is not waited for, to remove the values
PROBLEMS = 100  # are printed at most: an attacker's answers can make thousands
TRIES = 2  # a store that was just replaced may still be dialled at its old address


class Failed(Exception):
    """What is wrong, as the user reads it, a line for each argument."""


class Misconfigured(Failed):
    """What no waiting repairs, once the stores of before are forgotten."""


class Store:
    def __init__(self, text):
        self.name, _, self.address = text.partition("=")

    def request(self, method, path, body=None):
        """Returns status and body; raises Failed when there is no answer."""
        try:
            return request(self.address, method, path, body)
        except OSError as e:
            raise Failed(f"{self.name} does not answer on {self.address}: {printable(e)}") from e
        except Malformed as e:
            raise Failed(f"{self.name} answers {path} with {printable(e)}") from e


class Value:
    """A value in the cluster: who wrote it, and the segments that hold it.

    Of its bytes only their hash: those of a thousand values would not fit into the pod.
    """

    def __init__(self, key, text, writer, endpoints):
        self.key, self.hash, self.writer, self.endpoints = key, hashed(text.encode()), writer, endpoints


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
        self.end = time.monotonic() + float(environment["DEADLINE_SECONDS"])
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
            raise Failed(*problems)
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
        names = self.ask_leader("/get_all_segments", lines)
        for name in names:
            if is_loopback(name):
                raise Misconfigured(
                    f"the master knows a store as {printable(name)}, which every peer takes for itself: "
                    "the stores need their pod's address in MOONCAKE_LOCAL_HOSTNAME and LOCAL_HOSTNAME"
                )
        if len(names) != len(self.stores):
            shown = printable(", ".join(names), 1000)
            raise Failed(f"the master shows {len(names)} segments ({shown}) of {len(self.stores)} stores")
        capacity = self.ask_leader("/metrics", lambda text: metric(text, "master_total_capacity_bytes"))
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
        endpoints = self.ask_leader("/get_segments_detail", lambda text: self.checked(
            [field(segment, "te_endpoint", str) for segment in field(parse(text), "segments", list)]))
        for endpoint in endpoints:
            if is_loopback(endpoint):
                raise Misconfigured(registered(endpoint))
        return endpoints

    def checked(self, endpoints):
        """Returns them when each can be dialled, and there are no more of them than stores."""
        for endpoint in endpoints:
            split_endpoint(endpoint)
        if len(set(endpoints)) > len(self.stores):
            raise Malformed(f"{len(set(endpoints))} different addresses of {len(self.stores)} stores")
        return endpoints

    def ask_leader(self, path, read):
        try:
            return ask_leader(self.master, path, read=read)
        except (NoMaster, Refused) as e:
            raise Failed(str(e)) from e

    # The transport. The master repeats what a store was told to use, also when the
    # store found no device and took TCP. What a store tells its peers is true, in the
    # oldest release too, so this asks as a peer does.

    def check_protocol(self, endpoints):
        for endpoint in endpoints:
            used = self.describe(endpoint)
            if used != self.protocol:
                raise Failed(f"{self.owner(endpoint)} moves its data over {printable(used, 60)}, not over {self.protocol}")
        say(f"every store moves its data over {self.protocol}")

    def describe(self, endpoint):
        """Returns the protocol that a store tells its peers: itself, or where they share such things."""
        try:
            if self.metadata == "P2PHANDSHAKE":
                return protocol(ask_engine(endpoint))
            kind, servers = self.metadata.split("://", 1)
            if kind == "http":
                server, path = servers.split("/", 1)
                return ask(server, server, f"/{path}?key={quote('mooncake/ram/' + endpoint, safe='')}", read=protocol)
            key = base64.b64encode(f"mooncake/{self.cluster_id}/ram/{endpoint}".encode()).decode()
            return ask_any(servers.split(";"), "/v3/kv/range", json.dumps({"key": key}), lambda text: protocol(only_value(text)))
        except Malformed as e:
            problem = f"it answers with {e}"
        except (OSError, Refused) as e:
            problem = str(e)
        raise Failed(f"{self.owner(endpoint)} cannot be asked how it moves its data: {printable(problem, 600)}")

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
        key, text = f"kvinfra-verify-{uuid.uuid4().hex}", os.urandom(TEXT_BYTES // 2).hex()
        status, answer = writer.request("PUT", "/api/put", json.dumps({"key": key, "value": text}))
        if status != 200:
            raise Failed(f"{writer.name} cannot write: status {status}, {printable(answer)}")
        self.keys.append(key)
        holders = self.ask_leader(f"/query_key?key={key}", lambda where: self.checked(
            set(re.findall(r'"transport_endpoint_":\s*"([^"]+)"', where))))
        return Value(key, text, writer, holders)

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
        if status == 200 and hashed(body) == value.hash:
            return None
        what = f"{len(body)} bytes that differ from the {TEXT_BYTES} written"
        if status != 200:
            what = f"status {status}, {printable(body)}"
        elif len(body) != TEXT_BYTES:
            what = f"{len(body)} of {TEXT_BYTES} bytes"
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
        if self.lease_seconds > min(LONGEST_LEASE_SECONDS, (self.end - time.monotonic()) / 2):
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


def ask_any(servers, path, question, read):
    """Returns what read makes of the answer of the first server that gives one."""
    for server in servers[:-1]:
        try:
            return ask(server, server, path, "POST", question, read)
        except (OSError, Refused):
            continue
    return ask(servers[-1], servers[-1], path, "POST", question, read)


def hashed(data):
    return hashlib.sha256(data).digest()


def only_value(text):
    """Returns the value of a key in etcd, from etcd's answer in JSON."""
    values = field(parse(text), "kvs", list)
    if not values:
        raise Malformed("no value")
    try:
        return decode(base64.b64decode(field(values[0], "value", str), validate=True))
    except ValueError as e:
        raise Malformed(f"a value that is not base64: {e}") from e


def protocol(text):
    """Returns what an engine uses, from its description in JSON."""
    return field(parse(text), "protocol", str)


def ask_engine(endpoint):
    """Returns what a store tells a peer that wants to move data."""
    question = b"\x01{}"
    wire = Wire(split_endpoint(endpoint))
    with wire.makefile("rb") as answer:
        wire.sendall(struct.pack("<Q", len(question)) + question)
        length = int.from_bytes(answer.read(8), "little")
        if not 0 < length <= ANSWER_BYTES:  # Mooncake's own limit is 1 MiB
            raise Malformed(f"a text of {length} bytes")
        text = answer.read(length)
        if len(text) < length:
            raise Malformed(f"{len(text)} of {length} bytes")
        if text[:1] != question[:1]:
            raise Malformed(f"{text[:1]!r} where the type of the question belongs")
        return decode(text[1:])


def is_loopback(endpoint):
    host = endpoint.rsplit(":", 1)[0].strip("[]")
    return host in ("", "localhost", "0.0.0.0", "::1", "::") or host.startswith("127.")


def registered(endpoint):
    return f"a store registered {endpoint} as the address for its data, which every peer takes for itself"


def metric(text, name):
    for line in lines(text):
        found = re.fullmatch(rf"{name}(?:{{[^}}]*}})? ([0-9.e+]{{1,40}})", line)
        if not found:
            continue
        try:
            value = float(found.group(1))
        except ValueError as e:
            raise Malformed(f"{found.group(1)} as {name}") from e
        if value >= 1 << 64:
            raise Malformed(f"{found.group(1)} as {name}")
        return int(value)
    raise Malformed(f"no {name}")


def say(text):
    """Writes one line, at once and whole, also when the check ends right after or meanwhile."""
    os.write(1, f"verify: {printable(text, 2000)}\n".encode())


def main():
    end_after(float(os.environ["DEADLINE_SECONDS"]), 1, lambda: say("the check did not end in time; its last line says how far it came"))
    try:
        Cluster(os.environ).verify()
        return 0
    except Failed as e:
        problems = e.args
        if len(problems) > PROBLEMS:
            say(f"{len(problems)} problems, of which these are the last {PROBLEMS}:")
    except Exception as e:  # of a traceback, the pod's status would show only the end
        where = traceback.extract_tb(e.__traceback__)[-1]
        problems = [f"the check itself failed in {where.name}, line {where.lineno}: {e!r}"]
    for problem in problems[-PROBLEMS:]:
        say(problem)
    return 1


if __name__ == "__main__":
    sys.exit(main())
