#!/usr/bin/env bats
# flatten unpack: the tree of an image in a new directory.
# shellcheck disable=SC2154  # status, output and stderr are set by bats' run

bats_require_minimum_version 1.5.0

load lib/flatten

setup_file() { make_images gojq zstd; }

root_only() { [ "$(id -u)" -eq 0 ] || skip "needs root"; }

# tree_of IMAGE: unpacks the single layer that squash makes with tar(1), into tar/.
tree_of() {
    rm -rf tar archive image
    "$FLATTEN" -q "$@" docker-archive:archive
    mkdir tar image
    tar -xf archive -C image
    tar --xattrs --xattrs-include='*' --numeric-owner --delay-directory-restore -xpf "image/$(gojq -r '.[0].Layers[0]' image/manifest.json)" -C tar
}

# same_tree A B: equal but for the time of the root, which an image may not say.
same_tree() {
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$FLATTEN_LIB/../../../oracle python3 - "$@" <<'END'
import sys, trees
a, b = (trees.read(top) for top in sys.argv[1:])
a[b"."]["mtime"] = b[b"."]["mtime"] = trees.ANY
lines = trees.diff(a, b)
print(len(a), *lines, sep="\n")
sys.exit(bool(lines) or len(a) < 2)
END
}

@test "the tree is the one that tar makes of squash's layer, with either semantics" {
    root_only
    local name rules
    for name in layout stacked divergent zstd xattr-v owned owned-link undone; do
        for rules in overlay spec; do
            rm -rf out
            ok unpack --verify --semantics=$rules "oci:$IMAGES/$name" out
            tree_of --semantics=$rules "oci:$IMAGES/$name"
            same_tree tar out
        done
    done
    [ -z "$(compgen -G '.flatbed-*')" ]
}

@test "holes stay holes, and access lists arrive" {
    root_only
    mkdir -p tree/d image
    truncate -s 50M tree/sparse
    printf x | dd of=tree/sparse bs=1 seek=30000000 conv=notrunc status=none
    setfacl -m u:1234:rwx tree/d
    tar --sparse --xattrs --xattrs-include='*' --format=pax -C tree -cf image/layer.tar d sparse
    printf '{"architecture":"amd64","os":"linux","rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}' \
        "$(sha256sum image/layer.tar | cut -d ' ' -f 1)" >image/config.json
    printf '[{"Config":"config.json","RepoTags":["x:1"],"Layers":["layer.tar"]}]' >image/manifest.json
    tar -C image -cf image.tar manifest.json config.json layer.tar
    ok unpack --verify image.tar out
    cmp tree/sparse out/sparse
    [ "$(stat -c %b out/sparse)" -lt 1000 ]
    [ "$(getfacl -cpn out/d)" = "$(getfacl -cpn tree/d)" ]
}

@test "links, devices, capabilities, sticky and set-user-ID bits and times arrive" {
    root_only
    python3 - <<'END'
import hashlib, io, json, os, tarfile
def member(out, name, kind=tarfile.REGTYPE, data=b"", **more):
    info = tarfile.TarInfo(name)
    info.type, info.size, info.mtime, info.uid, info.gid = kind, len(data), 1234567890, 12, 34
    info.mode = 0o640
    for key, value in more.items():
        setattr(info, key, value)
    out.addfile(info, io.BytesIO(data))
raw = io.BytesIO()
with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as out:
    member(out, "./", tarfile.DIRTYPE, mode=0o555)
    member(out, "d", tarfile.DIRTYPE, mode=0o2555)
    member(out, "d/setuid", data=b"x" * 70000, mode=0o4711)
    member(out, "d/also", tarfile.LNKTYPE, linkname="d/setuid", mode=0o4711)
    member(out, "d/up", tarfile.SYMTYPE, linkname="../../../etc/passwd")
    member(out, "null", tarfile.CHRTYPE, mode=0o666, devmajor=1, devminor=3)
    member(out, "pipe", tarfile.FIFOTYPE)
    cap = bytes.fromhex("0100000200040000000000000000000000000000").decode("latin-1")
    member(out, "ping", data=b"p", mode=0o755, pax_headers={"SCHILY.xattr.security.capability": cap})
    member(out, "label", pax_headers={"SCHILY.xattr.security.selinux": "a:b:c:s0", "SCHILY.xattr.user.x": "1"})
    member(out, "label-of-tar", pax_headers={"RHT.security.selinux": "a:b:c:s0"})
tar = raw.getvalue()
os.makedirs("lay/blobs/sha256")
def blob(data):
    digest = hashlib.sha256(data).hexdigest()
    open("lay/blobs/sha256/" + digest, "wb").write(data)
    return {"digest": "sha256:" + digest, "size": len(data)}
layer = blob(tar)
config = blob(json.dumps({"architecture": "amd64", "os": "linux", "rootfs": {"type": "layers", "diff_ids": [layer["digest"]]}}).encode())
def index(name, config_type, layer_type):
    m = blob(json.dumps({"schemaVersion": 2, "config": {"mediaType": config_type, **config}, "layers": [{"mediaType": layer_type, **layer}]}).encode())
    return {"mediaType": "application/vnd.oci.image.manifest.v1+json", **m, "annotations": {"org.opencontainers.image.ref.name": name}}
json.dump({"schemaVersion": 2, "manifests": [
    index("image", "application/vnd.oci.image.config.v1+json", "application/vnd.oci.image.layer.v1.tar"),
    index("model", "application/vnd.kitops.modelkit.config.v1+json", "application/vnd.kitops.modelkit.model.v1.tar"),
    index("raw", "application/vnd.cncf.model.config.v1+json", "application/vnd.cncf.model.weight.v1.raw")]}, open("lay/index.json", "w"))
open("lay/oci-layout", "w").write('{"imageLayoutVersion": "1.0.0"}')
END
    ok unpack --verify oci:lay:image out
    stat -c '%n %a %u:%g %h %Y' out out/d out/d/setuid out/ping
    [ "$(stat -c '%a %u:%g %Y' out)" = "555 12:34 1234567890" ]
    [ "$(stat -c '%a %Y' out/d)" = "2555 1234567890" ]
    [ "$(stat -c '%a %h %Y' out/d/setuid)" = "4711 2 1234567890" ]
    [ "$(readlink out/d/up)" = ../../../etc/passwd ]
    [ "$(stat -c '%F %t,%T' out/null)" = "character special file 1,3" ]
    [ -p out/pipe ]
    getfattr -n security.capability out/ping
    # A label is the host's.
    [ "$(getfattr -m - out/label | grep -v '^#')" = user.x ]
    [ "$(getfattr -m - out/label-of-tar)" = "" ]
    # An artefact whose layers are tars is unpacked as well, and no other.
    ok unpack --verify oci:lay:model artefact
    same_tree out artefact
    fails 8 "is not that of a tar archive" unpack oci:lay:raw no
    [ ! -e no ]
    # Without owners: no devices for another user, nothing that is set-user-ID.
    chmod 711 "$BATS_TEST_TMPDIR" .
    install -d -o 65534 mine
    run --separate-stderr setpriv --reuid=65534 --regid=65534 --clear-groups "$FLATTEN" unpack --no-owner oci:lay:image mine/out
    show
    [ "$status" -eq 0 ]
    [[ $stderr == *"2 devices or extended attributes were left out"* ]]
    [ "$(stat -c '%a %u' mine/out/d/setuid)" = "711 65534" ]
    run --separate-stderr setpriv --reuid=65534 --regid=65534 --clear-groups "$FLATTEN" unpack oci:lay:image mine/no
    refused 2 "only root can give files the owners"
}

