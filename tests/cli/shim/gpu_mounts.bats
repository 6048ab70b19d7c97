#!/usr/bin/env bats
# The mounts and hooks that come with a GPU, under "binds" and "security.hooks" that deny those of users.
#
# shellcheck disable=SC2154  # status and stderr are set by bats' run

load lib/gpus

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
    jq -e '.mounts[-1].options | index("ro")' "$DIR/low.config"
    create
    passed
    cmp "$BUNDLE/config.json" "$DIR/low.config"
    policy '"max": 2' '"binds": { "default": "allow" }'
    bind /opt/state /state '["rbind", "nosuid"]'
    create
    passed
    cmp "$BUNDLE/config.json" "$DIR/low.config"
    jq -e '.mounts[-1].options | index("ro") | not' "$DIR/low.config"
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
