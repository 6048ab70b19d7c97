#!/usr/bin/env bats
# Idmapped volumes in containers with a user namespace. If the `features` of the low-level runtime has them
# (crun 1.8.7, runc 1.2), the tests check the files on the host. Otherwise the launch must be refused
# with that reason. Each test works with the installed runtime, so none is skipped.

bats_require_minimum_version 1.5.0

load lib/frame
frame bundle podman

policy() { policy_mapped crun true; }

test_begin() {
    mkdir "$FB_SRV/mapped"
    echo "theirs" >"$FB_SRV/mapped/theirs"
    chown 1234:1234 "$FB_SRV/mapped/theirs"
    chmod 0600 "$FB_SRV/mapped/theirs"
}

FB_FIRST=100000 # the host's id of the containers' root

# policy_mapped RUNTIME IDMAP: one directory at two targets, idmapped (true or "ask") and not; and one
# directory that is made for the container's user.
policy_mapped() {
    policy_write <<END_OF_POLICY
{ "version": 1, "runtime": { "paths": ["$1"] },
  "volumes": {
    "mapped": { "source": "$FB_SRV/mapped", "target": "/mapped", "access": "rw", "always": true, "idmap": $2 },
    "plain": { "source": "$FB_SRV/mapped", "target": "/plain", "access": "rw", "always": true },
    "made": { "source": "$FB_SRV/logs/{uid}", "target": "/made", "access": "rw", "always": true, "idmap": $2,
              "create": { "mode": "0700" } } } }
END_OF_POLICY
}

can_map() { [ "$("$1" features 2>/dev/null | gojq '.linux.mountExtensions.idmap.enabled')" = true ]; }

# mapped_bundle NAME UID SCRIPT [ANNOTATIONS]: a bundle with a user namespace.
mapped_bundle() {
    local dir
    dir=$(bundle_make "$1" "${4-null}" "$3")
    chown -R "$FB_FIRST:$FB_FIRST" "$dir/rootfs"
    bundle_edit "$dir" --argjson first "$FB_FIRST" --argjson uid "$2" '
        .process.user = {"uid": $uid, "gid": $uid}
        | .process.capabilities |= map_values(. + if $uid == 0 then ["CAP_CHOWN", "CAP_DAC_OVERRIDE"] else [] end)
        | .mounts |= map(select(.type != "cgroup"))
        | .linux.namespaces += [{"type": "user"}]
        | .linux.uidMappings = [{"containerID": 0, "hostID": $first, "size": 65536}]
        | .linux.gidMappings = .linux.uidMappings'
    echo "$dir"
}

# refused_for LOW VOLUME: asserts that the last run was refused, as LOW cannot map VOLUME.
refused_for() {
    expect_failure
    expect_match "volumes\.$2: an idmapped mount needs Linux 5\.12 and a runtime that knows it; '.*$1 features' does not say so"
}

root_of_it() {
    local low=$1
    policy_mapped "$low" true
    # shellcheck disable=SC2016 # the container's
    run shim run --bundle "$(mapped_bundle root 0 'set -e
        echo $(cat /proc/self/uid_map)
        stat -c "%u:%g" /mapped/theirs /plain/theirs
        cat /mapped/theirs
        echo root >/mapped/new; chown 77:78 /mapped/new
        ! cat /plain/theirs; ! touch /plain/other')" "$ID"
    if can_map "$low"; then
        expect_status 0
        expect_match "^0 $FB_FIRST 65536"$'\n1234:1234\n65534:65534\ntheirs\n'
        expect_match "cat: can't open '/plain/theirs': Permission denied"
        expect_equal "$(stat -c %u:%g "$FB_SRV/mapped/new")" 77:78
        expect_equal "$(stat -c %u:%g "$FB_SRV/logs/$FB_FIRST")" 0:0
    else
        refused_for "$low" mapped
        [ ! -e "$FB_SRV/mapped/new" ]
    fi
    [ ! -e "$FB_SRV/mapped/other" ]
}

@test "runc: root of a user namespace reads and writes the ids on disk, or is refused" { root_of_it runc; }

@test "crun: root of a user namespace reads and writes the ids on disk, or is refused" { root_of_it crun; }

user_of_it() {
    local low=$1
    policy_mapped "$low" true
    chmod 1777 "$FB_SRV/mapped"
    run shim run --bundle "$(mapped_bundle user 1234 'set -e
        id -u; cat /mapped/theirs; echo more >>/mapped/theirs; echo new >/mapped/new; echo made >/made/new
        ! chmod 0644 /plain/theirs')" "$ID"
    if can_map "$low"; then
        expect_status 0
        expect_match $'^1234\ntheirs\n'
        expect_equal "$(cat "$FB_SRV/mapped/theirs")" $'theirs\nmore'
        expect_equal "$(stat -c %u:%g:%a "$FB_SRV/mapped/new" "$FB_SRV/mapped/theirs" | tr '\n' ' ')" \
            "1234:1234:644 1234:1234:600 "
        expect_equal "$(stat -c %u:%g:%a "$FB_SRV"/logs/* "$FB_SRV"/logs/*/new | tr '\n' ' ')" \
            "1234:1234:700 1234:1234:644 "
    else
        refused_for "$low" mapped
        expect_equal "$(ls "$FB_SRV/mapped" "$FB_SRV/logs" | tr '\n' ' ')" "$FB_SRV/logs:  $FB_SRV/mapped: theirs "
    fi
}

