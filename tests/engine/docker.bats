#!/usr/bin/env bats
# flatbed-runtime under a real dockerd. Engines before 24.0 pass no annotations, so most requests
# are variables and /dev/null mounts, and most volumes are "always".

bats_require_minimum_version 1.5.0

load lib/frame
frame docker

policy() { policy_base runc; }

# ------------------------------------------------------------------ volumes

@test "docker: an always volume is there, at its target" {
    run docker_run --rm "$FB_IMAGE" cat /workspace/site/hello
    expect_status 0
    expect_output "site text"
}

@test "docker: a read-only volume refuses writes" {
    run docker_run --rm "$FB_IMAGE" sh -c 'echo no >/workspace/site/new'
    expect_failure
    expect_match 'Read-only file system'
    [ ! -e "$FB_SRV/site/new" ]
}

@test "docker: files of root in a created rw volume are on the host, in a directory with the policy's mode" {
    local id dir
    id=$(docker_run --detach "$FB_IMAGE" sh -c 'echo done >/workspace/logs/out')
    run docker_cli wait "$id"
    expect_output 0
    dir=$FB_SRV/logs/$id
    expect_equal "$(cat "$dir/out")" "done"
    expect_equal "$(stat -c '%a %u:%g' "$dir")" "750 0:0"
    expect_equal "$(stat -c '%u:%g' "$dir/out")" "0:0"
}

@test "docker: a volume made for --user is owned by that user, and so are the files in it" {
    policy_home runc
    run docker_run --rm --user 1234:1234 "$FB_IMAGE" sh -c 'id -u && echo mine >/work/out'
    expect_status 0
    expect_output 1234
    expect_equal "$(stat -c '%a %u:%g' "$FB_SRV/home/1234/work")" "700 1234:1234"
    expect_equal "$(stat -c '%u:%g' "$FB_SRV/home/1234/work/out")" "1234:1234"
    expect_equal "$(cat "$FB_SRV/home/1234/work/out")" "mine"
}

@test "docker: a mount of the user at the same target wins, and is mounted once" {
    mkdir "$FB_SRV/own"
    echo "own text" >"$FB_SRV/own/hello"
    run docker_run --rm -v "$FB_SRV/own:/workspace/site" "$FB_IMAGE" sh -c 'cat /workspace/site/hello /proc/mounts'
    expect_status 0
    expect_equal "${lines[0]}" "own text"
    expect_equal "$(mounted_times /workspace/site)" 1
}

@test "docker: a data set is mounted on request by environment" {
    run docker_run --rm -e FLATBED_DATA=imagenet,coco-2017 "$FB_IMAGE" \
        cat /workspace/data/imagenet/hello /workspace/data/coco-2017/hello
    expect_status 0
    expect_output $'imagenet text\ncoco text'
}

@test "docker: a data set is mounted on request by a /dev/null mount, which is not visible inside" {
    run docker_run --rm -v /dev/null:/run/flatbed/request/data/imagenet "$FB_IMAGE" \
        sh -c 'cat /workspace/data/imagenet/hello; test ! -e /run/flatbed/request/data/imagenet'
    expect_status 0
    expect_output "imagenet text"
}

# If the engine has no annotations, docker reports that and starts nothing.
@test "docker: --annotation requests data sets, with a chosen target; or docker has no annotations" {
    run docker_run --rm --annotation flatbed.data=imagenet,coco-2017:ro:/coco "$FB_IMAGE" \
        cat /workspace/data/imagenet/hello /coco/hello
    if docker_has_annotations; then
        expect_status 0
        expect_output $'imagenet text\ncoco text'
    else
        expect_failure
        expect_match '(unknown flag: --annotation|"annotation" requires API version 1.43)'
    fi
}

