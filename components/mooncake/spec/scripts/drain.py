"""Moves a store's values to the others before it stops: drain.py MASTERS PORT SECONDS

The preStop hook of a store whose HTTP interface is on PORT. The store stops
whatever happens here. What was read a moment ago stays where it is, and is lost,
until its lease ends. A store that has not joined yet, or whose master is gone,
does not end when it is told: nothing can be saved there, so it is killed.
"""

import glob
import json
import os
import signal
import socket
import sys
import time

from masters import NoMaster, Refused, ask_leader

MOVES_AT_ONCE = 256  # with Mooncake's own 4, three times as long


def main(masters, port, seconds):
    store = process(port)
    end = time.monotonic() + float(seconds)
    if not listens(port):
        kill(store, "the store has not joined the cluster")
        return
    try:
        say(store, drain(masters, os.environ["POD_IP"], end))
    except Refused as e:
        say(store, f"skipped: {e}")
    except NoMaster as e:
        kill(store, str(e))


def drain(masters, address, end):
    """Moves what the segments at address hold; returns what came of it."""
    segments = json.loads(ask_leader(masters, "/get_segments_detail"))["segments"]
    segments = [s for s in segments if s["status"] == "OK"]  # not those that others drain
    own = [s for s in segments if s["te_endpoint"].rsplit(":", 1)[0].strip("[]") == address]
    used = sum(s["allocator_used_bytes"] for s in own)
    room = sum(s["size_bytes"] - s["allocator_used_bytes"] for s in segments if s not in own)
    if not used:
        return "nothing to move"
    if room < used:
        return f"skipped: {used} bytes to move, but the other stores have room for {room}"
    job = json.loads(ask_leader(masters, "/api/v1/drain_jobs", "POST", json.dumps({
        "segments": [s["segment_name"] for s in own], "target_segments": [], "max_concurrency": MOVES_AT_ONCE,
    })))["job_id"]
    while True:
        state = json.loads(ask_leader(masters, f"/api/v1/drain_jobs/query?job_id={job}"))
        if state["status_name"] not in ("CREATED", "RUNNING"):
            return summary(state)
        if time.monotonic() > end:
            ask_leader(masters, f"/api/v1/drain_jobs/cancel?job_id={job}", "POST")
            return f"out of time: {summary(state)}"
        time.sleep(0.2)


def summary(state):
    return (
        f"{state['status_name']}, {state['succeeded_units']} values ({state['migrated_bytes']} bytes) moved, "
        f"{state['blocked_units']} blocked by a lease, {state['failed_units']} failed"
    )


def process(port):
    """Returns the id of the store's process: one process namespace has all of the pod."""
    namespace = os.readlink("/proc/self/ns/pid")
    for file in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(file, "rb") as f:
                words = f.read().split(b"\0")
            directory = os.path.dirname(file)
            if b"mooncake.mooncake_store_service" in words and port.encode() in words:
                if os.readlink(directory + "/ns/pid") == namespace:
                    return int(os.path.basename(directory))
        except OSError:
            continue  # it ended meanwhile, or is somebody else's
    return None


def listens(port):
    try:
        socket.create_connection(("127.0.0.1", int(port)), 1).close()
        return True
    except OSError:
        return False


def kill(store, why):
    say(store, f"stopping at once: {why}")
    if store:
        os.kill(store, signal.SIGKILL)


def say(store, text):
    """Writes to the log of the store; a hook has none."""
    line = f"drain: {text}\n"
    sys.stdout.write(line)
    try:
        with open(f"/proc/{store}/fd/1", "w", encoding="utf-8") as log:
            log.write(line)
    except OSError:
        pass  # the store ended


if __name__ == "__main__":
    main(*sys.argv[1:])
