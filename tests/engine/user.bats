#!/usr/bin/env bats
# The policy's "user" before runc and crun: what a user without a name in the image finds inside.

bats_require_minimum_version 1.5.0

load lib/frame
frame bundle

policy() { policy_user runc; }

policy_user() {
    policy_write <<END
{ "version": 1, "runtime": { "paths": ["$1"] },
  "volumes": { "home": { "source": "$FB_SRV/home/{user}", "target": "/home/{user}", "access": "rw", "always": true,
                         "create": { "mode": "0700" } } },
  "binds": { "default": "deny" },
  "user": { "passwd": true, "home": "/home/{user}", "groups": "user" } }
END
}

# user_bundle NAME SCRIPT: a bundle whose process is the user 4242, whom neither the host nor the image knows.
user_bundle() {
    local dir
    dir=$(bundle_make "$1" null "$2")
    mkdir -p "$dir/rootfs/etc"
    echo 'root:x:0:0:root:/root:/bin/sh' >"$dir/rootfs/etc/passwd"
    echo 'root:x:0:' >"$dir/rootfs/etc/group"
    bundle_edit "$dir" '.process.user = {uid: 4242, gid: 4243} | .process.capabilities = {}'
    echo "$dir"
}

finds() {
    policy_user "$1"
    # shellcheck disable=SC2016  # for the container's shell
    run shim run --bundle "$(user_bundle finds 'whoami; id -gn; echo $HOME; cd; pwd; echo kept >file
        (echo evil:x:0:0::/:/bin/sh >>/etc/passwd) 2>/dev/null || grep -c . /etc/passwd')" "$ID"
    expect_status 0
    expect_output $'4242\n4243\n/home/4242\n/home/4242\n2'
    expect_equal "$(cat "$FB_SRV/home/4242/file")" kept
}

@test "runc: a user has a name, a group and HOME, and cannot change them" { finds runc; }

@test "crun: a user has a name, a group and HOME, and cannot change them" { finds crun; }

life() {
    local bundle
    policy_user "$1"
    bundle=$(user_bundle life 'sleep 600')
    # The second launch is of a bundle that has been edited.
    for _ in 1 2; do
        shim_create "$FB_DIR/life.log" --bundle "$bundle" --pid-file "$FB_DIR/life.pid" "$ID"
        shim start "$ID"
        # shellcheck disable=SC2016
        echo '{"args":["/bin/sh","-c","whoami; echo $HOME"],"cwd":"/","env":["PATH=/bin"],"user":{"uid":4242,"gid":4243}}' \
            >"$FB_DIR/process.json"
        run shim exec --process "$FB_DIR/process.json" "$ID"
        expect_status 0
        expect_output $'4242\n/home/4242'
        shim delete --force "$ID"
        expect_equal "$(within ls -A /run/flatbed/pin)" ""
    done
}

@test "runc: exec has HOME, and nothing is left after delete" { life runc; }

@test "crun: exec has HOME, and nothing is left after delete" { life crun; }

@test "a read-only root and an image without the files are no error" {
    local bundle
    bundle=$(user_bundle readonly 'whoami')
    bundle_edit "$bundle" '.root.readonly = true'
    mkdir -p "$bundle/rootfs/home/4242"
    run shim run --bundle "$bundle" "$ID"
    expect_status 0
    expect_output 4242
    bundle=$(user_bundle bare 'cat /etc/passwd; echo over')
    rm "$bundle/rootfs/etc/passwd" "$bundle/rootfs/etc/group"
    run shim run --bundle "$bundle" "$ID"
    expect_match 'over'
    expect_status 0
}
