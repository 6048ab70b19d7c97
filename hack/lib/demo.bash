#!/usr/bin/env bash
# demo.bash BUILD: makes a layered image, flattens it and runs it with a data mount. As root.
set -euo pipefail

build=$1
flatten=$build/bin/flatten
runtime=$build/bin/flatbed-runtime
work=$(mktemp -d "${TMPDIR:-/var/tmp}/flatbed-try.XXXXXX")
container=flatbed-try-$$
trap 'runc delete --force "$container" 2>/dev/null || true; rm -rf "$work"' EXIT

sum() { sha256sum "$1" | cut -d ' ' -f 1; }
step() { printf '\n%s\n' "$*"; }
size() { numfmt --to=si --suffix=B "$(stat -c %s "$1")"; }

# shown PROGRAM: the word that calls it here: its name if PATH leads to it, else its path.
shown() {
    if [[ $(command -v "$1") -ef $build/bin/$1 ]]; then echo "$1"; else realpath --relative-to="$PWD" "$build/bin/$1"; fi
}

# layer N: packs the directory $work/layer.N.
layer() {
    tar -C "$work/layer.$1" --sort=name --owner=0 --group=0 --mtime=@0 -cf "$work/image/$1.tar" .
}

# Five layers: a shell, weights, the same weights after a chown, a cache and its deletion.
make_image() {
    local n
    mkdir -p "$work"/image "$work"/layer.{1,2,3,4,5}
    mkdir -p "$work"/layer.1/{bin,etc,proc,sys,dev,tmp,workspace/data} "$work"/layer.{2,3}/opt/model
    cp /bin/busybox "$work/layer.1/bin/busybox"
    for n in sh ls cat mount grep; do ln -s busybox "$work/layer.1/bin/$n"; done
    head -c 4000000 /dev/urandom >"$work/layer.2/opt/model/weights"
    cp "$work/layer.2/opt/model/weights" "$work/layer.3/opt/model/weights"
    chmod 0600 "$work/layer.3/opt/model/weights"
    mkdir -p "$work/layer.4/var/cache" "$work/layer.5/var"
    head -c 2000000 /dev/urandom >"$work/layer.4/var/cache/packages"
    : >"$work/layer.5/var/.wh.cache"
    for n in 1 2 3 4 5; do layer "$n"; done
    write_manifest
}

write_manifest() {
    local n ids='' layers='' history=''
    for n in 1 2 3 4 5; do
        ids+=${ids:+,}\"sha256:$(sum "$work/image/$n.tar")\"
        layers+=${layers:+,}\"$n.tar\"
        history+=${history:+,}'{"created_by":"RUN step '$n'"}'
    done
    cat >"$work/image/config.json" <<-END
	{"architecture":"amd64","os":"linux","config":{"Cmd":["/bin/sh"]},
	 "rootfs":{"type":"layers","diff_ids":[$ids]},"history":[$history]}
	END
    cat >"$work/image/manifest.json" <<-END
	[{"Config":"config.json","RepoTags":["demo:v1"],"Layers":[$layers]}]
	END
    tar -C "$work/image" -cf "$work/demo.tar" manifest.json config.json 1.tar 2.tar 3.tar 4.tar 5.tar
}

# Unpacks the one layer of a flattened archive into a bundle's rootfs.
unpack() {
    local path
    path=$(tar -xOf "$1" manifest.json | grep -o '"Layers":\["[^"]*' | cut -d '"' -f 4)
    mkdir -p "$work/bundle/rootfs"
    tar -xOf "$1" "$path" | tar -C "$work/bundle/rootfs" -xf -
}

write_bundle() {
    cat >"$work/bundle/config.json" <<-'END'
	{"ociVersion":"1.0.2","root":{"path":"rootfs"},"hostname":"demo",
	 "annotations":{"flatbed.data":"imagenet"},
	 "process":{"terminal":false,"user":{"uid":0,"gid":0},"cwd":"/",
	  "env":["PATH=/bin"],"args":["/bin/sh","-c","ls /workspace/data/imagenet; cat /workspace/data/imagenet/labels; grep workspace /proc/mounts"]},
	 "mounts":[{"destination":"/proc","type":"proc","source":"proc"}],
	 "linux":{"namespaces":[{"type":"pid"},{"type":"mount"},{"type":"ipc"},{"type":"uts"}]}}
	END
}

write_policy() {
    mkdir -p "$work/srv/data/imagenet"
    echo "n01440764 tench" >"$work/srv/data/imagenet/labels"
    cat >"$work/policy.json" <<-END
	{ "version": 1,
	  "runtime": { "paths": ["runc"] },
	  "volumes": { "data": { "source": "$work/srv/data/{name}", "target": "/workspace/data/{name}",
	                         "access": "ro", "names": ["imagenet"] } } }
	END
}

step "An image of five layers, one rewritten by chmod and one deleted: demo.tar, made just now"
make_image
step "flatten demo.tar flat.tar"
"$flatten" "$work/demo.tar" "docker-archive:$work/flat.tar:demo:flat"
echo "demo.tar $(size "$work/demo.tar") -> flat.tar $(size "$work/flat.tar")"
step "flatten verify demo.tar flat.tar"
"$flatten" verify "$work/demo.tar" "$work/flat.tar"
step "flatbed-runtime run, with the annotation flatbed.data=imagenet; inside the container:"
unpack "$work/flat.tar"
write_bundle
write_policy
"$runtime" "--flatbed-policy=$work/policy.json" run --bundle "$work/bundle" "$container"
step "It works. Next, with your own images and host:"
cat <<END
you run containers      $(shown flatten) analyze IMAGE
                        where its bytes and lookups go; docs/users.md
you run the machine     $(shown flatbed) doctor
                        what is not right for such containers, and what mends it; docs/administrators.md
you build images in CI  $(shown flatten) analyze --max-wasted=10% image.tar
                        exit status 4 if more is dead; docs/ci.md
END
