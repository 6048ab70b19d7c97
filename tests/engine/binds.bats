#!/usr/bin/env bats
# The policy's "binds" before a real runc: what a user swaps while containers are created is never
# what they get.

bats_require_minimum_version 1.5.0

load lib/common
load lib/image
load lib/policy
load lib/lowlevel
load lib/bundle

setup_file() {
    fb_begin
    require_root
    require_busybox
    require_tool runc jq
    image_rootfs
}

teardown_file() { fb_end; }

setup() {
    fb_gate
    srv_make
    ID=fb$$-$BATS_TEST_NUMBER
    mkdir -p "$FB_SRV/secret" "$FB_SRV/home/1234/work"
    echo "secret text" >"$FB_SRV/secret/hello"
    echo "own text" >"$FB_SRV/home/1234/work/hello"
    policy_write <<END
{ "version": 1, "runtime": { "paths": ["runc"] },
  "binds": { "default": "deny", "rules": [
    { "path": "$FB_SRV/home/1234", "access": "allow", "options": ["nosuid"] },
    { "path": "$FB_SRV/data", "access": "ro" } ] } }
END
}

teardown() {
    [ -n "$FB_REFUSED" ] || bundle_remove_all
}

# with_mount NAME SOURCE SCRIPT: a bundle that mounts it on /x; its path on stdout.
with_mount() {
    local bundle
    bundle=$(bundle_make "$1" null "$3")
    bundle_edit "$bundle" --arg s "$2" \
        '.mounts += [{destination: "/x", type: "bind", source: $s, options: ["rbind", "rprivate"]}]'
    echo "$bundle"
}

@test "runc: an allowed mount is there, another one refused" {
    run shim run --bundle "$(with_mount own "$FB_SRV/home/1234/work" 'cat /x/hello; echo new >/x/new')" "$ID"
    expect_status 0
    expect_output "own text"
    expect_equal "$(cat "$FB_SRV/home/1234/work/new")" new
    run shim run --bundle "$(with_mount other "$FB_SRV/secret" 'cat /x/hello')" "$ID"
    expect_status 1
    expect_match "$FB_SRV/secret is not allowed"
}

@test "runc: ro is read-only" {
    run shim run --bundle "$(with_mount ro "$FB_SRV/data" 'cat /x/imagenet/hello; touch /x/new')" "$ID"
    expect_failure
    expect_match 'imagenet text'
    expect_match 'Read-only file system'
}

@test "runc: a symlink that is swapped all the time never shows what it must not" {
    local bundle i seen=0 refused=0 home=$FB_SRV/home/1234
    ln -s work "$home/link"
    bundle=$(with_mount race "$home/link" 'cat /x/hello')
    cp "$bundle/config.json" "$FB_DIR/race.json"
    (
        while :; do
            ln -s "$FB_SRV/secret" "$home/bad" && mv -T "$home/bad" "$home/link"
            ln -s work "$home/good" && mv -T "$home/good" "$home/link"
        done
    ) >/dev/null 2>&1 3>&- &
    local swapper=$!
    for ((i = 0; i < 60; i++)); do
        cp "$FB_DIR/race.json" "$bundle/config.json"
        run shim run --bundle "$bundle" "$ID-$i"
        [[ $output != *"secret text"* ]] || break
        if [ "$output" = "own text" ]; then seen=$((seen + 1)); else refused=$((refused + 1)); fi
    done
    kill "$swapper"
    wait "$swapper" || true
    echo "own $seen, refused $refused, last: $output"
    expect_equal "$i" 60
    [ "$seen" -gt 0 ]
    [ "$refused" -gt 0 ]
}
