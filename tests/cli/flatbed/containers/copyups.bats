#!/usr/bin/env bats
# flatbed copyups on real overlays, against a model, and on stores of engines made by hand. Needs root.
# shellcheck disable=SC2154,SC2016  # status and output are set by bats' run; inner shells expand

bats_require_minimum_version 1.5.0

setup() {
    [ -x "${FLATBED-}" ] || { echo "FLATBED is not set to the program"; return 1; }
    [ "$(id -u)" -eq 0 ] || { [ "$CI" != true ] && skip "needs root"; return 1; }
    DIR=$(mktemp -d "${TMPDIR:-/tmp}/fb-copyups.XXXXXX")
    chmod 0755 "$DIR"
    mkdir "$DIR/fs"
}

teardown() {
    [ -n "${DIR-}" ] || return 0
    while read -r where; do
        umount -l "$where" || true
    done < <(awk -v dir="$DIR" 'index($5 "/", dir "/") == 1 { print $5 }' /proc/self/mountinfo | tac)
    rm -rf --one-file-system "$DIR"
}

# file_system MKFS...: a file system of 900 MB at $DIR/fs.
file_system() {
    truncate -s 900M "$DIR/disk"
    "$@" "$DIR/disk" >/dev/null
    mount -o loop "$DIR/disk" "$DIR/fs"
}

# overlay OPTIONS: mounts $DIR/fs/u above $DIR/fs/l2 and $DIR/fs/l1.
overlay() {
    mkdir -p "$DIR"/fs/{l1,l2,u,w,m}
    mount -t overlay none "$DIR/fs/m" -o "lowerdir=$DIR/fs/l2:$DIR/fs/l1,upperdir=$DIR/fs/u,workdir=$DIR/fs/w${1:+,$1}"
    M=$DIR/fs/m
}

copyups() { run --separate-stderr "$FLATBED" copyups "$@"; }
has() { [[ $output == *"$1"* ]] || { printf 'nothing here has %s:\n%s\n' "$1" "$output"; return 1; }; }
has_not() { [[ $output != *"$1"* ]] || { printf 'this has %s:\n%s\n' "$1" "$output"; return 1; }; }
exits() { [ "$status" -eq "$1" ] || { echo "status $status: $output $stderr"; return 1; }; }

# is FILTER: true for the only container of --json.
is() { gojq -e ".containers | length == 1 and (.[0] | $1)" <<<"$output" >/dev/null || { echo "not $1: $output"; return 1; }; }

# wait_seconds SECONDS COMMAND...: waits until the command succeeds.
wait_seconds() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        [ $SECONDS -lt $end ] || { cat "$DIR/watched"; return 1; }
        sleep 0.1
    done
}

# ---- what is counted ----

@test "random work in overlays is counted as a model counts it" {
    file_system mkfs.ext4 -q
    for seed in 1 2 3 4 5 6; do
        mkdir "$DIR/fs/$seed"
        python3 -B "$BATS_TEST_DIRNAME/copyups_model.py" "$FLATBED" "$DIR/fs/$seed" "$seed"
        mkdir "$DIR/fs/x$seed"
        python3 -B "$BATS_TEST_DIRNAME/copyups_model.py" "$FLATBED" "$DIR/fs/x$seed" "10$seed" index=on,xino=on
    done
}

@test "copies without data, and directories that were renamed" {
    mkdir -p "$DIR"/fs/l1/{dir/sub,old} "$DIR/fs/l2/old"
    head -c 50000 /dev/urandom | tee "$DIR"/fs/l1/dir/sub/{one,two} "$DIR/fs/l1/big" >"$DIR/fs/l2/old/three"
    overlay redirect_dir=on,metacopy=on
    chmod 0600 "$M/big"
    mv "$M/dir" "$M/moved"
    mv "$M/old" "$M/moved/sub/deep"
    echo more >>"$M/moved/sub/one"
    echo more >>"$M/moved/sub/deep/three"
    copyups "$M" --json
    exits 0
    is '.metadata.files == 1 and .metadata.bytes < 5000 and .copied.files == 2 and .new.files == 0 and .whiteouts == 2'
    is '[.files[] | {path, layer, change}] | sort_by(.path) == [
        {path: "/big", layer: 1, change: "metadata"}, {path: "/moved/sub/deep/three", layer: 2, change: "copied"},
        {path: "/moved/sub/one", layer: 1, change: "copied"}]'
    is '.directories_new == 0 and .directories == 3'
}

