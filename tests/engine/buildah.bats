#!/usr/bin/env bats
# flatbed-runtime under buildah, which gives a runtime neither annotations nor a log: requests are variables.

bats_require_minimum_version 1.5.0

load lib/frame
frame buildah

policy() { policy_base crun; }

# buildah_steps LINES: builds an image from that of the tests, by these lines of a Dockerfile.
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

@test "buildah bud: RUN steps see volumes, also those that ENV requests, and the image has none of them" {
    run buildah_steps $'RUN cat /workspace/site/hello\nENV FLATBED_DATA=coco-2017\nRUN cat /workspace/data/coco-2017/hello >/got'
    expect_status 0
    expect_match 'site text'
    run buildah_cli run --runtime crun --network=none "$(buildah_cli from localhost/built)" \
        sh -c 'cat /got; ls /workspace/site /workspace/logs /workspace/data/coco-2017'
    expect_status 0
    expect_match 'coco text'
    expect_no_match 'hello'
}

@test "buildah: a refusal is shown by its message" {
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

# buildah replaces /dev/null by a bind mount with another name.
@test "buildah: a request by mount is refused, as flatbed-runtime(8) says" {
    run buildah_run -v /dev/null:/run/flatbed/request/data/coco-2017 -- true
    expect_failure
    expect_match 'only a bind mount of /dev/null asks for something'
}
