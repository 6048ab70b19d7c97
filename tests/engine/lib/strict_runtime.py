#!/usr/bin/env python3
"""A wrapper between flatbed-runtime and runc that, like some, refuses what it does not know.

Every config.json of `create` and `run` must be what the schemas in tests/schema say, without any member
that they do not name; then this becomes $STRICT_RUNTIME (runc). Errors are told as runc tells them.
"""

import json
import os
import re
import sys

SCHEMAS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../schema/runtime")
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float)}
loaded = {}


def load(name):
    if name not in loaded:
        with open(os.path.join(SCHEMAS, name), encoding="utf-8") as file:
            loaded[name] = json.load(file)
    return loaded[name]


def resolve(reference, name):
    """The schema that a $ref means, and the file that it is in."""
    file, _, pointer = reference.partition("#")
    file = file or name
    schema = load(file)
    for part in pointer.strip("/").split("/"):
        schema = schema[part]
    return schema, file


def check_object(value, schema, name, where):
    known = schema.get("properties", {})
    patterns = schema.get("patternProperties", {})
    other = schema.get("additionalProperties")
    yield from (f"{where}: {key} is missing" for key in schema.get("required", []) if key not in value)
    for key, member in value.items():
        below = [known[key]] if key in known else [s for p, s in patterns.items() if re.search(p, key)]
        if not below and isinstance(other, dict):
            below = [other]
        if not below and known:
            yield f"{where}: {key} is not known"
        for one in below:
            yield from check(member, one, name, f"{where}.{key}")


def check_scalar(value, schema, where):
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where}: {value!r} is none of {schema['enum']}"
    if "minimum" in schema and value < schema["minimum"] or "maximum" in schema and value > schema["maximum"]:
        yield f"{where}: {value} is out of range"
    if "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{where}: {value!r} is not of the form {schema['pattern']}"


def check(value, schema, name, where):
    """The problems of a value, as text."""
    if "$ref" in schema:
        yield from check(value, *resolve(schema["$ref"], name), where)
        return
    for part in schema.get("allOf", []):
        yield from check(value, part, name, where)
    if "anyOf" in schema:
        tries = [list(check(value, part, name, where)) for part in schema["anyOf"]]
        if all(tries):
            yield from tries[0]
    kind = schema.get("type")
    if kind and (not isinstance(value, TYPES[kind]) or (isinstance(value, bool) and kind != "boolean")):
        yield f"{where}: {value!r} is no {kind}"
    elif isinstance(value, dict):
        yield from check_object(value, schema, name, where)
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from check(item, schema.get("items", {}), name, f"{where}[{i}]")
    else:
        yield from check_scalar(value, schema, where)


def unique(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError(f"members given twice: {[key for key, _ in pairs]}")
    return members


def judge(bundle):
    with open(os.path.join(bundle, "config.json"), encoding="utf-8") as file:
        document = json.load(file, object_pairs_hook=unique)
    return list(check(document, load("config-schema.json"), "config-schema.json", "config"))


def main(words):
    if "create" in words or "run" in words:
        problems = judge(words[words.index("--bundle") + 1] if "--bundle" in words else ".")
        if problems:
            print("strict: " + "; ".join(problems), file=sys.stderr)
            sys.exit(1)
    runtime = os.environ.get("STRICT_RUNTIME", "/usr/sbin/runc")
    os.execv(runtime, [runtime, *words])


main(sys.argv[1:])
