#!/usr/bin/env bats
# Targets below other mounts, before a real runc and crun: a user who changes what is mounted above a target,
# also while the container is made, has nothing mounted elsewhere, and nothing made in a read-only source.

bats_require_minimum_version 1.5.0

load lib/frame
frame bundle

policy() { guard runc; }

test_begin() {
    HOME_DIR=$FB_SRV/home/1234
    mkdir -p "$HOME_DIR/sub/deep" "$FB_SRV/scratch"
    echo evil >"$FB_SRV/scratch/file"
    chown -R 1234 "$HOME_DIR" "$FB_SRV/scratch"
    chmod 0777 "$FB_SRV/scratch" "$HOME_DIR"
}

# guard RUNTIME
guard() {
    policy_write <<END
{ "version": 1, "runtime": { "paths": ["$1"] },
  "volumes": { "own": { "source": "$FB_SRV/data/{name}", "target": "/mnt/own/{name}" },
               "data": { "source": "$FB_SRV/data/{name}", "target": "/data" } },
  "binds": { "default": "deny", "rules": [
      { "path": "$FB_SRV/home/1234", "access": "allow" },
      { "path": "$FB_SRV/scratch", "access": "allow" },
      { "path": "$FB_SRV/data", "access": "ro" } ],
    "targets_deny": ["/", "/proc", "/sys", "/dev", "/etc/ld.so.preload"] } }
END
}

