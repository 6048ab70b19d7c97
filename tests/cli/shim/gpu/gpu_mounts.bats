#!/usr/bin/env bats
# The mounts and hooks that come with a GPU, under "binds" and "security.hooks" that deny those of users.
#
# shellcheck disable=SC2154  # status and stderr are set by bats' run

load ../lib/gpus

deny_binds() { policy '"max": 2' '"binds": { "default": "deny", "require_access": true, "targets_deny": ["/", "/proc", "/sys", "/dev"] }'; }

# bind SOURCE TARGET OPTIONS: an ordinary container with a mount of its user.
bind() {
    config ".mounts += [{destination: \"$2\", type: \"bind\", source: \"$1\", options: $3}]"
}

@test "the driver's mounts of a CDI specification need no rule" {
    local version
    driver
    deny_binds
    for version in 1.17.8 1.19.1; do
        specification "cdi-small-$version.yaml" nvidia.yaml
        order_b "$version" cdi
        asks 0
        create
        passed
        cmp "$BUNDLE/config.json" "$DIR/low.config"
    done
}

@test "the driver's mounts of jit-cdi need neither rule nor specification" {
    driver
    deny_binds
    order_b 1.19.1 jit-cdi
    asks 0
    create
    passed
    cmp "$BUNDLE/config.json" "$DIR/low.config"
}

@test "a specification counts only as root wrote it" {
    driver
    rm "$DIR/root/usr/bin/nvidia-smi" # which would be known by its path
    mkdir -p "$DIR/root/opt"
    : >"$DIR/root/opt/thing"
    without_toolkit
    deny_binds
    bind /opt/thing /thing '["rbind", "ro"]'
    create
    refused '/opt/thing is not allowed'
    mkdir -p "$DIR/root/etc/cdi"
    printf '{ "cdiVersion": "0.5.0", "kind": "vendor.com/class", "devices": [ { "name": "a", "containerEdits": {
        "mounts": [ { "hostPath": "/opt/thing", "containerPath": "/thing", "options": ["ro", "nosuid"] } ] } } ] }' \
        >"$DIR/root/etc/cdi/vendor.json"
    create
    passed
    chmod 0664 "$DIR/root/etc/cdi/vendor.json"
    create
    refused '/opt/thing is not allowed'
    chmod 0644 "$DIR/root/etc/cdi/vendor.json"
    chown 1234 "$DIR/root/etc/cdi/vendor.json"
    create
    refused '/opt/thing is not allowed'
    chown 0 "$DIR/root/etc/cdi/vendor.json"
    chmod 0777 "$DIR/root/etc/cdi"
    create
    refused '/opt/thing is not allowed'
    chmod 0755 "$DIR/root/etc/cdi"
    mv "$DIR/root/etc/cdi/vendor.json" "$DIR/root/etc/cdi/vendor.txt"
    create
    refused '/opt/thing is not allowed'
    ln -s /etc/cdi/vendor.txt "$DIR/root/etc/cdi/vendor.json"
    create
    passed
    printf 'cdiVersion: [' >"$DIR/root/etc/cdi/broken.yaml"
    create
    passed
}

@test "a user's mount of a driver's file is the user's, unless it is exactly the administrator's" {
    local lib=/usr/lib/x86_64-linux-gnu/libcuda.so.550.54.15
    driver
    specification cdi-small-1.19.1.yaml nvidia.yaml
    without_toolkit
    deny_binds
    bind "$lib" "$lib" '["rbind", "ro"]'
    create
    passed
    bind "$lib" "$lib" '["rbind"]'
    create
    refused "$lib is not allowed"
    bind "$lib" "$lib" '["rbind", "ro", "rw"]'
    create
    refused "$lib is not allowed"
    bind "$lib" /mine '["rbind", "ro"]'
    create
    refused "$lib is not allowed"
    bind /usr/lib/x86_64-linux-gnu /usr/lib/x86_64-linux-gnu '["rbind", "ro"]'
    create
    refused '/usr/lib/x86_64-linux-gnu is not allowed'
    bind /etc/passwd /usr/bin/nvidia-smi '["rbind", "ro"]'
    create
    refused '/etc/passwd is not allowed'
    : >"$DIR/root/usr/bin/nvidia-modprobe"
    bind /usr/bin/nvidia-modprobe /usr/bin/nvidia-modprobe '["rbind", "ro"]'
    create
    refused 'nvidia-modprobe is not allowed'
    # A link of the same name is judged by where it leads.
    ln -s /etc/shadow "$DIR/root/usr/lib/x86_64-linux-gnu/libnvidia-x.so.1"
    bind /usr/lib/x86_64-linux-gnu/libnvidia-x.so.1 /usr/lib/x86_64-linux-gnu/libnvidia-x.so.1 '["rbind", "ro"]'
    create
    refused '/etc/shadow is not allowed'
}

