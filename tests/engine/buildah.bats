#!/usr/bin/env bats
# flatbed-runtime under buildah, which gives a runtime neither annotations nor a log: variables ask.

bats_require_minimum_version 1.5.0

load lib/common
load lib/image
load lib/policy
load lib/lowlevel
load lib/podman
load lib/buildah

setup_file() {
    fb_begin
    require_root
    require_busybox
    require_tool buildah crun runc jq
    policy_base crun
    image_archive
    buildah_start
}

teardown_file() {
    buildah_stop
    fb_end
}

setup() {
    fb_gate
    policy_base crun
    srv_make
}

# buildah_steps LINES: an image built from the test's by these lines of a Dockerfile.
buildah_steps() {
    mkdir -p "$FB_DIR/context"
    printf 'FROM %s\n%s\n' "$FB_BASE" "$1" >"$FB_DIR/context/Dockerfile"
    buildah_cli bud --runtime "$FB_DIR/bin/flatbed-runtime" --network=none --no-cache --tag built "$FB_DIR/context"
}

sees_volumes() {
    policy_base "$1"
    run buildah_run -- sh -c 'cat /workspace/site/hello; echo kept >/workspace/logs/out'
    expect_status 0
    expect_output "site text"
    expect_equal "$(cat "$FB_SRV"/logs/*/out)" kept
    run buildah_run --env FLATBED_DATA=imagenet -- cat /workspace/data/imagenet/hello
    expect_status 0
    expect_output "imagenet text"
    run buildah_run --env FLATBED_DATA=imagenet -- touch /workspace/data/imagenet/new
    expect_failure
    expect_match 'Read-only file system'
}

@test "buildah run: volumes, and a data set on request by environment, over crun" { sees_volumes crun; }

@test "buildah run: volumes, and a data set on request by environment, over runc" { sees_volumes runc; }

@test "buildah run: exit codes pass through" {
    run buildah_run -- sh -c 'echo out; exit 7'
    expect_failure
    expect_match 'out'
    expect_match 'exit status 7'
}

@test "buildah bud: RUN steps see volumes, also what ENV asks for, and the image gets nothing of them" {
    run buildah_steps $'RUN cat /workspace/site/hello\nENV FLATBED_DATA=coco-2017\nRUN cat /workspace/data/coco-2017/hello >/got'
    expect_status 0
    expect_match 'site text'
    run buildah_cli run --runtime crun --network=none "$(buildah_cli from localhost/built)" \
        sh -c 'cat /got; ls /workspace/site /workspace/logs /workspace/data/coco-2017'
    expect_status 0
    expect_match 'coco text'
    expect_no_match 'hello'
}

@test "buildah: what is refused is said, by the message alone" {
    run buildah_run --env FLATBED_DATA=secret -- true
    expect_failure
    expect_match "FLATBED_DATA: 'secret' is not offered"
    expect_no_match '"level"'
    run buildah_steps $'ENV FLATBED_DATA=secret\nRUN true'
    expect_failure
    expect_match "FLATBED_DATA: 'secret' is not offered"
    policy_syntax_error crun
    run buildah_run -- true
    expect_failure
    expect_match "$FB_TELLS_SYNTAX"
}

# buildah binds a bind of /dev/null, under a name of its own.
@test "buildah: a request by mount is refused, as flatbed-runtime(8) says" {
    run buildah_run -v /dev/null:/run/flatbed/request/data/coco-2017 -- true
    expect_failure
    expect_match 'only a bind mount of /dev/null asks for something'
}