@test "runc: a user owns his files, also in the directory that is made for him, or is refused" { user_of_it runc; }

@test "crun: a user owns his files, also in the directory that is made for him, or is refused" { user_of_it crun; }

asked_for() {
    local low=$1
    policy_mapped "$low" '"ask"'
    run shim run --bundle "$(mapped_bundle plain 0 'stat -c %u /mapped/theirs')" "$ID"
    expect_status 0
    expect_output 65534
    rm -r "$FB_SRV"/logs/*
    run shim run --bundle "$(mapped_bundle asked 0 'stat -c %u /mapped/theirs' '{"flatbed.idmap":"on"}')" "$ID"
    if can_map "$low"; then
        expect_status 0
        expect_output 1234
    else
        refused_for "$low" mapped
    fi
}

@test "runc: \"ask\" maps only for a container with the annotation" { asked_for runc; }

@test "crun: \"ask\" maps only for a container with the annotation" { asked_for crun; }

read_only() {
    local low=$1
    policy_mapped "$low" true
    sed -i 's|"target": "/mapped", "access": "rw"|"target": "/mapped", "access": "ro"|' "$FB_POLICY"
    run shim run --bundle "$(mapped_bundle ro 0 'cat /mapped/theirs; touch /mapped/new')" "$ID"
    expect_failure
    [ ! -e "$FB_SRV/mapped/new" ]
    if can_map "$low"; then
        expect_match $'^theirs\n.*Read-only file system'
    else
        refused_for "$low" mapped
    fi
}

@test "runc: a read-only volume is idmapped as well, or refused" { read_only runc; }

@test "crun: a read-only volume is idmapped as well, or refused" { read_only crun; }

# Another file system is mounted below the volume.
below_it() {
    local low=$1
    policy_mapped "$low" true
    mkdir "$FB_SRV/mapped/sub"
    # shellcheck disable=SC2016
    run within unshare --mount --propagation private sh -c 'mount -t tmpfs none "$1" && touch "$1/theirs" &&
        chown 1234:1234 "$1/theirs" && shift && exec "$@"' sh \
        "$FB_SRV/mapped/sub" "$FLATBED_RUNTIME" "--flatbed-policy=$FB_POLICY" --root "$FB_DIR/state" \
        run --bundle "$(mapped_bundle below 0 'stat -c %u:%g /mapped/theirs /mapped/sub/theirs')" "$ID"
    if can_map "$low"; then
        expect_status 0
        expect_output $'1234:1234\n1234:1234'
    else
        refused_for "$low" mapped
    fi
}

@test "runc: what is mounted below an idmapped volume is idmapped as well, or refused" { below_it runc; }

@test "crun: what is mounted below an idmapped volume is idmapped as well, or refused" { below_it crun; }

@test "podman: a container with --uidmap writes the ids on disk, or podman shows the missing feature" {
    policy_mapped crun true
    run podman_run --rm --uidmap "0:$FB_FIRST:65536" --gidmap "0:$FB_FIRST:65536" "$FB_IMAGE" sh -c '
        stat -c "%u:%g" /mapped/theirs /plain/theirs; echo new >/mapped/new'
    if can_map crun; then
        expect_status 0
        expect_output $'1234:1234\n65534:65534'
        expect_equal "$(stat -c %u:%g "$FB_SRV/mapped/new")" 0:0
    else
        refused_for crun mapped
        [ ! -e "$FB_SRV/mapped/new" ]
    fi
}

becomes_root() {
    local low=$1 bundle
    echo "root's own" >"$FB_SRV/secret"
    chmod 0600 "$FB_SRV/secret"
    bundle=$(mapped_bundle escape 0 'mkdir -p /etc; echo x:x:1:1::/:/bin/sh >/etc/passwd
        start-stop-daemon -S -c x -x /bin/cat -- /srv/secret')
    bundle_edit "$bundle" --arg srv "$FB_SRV" --argjson first "$FB_FIRST" '
        .mounts += [{"destination": "/srv", "type": "bind", "source": $srv, "options": ["rbind"]}]
        | .process.capabilities |= (map_values(. + ["CAP_SETUID", "CAP_SETGID"]) | del(.ambient))
        | .linux.uidMappings = [{"containerID": 0, "hostID": $first, "size": 1}, {"containerID": 1, "hostID": 0, "size": 1}]'
    policy_write <<<"{ \"version\": 1, \"runtime\": { \"paths\": [\"$low\"] }, \"security\": { \"user\": { \"root\": \"allow\" } } }"
    run shim run --bundle "$bundle" "$ID"
    expect_status 0
    expect_output "root's own"
    policy_write <<<"{ \"version\": 1, \"runtime\": { \"paths\": [\"$low\"] }, \"security\": { \"user\": { \"root\": \"deny\" } } }"
    run shim run --bundle "$bundle" "$ID"
    expect_failure
    expect_match "security.user: uid 1 of the container's user namespace is root's on this host"
}

@test "runc: a user namespace with root of the host reads root's files, and is refused where root is denied" { becomes_root runc; }

@test "crun: a user namespace with root of the host reads root's files, and is refused where root is denied" { becomes_root crun; }