@test "an overlay of users keeps its marks elsewhere" {
    mkdir -p "$DIR"/fs/l1/{gone,dir}
    head -c 5000 /dev/urandom | tee "$DIR"/fs/l1/{one,two,gone/x} >"$DIR/fs/l1/dir/y"
    ln -s one "$DIR/fs/l1/link"
    overlay userxattr
    chmod 0600 "$M/one"
    chown -h 5 "$M/link"
    rm -r "$M/two" "$M/gone"
    echo other >"$M/two"
    mkdir "$M/gone"
    echo new >"$M/gone/x"
    setfattr -n user.overlay.opaque -v y "$M/dir" 2>/dev/null || true # overlayfs keeps its own names for itself
    echo more >>"$M/dir/y"
    copyups "$M" --json
    is '.copied.files == 3 and .replaced.files == 1 and .new.files == 1 and .opaque == 1 and .whiteouts == 0'
}

@test "files of several names: a copy is one, and bytes count once" {
    mkdir -p "$DIR/fs/l1"
    head -c 40960 /dev/urandom >"$DIR/fs/l1/one"
    ln "$DIR/fs/l1/one" "$DIR/fs/l1/two"
    overlay
    echo more >>"$M/one"
    head -c 8192 /dev/urandom >"$M/n1"
    ln "$M/n1" "$M/n2"
    copyups "$M" --json
    is '.copied.files == 1 and .new.files == 2 and .new.size == 8192 and .replaced.files == 0'
}

@test "blocks that copies share with the image, on XFS" {
    command -v mkfs.xfs || { [ "$CI" != true ] && skip "needs mkfs.xfs"; return 1; }
    file_system mkfs.xfs -q -m reflink=1
    mkdir "$DIR/fs/l1"
    head -c 20M /dev/urandom >"$DIR/fs/l1/model"
    head -c 20M /dev/urandom >"$DIR/fs/l1/half"
    overlay
    chmod 0600 "$M/model" "$M/half"
    dd if=/dev/urandom of="$M/half" bs=1M count=10 conv=notrunc status=none
    head -c 5M /dev/urandom >"$M/new"
    sync -f "$M"
    copyups "$M" --json
    is '.copied.files == 2 and .reflinked.files == 2 and .reflinked.bytes == 31457280 and .new.bytes == 5242880'
    is '.files | map({path, shared}) | sort == [{path: "/half", shared: 10485760}, {path: "/model", shared: 20971520}]'
    copyups "$M"
    has "copied up from the image: 2 files, of which 2 share 31.5 MB with the image"
    has "/model (shares its blocks)"
}

@test "an upper directory that is read only in part tells so" {
    overlay
    mkdir "$M/top"
    python3 -c 'import os, sys
os.chdir(sys.argv[1])
for i in range(2500):
    os.mkdir("d")
    os.chdir("d")' "$DIR/fs/u/top"
    copyups "$M" --json
    is '.unread == 1 and .directories == 2048'
    copyups "$M"
    has "not read: 1 directory; the numbers are too low"
    python3 -c 'import os, sys
os.chdir(sys.argv[1])
for i in range(2500):
    os.chdir("d")
for i in range(2500):
    os.chdir("..")
    os.rmdir("d")' "$DIR/fs/u/top"
}

