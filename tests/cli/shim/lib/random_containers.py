#!/usr/bin/env python3
"""Random policies and containers: `flatbed explain` must predict the result of flatbed-runtime, and a
second edit must neither change nor refuse the result of the first one.

    random_containers.py FLATBED FLATBED_RUNTIME DIR SEED COUNT
"""

import json
import os
import random
import subprocess
import sys

FLATBED, RUNTIME, DIR = sys.argv[1:4]
dice = random.Random(int(sys.argv[4]))
pick = dice.choice


def chance(share):
    return dice.random() < share


def some(share, members):
    """Returns a random choice of the members; each is a function that makes the value."""
    return {key: make() for key, make in members.items() if chance(share)}


def host():
    for directory in ("srv/data/a", "srv/data/b", "srv/logs", "home/1234/x", "home/2345", "pool", "cc"):
        os.makedirs(f"{DIR}/{directory}", exist_ok=True)
    for path, owner in (("home/1234", 1234), ("home/1234/x", 1234), ("home/2345", 2345)):
        os.chown(f"{DIR}/{path}", owner, owner)
        os.chmod(f"{DIR}/{path}", 0o700)
    os.symlink("/etc", f"{DIR}/home/1234/link")
    os.symlink(f"{DIR}/srv/data", f"{DIR}/srv/link")
    with open(f"{DIR}/low", "w", encoding="ascii") as low:
        low.write("#!/bin/sh\n[ \"$1\" != features ] || echo '{}'\n")
    os.chmod(f"{DIR}/low", 0o755)


def volumes():
    data = {"source": DIR + pick(["/srv/data/{name}", "/srv/link/{name}", "/srv/gone/{name}"]),
            "target": pick(["/w/{name}", "/w"]), "access": pick(["ro", "rw"])}
    data.update(some(0.25, {
        "names": lambda: pick([["a"], ["*"], ["b", "c"]]), "always": lambda: pick([["a"], ["b", "a"], ["gone"]]),
        "env": lambda: {"DATA": "{target}"}, "idmap": lambda: pick([True, "ask"]),
        "options": lambda: pick([["noexec"], ["nosuid"]])}))
    logs = {"source": DIR + pick(["/srv/logs/{uid}", "/srv/logs/{container}", "/srv/logs/{image}", "/home/1234/x",
                                     "/home/1234/link"]),
            "target": "/logs", "access": "rw", "always": True}
    logs.update(some(0.5, {
        "create": lambda: pick([{}, {"mode": "0700"}, {"owner": "identity"}, {"owner": "7:7"}]),
        "optional": lambda: pick([True, False])}))
    logs.update(some(0.1, {"pool": lambda: DIR + pick(["/pool", "/gone"])}))
    return some(0.8, {"data": lambda: data, "logs": lambda: logs})


def binds():
    rules = [{"path": pick([DIR, DIR + "/srv", DIR + "/home/{user}", "/etc", "/"]),
              "access": pick(["allow", "ro", "deny"])} for _ in range(dice.randint(0, 3))]
    return {"default": pick(["allow", "ro", "deny"]), "rules": rules,
            **some(0.4, {"require_access": lambda: True, "targets_deny": lambda: pick([["/"], ["/etc"], ["/x"]])})}


def security():
    return some(0.25, {
        "privileged": lambda: "deny", "user": lambda: {"root": "deny"}, "no_new_privileges": lambda: True,
        "seccomp": lambda: pick([{"require": True}, {"deny": ["mount"]}]), "hooks": lambda: "deny", "system_paths": lambda: "deny",
        "realtime": lambda: "deny",
        "namespaces": lambda: {"host": pick([[], ["pid", "net"]])}, "devices": lambda: {"allow": ["/dev/nvidia*"]},
        "annotations": lambda: {"deny": ["run.oci.*"]}, "capabilities": lambda: {"max": ["CHOWN"]}})


def tuning():
    return some(0.4, {
        "shm_size": lambda: pick(["50%", "8g", False, {"max": "8g"}]), "memlock": lambda: pick(["unlimited", "1g"]),
        "nofile": lambda: pick([4096, 1048576]), "stack": lambda: "unlimited", "threads": lambda: True,
        "workers": lambda: pick(["75%", 3])})


SECTIONS = {"binds": binds, "security": security, "tuning": tuning}


def profile(number, has_logs):
    return {"name": f"p{number}",
            "match": some(0.4, {"uid": lambda: pick([["0-999"], ["1234"]]), "image": lambda: ["*img*"],
                                "annotation": lambda: pick([{"flatbed.profile": f"p{number}"}, {"k": "v*"}])}),
            **some(0.3, SECTIONS), **some(0.2, {"mode": lambda: pick(["enforce", "permissive", "off"])}),
            **({"volumes": {"logs": {"always": False}}} if has_logs and chance(0.4) else {})}


def policy():
    all_of_it = {"version": 1, "runtime": {"paths": [DIR + "/low"], "flavor": "runc"}, "volumes": volumes(),
                 **some(0.5, SECTIONS)}
    has_logs = "logs" in all_of_it["volumes"]
    all_of_it.update(some(0.35, {
        "mode": lambda: pick(["enforce", "permissive"]), "opt_out": lambda: pick([[], ["mounts"], ["mounts", "tuning"]]),
        "identity": lambda: pick([["process"], ["annotation:who", "process"], []]),
        "requests": lambda: dice.sample(["annotations", "mounts", "environment"], dice.randint(1, 3)),
        "rootfs": lambda: {"max_depth": 1, "beyond": pick(["warn", "deny", "restack"])},
        "profiles": lambda: [profile(i, has_logs) for i in range(dice.randint(1, 3))]}))
    return all_of_it