@test "a writable mount of a specification becomes read-only, and a rule for the path itself decides" {
    driver
    mkdir -p "$DIR/root/etc/cdi" "$DIR/root/opt/state"
    printf 'cdiVersion: "0.6.0"\nkind: vendor.com/class\ndevices:\n- name: a\n  containerEdits:\n    mounts:\n    - {hostPath: /opt/state, containerPath: /state}\n' \
        >"$DIR/root/etc/cdi/vendor.yaml"
    without_toolkit
    deny_binds
    bind /opt/state /state '["rbind", "nosuid"]'
    create
    passed
    gojq -e '.mounts[-1].options | index("ro")' "$DIR/low.config"
    create
    passed
    cmp "$BUNDLE/config.json" "$DIR/low.config"
    policy '"max": 2' '"binds": { "default": "allow" }'
    bind /opt/state /state '["rbind", "nosuid"]'
    create
    passed
    cmp "$BUNDLE/config.json" "$DIR/low.config"
    gojq -e '.mounts[-1].options | index("ro") | not' "$DIR/low.config"
    policy '"max": 2' '"binds": { "default": "deny", "rules": [ { "path": "/opt", "access": "deny" } ] }'
    create
    passed
    policy '"max": 2' '"binds": { "default": "deny", "rules": [ { "path": "/opt/state", "access": "deny", "say": "never" } ] }'
    bind /opt/state /state '["rbind", "nosuid"]'
    create
    refused '/opt/state is not allowed: never'
    policy '"max": 2' '"binds": { "default": "deny", "targets_deny": ["/state"] }'
    create
    refused 'nothing may be mounted over /state'
}

# hook PATH ARG…: an ordinary container with that hook, prestart or of the stage $STAGE.
hook() {
    config ".hooks = {${STAGE-prestart}: [$(printf '%s\n' "$@" | gojq -cRn '[inputs] | {path: .[0], args: .[1:]}')]}"
}

@test "hooks of NVIDIA's toolkit and of CDI specifications are allowed, others are not" {
    local version mode
    driver
    policy '"max": 2' '"security": { "hooks": "deny" }'
    for mode in "1.17.8 cdi" "1.19.1 cdi" "1.19.1 jit-cdi" "1.17.8 legacy" "1.19.1 legacy"; do
        # shellcheck disable=SC2086
        order_b $mode
        asks 0
        create
        passed
        cmp "$BUNDLE/config.json" "$DIR/low.config"
    done
    without_toolkit
    hook /usr/bin/true true
    create
    refused 'security.hooks: the container has prestart hooks: /usr/bin/true: neither the policy nor a CDI specification'
    STAGE=createContainer
    hook /usr/bin/nvidia-ctk nvidia-ctk runtime configure
    create
    refused 'neither the policy'
    hook /usr/bin/nvidia-ctk nvidia-ctk hook chmod --mode 777 --path /srv/private
    create
    refused 'neither the policy'
    hook /usr/bin/nvidia-ctk nvidia-ctk hook create-symlinks --link x::/srv/private/x
    create
    refused 'neither the policy'
    hook /usr/bin/nvidia-ctk nvidia-ctk hook create-symlinks --link x::/usr/lib/x
    create
    passed
    STAGE=poststart hook /usr/bin/nvidia-ctk nvidia-ctk hook create-symlinks --link x::/usr/lib/x
    create
    refused 'neither the policy'
    mkdir -p "$DIR/root/var/lib/images/0"
    cp "$DIR/root/usr/bin/nvidia-ctk" "$DIR/root/var/lib/images/0/nvidia-ctk"
    hook /var/lib/images/0/nvidia-ctk nvidia-ctk hook disable-device-node-modification
    create
    refused 'neither the policy'
    hook /opt/flatbed-runtime flatbed-runtime --flatbed-check-mounts
    create
    refused 'neither the policy'
    unset STAGE
    hook /usr/bin/nvidia-container-runtime-hook nvidia-container-runtime-hook -config=/tmp/x prestart
    create
    refused 'neither the policy'
    mkdir -p "$DIR/root/etc/cdi"
    printf '{"cdiVersion": "0.5.0", "kind": "a/b", "containerEdits": {"hooks": [{"hookName": "prestart", "path": "/usr/bin/true", "args": ["true", "x"]}]}}' \
        >"$DIR/root/etc/cdi/a.json"
    hook /usr/bin/true true x
    create
    passed
    hook /usr/bin/true true y
    create
    refused 'neither the policy'
    STAGE=poststop hook /usr/bin/true true x
    create
    refused 'neither the policy'
}

@test "the policy allows hooks by path and arguments" {
    without_toolkit
    mkdir -p "$DIR/root/opt"
    cp /bin/true "$DIR/root/opt/hook"
    policy '"max": 2' '"security": { "hooks": { "allow": [ { "path": "/opt/hook", "args": ["hook", "--to=*", "..."] }, { "path": "/usr/bin/true" } ] } }'
    hook /opt/hook hook --to=here more and more
    create
    passed
    hook /opt/hook hook --to=
    create
    passed
    hook /opt/hook hook
    create
    refused 'prestart hooks: /opt/hook: neither the policy'
    hook /usr/bin/true
    create
    passed
    hook /usr/bin/../bin/true
    create
    refused 'its path is not clean'
    policy '"max": 2' '"security": { "hooks": { "allow": [ { "path": "/opt/hook", "args": ["hook"] } ] } }'
    hook /opt/hook hook more
    create
    refused 'neither the policy'
}