@test "an image that squash refuses is refused, and nothing is left" {
    root_only
    local name
    for name in dangling device digest dotdot escape header size whiteout; do
        mkdir in
        flatten unpack "oci:$IMAGES/bad-$name" in/out
        show
        [ "$status" -ge 5 ]
        [ -z "$(ls -A in)" ]
        rmdir in
    done
}

@test "a directory that exists must be empty; a symbolic link is not followed" {
    root_only
    mkdir full empty
    touch full/file
    ln -s empty link
    fails 2 "exists and is not an empty directory" unpack "oci:$IMAGES/layout" full
    fails 2 "exists and is not an empty directory" unpack "oci:$IMAGES/layout" link
    fails 2 "exists and is not an empty directory" unpack "oci:$IMAGES/layout" full/file
    fails 2 "names no new directory" unpack "oci:$IMAGES/layout" .
    fails 2 "--verify cannot be used together with --no-owner" unpack --verify --no-owner "oci:$IMAGES/layout" no
    ok unpack "oci:$IMAGES/layout" empty/
    [ -n "$(ls -A empty)" ]
    [ "$(ls full)" = file ]
}

@test "--dry-run writes nothing, --json prints the result" {
    ok unpack -n --json "oci:$IMAGES/layout" out
    [ "$(gojq -r '.written, .directory' <<<"$output")" = $'false\nout' ]
    [ ! -e out ]
    # --resolve reads the manifest alone: layers that are not there do not matter.
    cp -r "$IMAGES/layout" lay
    gojq -r '.layers[].digest[7:]' "$(manifest_of lay)" | (cd lay/blobs/sha256 && xargs rm)
    ok unpack --resolve --json oci:lay out
    [ "$(gojq -r .digest <<<"$output")" = "$(gojq -r '.manifests[0].digest' lay/index.json)" ]
    [ "$(gojq -r .packed <<<"$output")" = "$(gojq '[.layers[].size] | add' "$(manifest_of lay)")" ]
    ok unpack --resolve oci:lay out
    [[ $output$stderr == *"sha256:"*" layer"*" packed"* ]]
    [ ! -e out ]
    root_only
    ok unpack --json --verify "oci:$IMAGES/layout" out
    [ "$(gojq -r '.written, .verified, .left_out' <<<"$output")" = $'true\ntrue\n0' ]
}

@test "the next run removes what a killed one left" {
    root_only
    mkfifo pipe
    "$FLATTEN" unpack docker-archive:- out <pipe 3>&- 8>&- &
    local pid=$!
    exec 8>pipe
    until compgen -G '.flatbed-run-*/tree' >/dev/null; do kill -0 $pid; sleep 0.05; done
    kill -9 $pid
    exec 8>&-
    wait $pid || true
    compgen -G '.flatbed-run-*'
    mkdir -p "$(compgen -G '.flatbed-run-*')/tree/a/b"
    ok unpack "oci:$IMAGES/layout" out
    [ -z "$(compgen -G '.flatbed-*')" ]
}
