"""A process that takes mutexes with kazoo as it is told on standard input, one command a line, and answers on standard
output, one line each. Arguments: connect string, session timeout in ms. It ends with its input."""

import os
import queue
import sys
import threading

from kazoo.client import KazooClient
from kazoo.exceptions import LockTimeout
from kazoo.recipe.lock import Lock


class CuratorNamedLock(Lock):
    """kazoo's lock with the node name of Curator's mutex, so that each side sees the other in its queue."""

    _NODE_NAME = "-lock-"
    _EXCLUDE_NAMES = ["-lock-"]


SAYING = threading.Lock()


def say(line):
    """Writes a line at once: the words of what two threads print may come among each other."""
    with SAYING:
        print(line, flush=True)


class Actor:
    """One owner of locks: a thread that does its commands one after the other."""

    def __init__(self, name, client):
        self.name = name
        self.client = client
        self.locks = {}
        self.commands = queue.Queue()
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            command, *arguments = self.commands.get()
            try:
                answer = "ok " + getattr(self, command)(*arguments)
            except Exception as error:
                answer = f"error {error!r}"
            say(f"{self.name} {answer}")

    def acquire(self, lock, wait, _permits):
        timeout = None if int(wait) < 0 else int(wait) / 1000
        try:
            self.lock(lock).acquire(timeout=timeout)
            return "granted"
        except LockTimeout:
            return "timeout"

    def release(self, lock):
        self.lock(lock).release()
        return "released"

    def lock(self, specification):
        path = specification.removeprefix("mutex:")
        if path not in self.locks:
            self.locks[path] = CuratorNamedLock(self.client, path)
        return self.locks[path]


def main(connect, session_timeout):
    client = KazooClient(hosts=connect, timeout=int(session_timeout) / 1000)
    client.start()
    say("ready")
    actors = {}
    for line in sys.stdin:
        name, *words = line.split()
        if name not in actors:
            actors[name] = Actor(name, client)
        actors[name].commands.put(words)
    client.stop()
    os._exit(0)  # waiting actors would keep it alive


main(*sys.argv[1:])