@test "many new files beside those of the layers" {
    mkdir -p "$DIR/fs/l1/d" "$DIR/fs/l2/d"
    (cd "$DIR/fs/l1/d" && seq 3000 | xargs touch)
    (cd "$DIR/fs/l2/d" && seq 2500 3500 | xargs touch)
    overlay
    (cd "$M/d" && seq -f n%g 5000 | xargs touch && seq 100 | xargs chmod 0600 && seq 3300 3400 | xargs chmod 0600)
    copyups "$M" --json
    is '.new.files == 5000 and .copied.files == 201 and (.layers | map({layer, files})) == [{layer: 2, files: 101}, {layer: 1, files: 100}]'
}

# ---- hostile containers ----

@test "links are not followed, and names are shown harmless" {
    mkdir -p "$DIR/secret" "$DIR/fs/l1/sub"
    echo 0 | tee "$DIR/fs/l1/sub/f" >"$DIR/secret/file"
    overlay
    ln -s "$DIR/secret" "$M/link"
    rm -r "$M/sub"
    ln -s "$DIR/secret" "$M/sub"
    mkfifo "$M/fifo"
    mknod "$M/watchdog" c 10 130
    mkdir "$M/bad"$'\e[2J\xe2\x80\xae\n'"x"
    head -c 9000 /dev/urandom >"$M/bad"$'\e[2J\xe2\x80\xae\n'"x/f"
    copyups "$M"
    exits 0
    has_not $'\e'
    has_not $'\xe2\x80\xae'
    has '/bad\x1b[2J\xe2\x80\xae\x0ax'
    copyups "$M" --json
    is '.new.files == 4 and .replaced.files == 1 and .unread == 0 and .whiteouts == 0'
    has_not "$DIR/secret/"
}

@test "a page of HTML, with hostile names as text" {
    mkdir -p "$DIR/fs/l1"
    head -c 9000 /dev/urandom | tee "$DIR/fs/l1/<script>alert(1)" >"$DIR/fs/l1/&amp;"
    overlay
    chmod 0600 "$M/<script>alert(1)" "$M/&amp;"
    mkdir -p "$M/logs" "$M/a\"b'c"$'\xe2\x80\xae\e'
    head -c 9000 /dev/urandom | tee "$M/logs/x" >"$M/a\"b'c"$'\xe2\x80\xae\e/y'
    copyups "$M" --html="$DIR/none/page"
    exits 3
    copyups "$M" --html="$DIR/page.html" --json
    exits 0
    is '.copied.files == 2'
    output=$(<"$DIR/page.html")
    has_not '<script'
    has_not $'\e'
    has_not $'\xe2\x80\xae'
    python3 -c 'import html.parser, sys
class Page(html.parser.HTMLParser):
    open, cells = [], []
    def handle_starttag(self, tag, attrs):
        assert tag in "html head meta link title style body h1 h2 section p div i ul li table thead tbody tr th td pre code footer".split(), tag
        if tag not in ("meta", "link"):
            self.open.append(tag)
    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag
    def handle_data(self, data):
        if self.open and self.open[-1] == "td":
            self.cells.append(data)
page = Page()
page.feed(sys.stdin.read())
assert page.open == [], page.open
cells = "".join(page.cells)
for name in ("/<script>alert(1)", "/&amp;", "/logs", "/a\"b\x27c\\xe2\\x80\\xae\\x1b"):
    assert name in cells, (name, page.cells)' <<<"$output"
}

@test "a container that writes meanwhile" {
    overlay
    (while mkdir "$M/d"; do seq -f "$M/d/%g" 50 | xargs touch; mkdir -p "$M/d/e/f"; rm -rf "$M/d"; done) 3>&- 2>/dev/null &
    local pid=$!
    for _ in $(seq 60); do
        "$FLATBED" copyups "$M" --json >"$DIR/out" && gojq -e '.containers[0].unread == 0' "$DIR/out" >"$DIR/verdict" ||
            { kill $pid; cat "$DIR/out"; return 1; }
    done
    kill $pid
    wait $pid || true
}

watched() { grep -q "$1" "$DIR/watched"; }

