"""Put a value into a Mooncake Store and get it back.

All that this knows of the store is what the stack tells; it runs where pods run, with
the store's release of Mooncake:

    pulumi stack output --json | python3 connect.py mooncake-mooncake
"""
import json
import os
import socket
import sys

store = json.load(sys.stdin)[sys.argv[1]]
variables = store["clientVariables"]
os.environ.update(variables)  # before the import: the fabric's are read there

from mooncake.store import MooncakeDistributedStore  # noqa: E402

client = MooncakeDistributedStore()
failed = client.setup(
    socket.gethostbyname(socket.gethostname()),  # this pod's address, which the stores dial
    store["metadataServer"],
    0,  # memory to lend: none
    16 << 20,  # buffer for one value
    store["protocol"],
    variables.get("MOONCAKE_DEVICE", ""),
    store["masterAddress"],
)
if failed:
    sys.exit(f"setup: {failed}")

key, value = "greeting", b"hello"
client.remove(key)
if failed := client.put(key, value):
    sys.exit(f"put: {failed}")
got = client.get(key)
if got != value:
    sys.exit(f"got {got!r} for {value!r}")
print("Mooncake says", got.decode())
client.close()
