#!/usr/bin/env bats
# flatbed-runtime before runc and crun without an engine: what the low-level runtimes make of mounts, and of places in them.

bats_require_minimum_version 1.5.0

load lib/frame
frame bundle

policy() { policy_base runc; }

@test "runc: a mount below a read-only volume is read-only, too" {
    runc features 2>/dev/null | grep -q '"rro"' || skip "this runc has no rro"
    mkdir "$FB_SRV/site/sub"
    # shellcheck disable=SC2016
    run within unshare --mount --propagation private sh -c 'mount -t tmpfs none "$1" && shift && exec "$@"' sh \
        "$FB_SRV/site/sub" "$FLATBED_RUNTIME" "--flatbed-policy=$FB_POLICY" --root "$FB_DIR/state" \
        run --bundle "$(bundle_make rro null 'touch /workspace/site/sub/new')" "$ID"
    expect_failure
    expect_match 'Read-only file system'
}

# leaves_out RUNTIME: a source that is mounted without what is mounted below it. Engines ask for rbind and rprivate.
leaves_out() {
    local bundle
    policy_write <<END
{ "version": 1, "runtime": { "paths": ["$1"] },
  "binds": { "default": "deny", "rules": [{ "path": "$FB_SRV/tree", "access": "ro" }] } }
END
    mkdir -p "$FB_SRV/tree/sub"
    bundle=$(bundle_make below null 'ls -a /tree/sub')
    bundle_edit "$bundle" --arg s "$FB_SRV/tree" \
        '.mounts += [{destination: "/tree", type: "bind", source: $s, options: ["rbind", "rprivate", "rw"]}]'
    # shellcheck disable=SC2016
    run within unshare --mount --propagation private sh -c 'mount -t tmpfs none "$1/sub" && touch "$1/sub/below" && shift && exec "$@"' sh \
        "$FB_SRV/tree" "$FLATBED_RUNTIME" "--flatbed-policy=$FB_POLICY" --root "$FB_DIR/state" run --bundle "$bundle" "$ID"
    expect_output $'.\n..'
}

# brings RUNTIME OPTION: a mount of the host that is below one source is a source as well, as a driver's is below /usr.
brings() {
    local bundle
    policy_write <<END
{ "version": 1, "runtime": { "paths": ["$1"] },
  "binds": { "default": "deny", "targets_deny": ["/proc"], "rules": [{ "path": "$FB_SRV/tree", "access": "ro" }] } }
END
    mkdir -p "$FB_SRV/tree/sub"
    bundle=$(bundle_make "brings-$2" null 'ls /tree/sub')
    bundle_edit "$bundle" --arg s "$FB_SRV/tree" --arg o "$2" '.mounts += [
        {destination: "/tree", type: "bind", source: $s, options: [$o, "rprivate", "ro"]},
        {destination: "/tree/sub", type: "bind", source: "\($s)/sub", options: ["rbind", "rprivate", "ro"]}]'
    # shellcheck disable=SC2016
    run within unshare --mount --propagation private sh -c 'mount -t tmpfs none "$1/sub" && touch "$1/sub/below" && shift && exec "$@"' sh \
        "$FB_SRV/tree" "$FLATBED_RUNTIME" "--flatbed-policy=$FB_POLICY" --root "$FB_DIR/state" run --bundle "$bundle" "$ID"
    expect_output below
}

@test "runc: what is mounted below a source can be mounted there by name" { brings runc rbind && brings runc bind; }

@test "crun: what is mounted below a source can be mounted there by name" { brings crun rbind && brings crun bind; }

@test "runc: what is mounted below a source that is downgraded is left out" { leaves_out runc; }

@test "crun: what is mounted below a source that is downgraded is left out" { leaves_out crun; }

# dev_link RUNTIME: an image whose /dev leads to a directory of the host, where the runtime itself makes nodes or links.
dev_link() {
    local bundle
    policy_write <<END
{ "version": 1, "runtime": { "paths": ["$1"] }, "security": { "preset": "shared-lab" } }
END
    mkdir "$FB_SRV/roots"
    bundle=$(bundle_make dev-link null true)
    bundle_edit "$bundle" '.process.user = {uid: 1234, gid: 1234}'
    rm -rf "${bundle:?}/rootfs/dev"
    ln -s "$FB_SRV/roots" "$bundle/rootfs/dev"
    run shim run --bundle "$bundle" "$ID"
    expect_failure
    expect_match "/dev of the image is a symbolic link to $FB_SRV/roots"
    [ -z "$(ls -A "$FB_SRV/roots")" ]
}

@test "runc: an image whose /dev is a link to the host is refused" { dev_link runc; }

@test "crun: an image whose /dev is a link to the host is refused" { dev_link crun; }

# no_nodes RUNTIME: a mount on /dev, with devices: the judgement of nodes relies on this.
no_nodes() {
    local bundle
    policy_base "$1"
    mkdir "$FB_SRV/dev"
    bundle=$(bundle_make no-nodes null true)
    bundle_edit "$bundle" --arg s "$FB_SRV/dev" '.mounts = [{destination: "/dev", type: "bind", source: $s, options: ["rbind"]}] |
        .linux.devices = [{path: "/dev/made", type: "c", major: 1, minor: 3}]'
    run shim run --bundle "$bundle" "$ID"
    [ -z "$(find "$FB_SRV/dev" -type c)" ]
}

@test "runc: no nodes are made where something is mounted on /dev" { no_nodes runc; }

@test "crun: no nodes are made where something is mounted on /dev" { no_nodes crun; }

# loose RUNTIME: a user leads the working directory into a read-only mount after it was looked at.
loose() {
    local bundle
    mkdir -p "$FB_SRV/shared" "$FB_SRV/mine/way/new"
    printf '#!/bin/sh\nif mv "%s/way" "%s/old" 2>/dev/null; then ln -s /shared "%s/way"; fi\nexec %s "$@"\n' \
        "$FB_SRV/mine" "$FB_SRV/mine" "$FB_SRV/mine" "$(command -v "$1")" >"$FB_DIR/swap"
    chmod 0755 "$FB_DIR/swap"
    policy_write <<END
{ "version": 1, "runtime": { "paths": ["$FB_DIR/swap"] }, "volumes": { "site": { "source": "$FB_SRV/site", "target": "/site", "always": true } },
  "binds": { "default": "deny", "rules": [{ "path": "$FB_SRV/mine", "access": "allow" }, { "path": "$FB_SRV/shared", "access": "ro" }] } }
END
    bundle=$(bundle_make loose null true)
    bundle_edit "$bundle" --arg s "$FB_SRV" '.process.cwd = "/mine/way/new" | .mounts += [("mine", "shared") |
        {destination: "/\(.)", type: "bind", source: "\($s)/\(.)", options: ["rbind", "rprivate"]}]'
    run shim run --bundle "$bundle" "$ID"
    expect_failure
    [ -z "$(ls -A "$FB_SRV/shared")" ]
    [ ! -e "$FB_SRV/site/new" ]
}

@test "runc: a link of a user leads no working directory into what is read-only" { loose runc; }

@test "crun: a link of a user leads no working directory into what is read-only" { loose crun; }