# nested NAME SCRIPT SOURCE TARGET…: makes a bundle with these bind mounts, in this order; prints its path.
nested() {
    local bundle
    bundle=$(bundle_make "$1" "${ASKS-null}" "$2")
    shift 2
    while [ $# -gt 0 ]; do
        bundle_edit "$bundle" --arg s "$1" --arg t "$2" \
            '.mounts += [{destination: $t, type: "bind", source: $s, options: ["rbind", "rprivate"]}]'
        shift 2
    done
    echo "$bundle"
}

follows_no_link() {
    guard "$1"
    ln -s / "$HOME_DIR/r"
    ln -s /proc "$HOME_DIR/p"
    run shim run --bundle "$(nested one 'cat /etc/ld.so.preload' "$HOME_DIR" /mnt "$FB_SRV/scratch/file" /mnt/r/etc/ld.so.preload)" "$ID"
    expect_status 1
    expect_match "on /mnt/r/etc/ld.so.preload: .*a symbolic link in what is mounted on /mnt"
    run shim run --bundle "$(nested two 'ls /proc' "$HOME_DIR" /mnt "$FB_SRV/scratch" /mnt/p)" "$ID"
    expect_status 1
    expect_match "a symbolic link in what is mounted on /mnt"
    # A link of the image leads into the mount.
    local bundle
    bundle=$(nested three 'cat /etc/ld.so.preload' "$HOME_DIR" /mnt "$FB_SRV/scratch/file" /x/etc/ld.so.preload)
    ln -s /mnt/r "$bundle/rootfs/x"
    run shim run --bundle "$bundle" "$ID"
    expect_status 1
    expect_match "a symbolic link in what is mounted on /mnt"
    # The target of a volume, and a file system of the kernel.
    mkdir -p "$FB_SRV/data/imagenet"
    ln -s /etc "$HOME_DIR/own"
    run shim run --bundle "$(ASKS='{"flatbed.own":"imagenet"}' nested four 'ls /etc/imagenet' "$HOME_DIR" /mnt)" "$ID"
    expect_status 1
    expect_match "a symbolic link in what is mounted on /mnt"
    bundle=$(nested five 'ls /etc' "$HOME_DIR" /mnt)
    bundle_edit "$bundle" '.mounts += [{destination: "/mnt/r/etc", type: "tmpfs", source: "tmpfs"}]'
    run shim run --bundle "$bundle" "$ID"
    expect_status 1
    expect_match "a symbolic link in what is mounted on /mnt"
}

@test "runc: a target below a mount leads through no link of it" { follows_no_link runc; }

@test "crun: a target below a mount leads through no link of it" { follows_no_link crun; }

nests() {
    local bundle script='cat /mnt/sub/imagenet/hello; echo new >/mnt/sub2/deep/new; cat /mnt/own/imagenet/hello'
    guard "$1"
    bundle=$(ASKS='{"flatbed.own":"imagenet"}' nested one "$script" "$HOME_DIR" /mnt "$FB_SRV/data" /mnt/sub "$FB_SRV/scratch" /mnt/sub2/deep)
    bundle_edit "$bundle" '.mounts += [{destination: "/mnt/cache", type: "tmpfs", source: "tmpfs"}]'
    run shim run --bundle "$bundle" "$ID"
    expect_output $'imagenet text\nimagenet text'
    expect_status 0
    expect_equal "$(cat "$FB_SRV/scratch/new")" new
    # The edited bundle is launched again.
    cp "$bundle/config.json" "$FB_DIR/edited.json"
    run shim run --bundle "$bundle" "$ID-2"
    expect_output $'imagenet text\nimagenet text'
    cmp "$bundle/config.json" "$FB_DIR/edited.json"
}

@test "runc: mounts below a user's directory are there, also at a second launch" { nests runc; }

@test "crun: mounts below a user's directory are there, also at a second launch" { nests crun; }

swaps() {
    local i seen=0 refused=0 evil=0 bundle swapper
    guard "$1"
    touch "$HOME_DIR/sub/ld.so.preload"
    ln -s /etc "$HOME_DIR/link"
    # shellcheck disable=SC2016  # for the container's shell
    bundle=$(nested race 'echo "is $(cat /etc/ld.so.preload 2>&1)"' "$HOME_DIR" /mnt "$FB_SRV/scratch/file" /mnt/sub/ld.so.preload)
    cp "$bundle/config.json" "$FB_DIR/race.json"
    python3 -B "$BATS_TEST_DIRNAME/lib/exchange.py" "$HOME_DIR/sub" "$HOME_DIR/link" 3>&- &
    swapper=$!
    # Chance decides which of both comes up how often.
    for ((i = 0; i < 60 || (i < 1000 && (seen == 0 || refused == 0)); i++)); do
        cp "$FB_DIR/race.json" "$bundle/config.json"
        run shim run --bundle "$bundle" "$ID-$i"
        [[ $output != *"is evil"* ]] || evil=1
        if [[ $output == "is "* ]]; then seen=$((seen + 1)); fi
        # crun does not show what a hook says.
        if [[ $output =~ "was mounted elsewhere"|"error executing hook".*flatbed-runtime ]]; then refused=$((refused + 1)); fi
    done
    kill "$swapper"
    wait "$swapper" || true
    echo "seen $seen, refused $refused, last: $output"
    [ "$evil" -eq 0 ]
    [ "$seen" -gt 0 ]
    [ "$refused" -gt 0 ]
}

@test "runc: a directory that is swapped for a link while containers are made moves no mount" { swaps runc; }

@test "crun: a directory that is swapped for a link while containers are made moves no mount" { swaps crun; }

# The same in a root that is not an engine's, where a directory is a user's.
swaps_in_root() {
    local i refused=0 evil=0 bundle swapper root=$FB_SRV/roots/one
    guard "$1"
    sed -i "s#\"rules\": \[#&{ \"path\": \"$FB_SRV/roots\", \"access\": \"allow\" },#" "$FB_POLICY"
    # shellcheck disable=SC2016  # for the container's shell
    bundle=$(nested race 'echo "is $(cat /etc/ld.so.preload 2>&1)"' "$FB_SRV/scratch/file" /home/sub/ld.so.preload)
    mkdir -p "$root"
    tar -C "$bundle/rootfs" -c . | tar -C "$root" -x
    mkdir -p "$root/home/sub"
    touch "$root/home/sub/ld.so.preload"
    ln -s /etc "$root/home/link"
    chown -R 1234 "$root/home"
    bundle_edit "$bundle" --arg r "$root" '.root.path = $r'
    cp "$bundle/config.json" "$FB_DIR/race.json"
    run shim run --bundle "$bundle" "$ID"
    expect_output "is cat: can't open '/etc/ld.so.preload': No such file or directory"
    python3 -B "$BATS_TEST_DIRNAME/lib/exchange.py" "$root/home/sub" "$root/home/link" 3>&- &
    swapper=$!
    for ((i = 0; i < 40 || (i < 1000 && refused == 0); i++)); do
        cp "$FB_DIR/race.json" "$bundle/config.json"
        run shim run --bundle "$bundle" "$ID-$i"
        [[ $output != *"is evil"* ]] || evil=1
        if [[ $output =~ "symbolic link on the way in the container's root"|"was mounted elsewhere"|"error executing hook".*flatbed-runtime ]]; then refused=$((refused + 1)); fi
    done
    kill "$swapper"
    wait "$swapper" || true
    echo "refused $refused, last: $output"
    [ "$evil" -eq 0 ]
    [ "$refused" -gt 0 ]
}

@test "runc: in a root of the host a directory that is swapped for a link moves no mount" { swaps_in_root runc; }

@test "crun: in a root of the host a directory that is swapped for a link moves no mount" { swaps_in_root crun; }

shares_nothing() {
    local bundle mounts
    policy_write <<END
{ "version": 1, "runtime": { "paths": ["$1"] },
  "binds": { "preset": "shared-lab", "require_access": false, "rules": [ { "path": "$FB_SRV", "access": "allow" } ] } }
END
    bundle=$(nested one true "$HOME_DIR" /mnt "$FB_SRV/scratch" /mnt/sub)
    bundle_edit "$bundle" '.linux.rootfsPropagation = "rshared" | (.mounts[] | select(.destination == "/mnt").options) = ["rbind", "rshared"]'
    cp "$bundle/config.json" "$FB_DIR/shared.json"
    mounts=$(within cat /proc/self/mountinfo)
    run shim run --bundle "$bundle" "$ID"
    expect_equal "$(within cat /proc/self/mountinfo)" "$mounts"
    expect_status 1
    expect_match "binds.propagation: the container's root would be rshared"
    expect_match "on /mnt: it is rshared"
    cp "$FB_DIR/shared.json" "$bundle/config.json"
    bundle_edit "$bundle" '.linux.rootfsPropagation = "rslave" | (.mounts[] | select(.destination == "/mnt").options) = ["rbind", "rslave"]'
    run shim run --bundle "$bundle" "$ID"
    expect_status 0
}

@test "runc: shared mounts are refused under the preset, slave mounts are not" { shares_nothing runc; }

@test "crun: shared mounts are refused under the preset, slave mounts are not" { shares_nothing crun; }

makes_nothing() {
    guard "$1"
    run shim run --bundle "$(nested one true "$FB_SRV/data" /mnt "$FB_SRV/scratch" /mnt/new/dir)" "$ID"
    expect_status 1
    expect_match "/mnt is read-only, and has no 'new/dir'"
    [ ! -e "$FB_SRV/data/new" ]
    run shim run --bundle "$(ASKS='{"flatbed.data":"imagenet"}' nested two true "$FB_SRV/scratch" /data/new)" "$ID"
    expect_status 1
    expect_match "/data is read-only, and has no 'new'"
    [ ! -e "$FB_SRV/data/imagenet/new" ]
    run shim run --bundle "$(nested three 'cat /mnt/imagenet/file' "$FB_SRV/data" /mnt "$FB_SRV/scratch" /mnt/imagenet)" "$ID"
    expect_status 0
    expect_output evil
}

@test "runc: a target that a read-only source does not have is refused" { makes_nothing runc; }

@test "crun: a target that a read-only source does not have is refused, and not made there" { makes_nothing crun; }

copies_nothing() {
    local bundle target
    guard "$1"
    for target in /mnt /mnt/sub; do
        bundle=$(nested "copy${target//\//-}" 'ls /mnt' "$HOME_DIR" /mnt)
        bundle_edit "$bundle" --arg t "$target" \
            '.mounts += [{destination: $t, type: "tmpfs", source: "tmpfs", options: ["nosuid", "tmpcopyup"]}]'
        run shim run --bundle "$bundle" "$ID"
        expect_status 1
        expect_match "tmpfs on $target: tmpcopyup would copy what is mounted there"
        bundle_edit "$bundle" '.mounts[-1].options = ["nosuid"]'
        run shim run --bundle "$bundle" "$ID"
        expect_status 0
    done
    bundle=$(nested apart 'ls /var/hello' "$HOME_DIR" /mnt)
    mkdir -p "$bundle/rootfs/var"
    echo hello >"$bundle/rootfs/var/hello"
    bundle_edit "$bundle" '.mounts += [{destination: "/var", type: "tmpfs", source: "tmpfs", options: ["nosuid", "tmpcopyup"]}]'
    run shim run --bundle "$bundle" "$ID"
    expect_status 0
}

@test "runc: what a user mounts is not copied into a tmpfs" { copies_nothing runc; }

@test "crun: what a user mounts is not copied into a tmpfs" { copies_nothing crun; }
