#!/usr/bin/env bats
# flatbed install containerd: the files that it imports, and what containerd makes of them.
# shellcheck disable=SC2154  # status and output are set by bats' run

bats_require_minimum_version 1.5.0

load gpu_host

# Prints containerd's view of the files, if it is here: the program of the runtime flatbed, and the default.
effective() {
    command -v containerd >/dev/null || { echo "$DIR/bin/flatbed-runtime $1"; return; }
    # shellcheck disable=SC2016
    unshare --mount --propagation private sh -c 'mount --bind "$1/etc" /etc && containerd config dump' sh "$DIR" >"$DIR/dump"
    python3 - "$DIR/dump" <<'END'
import sys, tomllib
cri = tomllib.load(open(sys.argv[1], "rb"))["plugins"]["io.containerd.grpc.v1.cri"]["containerd"]
print(cri["runtimes"].get("flatbed", {}).get("options", {}).get("BinaryName"), cri["default_runtime_name"])
END
}

@test "containerd: the edit goes into the imported file that replaces the section, and is restored" {
    containerd_toml 2
    drop_in "$DIR/etc/containerd/conf.d/99-nvidia.toml"
    echo 'oom_score = 1' >"$DIR/etc/containerd/conf.d/zz-other.toml"
    cp -r "$DIR/etc/containerd" "$DIR/before"
    put containerd --default --dry-run
    exits 0
    has "+++ /etc/containerd/conf.d/99-nvidia.toml"
    has_not "config.toml"
    diff -r "$DIR/etc/containerd" "$DIR/before"
    put containerd --default
    exits 0
    has "/etc/containerd/conf.d/99-nvidia.toml: the runtime 'flatbed' is $DIR/bin/flatbed-runtime, and the default"
    has_not "not verified"
    [ "$(effective flatbed)" = "$DIR/bin/flatbed-runtime flatbed" ]
    cmp "$CONTAINERD" "$DIR/before/config.toml"
    put containerd
    exits 0
    has "nothing was changed"
    take containerd
    exits 0
    diff -r "$DIR/etc/containerd" "$DIR/before"
}

@test "containerd: an edit that a later import made void is moved, with the default" {
    containerd_toml 2
    cp "$CONTAINERD" "$DIR/before"
    put containerd --default
    exits 0
    [ "$(effective flatbed)" = "$DIR/bin/flatbed-runtime flatbed" ]
    drop_in "$DIR/etc/containerd/conf.d/99-nvidia.toml"
    put containerd
    exits 0
    has "/etc/containerd/config.toml: an older 'flatbed' was taken out"
    [ "$(effective flatbed)" = "$DIR/bin/flatbed-runtime flatbed" ]
    cmp "$CONTAINERD" "$DIR/before"
    [ "$(find "$DIR/etc/containerd" -name '*.flatbed-backup' | wc -l)" = 1 ]
}

@test "containerd: imports are followed in containerd's order: relative, nested, hidden, each once" {
    containerd_toml 2 '"conf.d/b.toml", "/etc/containerd/conf.d/a*.toml", "config.toml"'
    drop_in "$DIR/etc/containerd/conf.d/b.toml"
    sed -i '1a imports = ["../deep/c.toml"]' "$DIR/etc/containerd/conf.d/b.toml"
    drop_in "$DIR/etc/containerd/conf.d/a1.toml"
    drop_in "$DIR/etc/containerd/deep/c.toml"
    put containerd
    exits 0
    has "/etc/containerd/deep/c.toml: the runtime 'flatbed'" # imports of imports come last
    has_not "not verified"
    [ "$(effective runc)" = "$DIR/bin/flatbed-runtime runc" ]
    take containerd
    rm -r "$DIR/etc/containerd/deep"
    sed -i 2d "$DIR/etc/containerd/conf.d/b.toml"
    drop_in "$DIR/etc/containerd/conf.d/a2.toml"
    put containerd
    has "/etc/containerd/conf.d/a2.toml: the runtime 'flatbed'"
    [ "$(effective runc)" = "$DIR/bin/flatbed-runtime runc" ]
    take containerd
    containerd_toml 2
    rm "$DIR"/etc/containerd/conf.d/*
    drop_in "$DIR/etc/containerd/conf.d/.hidden.toml"
    put containerd
    has "/etc/containerd/conf.d/.hidden.toml: the runtime 'flatbed'"
    [ "$(effective runc)" = "$DIR/bin/flatbed-runtime runc" ]
}

@test "containerd: a drop-in of version 2 below a file of version 3 or 4 is edited in its own version" {
    for version in 3 4; do
        rm -rf "$DIR/etc/containerd/conf.d"
        containerd_toml $version
        put containerd
        exits 0
        grep -qF '[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.flatbed]' "$CONTAINERD"
        take containerd
        drop_in "$DIR/etc/containerd/conf.d/99-nvidia.toml"
        put containerd
        exits 0
        has "/etc/containerd/conf.d/99-nvidia.toml: the runtime 'flatbed'"
        grep -qF '[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.flatbed]' \
            "$DIR/etc/containerd/conf.d/99-nvidia.toml"
        take containerd
    done
}

@test "containerd: an import that cannot be read is an error, and nothing is changed" {
    containerd_toml 2
    echo '[x' >"$DIR/etc/containerd/bad.toml"
    for imports in '"none.toml"' '"bad.toml"' '1'; do
        containerd_toml 2 "$imports"
        cp "$CONTAINERD" "$DIR/before"
        put containerd
        [ "$status" -ge 3 ]
        cmp "$CONTAINERD" "$DIR/before"
    done
    # uninstall still works on the file itself
    containerd_toml 2
    cp "$CONTAINERD" "$DIR/before"
    put containerd
    sed -i 's/^imports = .*/imports = ["none.toml"]/' "$CONTAINERD"
    take containerd
    exits 0
    has "only /etc/containerd/config.toml is looked at: none.toml" || has "only /etc/containerd/config.toml is looked at: /etc/containerd/none.toml"
    sed -i 's/^imports = .*/imports = ["\/etc\/containerd\/conf.d\/*.toml"]/' "$CONTAINERD"
    cmp "$CONTAINERD" "$DIR/before"
}

