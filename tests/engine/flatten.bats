#!/usr/bin/env bats
# flatten with real engines: images that docker built, flattened by every way into and out of
# a daemon, loaded and run by docker, podman and containerd; and daemons that fail.

bats_require_minimum_version 1.5.0

load lib/frame
frame docker flatten
load lib/podman
load lib/containerd

file_ready() {
    ! command -v podman >/dev/null || podman_start
    ! command -v ctr >/dev/null || containerd_start
}

file_end() {
    podman_stop
    containerd_stop
}

test_end() { fake_stop; }

FB_RUNS=$'shared\nshared\nfile' # what $FB_LAYERS prints

# save_layers: makes $FB_DIR/layers.tar, once.
save_layers() {
    [ -e "$FB_DIR/layers.tar" ] || docker_cli save --output "$FB_DIR/layers.tar" "$FB_LAYERS"
}

# flat_archive: makes $FB_DIR/flat.tar, once.
flat_archive() {
    save_layers
    [ -e "$FB_DIR/flat.tar" ] ||
        flatten --quiet "$FB_DIR/layers.tar" "docker-archive:$FB_DIR/flat.tar:fb-archive:1" >/dev/null
}

# ------------------------------------------------------------------ in and out

@test "flatten: the image has twenty layers, and runs" {
    run docker_cli inspect --format '{{len .RootFS.Layers}}' "$FB_LAYERS"
    [ "$output" -ge 20 ]
    run docker_cli run --rm --network=none "$FB_LAYERS"
    expect_output "$FB_RUNS"
}

@test "flatten: archive to archive; docker loads it, runs it and shows the same" {
    flat_archive
    run docker_cli load --input "$FB_DIR/flat.tar"
    expect_status 0
    expect_output "Loaded image: fb-archive:1"
    run docker_cli run --rm --network=none fb-archive:1
    expect_status 0
    expect_output "$FB_RUNS"
    expect_same_image "$FB_LAYERS" fb-archive:1
}

# listed DIR: names, kinds, modes, owners and times of a tree, without what docker export puts in.
listed() {
    (cd "$1" && find . \( -name etc -o -name dev -o -name proc -o -name sys -o -name .dockerenv \) -prune \
        -o -mindepth 1 -printf '%p %y %m %U:%G %Ts %l\n' | sort)
}

@test "flatten: unpack writes the tree that docker export has" {
    local box
    box=$(docker_cli create "$FB_LAYERS")
    mkdir -p "$FB_DIR/exported"
    docker_cli export "$box" | tar -C "$FB_DIR/exported" --numeric-owner -xpf -
    run flatten unpack --verify "$FB_LAYERS" "$FB_DIR/unpacked"
    expect_status 0
    listed "$FB_DIR/exported" >"$FB_DIR/expected"
    listed "$FB_DIR/unpacked" | diff "$FB_DIR/expected" -
    [ "$(wc -l <"$FB_DIR/expected")" -gt 20 ]
    diff -r --no-dereference --exclude=etc --exclude=dev --exclude=proc --exclude=sys --exclude=.dockerenv --exclude=fifo \
        "$FB_DIR/exported" "$FB_DIR/unpacked"
}

@test "flatten: docker history shows every step of the original below the new layer" {
    local -a original
    run flatten --quiet "$FB_LAYERS" docker-daemon:fb-history:1
    expect_status 0
    run docker_cli history --no-trunc --format '{{.CreatedBy}}' "$FB_LAYERS"
    original=("${lines[@]}")
    run docker_cli history --no-trunc --format '{{.CreatedBy}}' fb-history:1
    expect_equal "${lines[0]}" "flatten squash"
    expect_equal "${lines[*]:1}" "${original[*]}"
    run docker_cli history --format '{{.Comment}}' fb-history:1
    expect_match 'layers merged' "${lines[0]}"
}

@test "flatten NAME: the daemon has NAME:TAG-flat, which runs and shows the same" {
    local id
    run --separate-stderr flatten "$FB_LAYERS"
    expect_status 0
    id=${lines[0]}
    # shellcheck disable=SC2154
    expect_match 'layers became 1' "$stderr"
    expect_match "wrote the image .* to Docker, as $FB_LAYERS-flat" "$stderr"
    expect_match "next: docker run --rm -it $FB_LAYERS-flat, or docker push $FB_LAYERS-flat" "$stderr"
    expect_equal "$(docker_cli inspect --format '{{.Id}}' "$FB_LAYERS-flat")" "$id"
    run docker_cli run --rm --network=none "$FB_LAYERS-flat"
    expect_output "$FB_RUNS"
    expect_same_image "$FB_LAYERS" "$FB_LAYERS-flat"
    run flatten verify "$FB_LAYERS" "docker-daemon:$FB_LAYERS-flat"
    expect_status 0
    expect_nothing_left
}

