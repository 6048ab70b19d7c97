#!/usr/bin/env bats
# flatbed install and uninstall: files of every shape are restored.
# shellcheck disable=SC2154  # status and output are set by bats' run

bats_require_minimum_version 1.5.0

setup() {
    [ -x "${FLATBED-}" ] || { echo "FLATBED is not set to the program"; return 1; }
    DIR=$(mktemp -d "${TMPDIR:-/tmp}/fb-admin.XXXXXX")
    printf '#!/bin/sh\n' >"$DIR/flatbed-runtime"
    chmod 0755 "$DIR/flatbed-runtime"
    cd "$DIR" || return
}

teardown() { rm -rf --one-file-system "$DIR"; }

put() { run "$FLATBED" install "$1" --config="$2" --runtime="$DIR/flatbed-runtime" "${@:3}"; }
take() { run "$FLATBED" uninstall "$1" --config="$2" "${@:3}"; }

has() { [[ $output == *"$1"* ]] || { printf 'nothing here has %s:\n%s\n' "$1" "$output"; return 1; }; }
exits() { [ "$status" -eq "$1" ] || { echo "status $status: $output"; return 1; }; }

daemon_json() {
    cat >"$1" <<'END'
{
  "log-opts": { "max-size": "10m", "big": 1e400 },
  "runtimes": {
    "kata": {"path": "kata-runtime",   "runtimeArgs": []}
  },
  "default-runtime": "kata",
  "x-unknown": [ 18446744073709551615 ]
}
END
}

# there_and_back ENGINE FILE: dry run, its diff, the edit, a second edit, and the removal.
there_and_back() {
    cp -p "$2" before
    put "$1" "$2" --default --dry-run
    exits 0
    cmp "$2" before
    [ ! -e "$2.flatbed-backup" ]
    cp "$2" patched
    patch --silent patched <<<"$output"
    put "$1" "$2" --default
    exits 0
    cmp "$2" patched
    cmp "$2.flatbed-backup" before
    inode=$(stat -c %i "$2")
    put "$1" "$2"
    exits 0
    has "nothing was changed"
    [ "$inode" = "$(stat -c %i "$2")" ]
    take "$1" "$2"
    exits 0
    cmp "$2" before
    [ "$(stat -c '%a %u:%g' "$2")" = "$(stat -c '%a %u:%g' before)" ]
    [ ! -e "$2.flatbed-backup" ]
}

@test "docker: existing content is kept byte for byte, and restored" {
    daemon_json daemon.json
    chmod 0640 daemon.json
    there_and_back docker daemon.json
    daemon_json daemon.json
    put docker daemon.json --default
    [ "$(gojq -r '."default-runtime", .runtimes.flatbed.path, .runtimes.kata.path' daemon.json | tr '\n' ' ')" = \
        "flatbed $DIR/flatbed-runtime kata-runtime " ]
    has "systemctl reload docker"
    # only added lines and the default
    [ "$(diff daemon.json.flatbed-backup daemon.json | grep -c '^<')" = 2 ]
    grep -q '"big": 1e400' daemon.json
}

@test "docker: files with other JSON layouts are edited and restored" {
    for text in '{}' '{"debug":true}' '{ "runtimes": {} }' '' $'\n' '{ "a": {
    } }'; do
        printf '%s' "$text" >daemon.json
        there_and_back docker daemon.json
    done
}

@test "docker: a missing file is created, and removed again" {
    put docker new/daemon.json
    exits 0
    [ "$(gojq -r .runtimes.flatbed.path new/daemon.json)" = "$DIR/flatbed-runtime" ]
    [ "$(stat -c %a new/daemon.json)" = 644 ]
    [ "$(ls new)" = daemon.json ]
    take docker new/daemon.json
    exits 0
    [ -z "$(ls -A new)" ]
    take docker new/daemon.json
    exits 0
    has "nothing was changed"
}

@test "docker: later changes are kept, and the old default is restored" {
    daemon_json daemon.json
    put docker daemon.json --default
    sed -i 's/"10m"/"99m"/' daemon.json
    take docker daemon.json
    exits 0
    [ "$(gojq -r '."default-runtime", ."log-opts"."max-size", .runtimes.flatbed' daemon.json | tr '\n' ' ')" = \
        "kata 99m null " ]
    has "daemon.json.flatbed-backup"
    # A default chosen after the install is kept.
    put docker daemon.json --default
    sed -i 's/"default-runtime": "flatbed"/"default-runtime": "runsc"/' daemon.json
    take docker daemon.json
    [ "$(gojq -r '."default-runtime"' daemon.json)" = runsc ]
}

