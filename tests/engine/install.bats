#!/usr/bin/env bats
# Engines with the configuration that flatbed install writes; flatbed explain on their containers.

bats_require_minimum_version 1.5.0

load lib/frame
frame docker
load lib/podman

file_require() {
    require_flatbed
    require_tool gojq
}

policy() { policy_base runc; }

# A podman that a test started ends with that test.
test_end() {
    [ -z "${FB_NAMESPACE_PID-}" ] || podman_stop
}

file_end() { podman_stop; }

# shellcheck disable=SC2154  # status and output are set by bats' run

# The configuration for docker_spawn: an existing file, edited by flatbed install.
docker_daemon_json() {
    echo '{ "debug": true }' >"$FB_DIR/installed.json"
    "$FLATBED" install docker --config="$FB_DIR/installed.json" --runtime="$FB_DIR/bin/flatbed-runtime" >&2
    cat "$FB_DIR/installed.json"
}

install() { "$FLATBED" "$1" docker --config="$FB_DIR/daemon.json" "${@:2}"; }

default_runtime() { [ "$(docker_cli info --format '{{.DefaultRuntime}}')" = "$1" ]; }

@test "install: docker has the runtime, but not as its default" {
    default_runtime runc
    run docker_run --rm "$FB_IMAGE" cat /workspace/site/hello
    expect_status 0
    expect_output "site text"
    run docker_cli run --rm --network=none "$FB_IMAGE" cat /workspace/site/hello
    expect_failure
}

@test "install: docker has it as the default after a reload" {
    install install --runtime="$FB_DIR/bin/flatbed-runtime" --default
    kill -HUP "$FB_DOCKERD_PID"
    wait_for default_runtime flatbed
    run docker_cli run --rm --network=none "$FB_IMAGE" cat /workspace/site/hello
    expect_status 0
    expect_output "site text"
}

# A stand-in for NVIDIA's runtime: it marks config.json, and calls the first of its configuration's runtimes.
nvidia_stand_in() {
    FB_TOOLKIT=$FB_DIR/bin/.config/nvidia-container-runtime/config.toml
    mkdir -p "${FB_TOOLKIT%/*}"
    printf '[nvidia-container-runtime]\nmode = "auto"\nruntimes = ["%s", "runc"]\n' "$(command -v runc)" >"$FB_TOOLKIT"
    cat >"$FB_DIR/bin/nvidia-container-runtime" <<EOF
#!/bin/sh
runtime=\$(sed -n 's/^runtimes = \["\([^"]*\)".*/\1/p' $FB_TOOLKIT)
case " \$* " in *" create "*) sed -i 's/"env":\[/&"GPU=added",/' "\$(expr "\$*" : '.*--bundle \([^ ]*\)')/config.json" ;; esac
exec "\$runtime" "\$@"
EOF
    chmod 0755 "$FB_DIR/bin/nvidia-container-runtime"
}

@test "install: NVIDIA's runtime stays the default of docker, and its containers are judged" {
    nvidia_stand_in
    cp "$FB_DIR/daemon.json" "$FB_DIR/old.json"
    gojq --arg path "$FB_DIR/bin/nvidia-container-runtime" \
        '.runtimes.nvidia = {path: $path} | ."default-runtime" = "nvidia"' "$FB_DIR/old.json" >"$FB_DIR/new.json"
    cat "$FB_DIR/new.json" >"$FB_DIR/daemon.json"
    run install install --runtime="$FB_DIR/bin/flatbed-runtime" --default
    expect_status 8
    "$FLATBED" install nvidia --config="$FB_TOOLKIT" --runtime="$FB_DIR/bin/flatbed-runtime"
    install install --runtime="$FB_DIR/bin/flatbed-runtime" --default
    kill -HUP "$FB_DOCKERD_PID"
    wait_for default_runtime nvidia
    run docker_cli run --rm --network=none "$FB_IMAGE" sh -c 'echo "$GPU"; cat /workspace/site/hello'
    expect_status 0
    expect_output $'added\nsite text'
    "$FLATBED" uninstall nvidia --config="$FB_TOOLKIT"
    run docker_cli run --rm --network=none "$FB_IMAGE" sh -c 'echo "$GPU"; cat /workspace/site/hello'
    expect_failure
    expect_match added
    cat "$FB_DIR/old.json" >"$FB_DIR/daemon.json"
    kill -HUP "$FB_DOCKERD_PID"
}

explain() {
    run "$FLATBED" explain "--policy=$FB_POLICY" "--state=$FB_DIR/exec" "--state=$FB_DIR/docker" \
        "--state=$FB_DIR/podman/root" "$@"
}