@test "flatten: a name without a tag is only :latest, even if there are other tags" {
    docker_cli tag "$FB_IMAGE" fb-tags:other
    docker_cli tag "$FB_LAYERS" fb-tags:latest
    run flatten --quiet fb-tags
    expect_status 0
    run docker_cli run --rm --network=none fb-tags:latest-flat
    expect_output "$FB_RUNS"
}

@test "flatten: an ID is a source, but needs a destination" {
    local id
    id=$(docker_cli images --quiet "$FB_LAYERS")
    run flatten --quiet "$id"
    expect_status 2
    expect_match 'give a destination'
    run flatten --quiet "$id" docker-daemon:registry.example:5000/deep/er/path:tag
    expect_status 0
    run docker_cli run --rm --network=none registry.example:5000/deep/er/path:tag
    expect_output "$FB_RUNS"
}

@test "flatten: daemon to OCI layout and back" {
    run flatten --quiet "$FB_LAYERS" "oci:$FB_DIR/out/layout:v1"
    expect_status 0
    run flatten verify "$FB_LAYERS" "oci:$FB_DIR/out/layout:v1"
    expect_status 0
    run flatten --quiet "oci:$FB_DIR/out/layout:v1" docker-daemon:fb-back:1
    expect_status 0
    run docker_cli run --rm --network=none fb-back:1
    expect_output "$FB_RUNS"
    expect_same_image "$FB_LAYERS" fb-back:1
    rm -r "$FB_DIR/out/layout"
    expect_nothing_left
}

@test "flatten: twice gives the same image, and gzip the same Id" {
    local once twice
    once=$(flatten --quiet "$FB_LAYERS" docker-daemon:fb-once:1)
    twice=$(flatten --quiet "$FB_LAYERS" docker-daemon:fb-twice:1)
    expect_equal "$once" "$twice"
    run flatten --quiet --compression=gzip "$FB_LAYERS" docker-daemon:fb-gzip:1
    expect_status 0
    expect_equal "${lines[0]}" "$(head -n 1 <<<"$once")"
}

# ------------------------------------------------------------------ the image in TMPDIR

@test "flatten --last: docker save NAME, flattened, is the same image" {
    local daemon archive last
    save_layers
    last=$(docker_cli inspect "$FB_LAYERS" | gojq '.[0].RootFS.Layers | length')
    daemon=$(flatten --quiet --last="$last" "$FB_LAYERS" "oci:$FB_DIR/out/daemon:v1")
    archive=$(flatten --quiet - "oci:$FB_DIR/out/archive:v1" <"$FB_DIR/layers.tar")
    expect_match '^sha256:[0-9a-f]+' "$daemon"
    expect_equal "$daemon" "$archive"
    expect_equal "$(cat "$FB_DIR/out/daemon/index.json")" "$(cat "$FB_DIR/out/archive/index.json")"
    daemon=$(flatten --quiet --last="$last" "$FB_LAYERS" docker-daemon:fb-daemon:1)
    archive=$(flatten --quiet "$FB_DIR/layers.tar" docker-daemon:fb-daemon:2)
    expect_equal "$daemon" "$archive"
    rm -r "$FB_DIR/out"/{daemon,archive}
    expect_nothing_left
}

# blobs_archive: makes $FB_DIR/blobs.tar, as Docker writes it since 25: layers are blobs/sha256/…
blobs_archive() {
    save_layers
    [ -e "$FB_DIR/blobs.tar" ] ||
        flatten --quiet --into=6 "$FB_DIR/layers.tar" "docker-archive:$FB_DIR/blobs.tar:fb-blobs:1" >/dev/null
}

@test "flatten NAME: both forms of archive give the same image as from files, by one request" {
    local archive
    blobs_archive
    for archive in layers blobs; do
        fake_start good "$FB_DIR/$archive.tar"
        run flatten --quiet a:1 "oci:$FB_DIR/out/$archive:v1"
        fake_stop
        expect_status 0
        expect_equal "$(grep -c '/get?' "$FB_DIR/fake.log")" 1
        expect_equal "$output" "$(flatten --quiet "$FB_DIR/$archive.tar" "oci:$FB_DIR/out/$archive:v2")"
    done
    rm -r "$FB_DIR/out"/{layers,blobs}
    expect_nothing_left
}

