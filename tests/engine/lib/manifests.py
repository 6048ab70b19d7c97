#!/usr/bin/env python3
"""The manifests of deploy/kubernetes, as `kubectl kustomize` makes them, for tests.

  manifests.py check DIR            prints what the API's models do not have, by python3-kubernetes; status 1 if anything
  manifests.py pod DIR NAME IMAGE [VOLUME=PATH]...
                                    prints the container of a DaemonSet as a ContainerConfig of CRI

Of kustomize only what the manifests use is known: resources, images, configMapGenerator and patches that add and replace.
"""
import json
import os
import re
import sys

import yaml
from kubernetes import client

KINDS = {"Namespace": "V1Namespace", "RuntimeClass": "V1RuntimeClass", "DaemonSet": "V1DaemonSet", "ConfigMap": "V1ConfigMap"}
# Fields that are newer than the models of Debian 12: Kubernetes 1.30.
NEWER = {("V1SecurityContext", "appArmorProfile")}
PLAIN = {"str": str, "int": int, "bool": bool, "object": (str, int)}
KUSTOMIZATION = {"apiVersion", "kind", "namespace", "resources", "configMapGenerator", "images", "patches"}
RUNTIME_DEFAULT, UNCONFINED, NODE = 0, 1, 2


def read(directory):
    with open(os.path.join(directory, "kustomization.yaml")) as file:
        root = yaml.safe_load(file)
    if set(root) - KUSTOMIZATION:
        sys.exit(f"{directory}: not known here: {set(root) - KUSTOMIZATION}")
    out = []
    for name in root["resources"]:
        path = os.path.join(directory, name)
        if os.path.isdir(path):
            out += read(path)
        else:
            with open(path) as file:
                out += list(yaml.safe_load_all(file))
    for item in root.get("configMapGenerator", []):
        out.append({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": item["name"]},
                    "data": {name: open(os.path.join(directory, name)).read() for name in item["files"]}})
    for patch in root.get("patches", []):
        for item in out:
            if item["kind"] == patch["target"]["kind"]:
                edit(item, yaml.safe_load(patch["patch"]))
    return out


def edit(item, operations):
    for operation in operations:
        *steps, last = (step.replace("~1", "/") for step in operation["path"].strip("/").split("/"))
        where = item
        for step in steps:
            where = where[int(step) if isinstance(where, list) else step]
        if operation["op"] == "add" and last == "-":
            where.append(operation["value"])
        elif operation["op"] == "add" or (operation["op"] == "replace" and last in where):
            where[last] = operation["value"]
        else:
            sys.exit(f"cannot patch {operation}")


def differences(kind, value, path):
    """Yields what the model `kind` of the API does not take."""
    inner = re.fullmatch(r"(?:list\[|dict\(str, )(.*)[\])]", kind)
    if inner:
        holds = dict if kind.startswith("dict") else list
        if not isinstance(value, holds):
            yield f"{path}: not a {holds.__name__}"
            return
        for key, item in value.items() if holds is dict else enumerate(value):
            yield from differences(inner[1], item, f"{path}.{key}")
    elif kind in PLAIN:
        if not isinstance(value, PLAIN[kind]) or (kind == "int" and isinstance(value, bool)):
            yield f"{path}: not a {kind}"
    else:
        yield from model_differences(getattr(client, kind), value, path)


def model_differences(model, value, path):
    names = {name: attribute for attribute, name in model.attribute_map.items()}
    for key, item in value.items():
        if key in names:
            yield from differences(model.openapi_types[names[key]], item, f"{path}.{key}")
        elif (model.__name__, key) not in NEWER:
            yield f"{path}: {model.__name__} has no {key}"
    try:  # the constructor refuses what lacks a required field
        model(**{names[key]: item for key, item in value.items() if key in names})
    except ValueError as error:
        yield f"{path}: {error}"


def check(directory):
    found = [text for item in read(directory) for text in differences(KINDS[item["kind"]], item, item["kind"])]
    print("\n".join(found) or "no differences")
    return 1 if found else 0


def pod(directory, name, image, *places):
    places = dict(place.split("=", 1) for place in places)
    spec = next(i for i in read(directory) if i["metadata"]["name"] == name and i["kind"] == "DaemonSet")["spec"]["template"]["spec"]
    container, = spec["containers"]
    security = container["securityContext"]
    hosts = {v["name"]: v.get("hostPath", {}).get("path") for v in spec["volumes"]}
    config = {
        "metadata": {"name": container["name"]}, "image": {"image": image},
        "command": ["/bin/flatbed-node", *container["args"]],
        "envs": [{"key": e["name"], "value": e["value"]} for e in container["env"]],
        "mounts": [{"container_path": m["mountPath"], "host_path": places.get(m["name"]) or hosts[m["name"]],
                    "readonly": m.get("readOnly", False)} for m in container["volumeMounts"]],
        "linux": {"security_context": {
            "capabilities": {"drop_capabilities": security["capabilities"]["drop"]},
            "privileged": security["privileged"],
            "namespace_options": {"network": NODE, "pid": NODE if spec["hostPID"] else 0},
            "run_as_user": {"value": security["runAsUser"]}, "run_as_group": {"value": security["runAsGroup"]},
            "readonly_rootfs": security["readOnlyRootFilesystem"],
            "no_new_privs": not security["allowPrivilegeEscalation"],
            "seccomp": {"profile_type": {"RuntimeDefault": RUNTIME_DEFAULT}[security["seccompProfile"]["type"]]},
            "apparmor": {"profile_type": {"Unconfined": UNCONFINED}[security["appArmorProfile"]["type"]]},
        }},
    }
    print(json.dumps(config))
    return 0


if __name__ == "__main__":
    sys.exit({"check": check, "pod": pod}[sys.argv[1]](*sys.argv[2:]))
