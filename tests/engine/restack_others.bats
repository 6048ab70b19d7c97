#!/usr/bin/env bats
# rootfs.beyond "restack" under containerd and podman, over runc and crun: each names the layers of a
# deep image in its own way.

bats_require_minimum_version 1.5.0

load lib/frame
frame podman containerd

file_require() {
    require_flatbed
    require_tool crun gojq python3
    overlay_works || refuse "no overlay mounts here"
}

policy() { rules runc; }

file_ready() {
    python3 "$BATS_TEST_DIRNAME/lib/layers.py" "$FB_DIR/rootfs" "$FB_DIR/deep.tar" "docker.io/library/$DEEP" 60
    podman_cli load --quiet --input "$FB_DIR/deep.tar" >/dev/null
    ctr_cli image import --snapshotter "$FB_SNAPSHOTTER" "$FB_DIR/deep.tar" >/dev/null
}

test_begin() {
    mkdir -p "$FB_DIR/log"
    rm -f "$FB_DIR"/log/*
    rm -rf "$FB_DIR/restack"
}

DEEP=flatbed-deep:1

rules() {
    policy_write <<END
{ "version": 1, "runtime": { "paths": ["$1"] },
  "rootfs": { "max_depth": 5, "beyond": "restack", "cache": "$FB_DIR/restack" },
  "audit": { "file": "$FB_DIR/log/audit.jsonl" } }
END
}

trees() { "$FLATBED" restack --cache "$FB_DIR/restack" --json; }
is_built() { trees | gojq -e '.trees[] | select(.state == "ready")'; }
said() { tail -n 1 "$FB_DIR/log/audit.jsonl" | gojq -r ".operations[] | select(.kind == \"rootfs\") | .$1"; }

over_podman() {
    rules "$1"
    run podman_run --rm "$DEEP" cat /lib/last
    expect_status 0
    [[ $(said reason) =~ "a tree of them is made in the background" ]] || { said reason; return 1; }
    wait_for is_built
    run podman_run --rm "$DEEP" sh -c 'cat /lib/last /lib/f4 /lib/opaque/*; test ! -e /lib/f5; echo more >/lib/f4'
    expect_status 0
    expect_output $'layer 59 was the last\nfrom layer 4\nnew'
    [ "$(said verdict)" = added ] || { said reason; return 1; }

    podman_run --detach --name c1 "$DEEP" sleep 600 >/dev/null
    [ "$(said verdict)" = added ]
    at=$(podman_cli inspect --format '{{.GraphDriver.Data.MergedDir}}' c1)
    within grep -F " $at " /proc/self/mountinfo | grep -qF /restack/
    podman_cli exec c1 sh -c 'echo mine >/lib/f4; rm /lib/f6'
    echo copied >"$FB_DIR/copied"
    podman_cli cp "$FB_DIR/copied" c1:/lib/copied
    [ "$(podman_cli exec c1 cat /lib/copied)" = copied ]
    [ "$(podman_cli diff c1 | sort | tr '\n' ' ')" = "A /lib/copied C /etc C /lib C /lib/f4 D /lib/f6 " ]
    podman_cli commit --quiet c1 made >/dev/null
    [ "$(FB_PODMAN_RUNTIME=/usr/sbin/runc podman_run --rm made cat /lib/f4 /lib/last)" = $'mine\nlayer 59 was the last' ]
    podman_cli restart -t 0 c1
    [ "$(podman_cli exec c1 cat /lib/f4)" = mine ]
    podman_cli rm --force -t 0 c1
    run ! within grep -F " $at " /proc/self/mountinfo
    podman_cli rmi --force made >/dev/null
}

@test "podman over runc: restacked, exec, cp, diff, commit, restart, removed" { over_podman runc; }

@test "podman over crun: the same" { over_podman crun; }

@test "containerd: restacked, exec, removed" {
    rules runc
    export FB_IMAGE=$DEEP
    run ctr_run c1 -- cat /lib/last
    expect_status 0
    [[ $(said reason) =~ "has 60 layers: a tree of them is made in the background" ]] || { said reason; return 1; }
    wait_for is_built
    run ctr_run c2 -- sh -c 'cat /lib/last /lib/f4; test ! -e /lib/f5; echo mine >/lib/f4; cat /lib/f4'
    expect_output $'layer 59 was the last\nfrom layer 4\nmine'
    [ "$(said verdict)" = added ]
    ctr_start c3 -- sleep 600
    wait_for ctr_is c3 RUNNING
    grep -F "/c3/rootfs " /proc/self/mountinfo | grep -qF /restack/
    # ctr may lose the output of a process that ends at once.
    run ctr_cli task exec --exec-id e1 c3 sh -c 'cat /lib/f4; sleep 1'
    expect_output "from layer 4"
    ctr_cli task kill --signal KILL c3
    wait_for ctr_is c3 STOPPED
    ctr_cli task rm c3 >/dev/null
    run ! grep -F "/c3/rootfs " /proc/self/mountinfo
}
