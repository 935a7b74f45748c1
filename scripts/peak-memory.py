#!/usr/bin/env python3
"""Runs a command and writes what memory it took at its peak, in KiB, to a file.

    scripts/peak-memory.py FILE COMMAND...

The line in FILE: resident set (as the kernel counted it, exact), anonymous pages (the largest of what was seen
every two milliseconds), mapped pages (the same). Ends with the status of the command. Python 3.9, Linux.
"""
import os
import sys
import time


def main():
    target, command = sys.argv[1], sys.argv[2:]
    child = os.fork()
    if child == 0:
        os.execvp(command[0], command)
    anonymous = mapped = 0
    while True:
        done, status, usage = os.wait4(child, os.WNOHANG)
        if done:
            break
        try:
            with open(f"/proc/{child}/status") as text:
                fields = dict(line.split(":", 1) for line in text if line.startswith("Rss"))
            anonymous = max(anonymous, int(fields.get("RssAnon", "0").split()[0]))
            mapped = max(mapped, int(fields.get("RssFile", "0").split()[0]))
        except (OSError, ValueError, IndexError):
            pass
        time.sleep(0.002)
    with open(target, "w") as out:
        out.write(f"{usage.ru_maxrss} {anonymous} {mapped}\n")
    sys.exit(os.waitstatus_to_exitcode(status))


main()