@test "what changes is told while it changes" {
    overlay
    mkdir -p "$M/root/.cache/torch" "$M/logs"
    head -c 100000 /dev/urandom >"$M/logs/out"
    "$FLATBED" copyups "$M" --watch=1 >"$DIR/watched" 2>&1 3>&- &
    local pid=$!
    wait_seconds 60 watched " +.* $M\$"
    head -c 3000000 /dev/urandom >"$M/root/.cache/torch/model"
    wait_seconds 60 watched "$M  +.* in /root/.cache/torch\$"
    rm "$M/root/.cache/torch/model"
    wait_seconds 60 watched " -3.0 MB  *$M\$"
    kill $pid
    wait $pid || true
    [ "$(wc -l <"$DIR/watched")" -le 6 ] || { cat "$DIR/watched"; return 1; }
    copyups "$M" --watch=1 --json
    exits 2
    copyups "$M" --watch=1 --html="$DIR/page"
    exits 2
    copyups "$M" --watch=100000
    exits 2
}

# ---- containers in stores of engines ----

# layer STORE ID LOWER...: a layer's directory, with its short name, as Docker and podman keep it.
layer() {
    local store=$1 id=$2 lower=""
    mkdir -p "$store/$id/diff" "$store/$id/work" "$store/l"
    ln -s "../$id/diff" "$store/l/L$id"
    shift 2
    for one; do lower+=":l/L$one"; done
    [ -z "$lower" ] || printf %s "${lower#:}" >"$store/$id/lower"
}

digits() { printf "%064d" "$1"; }

image_config() {
    gojq -nc '{rootfs: {type: "layers", diff_ids: ["sha256:1", "sha256:2"]}, history: [{created_by: "ADD base"},
        {created_by: "ENV A=B", empty_layer: true}, {created_by: "RUN pip install \u001b[2Jtorch"}]}'
}

docker_store() {
    local root=$DIR/docker id
    id=$(digits 5)
    layer "$root/overlay2" base
    layer "$root/overlay2" torch base
    layer "$root/overlay2" top-init torch base
    layer "$root/overlay2" top top-init torch base
    mkdir -p "$root/containers/$id" "$root/image/overlay2/layerdb/mounts/$id" "$root/image/overlay2/imagedb/content/sha256"
    printf top >"$root/image/overlay2/layerdb/mounts/$id/mount-id"
    image_config >"$root/image/overlay2/imagedb/content/sha256/$(digits 9)"
    gojq -nc --arg id "$id" --arg image "sha256:$(digits 9)" '{ID: $id, Name: "/copyups-train", Image: $image, Driver: "overlay2",
        Config: {Image: "lab/torch:2"}, State: {Running: false}}' >"$root/containers/$id/config.v2.json"
    echo base >"$root/overlay2/base/diff/etc"
    head -c 70000 /dev/urandom >"$root/overlay2/torch/diff/lib"
    cp "$root/overlay2/torch/diff/lib" "$root/overlay2/top/diff/lib"
    setfattr -n trusted.overlay.origin -v 0x00 "$root/overlay2/top/diff/lib"
    mkdir -p "$root/overlay2/top/diff/root/.cache/torch/hub"
    head -c 90000 /dev/urandom >"$root/overlay2/top/diff/root/.cache/torch/hub/model"
}

too_large() { head -c 17000000 /dev/zero | tr '\0' ' ' >>"$1"; }