@test "docker: an annotation works after a restart and for exec, and is refused if it is not offered" {
    if ! docker_has_annotations; then
        # Labels do not help: they stay in the engine.
        run docker_run --rm --label flatbed.data=imagenet "$FB_IMAGE" test -e /workspace/data/imagenet
        expect_status 1
        expect_output ""
        return
    fi
    docker_run --detach --name box --annotation flatbed.data=imagenet "$FB_IMAGE" sleep 600 >/dev/null
    run docker_cli exec box cat /workspace/data/imagenet/hello
    expect_output "imagenet text"
    docker_cli restart -t 0 box
    run docker_cli exec box sh -c 'cat /workspace/data/imagenet/hello; touch /workspace/data/imagenet/new'
    expect_failure
    expect_match 'imagenet text'
    expect_match 'Read-only file system'
    run docker_run --rm --annotation flatbed.data=secret "$FB_IMAGE" true
    expect_failure
    expect_match 'flatbed.data.*secret'
    run docker_run --rm --annotation flatbed.dat=imagenet "$FB_IMAGE" true
    expect_failure
    expect_match 'flatbed.dat'
}

@test "docker: a volume requested by a /dev/null mount is mounted again after a restart" {
    docker_run --detach --name box -v /dev/null:/run/flatbed/request/data/imagenet "$FB_IMAGE" sleep 600 >/dev/null
    wait_for docker_is box running
    docker_cli restart -t 0 box
    run docker_cli exec box sh -c 'cat /workspace/data/imagenet/hello; ls -d /run/flatbed/request/data/imagenet'
    expect_match 'imagenet text'
    expect_failure
}

@test "docker: nothing is mounted for a carrier that the policy does not list" {
    sed -i 's/"requests": .*/"requests": ["annotations"],/' "$FB_POLICY"
    run docker_run --rm -e FLATBED_DATA=imagenet "$FB_IMAGE" test -e /workspace/data/imagenet
    expect_status 1
    expect_output ""
}

@test "docker: a name that the policy does not offer is refused, and docker shows the name" {
    run docker_run --rm -e FLATBED_DATA=secret "$FB_IMAGE" true
    expect_failure
    expect_match secret
    expect_match 'OCI runtime create failed'
}

# ------------------------------------------------------------------ lifecycle

@test "docker: exit codes pass through" {
    run docker_run --rm "$FB_IMAGE" sh -c 'exit 7'
    expect_status 7
    run docker_run --rm "$FB_IMAGE" true
    expect_status 0
}

@test "docker: a missing command still has status 127, and the message of the low-level runtime" {
    run -127 docker_run --rm "$FB_IMAGE" /no/such/command
    expect_match '/no/such/command'
}

@test "docker: nothing is added to the container's output" {
    run docker_run --rm "$FB_IMAGE" sh -c 'echo out; echo err >&2'
    expect_status 0
    expect_equal "$(sort <<<"$output" | tr '\n' ' ')" "err out "
}

@test "docker: kill -s TERM reaches the container" {
    docker_start_container term 'trap "exit 5" TERM; echo ready; while :; do sleep 0.05; done'
    wait_for docker_logs_have term ready
    docker_cli kill -s TERM term
    run docker_cli wait term
    expect_output 5
}

@test "docker: stop ends a container by TERM, and one that ignores it by KILL" {
    docker_start_container soft 'trap "exit 0" TERM; echo ready; while :; do sleep 0.05; done'
    docker_start_container hard 'trap "" TERM; echo ready; while :; do sleep 0.05; done'
    wait_for docker_logs_have soft ready
    wait_for docker_logs_have hard ready
    docker_cli stop -t 10 soft
    docker_cli stop -t 1 hard
    run docker_cli inspect --format '{{.State.ExitCode}}' soft hard
    expect_output $'0\n137'
}

@test "docker: exec sees the volumes and gives its exit code" {
    docker_start_container box 'sleep 600'
    run docker_cli exec box sh -c 'cat /workspace/site/hello; exit 9'
    expect_status 9
    expect_output "site text"
    run docker_cli exec --user 1234 box id -u
    expect_output 1234
}