@test "a hook's program must be root's, and its environment must not make another one of it" {
    local variable STAGE=createContainer
    driver
    without_toolkit
    policy '"max": 2' '"security": { "hooks": "deny" }'
    for variable in LD_PRELOAD=/tmp/x.so LD_AUDIT= PATH=/tmp:/usr/bin PATH= XDG_CONFIG_HOME=/tmp GCONV_PATH=/tmp; do
        hook /usr/bin/nvidia-cdi-hook nvidia-cdi-hook disable-device-node-modification
        gojq --arg v "$variable" '.hooks.createContainer[0].env = ["A=1", $v]' "$BUNDLE/config.json" >"$DIR/new"
        cp "$DIR/new" "$BUNDLE/config.json"
        create
        refused 'nvidia-cdi-hook: .*its environment'
    done
    hook /usr/bin/nvidia-cdi-hook nvidia-cdi-hook disable-device-node-modification
    sed -i 's/"path"/"Path": "\/bin\/sh", "path"/' "$BUNDLE/config.json"
    create
    [ "$status" -eq 1 ]
    [ ! -e "$DIR/low.config" ]
    hook /usr/bin/nvidia-cdi-hook nvidia-cdi-hook disable-device-node-modification
    create
    passed
    chown 1234 "$DIR/root/usr/bin/nvidia-cdi-hook"
    create
    refused 'not a file that only root can write'
    chown 0 "$DIR/root/usr/bin/nvidia-cdi-hook"
    chmod 0775 "$DIR/root/usr/bin/nvidia-cdi-hook"
    create
    refused 'not a file that only root can write'
    rm "$DIR/root/usr/bin/nvidia-cdi-hook"
    create
    refused 'not a file that only root can write'
}

# dockers PROGRAM: creates a container with the hook of a daemon that runs the program.
dockers() {
    hook /proc/PID/exe libnetwork-setkey -exec-root=/var/run/docker 0123456789abcdef 89abcdef
    rm -f "$DIR/low.config"
    # shellcheck disable=SC2016
    run --separate-stderr on_host sh -euc '
        "$1" 60 &
        sleep 0.2
        sed -i "s|/proc/PID/|/proc/$!/|" "$2/config.json"
        rc=0
        "$3" create --bundle "$2" c1 || rc=$?
        kill $!
        exit $rc' sh "$1" "$BUNDLE" "$FIRST"
}

@test "dockerd's hook for networks is allowed, if the process is dockerd" {
    mkdir -p "$DIR/root/usr/sbin" "$DIR/root/opt"
    cp "$(readlink -f "$(command -v sleep)")" "$DIR/root/usr/sbin/dockerd"
    cp "$DIR/root/usr/sbin/dockerd" "$DIR/root/opt/other"
    without_toolkit
    policy '"max": 2' '"security": { "hooks": "deny" }'
    dockers /usr/sbin/dockerd
    passed
    dockers /opt/other
    refused 'exe: the process is not dockerd'
    chown 1234 "$DIR/root/usr/sbin/dockerd"
    dockers /usr/sbin/dockerd
    refused 'the process is not dockerd'
    hook /proc/1/exe libnetwork-setkey -exec-root=/x 0 'sh'
    create
    refused 'neither the policy'
}

@test "all mounts, nodes and hooks of a driver with graphics pass a policy that denies those of users" {
    local mode source
    without_toolkit
    driver
    for mode in cdi jit-cdi; do
        gojq '.process.user = {uid: 1234, gid: 1234}' "$NVIDIA/full-1.19.1-$mode.json" >"$BUNDLE/config.json"
        gojq -r '.mounts[] | select(.source | startswith("/")) | .source | sub("^/lib/"; "/usr/lib/")' "$BUNDLE/config.json" >"$DIR/sources"
        [ "$(wc -l <"$DIR/sources")" -eq 37 ]
        while read -r source; do
            mkdir -p "$DIR/root${source%/*}"
            [ -e "$DIR/root$source" ] || : >"$DIR/root$source"
        done <"$DIR/sources"
        if [ "$mode" = cdi ]; then
            specification cdi-nvidia.yaml nvidia.yaml
        else
            rm "$DIR/root/etc/cdi/nvidia.yaml"
        fi
        policy '"max": 2' '"binds": { "default": "deny", "require_access": true, "targets_deny": ["/", "/proc", "/sys", "/dev"] },
            "security": { "hooks": "deny", "devices": { "allow": [] } }'
        sed -i 's/"runtime": {/& "flavor": "runc",/' "$DIR/policy.json" # others get a hook about the console
        sed -i 's/NVIDIA_VISIBLE_DEVICES=all/NVIDIA_VISIBLE_DEVICES=0,1/' "$BUNDLE/config.json"
        cp "$BUNDLE/config.json" "$DIR/before"
        create
        passed
        cmp "$DIR/before" "$DIR/low.config"
    done
}
