#!/usr/bin/env bats
# The policy's "binds" before a real runc, and races: a path that a user swaps while containers are created
# is never mounted.

bats_require_minimum_version 1.5.0

load lib/frame
frame bundle

policy() { guard runc; }

test_begin() {
    mkdir -p "$FB_SRV/secret" "$FB_SRV/home/1234/work"
    echo "secret text" >"$FB_SRV/secret/hello"
    echo "own text" >"$FB_SRV/home/1234/work/hello"
}

# guard RUNTIME: a policy that lets a user mount files that he owns, and has a volume in his directory.
guard() {
    policy_write <<END
{ "version": 1, "runtime": { "paths": ["$1"] },
  "volumes": { "own": { "source": "$FB_SRV/home/1234/{name}", "target": "/x" } },
  "binds": { "default": "deny", "rules": [
    { "path": "$FB_SRV/home/1234", "access": "allow", "options": ["nosuid"] },
    { "path": "$FB_SRV/data", "access": "ro" } ] } }
END
}

# with_mount NAME SOURCE SCRIPT: makes a bundle that mounts SOURCE on /x; prints its path.
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

# swapping FUNCTION: repeats it in the background; its process is $SWAPPER.
swapping() {
    (while :; do "$1"; done) >/dev/null 2>&1 3>&- &
    SWAPPER=$!
}

swap_links() {
    ln -s "$FB_SRV/secret" "$FB_SRV/home/1234/bad" && mv -T "$FB_SRV/home/1234/bad" "$FB_SRV/home/1234/link"
    ln -s work "$FB_SRV/home/1234/good" && mv -T "$FB_SRV/home/1234/good" "$FB_SRV/home/1234/link"
}

swap_directory() {
    mv -T "$FB_SRV/home/1234/work" "$FB_SRV/home/1234/aside"
    ln -s "$FB_SRV/secret" "$FB_SRV/home/1234/work"
    rm "$FB_SRV/home/1234/work"
    mv -T "$FB_SRV/home/1234/aside" "$FB_SRV/home/1234/work"
}

# never_secret BUNDLE: runs forty containers while a path is swapped: some show the user's file, some are
# refused, and none shows another one.
never_secret() {
    local i seen=0 refused=0
    cp "$1/config.json" "$FB_DIR/race.json"
    for ((i = 0; i < 40; i++)); do
        cp "$FB_DIR/race.json" "$1/config.json"
        run shim run --bundle "$1" "$ID-$i"
        [[ $output != *"secret text"* ]] || break
        if [ "$output" = "own text" ]; then seen=$((seen + 1)); else refused=$((refused + 1)); fi
    done
    kill "$SWAPPER"
    wait "$SWAPPER" || true
    echo "own $seen, refused $refused, last: $output"
    expect_equal "$i" 40
    [ "$seen" -gt 0 ]
    [ "$refused" -gt 0 ]
}

bind_race() {
    guard "$1"
    ln -s work "$FB_SRV/home/1234/link"
    local bundle
    bundle=$(with_mount race "$FB_SRV/home/1234/link" 'cat /x/hello')
    swapping swap_links
    never_secret "$bundle"
}

volume_race() {
    guard "$1"
    chown 1234 "$FB_SRV/home/1234"
    local bundle
    bundle=$(bundle_make race '{"flatbed.own":"work"}' 'cat /x/hello')
    swapping swap_directory
    never_secret "$bundle"
}

@test "runc: a symlink that is swapped all the time never shows a secret" { bind_race runc; }

@test "crun: a symlink that is swapped all the time never shows a secret" { bind_race crun; }

@test "runc: a volume's directory that is swapped for a symlink never shows a secret" { volume_race runc; }

@test "crun: a volume's directory that is swapped for a symlink never shows a secret" { volume_race crun; }