# finds_no_room MIB ARGS…: is refused; the message names the directory, its free space and the size needed.
finds_no_room() {
    run flatten_tight "$@"
    expect_status 3
    expect_match "docker-daemon:.*: $FB_DIR/tmp has [0-9.]+ MB free, the image needs about [0-9.]+ MB: set TMPDIR to a directory with room"
    expect_nothing_left
}

@test "flatten NAME: without room for the image, the message names the directory and the size needed" {
    finds_no_room 4 --quiet --into=2 "$FB_LAYERS" docker-daemon:fb-tight:1
    finds_no_room 4 --quiet --keep-base=4 "$FB_LAYERS" docker-daemon:fb-tight:1
    finds_no_room 4 --dry-run "$FB_LAYERS"
    finds_no_room 4 verify --semantics=spec "$FB_LAYERS" "$FB_DIR/layers.tar"
    run flatten_tight 4 analyze "$FB_LAYERS" # reads the layers where they lie
    expect_status 0
    expect_equal "$(daemon_id fb-tight:1)" ""
}

@test "flatten NAME: an image that is too large is not fetched; one with a false small size only in part" {
    local mode
    save_layers
    fake_start good "$FB_DIR/layers.tar"
    finds_no_room 4 --quiet a:1 "oci:$FB_DIR/out/layout"
    expect_equal "$(grep -c '/get?' "$FB_DIR/fake.log")" 0
    fake_stop
    for mode in small store; do
        fake_start "$mode" "$FB_DIR/layers.tar"
        run flatten_tight 4 --quiet a:1 "oci:$FB_DIR/out/layout"
        fake_stop
        expect_status 3
        expect_match "docker-daemon:a:1: $FB_DIR/tmp has 4.2 MB free, the image needs more: set TMPDIR to a directory with room"
        expect_nothing_left
    done
}

# ------------------------------------------------------------------ some layers stay

# layers_of IMAGE N: the diff_ids of its N oldest layers.
layers_of() { docker_cli inspect "$1" | gojq -c ".[0].RootFS.Layers[:$2]"; }

@test "flatten --keep-base: docker shares the layers that stay, runs the image and shows the same" {
    local -a original
    run flatten --quiet --verify --keep-base=4 "$FB_LAYERS" docker-daemon:fb-kept:1
    expect_status 0
    expect_equal "$(layers_of fb-kept:1 4)" "$(layers_of "$FB_LAYERS" 4)"
    run docker_cli run --rm --network=none fb-kept:1
    expect_output "$FB_RUNS"
    expect_same_image "$FB_LAYERS" fb-kept:1 5
    run docker_cli history --no-trunc --format '{{.CreatedBy}}' "$FB_LAYERS"
    original=("${lines[@]}")
    run docker_cli history --no-trunc --format '{{.CreatedBy}}' fb-kept:1
    expect_equal "${lines[0]}" "flatten squash"
    expect_equal "${lines[*]:1}" "${original[*]}"
    run flatten --quiet --into=3 "$FB_LAYERS" docker-daemon:fb-three:1
    expect_status 0
    expect_same_image "$FB_LAYERS" fb-three:1 3
    expect_nothing_left
}

@test "flatten --keep-base=IMAGE: an image of the daemon, or a layout" {
    local base
    local -a steps
    # The image of the classic builder after its fourth layer.
    mapfile -t steps < <(docker_cli images --all --quiet --no-trunc)
    base=$(docker_cli inspect "${steps[@]}" | gojq -r --argjson layers "$(layers_of "$FB_LAYERS" 4)" \
        'map(select(.RootFS.Layers == $layers)) | first | .Id')
    run flatten --quiet --keep-base="$base" "$FB_LAYERS" docker-daemon:fb-on-base:1
    expect_status 0
    expect_equal "$(layers_of fb-on-base:1 4)" "$(layers_of "$FB_LAYERS" 4)"
    expect_same_image "$FB_LAYERS" fb-on-base:1 5
    flatten --quiet --keep-base=4 "$FB_LAYERS" "oci:$FB_DIR/out/kept:v1" >/dev/null
    run flatten --quiet --keep-base="oci:$FB_DIR/out/kept:v1" --dry-run --json "$FB_LAYERS"
    expect_equal "$(gojq .layers.kept <<<"$output")" 4
}

