"""What the peers' side of every suite of `cargo xtask bench` has in common;
`protocol.rs` is the other end.

A script is started with a directory that holds `inputs.json` and the arrays it
names, as exported by our side. One task name per line comes in on standard
input; one line of JSON goes out for each. Time is taken here, around the work
alone, after one execution to warm up.
"""

import importlib.metadata
import json
import os
import pathlib
import platform
import sys
import time

import numpy as np

# The mean time of as many executions as fill this many seconds, as on our side.
AT_LEAST = float(os.environ.get("EGG_BENCH_TURN", "0.05"))


def read_inputs():
    """The exported arrays by name."""
    directory = pathlib.Path(sys.argv[1])
    index = json.loads((directory / "inputs.json").read_text())
    return {
        name: np.fromfile(directory / entry["file"], dtype=entry["type"]).reshape(entry["shape"])
        for name, entry in index.items()
    }


def say(**answer):
    print(json.dumps(answer), flush=True)


def serve(tasks, packages):
    """Runs tasks until there are no more.

    `tasks` maps a name to a function that prepares the task: it returns one
    that does the work, and one that turns the work's result into (calls,
    checksum). Only the work is timed.
    """
    versions = {name: importlib.metadata.version(name) for name in packages}
    say(ready=True, versions={"python": platform.python_version()} | versions)
    warm = {}
    for line in sys.stdin:
        task = line.strip()
        if task not in tasks:
            say(task=task, error="unknown task")
            continue
        try:
            if task not in warm:
                warm[task] = tasks[task]()
                warm[task][0]()
            work, check = warm[task]
            start, executions = time.perf_counter(), 0
            while True:
                result = work()
                executions += 1
                elapsed = time.perf_counter() - start
                if elapsed >= AT_LEAST:
                    break
            seconds = elapsed / executions
            calls, checksum = check(result)
            say(task=task, seconds=seconds, calls=calls, check=checksum)
        except Exception as error:
            say(task=task, error=f"{type(error).__name__}: {error}")
