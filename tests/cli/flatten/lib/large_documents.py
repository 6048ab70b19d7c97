"""large_documents.py DIRECTORY: writes layouts whose JSON documents reach the limits, or exceed them.

DIRECTORY/exact has 3 * 8 MiB in all, DIRECTORY/beyond one byte more. DIRECTORY/roomy and DIRECTORY/crowded
have little text that takes a little less or more than 256 MiB of memory.
"""
import hashlib
import json
import os
import sys

LIMIT = 3 * 8 * 2**20
OCI = "application/vnd.oci.image."


def blob(path, data):
    digest = hashlib.sha256(data).hexdigest()
    os.makedirs(os.path.join(path, "blobs/sha256"), exist_ok=True)
    with open(os.path.join(path, "blobs/sha256", digest), "wb") as out:
        out.write(data)
    return {"digest": "sha256:" + digest, "size": len(data)}


def layout(path, pads, layer):
    """Writes a layout of one index with an image for each of `pads`, a member of its config. Returns the bytes read."""
    total, entries = 0, []
    for i, pad in enumerate(pads):
        config = json.dumps({"architecture": "a%d" % i, "os": "linux", "pad": pad,
                             "rootfs": {"type": "layers", "diff_ids": [blob(path, layer)["digest"]]}},
                            separators=(",", ":")).encode()
        manifest = json.dumps({"schemaVersion": 2, "mediaType": OCI + "manifest.v1+json",
                               "config": {"mediaType": OCI + "config.v1+json", **blob(path, config)},
                               "layers": [{"mediaType": OCI + "layer.v1.tar", **blob(path, layer)}]}).encode()
        entries.append({"mediaType": OCI + "manifest.v1+json", **blob(path, manifest),
                        "platform": {"os": "linux", "architecture": "a%d" % i}})
        total += len(config) + len(manifest)
    index = json.dumps({"schemaVersion": 2, "mediaType": OCI + "index.v1+json", "manifests": entries}).encode()
    top = {"mediaType": OCI + "index.v1+json", **blob(path, index)}
    for name, text in (("index.json", {"schemaVersion": 2, "manifests": [top]}),
                       ("oci-layout", {"imageLayoutVersion": "1.0.0"})):
        with open(os.path.join(path, name), "w") as out:
            json.dump(text, out)
    return total + len(pads) * len(index)  # the index is read for each


def main():
    home, layer = sys.argv[1], bytes(1024)  # an empty tar
    sizes = [7_000_000, 7_000_000, 7_000_000, 1_000_000]
    first = layout(os.path.join(home, "first"), ["x" * n for n in sizes], layer)
    sizes[3] += LIMIT - first
    assert layout(os.path.join(home, "exact"), ["x" * n for n in sizes], layer) == LIMIT
    sizes[3] += 1
    assert layout(os.path.join(home, "beyond"), ["x" * n for n in sizes], layer) == LIMIT + 1
    layout(os.path.join(home, "roomy"), [[[]] * 400_000] * 5, layer)
    layout(os.path.join(home, "crowded"), [[[]] * 400_000] * 16, layer)


main()
