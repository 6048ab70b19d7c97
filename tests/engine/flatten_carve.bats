#!/usr/bin/env bats
# flatten carve with real engines: a built image with packages, carved, is the same in docker and podman, by load,
# push and pull; its next version shares layers there; and a carve that is killed or has no room leaves nothing.
# shellcheck disable=SC2154 # output, lines and stderr are set by bats' run

bats_require_minimum_version 1.5.0

load lib/frame
frame docker flatten podman
load lib/storage
load ../cli/lib/wait
load ../cli/flatten/lib/registry

file_require() { require_tool docker-registry; }

file_ready() {
    registry_start "$FB_DIR/registry"
    export FB_REGISTRY=$REGISTRY
    packages_build 1
    packages_build 2
}

file_end() { registry_stop_all "$FB_DIR"; }

# packages VERSION DIR: makes the tree of two packages of dpkg and one of pip. Version 2 upgrades the tool.
packages() {
    local dir=$2 info=$2/var/lib/dpkg/info site=$2/usr/lib/python3/dist-packages
    mkdir -p "$info" "$dir"/usr/{bin,lib} "$site"/torch{,-2.7.0.dist-info}
    seq 1 60000 >"$dir/usr/lib/libone.so"
    seq "$1" 9000 >"$dir/usr/bin/tool"
    ln "$dir/usr/bin/tool" "$dir/usr/bin/tool-link"
    seq 1 900000 >"$site/torch/ops.py" # two frames of zstd
    printf 'Name: torch\nVersion: 2.7.0\n' >"$site/torch-2.7.0.dist-info/METADATA"
    echo 'torch/ops.py,,' >"$site/torch-2.7.0.dist-info/RECORD"
    echo /usr/lib/libone.so >"$info/libone.list"
    printf '/usr/bin/tool\n/usr/bin/tool-link\n' >"$info/tool.list"
    printf 'Package: %s\nStatus: install ok installed\nVersion: %s\n\n' libone 1.0 tool "$1" >"$dir/var/lib/dpkg/status"
    find "$dir" -exec touch --no-dereference --date='2024-05-06 07:08:09' {} +
    touch --date="2024-05-0$1 01:02:03" "$dir/usr/bin" "$dir/usr/bin/tool" "$dir/var/lib/dpkg/status"
}

# packages_build VERSION: builds fb-pack:VERSION in docker. The application of version 2 has another file.
packages_build() {
    local dir=$FB_DIR/pack$1
    [ -z "$FB_REFUSED" ] || return 0
    mkdir -p "$dir/app"
    packages "$1" "$dir/packages"
    echo "version $1" >"$dir/app/version"
    seq 1 5000 >"$dir/app/only-$1"
    tar -C "$dir/packages" --sort=name --owner=0 --group=0 --numeric-owner -cf "$dir/packages.tar" .
    cp "$FB_DIR/context/rootfs.tar" "$dir/"
    cat >"$dir/Dockerfile" <<'EOF'
FROM scratch
ADD rootfs.tar /
ADD packages.tar /
COPY app /opt/app
RUN busybox chown -R 7:8 /opt/app && touch /opt/app/gone
RUN rm /opt/app/gone && busybox ln /opt/app/version /opt/app/again
CMD ["cat", "/opt/app/again"]
EOF
    DOCKER_BUILDKIT=0 docker_cli build --network=none --tag "fb-pack:$1" "$dir" >"$FB_DIR/build.log" 2>&1 ||
        { tail -n 20 "$FB_DIR/build.log"; return 1; }
}

# carved: carves both versions in docker, the second like the first, once.
carved() {
    [ -z "$(daemon_id fb-pack:2-carved)" ] || return 0
    flatten carve --quiet --verify --layer-size=200k fb-pack:1 >/dev/null
    flatten carve --quiet --verify --layer-size=200k --like=fb-pack:1-carved fb-pack:2 >/dev/null
}

layers_of() { docker_cli inspect --format '{{join .RootFS.Layers "\n"}}' "$1"; }

# shared A B: prints how many layers the two images share. first_shared: how many of their oldest, which docker keeps
# once, as it knows a layer by all below it.
shared() { comm -12 <(layers_of "$1" | sort) <(layers_of "$2" | sort) | wc -l; }
first_shared() {
    paste <(layers_of "$1") <(layers_of "$2") | awk '$1 != $2 { exit } { n++ } END { print n + 0 }'
}

@test "carve: docker has NAME:TAG-carved, which runs, and a container shows the same" {
    carved
    run docker_cli run --rm --network=none fb-pack:1-carved
    expect_output "version 1"
    [ "$(layers_of fb-pack:1-carved | wc -l)" -gt 3 ]
    expect_same_image fb-pack:1 fb-pack:1-carved "$(layers_of fb-pack:1-carved | wc -l)"
    expect_nothing_left
}

@test "carve: docker history names the layers" {
    carved
    run docker_cli history --no-trunc --format '{{.CreatedBy}}' fb-pack:1-carved
    expect_match 'carve: torch 2.7.0: '
    expect_match 'carve: libone 1.0: usr/lib/libone.so'
    expect_equal "$(grep -c '^carve: ' <<<"$output")" "$(layers_of fb-pack:1-carved | wc -l)"
}