@test "flatten --keep-base: skopeo and podman take the result" {
    require_tool skopeo podman
    save_layers
    flatten --quiet --keep-base=4 "$FB_DIR/layers.tar" "oci:$FB_DIR/out/kept:v1" >/dev/null
    run skopeo copy --quiet "oci:$FB_DIR/out/kept:v1" "dir:$FB_DIR/out/dir"
    expect_status 0
    flatten --quiet --keep-base=4 "$FB_DIR/layers.tar" "docker-archive:$FB_DIR/out/kept.tar:fb-kept:2" >/dev/null
    run podman_cli load --input "$FB_DIR/out/kept.tar"
    expect_status 0
    run podman_run --rm fb-kept:2
    expect_output "$FB_RUNS"
    podman_cli rmi --force fb-kept:2
}

@test "flatten: podman loads and runs a flattened archive" {
    require_tool podman
    fb_gate
    flat_archive
    run podman_cli load --input "$FB_DIR/flat.tar"
    expect_status 0
    run podman_run --rm fb-archive:1
    expect_status 0
    expect_output "$FB_RUNS"
    # shellcheck disable=SC2016 # the container's variable
    run podman_run --rm fb-archive:1 'stat -c "%a %u:%g" a; ls /o /opt/lib/; echo "$GREETING"'
    expect_output $'4751 7:8\n/o:\n\n/opt/lib/:\ny\nhello world'
}

@test "flatten: podman's Docker-compatible service is a daemon as well" {
    require_tool podman
    fb_gate
    save_layers
    podman_service
    run flatten --quiet "$FB_DIR/layers.tar" docker-daemon:fb-podman:1
    expect_status 0
    run flatten --quiet fb-podman:1
    expect_status 0
    run flatten verify fb-podman:1 docker-daemon:fb-podman:1-flat
    expect_status 0
    run podman_run --rm fb-podman:1-flat
    expect_output "$FB_RUNS"
}

@test "flatten: containerd imports and runs a flattened archive" {
    require_tool ctr
    fb_gate
    flat_archive
    run ctr_cli image import --snapshotter "$FB_SNAPSHOTTER" "$FB_DIR/flat.tar"
    expect_status 0
    expect_match 'docker.io/library/fb-archive:1'
    run ctr_cli run --rm --snapshotter "$FB_SNAPSHOTTER" --fifo-dir "$FB_DIR/fifo" --runc-root "$FB_DIR/runc" \
        docker.io/library/fb-archive:1 box
    expect_status 0
    expect_output "$FB_RUNS"
}

# ------------------------------------------------------------------ what can go wrong

@test "flatten: an image that is not in the daemon is an error" {
    run flatten no-such-image:1
    expect_status 2
    expect_match 'No such image: no-such-image:1'
    run flatten no-such-image:1 "oci:$FB_DIR/out/layout"
    expect_status 2
    expect_nothing_left
}

@test "flatten: a destination name that the daemon rejects is an error" {
    run flatten "$FB_DIR/image.tar" docker-daemon:Upper/Case:1
    expect_status 2
    expect_match 'must be lowercase'
    run flatten "$FB_DIR/image.tar" 'docker-daemon:a/../b:1'
    expect_status 2
    run flatten "$FB_DIR/image.tar" "docker-daemon:a@sha256:$(printf '0%.0s' {1..64})"
    expect_status 2
}

@test "flatten: a platform that the daemon does not have is an error" {
    run flatten --platform=linux/mips64le "$FB_LAYERS"
    expect_status 2
    expect_match 'not mips64le'
    expect_nothing_left
}

@test "flatten: a missing, dead or unreachable daemon is an error" {
    FB_HOST=unix://$FB_DIR/none.sock run flatten a:1
    expect_status 3
    expect_match "no Docker daemon at $FB_DIR/none.sock: start it, or set DOCKER_HOST"
    python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$FB_DIR/dead.sock"
    FB_HOST=unix://$FB_DIR/dead.sock run flatten a:1
    expect_status 3
    expect_match 'Connection refused.*: start it'
    FB_HOST=tcp://127.0.0.1:1 run flatten "$FB_DIR/image.tar" docker-daemon:a:1
    expect_status 3
    expect_match 'answers at 127.0.0.1:1'
    expect_nothing_left
}