@test "explain: a running container of docker, by name and by ID" {
    local id
    id=$(docker_run --detach --name train --user 1234:1234 -v "$FB_SRV/data:/mine" "$FB_IMAGE" sleep 600)
    explain train
    expect_status 0
    expect_match "container +$id"
    expect_match "runs as +1234:1234"
    expect_match "added +volume +site +$FB_SRV/site → /workspace/site +ro +$FB_POLICY:[0-9]+ +policy +always mounted"
    explain "${id:0:12}" --json
    expect_status 0
    expect_equal "$(gojq -r '.container, .allowed' <<<"$output" | tr '\n' ' ')" "$id true "
    # the verdict of a new policy
    policy_write <<EOF
{ "version": 1, "runtime": { "paths": ["runc"] }, "binds": { "default": "deny", "rules": [
  { "path": "$FB_DIR", "access": "allow" }, { "path": "$FB_SRV/data", "access": "deny", "say": "ask" } ] } }
EOF
    explain train
    expect_status 1
    expect_match "denied +mount +/mine +$FB_SRV/data → /mine +$FB_POLICY:2 .*ask"
}

@test "explain: a mount that is held, since its user could swap it, is shown as requested" {
    policy_write <<EOF
{ "version": 1, "runtime": { "paths": ["runc"] }, "binds": { "default": "deny", "rules": [
  { "path": "$FB_SRV/home/1234", "access": "allow" },
  { "path": "/var/lib/docker", "access": "allow" }, { "path": "$FB_DIR/docker", "access": "allow" } ] } }
EOF
    mkdir -p "$FB_SRV/home/1234/work"
    chown 1234:1234 "$FB_SRV/home/1234/work"
    docker_run --detach --name held -v "$FB_SRV/home/1234/work:/work" "$FB_IMAGE" sleep 600 >/dev/null
    explain held
    echo "$output"
    expect_status 0
    expect_match "kept +mount +/work +$FB_SRV/home/1234/work → /work +rw .* user +allowed"
}

@test "install: containerd reads the edited configuration" {
    local file=$FB_DIR/config.toml
    containerd config default >"$file"
    "$FLATBED" install containerd --config="$file" --runtime="$FB_DIR/bin/flatbed-runtime" --default
    run containerd --config "$file" config dump
    expect_status 0
    expect_match 'default_runtime_name = "flatbed"'
    expect_match "BinaryName = \"$FB_DIR/bin/flatbed-runtime\""
    expect_match 'pod_annotations = \["flatbed.\*"\]'
    "$FLATBED" uninstall containerd --config="$file"
    expect_equal "$(sha256sum <"$file")" "$(containerd config default | sha256sum)"
}

@test "install: podman has the runtime, by name and as its default" {
    require_tool podman conmon crun
    fb_gate
    policy_base crun
    podman_start
    "$FLATBED" install podman --config="$FB_DIR/containers.conf" --runtime="$FB_DIR/bin/flatbed-runtime" --default
    local -a podman=(within env CONTAINERS_CONF="$FB_DIR/containers.conf"
        CONTAINERS_STORAGE_CONF="$FB_DIR/storage.conf" TMPDIR="$FB_DIR/tmp" podman)
    run "${podman[@]}" run --rm --network=none "$FB_IMAGE" cat /workspace/site/hello 3>&-
    expect_status 0
    expect_output "site text"
    run "${podman[@]}" --runtime flatbed run --detach --name web --network=none "$FB_IMAGE" sleep 600 3>&-
    expect_status 0
    explain web
    expect_status 0
    expect_match "added +volume +site .* policy "
    FB_PODMAN_RUNTIME=flatbed podman_remove_all
    "$FLATBED" uninstall podman --config="$FB_DIR/containers.conf"
    expect_equal "$(cat "$FB_DIR/containers.conf")" "$(podman_containers_conf)"
}

@test "uninstall: docker does not have the runtime after a restart" {
    install install --runtime="$FB_DIR/bin/flatbed-runtime" --default
    install uninstall
    cp "$FB_DIR/daemon.json" "$FB_DIR/after.json"
    expect_equal "$(cat "$FB_DIR/after.json")" '{ "debug": true }'
    docker_remove_all
    docker_stop
    docker_daemon_json() { cat "$FB_DIR/after.json"; }
    docker_start
    default_runtime runc
    run docker_run --rm "$FB_IMAGE" true
    expect_failure
    docker_stop
}
