"""push_index.py HOST REPOSITORY TAG NEW_TAG: pushes an index of that image, for amd64 and arm64."""
import json
import sys
import urllib.request

host, repository, tag, new = sys.argv[1:]
base = f"http://{host}/v2/{repository}/"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"


def call(method, path, data=None, **headers):
    request = urllib.request.Request(base + path, data=data, method=method)
    for name, value in headers.items():
        request.add_header(name.replace("_", "-"), value)
    return urllib.request.urlopen(request)


def put_blob(data):
    import hashlib

    digest = "sha256:" + hashlib.sha256(data).hexdigest()
    location = call("POST", "blobs/uploads/", b"").headers["Location"]
    request = urllib.request.Request(location + f"&digest={digest}", data=data, method="PUT")
    request.add_header("Content-Type", "application/octet-stream")
    urllib.request.urlopen(request)
    return digest


reply = call("GET", f"manifests/{tag}", Accept=MANIFEST)
amd64 = reply.read()
manifest = json.loads(amd64)
config = json.loads(call("GET", "blobs/" + manifest["config"]["digest"]).read())
config["architecture"] = "arm64"
text = json.dumps(config).encode()
manifest["config"].update(digest=put_blob(text), size=len(text))
arm64 = json.dumps(manifest).encode()
reply_arm = call("PUT", "manifests/arm64", arm64, Content_Type=MANIFEST)
entries = []
for arch, body, digest in (("amd64", amd64, reply.headers["Docker-Content-Digest"]),
                           ("arm64", arm64, reply_arm.headers["Docker-Content-Digest"])):
    entries.append({"mediaType": MANIFEST, "digest": digest, "size": len(body),
                    "platform": {"os": "linux", "architecture": arch}})
index = json.dumps({"schemaVersion": 2, "mediaType": INDEX, "manifests": entries}).encode()
call("PUT", f"manifests/{new}", index, Content_Type=INDEX)