ANNOTATIONS = {
    "flatbed.data": ["a", "a,b", "b:ro", "a:rw:/q", "gone", "..", "a:/etc"], "flatbed.logs": ["x"],
    "flatbed.profile": ["p0", "p1", "none"], "flatbed.off": ["mounts", "tuning", "mounts,tuning"],
    "flatbed.shm": ["1g", "9g", "x"], "flatbed.memlock": ["unlimited", "1m"], "flatbed.workers": ["2", "99"],
    "flatbed.idmap": ["on"], "flatbed.typo": ["1"], "flatbed.requested": ["data/a", "shm/1g", "off/mounts", "x/y"],
    "who": ["nobody-is-called-so", "root"], "k": ["v1"], "io.kubernetes.cri.image-name": ["my/img:1", ".."],
    "io.kubernetes.cri.container-type": ["sandbox"], "run.oci.x": ["1"]}


def container():
    bind = {"type": "bind", "source": "/dev/null", "options": ["bind"]}
    mounts = [{"destination": "/proc", "type": "proc", "source": "proc"},
              {"destination": "/dev/shm", "type": "tmpfs", "source": "shm", "options": ["nosuid", "size=65536k"]}]
    for _ in range(dice.randint(0, 2)):
        mounts.append({**bind, "destination": pick(["/x", "/w/a", "/logs", "/etc/foo"]), "options": pick([["rbind"], ["rbind", "ro"]]),
                       "source": pick([DIR + "/srv", DIR + "/srv/data/a", DIR + "/home/1234/x", DIR + "/home/2345",
                                       DIR + "/home/1234/link", DIR + "/srv/link", "/etc", "/gone", "relative"])})
    if chance(0.2):
        mounts.append({**bind, "destination": "/run/flatbed/request/" + pick(
            ["data/a", "data/b", "shm/2g", "profile/p0", "off/mounts", "bad", "x/y"])})
    namespaces = [{"type": kind} for kind in ("pid", "network", "ipc", "uts", "mount") if chance(0.95)]
    linux = {"namespaces": namespaces, "resources": {"devices": [{"allow": False, "access": "rwm"}]}}
    if chance(0.1):
        namespaces.append({"type": "user"})
        linux["uidMappings"] = linux["gidMappings"] = [{"containerID": 0, "hostID": 100000, "size": 65536}]
    env = ["A=1"] + [text for text in ("FLATBED_DATA=a", "FLATBED_PROFILE=p0", "FLATBED_OFF=mounts", "OMP_NUM_THREADS=3")
                     if chance(0.05)]
    rlimits = [{"type": "RLIMIT_NOFILE", "hard": 1024, "soft": 1024}] if chance(0.8) else []
    user = pick([{"uid": 0, "gid": 0}, {"uid": 1234, "gid": 1234}, {"uid": 2345, "gid": 2345, "additionalGids": [1234]}])
    return {"ociVersion": "1.0.2", "process": {"user": user, "env": env, "rlimits": rlimits}, "mounts": mounts,
            "linux": linux, "annotations": some(0.12, {key: lambda of=values: pick(of) for key, values in ANNOTATIONS.items()}),
            **some(0.1, {"hooks": lambda: {"prestart": [{"path": "/bin/true"}]}})}


def write(name, value):
    with open(f"{DIR}/{name}", "w", encoding="utf-8") as file:
        json.dump(value, file, indent=1)


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=False)


def create():
    return run(RUNTIME, f"--flatbed-policy={DIR}/policy.json", "--root", f"{DIR}/state", "create",
               "--bundle", f"{DIR}/cc", "cc")


def read_config():
    with open(f"{DIR}/cc/config.json", encoding="utf-8") as file:
        return file.read()


def complaint():
    """Returns the error of one pair, or None; and whether the container started."""
    said = run(FLATBED, "explain", f"--policy={DIR}/policy.json", f"--config={DIR}/cc/config.json", "--json")
    done = create()
    started = done.returncode == 0
    if not said.stdout:
        return f"explain does not understand it: {said.stderr}", started
    if json.loads(said.stdout)["allowed"] != started or said.returncode != (0 if started else 1):
        return f"explain and runtime disagree: {said.stdout}\n{done.returncode}: {done.stderr}", started
    if not started:
        return None, started
    if done.stdout or done.stderr:
        return f"the runtime says something: {done.stdout}{done.stderr}", started
    edited = read_config()
    again = create()
    if again.returncode != 0 or read_config() != edited:
        return f"the second edit: {again.returncode}: {again.stderr}", started
    return None, started


def main():
    os.umask(0o022)
    host()
    count = started = 0
    while count < int(sys.argv[5]):
        write("policy.json", policy())
        write("cc/config.json", container())
        with open(f"{DIR}/cc/config.json", encoding="utf-8") as file:
            before = file.read()
        problem, runs = complaint()
        count, started = count + 1, started + runs
        if problem:
            with open(f"{DIR}/policy.json", encoding="utf-8") as file:
                sys.exit(f"number {count}: {problem}\npolicy: {file.read()}\nconfig.json: {before}")
    print(f"{count} containers, {started} of them started")
    if not count // 5 < started < count - count // 5:
        sys.exit("that is too few or too many for a test")


main()