@test "a stopped container of Docker, with the lines of its Dockerfile" {
    docker_store
    copyups copyups-train --store="$DIR/docker" --json
    exits 0
    is '.engine == "docker" and .name == "copyups-train" and .image == "lab/torch:2" and (.running | not)'
    is '.copied.files == 1 and .new.files == 1 and .files[0].layer == 2'
    is '.files[0].created_by == "RUN pip install \u001b[2Jtorch" and (.layers | map(.layer)) == [3, 2, 1]'
    copyups 00000000 --store="$DIR/docker" # by the start of its ID
    exits 0
    has "copyups-train  docker 000000000000 of lab/torch:2, stopped: "
    has '/lib  layer 2: RUN pip install \x1b[2Jtorch'
    copyups copyups-none --store="$DIR/docker"
    exits 2
    [[ $stderr == *"no container 'copyups-none' was found"* ]]
    copyups copyups-train --store="$DIR/docker" --engine=podman
    exits 2
    copyups --engine=rkt
    exits 2
    [[ $stderr == *"'rkt' is none of docker, podman and containerd"* ]]
    too_large "$DIR"/docker/containers/*/config.v2.json
    copyups --store="$DIR/docker"
    [[ $stderr == *"left out: its config.v2.json is too large, or damaged"* ]]
}

@test "containers whose files are gone are left out with a word" {
    docker_store
    rm -r "$DIR/docker/overlay2/torch"
    copyups copyups-train --store="$DIR/docker" --json
    exits 0
    gojq -e '(.containers | length) == 0 and (.skipped | length) == 1 and .skipped[0].why == "it is gone"' <<<"$output"
    rm -r "$DIR/docker/image/overlay2/layerdb"
    copyups copyups-train --store="$DIR/docker"
    exits 0
    [[ $stderr == *"docker copyups-train: left out: Docker has no files of it"* ]]
    rm "$DIR/docker/overlay2/l/Lbase"
    ln -s "$DIR/fs" "$DIR/docker/overlay2/l/Lbase" # a link out of the store
    docker_mount="$DIR/docker/image/overlay2/layerdb/mounts/$(digits 5)"
    mkdir -p "$docker_mount" "$DIR/docker/overlay2/torch/diff"
    printf top >"$docker_mount/mount-id"
    copyups copyups-train --store="$DIR/docker"
    exits 0
    [[ $stderr == *"copyups-train: left out: layer l/Lbase"* ]]
}

# fake_ctr STATUS: a ctr in /usr/local/sbin that knows one snapshot of Docker, and the image's configuration.
fake_ctr() {
    cat >"$DIR/bin/ctr" <<EOF
#!/bin/sh
[ "\$1 \$2" = "--address $DIR/sock" ] || exit 9
shift 2
case "\$*" in
    "namespaces ls") echo "NAME LABELS"; echo "moby "; exit $1 ;;
    "--namespace moby snapshots --snapshotter overlayfs mounts / $ID")
        echo "mount -t overlay overlay / -o index=off,workdir=$DIR/w,upperdir=$DIR/u,lowerdir=$DIR/init:$DIR/l1" ;;
    "--namespace moby content get sha256:list") echo '{"manifests": [{"digest": "sha256:none"}, {"digest": "sha256:one"}]}' ;;
    "--namespace moby content get sha256:one") echo '{"config": {"digest": "sha256:config"}}' ;;
    "--namespace moby content get sha256:config") echo '{"rootfs": {"diff_ids": ["a"]}, "history": [{"created_by": "RUN one"}]}' ;;
    *) exit 1 ;;
esac
EOF
    chmod 0755 "$DIR/bin/ctr"
}

@test "a stopped container of Docker with containerd's store: containerd is asked" {
    ID=$(printf '%064d' 1)
    mkdir -p "$DIR"/{bin,docker/containers/$ID,u,w,l1,init}
    gojq -n --arg id "$ID" '{ID: $id, Name: "/box", Driver: "overlayfs", Image: "sha256:list", Config: {Image: "one:1"},
        State: {Running: false}}' >"$DIR/docker/containers/$ID/config.v2.json"
    echo one >"$DIR/l1/file"
    echo two >"$DIR/u/file"
    setfattr -n trusted.overlay.origin -v x "$DIR/u/file"
    asked() {
        run --separate-stderr unshare --mount --propagation private sh -c 'mount --bind "$1/bin" /usr/local/sbin &&
            shift && exec "$@"' sh "$DIR" timeout 20 "$FLATBED" copyups box --store="$DIR/docker" --json "$@"
    }
    asked # nobody to ask
    exits 0
    gojq -e '.containers == [] and (.skipped | length == 1 and (.[0].why | contains("containerd, which knows its files")))' <<<"$output"
    python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$DIR/sock"
    fake_ctr 0
    asked --containerd="$DIR/sock"
    exits 0
    is '.engine == "docker" and .name == "box" and .image == "one:1" and (.running | not) and .copied.files == 1'
    is '.files[0] | .path == "/file" and .layer == 1 and .created_by == "RUN one"'
    fake_ctr 1 # a containerd that is down
    asked --containerd="$DIR/sock"
    gojq -e --arg sock "$DIR/sock" 'any(.skipped[]; .name == $sock and (.why | contains("does not answer")))' <<<"$output"
    printf '#!/bin/sh\nexec sleep 60\n' >"$DIR/bin/ctr" # and one that hangs
    asked --containerd="$DIR/sock"
    gojq -e --arg sock "$DIR/sock" 'any(.skipped[]; .name == $sock and (.why | contains("does not answer")))' <<<"$output"
}

@test "a container of podman, and the image's history" {
    local root=$DIR/podman image
    image=$(digits 9)
    layer "$root/overlay" base
    layer "$root/overlay" torch base
    layer "$root/overlay" top torch base
    mkdir -p "$root/overlay-containers" "$root/overlay-images/$image"
    gojq -nc --arg image "$image" '[{id: "abc", names: ["copyups-pod"], image: $image, layer: "top",
        metadata: "{\"image-name\": \"lab/torch:2\"}"}]' >"$root/overlay-containers/containers.json"
    image_config >"$root/overlay-images/$image/=$(printf 'sha256:%s' "$image" | base64 -w 0)"
    echo base | tee "$root/overlay/base/diff/f" >"$root/overlay/top/diff/f"
    copyups copyups-pod --store="$root" --json
    exits 0
    is '.engine == "podman" and .image == "lab/torch:2" and (.running | not) and .replaced.files == 1'
    is '.files[0].layer == 1 and .files[0].created_by == "ADD base"'
    echo true >"$root/overlay/.has-mount-program"
    copyups copyups-pod --store="$root"
    exits 0
    [[ $stderr == *"podman copyups-pod: left out: it is on fuse-overlayfs"* ]]
    for text in '[' '{}' '[1, {}, {"id": 1}]' '[{"id": "abc", "layer": "../top"}]'; do
        echo "$text" >"$root/overlay-containers/containers.json"
        copyups copyups-pod --store="$root" --json
        exits 2
    done
    too_large "$root/overlay-containers/containers.json"
    copyups --store="$root" --store="$DIR/none"
    [[ $stderr == *"store $root: left out: it does not answer, is missing, or may not be read"*"store $DIR/none: left out"* ]]
}

@test "a store that hangs is given up" {
    [ -e /dev/fuse ] || skip "no FUSE"
    docker_store
    mkdir "$DIR/hangs" "$DIR/one" "$DIR/two"
    fuse-overlayfs -f -o "lowerdir=$DIR/one:$DIR/two" "$DIR/hangs" >/dev/null 2>&1 3>&- &
    local pid=$! start=$SECONDS
    for _ in $(seq 100); do
        if mountpoint -q "$DIR/hangs" || ! kill -0 "$pid"; then break; fi
        sleep 0.1
    done
    kill -STOP "$pid"
    copyups copyups-train --store="$DIR/hangs" --store="$DIR/docker" --json
    kill -KILL "$pid"
    exits 0
    [ $((SECONDS - start)) -le 15 ]
    gojq -e --arg store "$DIR/hangs" '(.containers | length == 1) and
        (.skipped | any(.name == $store and (.why | startswith("it does not answer"))))' <<<"$output"
}

# ---- advice ----

@test "a directory that hangs in the middle is waited for, with a word" {
    [ -e /dev/fuse ] || { [ "$CI" != true ] && skip "no FUSE"; return 1; }
    local id slow
    id=$(printf '%064d' 1)
    mkdir -p "$DIR/docker/containers/$id" "$DIR/docker/image/overlay2/layerdb/mounts/$id" "$DIR"/docker/overlay2/{l,box/diff/slow}
    gojq -n '{Name: "/box", Driver: "overlay2", State: {Running: false}}' >"$DIR/docker/containers/$id/config.v2.json"
    printf box >"$DIR/docker/image/overlay2/layerdb/mounts/$id/mount-id"
    /usr/bin/python3 "$BATS_TEST_DIRNAME/../lib/slow_fs.py" "$DIR/docker/overlay2/box/diff/slow" 0 >"$DIR/slow.log" 2>&1 3>&- &
    slow=$!
    wait_seconds 20 mountpoint -q "$DIR/docker/overlay2/box/diff/slow"
    kill -STOP "$slow"
    "$FLATBED" copyups box --store="$DIR/docker" >"$DIR/watched" 2>&1 3>&- &
    pid=$!
    wait_seconds 20 grep -q 'box: / has not answered for 8 s; waiting for it' "$DIR/watched"
    kill -KILL "$slow" # the kernel ends the connection
    wait "$pid"
    grep -q 'box  docker' "$DIR/watched"
}

@test "the policy's volume, or an addition to the policy that check accepts" {
    overlay
    mkdir -p "$M/root/.cache/huggingface/hub" "$M/srv/app/logs" "$M/home/u/checkpoints"
    head -c 900000 /dev/urandom >"$M/root/.cache/huggingface/hub/model"
    head -c 800000 /dev/urandom >"$M/srv/app/logs/out"
    head -c 700000 /dev/urandom >"$M/home/u/checkpoints/1.pt"
    copyups "$M" --json --policy="$DIR/none.json"
    exits 0
    is '[.largest[] | .what | select(.)] | sort == ["checkpoints", "logs", "the cache of Hugging Face"]'
    gojq '{version: 1, mode: "off", volumes: ("{\(.containers[0].snippet)}" | fromjson)}' \
        <<<"$output" >"$DIR/policy.json"
    gojq -e '.volumes.logs.target == "/srv/app/logs" and .volumes.cache.presets == ["huggingface"]' "$DIR/policy.json"
    run "$FLATBED" check --draft --json "$DIR/policy.json"
    gojq -e '.errors == 0' <<<"${lines[-1]}" || { echo "$output"; return 1; }
    chmod 0644 "$DIR/policy.json"
    copyups "$M" --json --policy="$DIR/policy.json"
    is '[.largest[] | select(.volume) | .volume] | sort == ["cache", "checkpoints", "logs"]'
    is '.largest[] | select(.volume == "cache") | .advice == "ask for the policy'"'"'s volume: flatbed.cache=huggingface, an annotation or with Docker before 24 -v /dev/null:/run/flatbed/request/cache/huggingface, sets HF_HOME"'
    is '.largest[] | select(.volume == "logs") | .advice | startswith("the policy'"'"'s volume \"logs\" is mounted there")'
    copyups "$M" --policy="$DIR/policy.json"
    has "/root/.cache/huggingface/hub  1 file: the cache of Hugging Face"
    has_not 'for "volumes" of the policy:'
}

@test "files of the image that change belong in its Dockerfile" {
    mkdir -p "$DIR/fs/l1/opt/app"
    head -c 500000 /dev/urandom >"$DIR/fs/l1/opt/app/lib"
    overlay
    chmod 0700 "$M/opt/app/lib"
    copyups "$M"
    has "/opt/app/lib  layer 1"
    has "change them in its Dockerfile"
    copyups "$M" --top=0 --json
    is '.files == [] and .largest == [] and .copied.files == 1'
    copyups "$M" --top=1001
    exits 2
    copyups /nonexistent
    exits 2
    [[ $stderr == *"no overlay is mounted at '/nonexistent'"* ]]
}
