"""Moves a store's values to the others before it stops: drain.py MASTERS PORT SECONDS LEASE

The preStop hook of a store whose HTTP interface is on PORT. The store stops
whatever happens here. What was read a moment ago stays where it is until its
lease of LEASE seconds ends; what is read again and again is lost. So is all when
every other store stops too, as in a destroy: that is no reason to wait. A store
that has not joined yet, or whose master is gone, does not end when it is told:
nothing can be saved there, so it is killed. An answer that makes no sense is no
reason for that.
"""

import glob
import json
import os
import re
import signal
import socket
import sys
import time
from contextlib import suppress

from masters import Malformed, NoMaster, Refused, ask_leader, end_after, field, fields, parse, printable

MOVES_AT_ONCE = 256  # with Mooncake's own 4, three times as long
RETRY_SECONDS = 3  # the master tries again what was blocked about once a second
OVERTIME_SECONDS = 3  # for an answer that is under way at the end; the store's goodbye takes 9 of the 15 s left

GOES_ON = ("CREATED", "PLANNING", "RUNNING")
ENDED = ("SUCCEEDED", "FAILED", "CANCELED")
SEGMENT = {"segment_name": str, "te_endpoint": str, "status": str, "size_bytes": int, "allocator_used_bytes": int}
STATE = {
    "status_name": str, "succeeded_units": int, "migrated_bytes": int, "active_units": int, "blocked_units": int, "failed_units": int,
}


def main(masters, port, seconds, lease):
    store = process(port)
    end = time.monotonic() + float(seconds)
    end_after(float(seconds) + OVERTIME_SECONDS, 0, lambda: say(store, "out of time: the master has not answered by then"))
    try:
        if not listens(port):
            kill(store, "the store has not joined the cluster")
            return
        say(store, drain(masters, os.environ["POD_IP"], end, float(lease)))
    except Refused as e:
        say(store, f"skipped: {e}")
    except NoMaster as e:
        kill(store, str(e))
    except Exception as e:  # a hook that fails has no log: its reason would be lost
        say(store, f"skipped: the hook itself failed: {e!r}")


def drain(masters, address, end, lease):
    """Moves what the segments at address hold; returns what came of it."""
    own, others = segments(masters, address)
    used = sum(s["allocator_used_bytes"] for s in own)
    room = sum(s["size_bytes"] - s["allocator_used_bytes"] for s in others)
    if not own:
        return f"nothing to move: the master shows no segment at {address}"
    if not used:
        return "nothing to move"
    if not others:
        return f"skipped: {used} bytes to move, but no other store stays"
    if room < used:
        return f"skipped: {used} bytes to move, but the other stores have room for {room}"
    job = ask_leader(masters, "/api/v1/drain_jobs", "POST", json.dumps({
        "segments": [s["segment_name"] for s in own], "target_segments": [], "max_concurrency": MOVES_AT_ONCE,
    }), read_job)
    # Whatever ends this loop, the job goes on: canceled, the master would choose this
    # store for new values again.
    moved, since = 0, time.monotonic()
    while True:
        state = ask_leader(masters, f"/api/v1/drain_jobs/query?job_id={job}", read=read_state)
        now = time.monotonic()
        if state["status_name"] in ENDED:
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
    for segment in ask_leader(masters, "/get_segments_detail", read=read_segments):
        if segment["te_endpoint"].rsplit(":", 1)[0].strip("[]") == address:
            own.append(segment)
        elif segment["status"] == "OK":  # not one that is drained as well
            others.append(segment)
    return own, others


def read_segments(text):
    return [fields(segment, SEGMENT) for segment in field(parse(text), "segments", list)]


def read_job(text):
    """Returns the id of a job. Releases write 1234-5678; a UUID of any other form is no danger in a path."""
    job = field(parse(text), "job_id", str)
    if not re.fullmatch("[0-9A-Fa-f-]{1,64}", job):
        raise Malformed(f"{printable(job, 60)!r} as job_id")
    return job


def read_state(text):
    state = fields(parse(text), STATE)
    if state["status_name"] not in GOES_ON + ENDED:
        raise Malformed(f"{printable(state['status_name'], 60)!r} as status_name")
    return state


def summary(state):
    return (
        f"{state['status_name']}, {state['succeeded_units']} values ({state['migrated_bytes']} bytes) moved, "
        f"{state['blocked_units']} blocked, {state['failed_units']} failed"
    )


def process(port):
    """Returns the id of the store's process: one process namespace has all of the pod."""
    for file in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(file, "rb") as f:
                words = f.read().split(b"\0")
            directory = os.path.dirname(file)
            if b"mooncake.mooncake_store_service" in words and port.encode() in words:
                if os.readlink(directory + "/ns/pid") == os.readlink("/proc/self/ns/pid"):
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
        with suppress(OSError):  # it ended meanwhile
            os.kill(store, signal.SIGKILL)


def say(store, text):
    """Writes to the log of the store; a hook has none."""
    line = f"drain: {printable(text, 2000)}\n".encode()
    with suppress(OSError):
        os.write(1, line)
    with suppress(OSError):  # the store ended
        log = os.open(f"/proc/{store}/fd/1", os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK)  # else open waits for a reader
        os.set_blocking(log, True)
        os.write(log, line)


if __name__ == "__main__":
    main(*sys.argv[1:])