@test "docker: exec has the variables that create added, unless it sets them itself" {
    sed -i 's|"always": true },|"always": true, "env": { "SITE": "{target}" } },|' "$FB_POLICY"
    docker_start_container box 'echo "$SITE"; sleep 600'
    wait_for docker_logs_have box /workspace/site
    # shellcheck disable=SC2016
    run docker_cli exec box sh -c 'echo "$SITE"'
    expect_output /workspace/site
    # shellcheck disable=SC2016
    run docker_cli exec -e SITE=mine box sh -c 'echo "$SITE"'
    expect_output mine
}

@test "docker: logs, attach to a terminal, and top" {
    docker_start_container box 'echo one; echo two; sleep 600'
    wait_for docker_logs_have box two
    run docker_cli logs box
    expect_output $'one\ntwo'
    run docker_cli top box
    expect_match 'sleep 600'
    run docker_run --rm --tty "$FB_IMAGE" test -t 1
    expect_status 0
}

@test "docker: pause and unpause" {
    docker_start_container box 'sleep 600'
    docker_cli pause box
    docker_is box paused
    docker_cli unpause box
    docker_is box running
}

has_lines() { [ "$(wc -l <"$2")" = "$1" ]; }

@test "docker: restart and start again give the same volumes, once" {
    local id
    docker_start_container box 'echo started >>/workspace/logs/count; sleep 600'
    id=$(docker_cli inspect --format '{{.Id}}' box)
    wait_for test -s "$FB_SRV/logs/$id/count"
    docker_cli restart -t 0 box
    wait_for has_lines 2 "$FB_SRV/logs/$id/count"
    run docker_cli exec box cat /proc/mounts
    expect_equal "$(mounted_times /workspace/logs)" 1
    expect_equal "$(mounted_times /workspace/site)" 1
    docker_cli stop -t 0 box
    docker_cli start box
    docker_is box running
}

@test "docker: cp and diff still work; cp does not reach into the volumes" {
    docker_start_container box 'echo x >/made; sleep 600'
    wait_for docker_cli cp box:/made "$FB_DIR/made"
    expect_equal "$(cat "$FB_DIR/made")" x
    run docker_cli diff box
    expect_match 'A /made'
    expect_no_match 'hello'
    # dockerd reads the layers and its own mounts, never those of the shim.
    run docker_cli cp box:/workspace/site/hello -
    expect_failure
    run docker_cli exec box cat /workspace/site/hello
    expect_output "site text"
}

# ------------------------------------------------------------------ a policy that does not load

@test "docker: a syntax error stops the start, and docker shows file:line:column" {
    policy_syntax_error runc
    run docker_run --rm "$FB_IMAGE" true
    expect_failure
    expect_match "$FB_TELLS_SYNTAX"
}

@test "docker: an unknown key stops the start, and docker shows file:line:column and the key" {
    policy_unknown_key runc
    run docker_run --rm "$FB_IMAGE" true
    expect_failure
    expect_match "$FB_TELLS_KEY"
    expect_match volume
}

@test "docker: a world-writable policy stops the start, and docker shows the reason" {
    policy_world_writable runc
    run docker_run --rm "$FB_IMAGE" true
    expect_failure
    expect_match "$FB_TELLS_WRITABLE"
}

@test "docker: a missing policy stops the start, and docker shows its name" {
    rm "$FB_POLICY"
    run docker_run --rm "$FB_IMAGE" true
    expect_failure
    expect_match 'policy\.json'
}

@test "docker: a container that ran before the policy broke is still stopped and removed" {
    docker_start_container box 'sleep 600'
    docker_start_container other 'sleep 600'
    policy_syntax_error runc
    docker_cli pause box
    docker_cli unpause box
    run docker_cli stop -t 0 box
    expect_status 0
    run docker_cli rm box
    expect_status 0
    run docker_cli rm --force other
    expect_status 0
}