# A containerd that shows other runtimes than the files have.
stubborn() {
    cat >"$DIR/containerd" <<END
#!/bin/sh
cat <<TOML
version = 2
$1
[plugins."io.containerd.grpc.v1.cri".containerd]
default_runtime_name = "runc"
TOML
exit ${2-0}
END
    chmod 0755 "$DIR/containerd"
}

# with_containerd COMMAND...: flatbed where $DIR/containerd is the only containerd.
with_containerd() {
    # shellcheck disable=SC2016
    run unshare --mount --propagation private sh -c '
        mount --bind "$1/etc" /etc && mount -t tmpfs tmpfs /usr/local/sbin && cp "$1/containerd" /usr/local/sbin/ &&
        shift && exec "$@"' sh "$DIR" "$FLATBED" "$@"
}

@test "containerd: an edit that containerd does not take is taken back" {
    containerd_toml 2
    cp -r "$DIR/etc/containerd" "$DIR/before"
    stubborn ''
    with_containerd install containerd --runtime="$DIR/bin/flatbed-runtime"
    exits 8
    has "/etc/containerd/config.toml: the runtime 'flatbed' has no effect there, and the edit is taken back"
    diff -r "$DIR/etc/containerd" "$DIR/before"
    rm "$CONTAINERD"
    with_containerd install containerd --runtime="$DIR/bin/flatbed-runtime"
    exits 8
    [ ! -e "$CONTAINERD" ]
    cp "$DIR/before/config.toml" "$CONTAINERD"
    stubborn 'disabled_plugins = ["io.containerd.grpc.v1.cri"]'
    with_containerd install containerd --runtime="$DIR/bin/flatbed-runtime"
    exits 0
    has '"disabled_plugins" has io.containerd.grpc.v1.cri'
    take containerd
    stubborn '' 1
    with_containerd install containerd --runtime="$DIR/bin/flatbed-runtime"
    exits 0
    has "not verified: 'containerd --config /etc/containerd/config.toml config dump' fails"
}

@test "containerd: the default runtime of NVIDIA stays the default" {
    containerd_toml 2
    drop_in "$DIR/etc/containerd/conf.d/99-nvidia.toml" nvidia
    cp -r "$DIR/etc/containerd" "$DIR/before"
    put containerd --default
    exits 8
    has "the default runtime is 'nvidia', NVIDIA's"
    diff -r "$DIR/etc/containerd" "$DIR/before"
    put nvidia
    put containerd --default
    exits 0
    [ "$(effective nvidia)" = "$DIR/bin/flatbed-runtime nvidia" ]
    has "the default stays 'nvidia'"
}

@test "containerd: a runtime whose marks another program removed is reported by uninstall" {
    containerd_toml 2
    put containerd
    sed -i '/^# >>>/d; /^# <<</d' "$CONTAINERD"
    cp "$CONTAINERD" "$DIR/before"
    take containerd
    exits 5
    has "line 11 has the runtime 'flatbed', but no mark of flatbed install"
    cmp "$CONTAINERD" "$DIR/before"
    # install leaves it if it is right
    if command -v containerd >/dev/null; then
        put containerd
        exits 0
        has "is there already, without marks of flatbed install"
        put containerd --default
        exits 5
    fi
    cmp "$CONTAINERD" "$DIR/before"
}

@test "containerd: a backup that containerd would import is not kept" {
    containerd_toml 2 '"/etc/containerd/conf.d/*"'
    drop_in "$DIR/etc/containerd/conf.d/99-nvidia.toml"
    cp -r "$DIR/etc/containerd" "$DIR/before"
    put containerd --default
    exits 0
    has "no backup of /etc/containerd/conf.d/99-nvidia.toml is kept: containerd would import it"
    [ "$(ls "$DIR/etc/containerd/conf.d")" = 99-nvidia.toml ]
    [ "$(effective flatbed)" = "$DIR/bin/flatbed-runtime flatbed" ]
    take containerd
    exits 0
    diff -r "$DIR/etc/containerd" "$DIR/before"
}