@test "flatten: a socket that this user may not use is an error" {
    require_tool setpriv
    fb_gate
    cp "$FLATTEN" "$FB_DIR/bin/flatten"
    run env DOCKER_HOST="unix://$FB_DIR/docker.sock" setpriv --reuid=1234 --regid=1234 --clear-groups \
        "$FB_DIR/bin/flatten" "$FB_LAYERS"
    expect_status 3
    expect_match 'permission denied .*: be root or in its group'
}

@test "flatten: an unsupported DOCKER_HOST is an error" {
    local host
    for host in ssh://somewhere npipe:////./pipe/docker https://127.0.0.1:1 fd://; do
        FB_HOST=$host run flatten a:1
        expect_status 8
        expect_match 'only unix:///PATH and tcp://HOST:PORT'
    done
    for host in unix://relative tcp:// tcp://user@host:1 tcp://host:1/path; do
        FB_HOST=$host run flatten a:1
        expect_status 2
    done
    DOCKER_HOST=tcp://127.0.0.1:1 DOCKER_TLS_VERIFY=1 run "$FLATTEN" a:1
    expect_status 8
    expect_match TLS
}

@test "flatten: TCP without a proxy; the platform is requested if the daemon supports it" {
    fake_start good "$FB_DIR/image.tar" tcp
    http_proxy=http://127.0.0.1:1 ALL_PROXY=socks5://127.0.0.1:1 \
        run flatten --quiet a:1 "docker-archive:$FB_DIR/out/flat.tar"
    expect_status 0
    run cat "$FB_DIR/fake.log"
    expect_match 'GET /images/a%3A1/json HTTP'
    expect_match 'GET /images/sha256%3A1+/get\?platform=%7B%22os%22%3A%22linux%22%2C%22architecture%22%3A%22amd64%22%7D HTTP'
    fake_stop
    fake_start old "$FB_DIR/image.tar"
    run flatten --quiet a:1 docker-daemon:reg.example:5000/b:1
    expect_status 0
    run cat "$FB_DIR/fake.log"
    expect_match 'GET /images/sha256%3A1+/get HTTP'
    expect_match 'GET /images/reg.example%3A5000/b%3A1/json HTTP'
}

# fails_loading MODE STATUS REGEX
fails_loading() {
    fake_start "$1"
    run flatten --quiet "$FB_DIR/image.tar" docker-daemon:b:1
    fake_stop
    expect_status "$2"
    expect_match "$3"
    expect_nothing_left
}

@test "flatten: a load that fails behind a 200 is a failure" {
    fails_loading load-detail 3 'loading b:1 into the daemon: the daemon says: disk on fire'
    fails_loading load-unpack 3 'Error unpacking image a:1: disk on fire'
}

@test "flatten: a load that is refused at once, cut off, or gives another image" {
    fails_loading load-early 3 'the daemon says: no room'
    fails_loading load-cut 3 'loading b:1 into the daemon'
    fails_loading load-lost 6 'b:1 is sha256:0+ in the daemon, not sha256:'
    fails_loading load-gone 3 'the daemon does not have b:1 after loading it'
}

@test "flatten: an invalid answer of the daemon is an error" {
    fails_loading html 3 'HTTP status 500'
    fails_loading huge 7 'more than 8388608 bytes'
    fails_loading hang-up 3 'Empty reply'
}

# fails_saving MODE STATUS REGEX
fails_saving() {
    fake_start "$1" "$FB_DIR/image.tar"
    run flatten --quiet a:1 "oci:$FB_DIR/out/layout"
    fake_stop
    expect_status "$2"
    expect_match "$3"
    expect_nothing_left
}

@test "flatten: a download that is cut off or ends with an error is an error" {
    fails_saving save-cut 3 'docker-daemon:a:1: the Docker daemon at .*: transfer closed'
    fails_saving save-error 3 'docker-daemon:a:1: the daemon says: disk on fire'
}

@test "flatten: nothing is left when it is killed during a download" {
    local pid
    fake_start save-stall "$FB_DIR/image.tar"
    flatten_spawn a:1 "oci:$FB_DIR/out/layout"
    pid=$FB_FLATTEN_PID
    wait_for grep -q stalled "$FB_DIR/fake.log"
    kill -TERM "$pid"
    wait_for pid_gone "$pid"
    expect_nothing_left
}