@test "docker: a default chosen between two installs is restored, not the first one" {
    daemon_json daemon.json
    put docker daemon.json --default
    sed -i 's/"10m"/"99m"/' daemon.json # this change keeps the backup
    take docker daemon.json
    sed -i 's/"default-runtime": "kata"/"default-runtime": "crun"/' daemon.json
    cp daemon.json before
    put docker daemon.json --default
    has "what was there is in"
    take docker daemon.json
    cmp daemon.json before
    # The new default is also kept if flatbed was installed before without --default.
    put docker daemon.json
    sed -i 's/"default-runtime": "crun"/"default-runtime": "runsc"/' daemon.json
    put docker daemon.json --default
    take docker daemon.json
    [ "$(gojq -r '."default-runtime", (.runtimes | keys[])' daemon.json | tr '\n' ' ')" = "runsc kata " ]
}

@test "docker: the first backup is kept" {
    echo '{"a":1}' >daemon.json
    put docker daemon.json
    put docker daemon.json --name=second --default
    exits 0
    [ "$(cat daemon.json.flatbed-backup)" = '{"a":1}' ]
    [ "$(gojq -r '.runtimes | keys | join(" ")' daemon.json)" = "flatbed second" ]
    take docker daemon.json
    [ "$(gojq -r '.runtimes | keys | join(" ")' daemon.json)" = second ]
    [ "$(gojq -r '."default-runtime"' daemon.json)" = second ]
}

@test "docker: an entry added by hand is removed as well" {
    echo "{ \"debug\": true, \"runtimes\": { \"flatbed\": { \"path\": \"$DIR/flatbed-runtime\" } } }" >daemon.json
    put docker daemon.json --default
    exits 0
    take docker daemon.json
    exits 0
    [ "$(cat daemon.json)" = '{ "debug": true }' ]
}

@test "docker: an invalid daemon.json, or one with the entry of another program, is left unchanged" {
    for text in '[]' '{"a":1,}' '{"runtimes":[]}' '{"a":1,"a":2}' '// x' \
        '{"runtimes":{"flatbed":{"path":"/usr/bin/other"}}}'; do
        echo "$text" >daemon.json
        put docker daemon.json
        exits 5
        has daemon.json
        [ "$(cat daemon.json)" = "$text" ]
        [ "$(ls)" = $'daemon.json\nflatbed-runtime' ]
    done
}

@test "a dry run shows a created file and a removed file, and reports a missing diff program" {
    put docker new.json --dry-run
    exits 0
    has $'--- /dev/null\n+++ new.json\n@@ -0,0 +1'
    [ ! -e new.json ]
    put podman flatbed.conf
    take podman flatbed.conf --dry-run
    exits 0
    has $'/flatbed.conf\n+++ /dev/null\n@@ -1'
    [ -e flatbed.conf ]
    if [ "$(id -u)" = 0 ]; then
        # shellcheck disable=SC2016
        run unshare --mount --propagation private sh -c '
            mount --bind /dev/null /usr/bin/diff && exec "$@"' sh \
            "$FLATBED" install docker --config=new.json --runtime=/bin/sh --dry-run
        exits 3
        has "cannot start /usr/bin/diff (package diffutils): Permission denied"
    fi
}

@test "a dry run whose output cannot be written fails" {
    # shellcheck disable=SC2016
    run sh -c 'exec "$@" >/dev/full' sh "$FLATBED" install docker --config=new.json --runtime=/bin/sh --dry-run
    exits 3
    has "/usr/bin/diff failed with exit status 2"
}

@test "a symbolic link is kept" {
    mkdir real
    echo '{}' >real/daemon.json
    ln -s real/daemon.json daemon.json
    put docker daemon.json
    exits 0
    [ -L daemon.json ]
    [ "$(gojq -r '.runtimes | keys[]' real/daemon.json)" = flatbed ]
    ln -sf nowhere dangling.json
    put docker dangling.json
    exits 5
}

@test "invalid names and runtimes are refused" {
    echo '{}' >daemon.json
    for name in runc '' 'a b' '../x' -x; do
        put docker daemon.json "--name=$name"
        exits 2
    done
    run "$FLATBED" install docker --config=daemon.json --runtime=flatbed-runtime
    exits 2
    run "$FLATBED" install docker --config=daemon.json --runtime=/nowhere
    exits 2
    cp flatbed-runtime $'new\nline'
    run "$FLATBED" install podman --config=daemon.json --runtime="$DIR"/$'new\nline'
    exits 2
    [ "$(cat daemon.json)" = '{}' ]
}

