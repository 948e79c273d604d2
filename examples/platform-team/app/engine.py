"""Puts a prefix into the Mooncake Store and gets it back, as an inference engine does."""
import os
import pathlib
import sys
import time

from mooncake.store import MooncakeDistributedStore

env = os.environ
store = MooncakeDistributedStore()
failed = store.setup(
    env["LOCAL_HOSTNAME"],
    env["MOONCAKE_TE_META_DATA_SERVER"],
    int(env["MOONCAKE_GLOBAL_SEGMENT_SIZE"]),  # 0: it lends no memory itself
    16 << 20,  # what it moves at a time
    env["MOONCAKE_PROTOCOL"],
    env.get("MOONCAKE_DEVICE", ""),
    env["MOONCAKE_MASTER"],
)
if failed:
    sys.exit(f"no connection to {env['MOONCAKE_MASTER']}: {failed}")

value = os.urandom(1 << 20)
while True:
    key = f"{env['LOCAL_HOSTNAME']}-{time.time()}"  # a put to a key that exists keeps the old value
    if failed := store.put(key, value):
        sys.exit(f"put {key}: {failed}")
    if store.get(key) != value:
        sys.exit(f"get {key}: not what was put")
    print("1 MiB put and got", flush=True)
    pathlib.Path("/tmp/ready").touch()
    time.sleep(5)
