# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Results on disk, a file for each job, so that an interrupted sweep can go on."""

import collections
import json
import os
import time

from environment import differences

SCHEMA = "dpdk-memic-cell/1"


def write_json(path, value):
    """Whole, or not at all."""
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(value, file, indent=1)
        file.write("\n")
    os.replace(path + ".new", path)


class Store:
    """The files, and the environment in which what they say still holds."""

    def __init__(self, folder, environment):
        self.folder = folder
        self.environment = environment
        # why files are of no use, and how many of them
        self.stale = collections.Counter()
        os.makedirs(folder, exist_ok=True)

    def path(self, job):
        return os.path.join(self.folder, job.name + ".json")

    def read(self, job):
        """What a file has, or why it is of no use."""
        try:
            with open(self.path(job), encoding="utf-8") as file:
                found = json.load(file)
            if found["schema"] != SCHEMA:
                return None, "by another version of this script"
            changed = differences(found["environment"], self.environment)
            arguments, result = found["arguments"], found["result"]
        except FileNotFoundError:
            return None, None
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None, "into a file that cannot be read"
        if changed:
            return None, "with another " + ", ".join(changed)
        if arguments != job.arguments():
            return None, "with other arguments"
        return result, None

    def load(self, job):
        """The result of a job, or None if it is to be run."""
        result, why = self.read(job)
        if why:
            self.stale[why] += 1
        return result

    def save(self, job, result):
        write_json(self.path(job), {
            "schema": SCHEMA, "environment": self.environment, "arguments": job.arguments(),
            "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "result": result})