containerd_toml() {
    cat >"$1" <<END
# keep me
version = $2
root = '/var/lib/containerd'

[plugins."$3"]
  sandbox_image = "pause" # this too
  [plugins."$3".containerd]
    default_runtime_name = "runc"   # the old one
    [plugins."$3".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."$3".containerd.runtimes.runc.options]
        SystemdCgroup = true
[unknown."table"]
  x = [ 1,
        2 ]
END
}

@test "containerd: versions 2 and 3, comments and unknown tables" {
    for version in 2:io.containerd.grpc.v1.cri 3:io.containerd.cri.v1.runtime; do
        containerd_toml config.toml "${version%%:*}" "${version#*:}"
        there_and_back containerd config.toml
        put containerd config.toml --default
        grep -qF "[plugins.\"${version#*:}\".containerd.runtimes.flatbed.options]" config.toml
        grep -qF 'SystemdCgroup = true' <(sed -n '/runtimes.flatbed.options/,$p' config.toml)
        has "systemctl restart containerd"
        # A later install reports the place of the runtime, and the default is kept.
        cp flatbed-runtime moved-runtime
        run "$FLATBED" install containerd --config=config.toml --runtime="$DIR/moved-runtime"
        exits 0
        grep -qF "BinaryName = \"$DIR/moved-runtime\"" config.toml
        [ "$(grep -c '^ *default_runtime_name = "flatbed"' config.toml)" = 1 ]
        take containerd config.toml
        cmp config.toml before
    done
}

@test "containerd: files without a last newline, with comments only, and missing files" {
    printf 'version = 2\n[grpc]\n  gid = 1' >config.toml
    there_and_back containerd config.toml
    printf '# nothing' >config.toml
    there_and_back containerd config.toml
    put containerd new.toml
    exits 0
    grep -qx 'version = 2' new.toml
    take containerd new.toml
    [ ! -e new.toml ]
}

@test "containerd: a file that cannot be edited is left unchanged" {
    cri=io.containerd.grpc.v1.cri
    for text in 'disabled_plugins = ["cri"]' 'version = 1' '[plugins' 'version = 2 2' '{"version": 2}' \
        "version = 2
[plugins.\"$cri\".containerd.runtimes.flatbed]" "version = 2
[plugins.'$cri']
containerd.snapshotter = 'x'" "version = 2
plugins = {}" "version = 2
[plugins.\"io.containerd.grpc.v1.c\\u0072i\".containerd]"; do
        echo "$text" >config.toml
        put containerd config.toml --default
        [ "$status" -eq 5 ] || [ "$status" -eq 8 ]
        has config.toml
        [ "$(cat config.toml)" = "$text" ]
    done
}

@test "podman: a drop-in file is made, and an existing file is edited" {
    put podman conf.d/flatbed.conf --default
    exits 0
    grep -qx 'runtime = "flatbed"' conf.d/flatbed.conf
    grep -qxF "flatbed = [\"$DIR/flatbed-runtime\"]" conf.d/flatbed.conf
    take podman conf.d/flatbed.conf
    [ -z "$(ls -A conf.d)" ]
    cat >containers.conf <<'END'
[containers] # mine
[engine]
  runtime = "crun"  # fast
  [engine.runtimes]
  crun = [
    "/usr/bin/crun", # the best
  ]
END
    there_and_back podman containers.conf
}

@test "a directory that cannot be written to is left unchanged" {
    mkdir -p ro
    echo '{}' >ro/daemon.json
    if [ "$(id -u)" = 0 ]; then
        # shellcheck disable=SC2016
        run unshare --mount --propagation private sh -c '
            mount --bind ro ro && mount -o remount,bind,ro ro && exec "$@"' sh \
            "$FLATBED" install docker --config=ro/daemon.json --runtime=/bin/sh
    else
        chmod 0555 ro
        run "$FLATBED" install docker --config=ro/daemon.json --runtime=/bin/sh
    fi
    exits 3
    [ "$(cat ro/daemon.json)" = '{}' ]
    [ "$(ls -A ro)" = daemon.json ]
}

@test "a user who may not write root's file learns that root can" {
    [ "$(id -u)" = 0 ] || skip "needs a file of another user's"
    chmod 0755 . # for the user
    echo '{}' >daemon.json
    for command in install uninstall; do
        run setpriv --reuid=4711 --regid=4711 --clear-groups \
            "$FLATBED" "$command" docker --config="$DIR/daemon.json"
        exits 3
        has ": Permission denied: run it as root"
        put docker daemon.json # for uninstall
        exits 0
    done
}