@test "carve: the next version, like the first, shares its layers in docker, and a container shows the same" {
    carved
    [ "$(shared fb-pack:1-carved fb-pack:2-carved)" -ge 3 ] # libone, torch, busybox
    [ "$(first_shared fb-pack:1-carved fb-pack:2-carved)" -ge 1 ]
    expect_same_image fb-pack:2 fb-pack:2-carved "$(layers_of fb-pack:2-carved | wc -l)"
    run docker_cli run --rm --network=none fb-pack:2-carved
    expect_output "version 2"
    run docker_cli run --rm --network=none fb-pack:2-carved ls /opt/app
    expect_output $'again\nonly-2\nversion'
}

@test "carve: pushed by docker and by flatten, pulled by docker and podman, it is the same" {
    local version
    carved
    for version in 1 2; do
        docker_cli tag "fb-pack:$version-carved" "$FB_REGISTRY/lab/pack:$version"
        docker_cli push --quiet "$FB_REGISTRY/lab/pack:$version" >/dev/null
        run flatten verify "fb-pack:$version" "docker://$FB_REGISTRY/lab/pack:$version"
        expect_status 0
        podman_cli pull --quiet --tls-verify=false "$FB_REGISTRY/lab/pack:$version" >/dev/null
        expect_equal "$(podman_run --rm "$FB_REGISTRY/lab/pack:$version")" "version $version"
    done
    flatten carve --quiet --layer-size=200k fb-pack:1 "docker://$FB_REGISTRY/lab/direct:1" >/dev/null
    flatten carve --quiet --layer-size=200k "--like=docker://$FB_REGISTRY/lab/direct:1" fb-pack:2 \
        "docker://$FB_REGISTRY/lab/direct:2" >/dev/null
    # Docker has no layer of them any more, and then those of the first.
    docker_cli rmi --force {fb-pack:1-carved,fb-pack:2-carved,"$FB_REGISTRY"/lab/pack:1,"$FB_REGISTRY"/lab/pack:2} >/dev/null
    for version in 1 2; do
        docker_cli pull "$FB_REGISTRY/lab/direct:$version" >"$FB_DIR/pull.log"
        expect_same_image "fb-pack:$version" "$FB_REGISTRY/lab/direct:$version" \
            "$(layers_of "$FB_REGISTRY/lab/direct:$version" | wc -l)"
    done
    grep 'Already exists' "$FB_DIR/pull.log"
}

@test "carve: a family shares its layers in docker and podman, and every container shows the same" {
    local version
    flatten carve --quiet --family --layer-size=200k fb-pack:1 fb-pack:2 "docker://$FB_REGISTRY/lab/family:{tag}" >/dev/null
    for version in 1 2; do
        docker_cli pull "$FB_REGISTRY/lab/family:$version" >"$FB_DIR/pull.log"
        podman_cli pull --quiet --tls-verify=false "$FB_REGISTRY/lab/family:$version" >/dev/null
        expect_same_image "fb-pack:$version" "$FB_REGISTRY/lab/family:$version" \
            "$(layers_of "$FB_REGISTRY/lab/family:$version" | wc -l)"
        expect_equal "$(podman_run --rm "$FB_REGISTRY/lab/family:$version")" "version $version"
    done
    grep 'Already exists' "$FB_DIR/pull.log"
    [ "$(first_shared "$FB_REGISTRY/lab/family:1" "$FB_REGISTRY/lab/family:2")" -ge 3 ] # libone, torch, busybox
}

@test "carve: podman's store, in and out, shows the same" {
    local count
    docker_cli save --output "$FB_DIR/out/one.tar" fb-pack:1
    # As Docker's manifest, which is what podman gets from flatten: `podman load` takes the OCI one of docker 26.
    podman_cli pull --quiet "docker-archive:$FB_DIR/out/one.tar" >/dev/null
    run storage_flatten carve --quiet --verify --layer-size=200k containers-storage:fb-pack:1
    expect_status 0
    count=$(podman_cli image inspect --format '{{len .RootFS.Layers}}' fb-pack:1-carved)
    [ "$count" -gt 3 ]
    expect_equal "$(podman_run --rm fb-pack:1-carved)" "version 1"
    storage_expect_same fb-pack:1 fb-pack:1-carved "$count"
    flatten carve --quiet --compression=zstd --layer-size=200k fb-pack:1 "docker://$FB_REGISTRY/lab/zstd:1" >/dev/null
    podman_cli pull --quiet --tls-verify=false "$FB_REGISTRY/lab/zstd:1" >/dev/null
    storage_expect_tree fb-pack:1 "$FB_REGISTRY/lab/zstd:1" # its manifest is OCI's: Docker's has no zstd
}

# carve_alone: FLATTEN is flatten carve, for helpers that call flatten with operands alone.
carve_alone() {
    # shellcheck disable=SC2016
    printf '#!/bin/sh\nexec %s carve --layer-size=200k "$@"\n' "$FLATTEN" >"$FB_DIR/carve"
    chmod 755 "$FB_DIR/carve"
    FLATTEN=$FB_DIR/carve
}

@test "carve: killed at any moment, docker has the old image or all of the new one, and no file is left" {
    local old
    old=$(daemon_id fb-pack:1)
    carve_alone
    killed_loading fb-killed:1 "" 5
    killed_loading fb-killed:2 "$old" 5
}

@test "carve: without room in TMPDIR, the message says so, nothing is left, and docker's tag stays" {
    local old
    docker_cli tag fb-pack:1 fb-full:1
    old=$(daemon_id fb-full:1)
    run flatten_tight 1 carve --quiet fb-pack:2 docker-daemon:fb-full:1
    expect_status 3
    expect_match 'No space left'
    expect_match 'TMPDIR'
    expect_equal "$(daemon_id fb-full:1)" "$old"
    expect_nothing_left
}
