"""How the other scripts here talk to a cluster's masters and stores, over HTTP."""

import http.client
import socket

ANSWER_SECONDS = 15  # a store gives up on a peer that does not answer after 5 s


class NoMaster(Exception):
    """No master serves. Of a highly available cluster's masters only one does."""


class Refused(Exception):
    """The master that serves does not do what it was asked."""


def ask_leader(masters, path, method="GET", body=None):
    """Returns the answer of the master that serves, among all behind the name host:port."""
    try:
        status, answer = request(leader(masters), method, path, body)
    except OSError as e:
        raise NoMaster(f"the master does not answer {path}: {e}") from e
    if status != 200:
        raise Refused(f"the master answers {path} with status {status}, {answer.decode(errors='replace')}")
    return answer.decode()


def leader(masters):
    """Returns the address of the master that serves. The others answer too, but not what they cannot know."""
    host, port = masters.rsplit(":", 1)
    seen = []
    for address in addresses(host):
        try:
            status, _ = request(f"{address}:{port}", "GET", "/get_all_segments")
        except OSError as e:
            seen.append(f"{address}: {e}")
            continue
        if status == 200:
            return f"{address}:{port}"
        seen.append(f"{address}: status {status}")
    raise NoMaster(f"no master serves at {masters}: {'; '.join(seen) or 'the name has no IPv4 address'}")


def request(address, method, path, body=None):
    """Returns status and body; raises OSError when there is no answer."""
    connection = http.client.HTTPConnection(address, timeout=ANSWER_SECONDS)
    try:
        connection.request(method, path, body, {"Content-Type": "application/json"} if body else {})
        answer = connection.getresponse()
        return answer.status, answer.read()
    except http.client.HTTPException as e:
        raise OSError(f"no HTTP answer: {e!r}") from e
    finally:
        connection.close()


def addresses(host):
    """Returns those that can be dialled: no release opens a store's REST port for IPv6."""
    try:
        found = socket.getaddrinfo(host, None, socket.AF_INET, socket.SOCK_STREAM)
    except OSError:
        return []
    return sorted({entry[4][0] for entry in found})
