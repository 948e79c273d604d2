"""Moves a store's values to the others before it stops: drain.py MASTERS PORT SECONDS LEASE

The preStop hook of a store whose HTTP interface is on PORT. The store stops
whatever happens here. What was read a moment ago stays where it is until its
lease of LEASE seconds ends; what is read again and again is lost. So is all when
every other store stops too, as in a destroy: that is no reason to wait. A store
that has not joined yet, or whose master is gone, does not end when it is told:
nothing can be saved there, so it is killed.
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
RETRY_SECONDS = 3  # the master tries again what was blocked about once a second


def main(masters, port, seconds, lease):
    store = process(port)
    end = time.monotonic() + float(seconds)
    if not listens(port):
        kill(store, "the store has not joined the cluster")
        return
    try:
        say(store, drain(masters, os.environ["POD_IP"], end, float(lease)))
    except Refused as e:
        say(store, f"skipped: {e}")
    except NoMaster as e:
        kill(store, str(e))


def drain(masters, address, end, lease):
    """Moves what the segments at address hold; returns what came of it."""
    own, others = segments(masters, address)
    used = sum(s["allocator_used_bytes"] for s in own)
    room = sum(s["size_bytes"] - s["allocator_used_bytes"] for s in others)
    if not used:
        return "nothing to move"
    if not others:
        return f"skipped: {used} bytes to move, but no other store stays"
    if room < used:
        return f"skipped: {used} bytes to move, but the other stores have room for {room}"
    job = json.loads(ask_leader(masters, "/api/v1/drain_jobs", "POST", json.dumps({
        "segments": [s["segment_name"] for s in own], "target_segments": [], "max_concurrency": MOVES_AT_ONCE,
    })))["job_id"]
    # Whatever ends this loop, the job goes on: canceled, the master would choose this
    # store for new values again.
    moved, since = 0, time.monotonic()
    while True:
        state = json.loads(ask_leader(masters, f"/api/v1/drain_jobs/query?job_id={job}"))
        now = time.monotonic()
        if state["status_name"] not in ("CREATED", "RUNNING"):
            return summary(state)
        if state["succeeded_units"] != moved or state["active_units"]:
            moved, since = state["succeeded_units"], now
        if not segments(masters, address)[1]:
            return f"no other store stays: {summary(state)}"
        if now > since + lease + RETRY_SECONDS:
            return f"the rest is read all the time: {summary(state)}"
        if now > end:
            return f"out of time: {summary(state)}"
        time.sleep(0.2)


def segments(masters, address):
    """Returns the segments at address, and of the others those that do not stop too."""
    own, others = [], []
    for segment in json.loads(ask_leader(masters, "/get_segments_detail"))["segments"]:
        if segment["te_endpoint"].rsplit(":", 1)[0].strip("[]") == address:
            own.append(segment)
        elif segment["status"] == "OK":  # not one that is drained as well
            others.append(segment)
    return own, others


def summary(state):
    return (
        f"{state['status_name']}, {state['succeeded_units']} values ({state['migrated_bytes']} bytes) moved, "
        f"{state['blocked_units']} blocked, {state['failed_units']} failed"
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
