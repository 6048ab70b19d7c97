#!/usr/bin/env bats
# flatbed-runtime under a real containerd, driven by ctr: annotations arrive, root.path is relative.

bats_require_minimum_version 1.5.0

load lib/frame
frame containerd

policy() { policy_base runc; }

@test "ctr: an annotation mounts a data set, read-only" {
    run ctr_run c1 --annotation flatbed.data=imagenet -- cat /workspace/data/imagenet/hello
    expect_status 0
    expect_output "imagenet text"
    run ctr_run c2 --annotation flatbed.data=imagenet -- touch /workspace/data/imagenet/new
    expect_failure
    [ ! -e "$FB_SRV/data/imagenet/new" ]
}

@test "ctr: several names and a chosen target in one annotation" {
    run ctr_run c1 --annotation flatbed.data=imagenet,coco-2017:ro:/coco -- \
        cat /workspace/data/imagenet/hello /coco/hello
    expect_status 0
    expect_output $'imagenet text\ncoco text'
}

@test "ctr: without an annotation there are the always volumes and no data set" {
    run ctr_run c1 -- sh -c 'cat /workspace/site/hello; ls /workspace'
    expect_status 0
    expect_output $'site text\nlogs\nsite'
}

@test "ctr: a label is an annotation too (ctr copies it)" {
    run ctr_run c1 --label flatbed.data=imagenet -- cat /workspace/data/imagenet/hello
    expect_status 0
    expect_output "imagenet text"
}

@test "ctr: a rw volume has the container's name and keeps its files" {
    run ctr_run writer -- sh -c 'echo done >/workspace/logs/out'
    expect_status 0
    expect_equal "$(cat "$FB_SRV/logs/writer/out")" "done"
    expect_equal "$(stat -c '%a %u:%g' "$FB_SRV/logs/writer")" "750 0:0"
}

@test "ctr: exit codes and output pass through" {
    run ctr_run c1 -- sh -c 'echo out; exit 7'
    expect_status 7
    expect_output out
}

@test "ctr: exec, pause, resume, kill and delete" {
    ctr_start c1 --annotation flatbed.data=imagenet -- sh -c 'trap "exit 5" TERM; while :; do sleep 0.05; done'
    wait_for ctr_is c1 RUNNING
    # ctr may drop the output of a process that ends before its pipes are read.
    run ctr_cli task exec --exec-id e1 --fifo-dir "$FB_DIR/fifo" c1 sh -c 'cat /workspace/data/imagenet/hello; sleep 1; exit 9'
    expect_status 9
    expect_output "imagenet text"
    ctr_cli task pause c1
    ctr_is c1 PAUSED
    ctr_cli task resume c1
    wait_for ctr_is c1 RUNNING
    ctr_cli task kill --signal TERM c1
    wait_for ctr_is c1 STOPPED
    run ctr_cli task rm c1
    expect_match 'exit code 5'
    run ctr_cli container rm c1
    expect_status 0
}

@test "ctr: a name that the policy does not offer is refused, and ctr shows the name" {
    run ctr_run c1 --annotation flatbed.data=secret -- true
    expect_failure
    expect_match secret
    expect_match 'OCI runtime create failed'
}

@test "ctr: a syntax error is shown as file:line:column" {
    policy_syntax_error runc
    run ctr_run c1 -- true
    expect_failure
    expect_match "$FB_TELLS_SYNTAX"
}

@test "ctr: an unknown key is shown as file:line:column" {
    policy_unknown_key runc
    run ctr_run c1 -- true
    expect_failure
    expect_match "$FB_TELLS_KEY"
}

@test "ctr: a world-writable policy is refused, and ctr shows the reason" {
    policy_world_writable runc
    run ctr_run c1 -- true
    expect_failure
    expect_match "$FB_TELLS_WRITABLE"
}

@test "ctr: a container that ran before the policy broke is still killed and removed" {
    ctr_start c1 -- sleep 600
    wait_for ctr_is c1 RUNNING
    policy_syntax_error runc
    ctr_cli task kill --signal KILL c1
    wait_for ctr_is c1 STOPPED
    ctr_cli task rm c1 || true
    run ctr_cli container rm c1
    expect_status 0
}
