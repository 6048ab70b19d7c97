#!/usr/bin/env bats
# The policy's "gpus" where NVIDIA's toolkit comes before flatbed-runtime (order B): config.json has the GPUs.
#
# shellcheck disable=SC2154  # status and stderr are set by bats' run

load ../lib/gpus

@test "order B: GPUs are counted as they were given, by each version and mode" {
    local mode
    for mode in "1.17.8 cdi" "1.19.1 cdi" "1.19.1 jit-cdi"; do
        # shellcheck disable=SC2086
        order_b $mode
        policy '"max": 1, "devices": ["0-1"]'
        asks 0
        create
        passed
        has_gpus 0
        asks 0,1
        create
        refused 'gpus.max: the container would have 2 GPUs \(0, 1\); allowed are at most 1 \(.*policy.json:1\)'
        policy '"devices": ["1-3"]'
        asks 0
        create
        refused 'gpus.devices: the GPU 0 is not allowed; allowed are 1-3'
        policy '"devices": ["GPU-00000001-*"]'
        create
        refused 'the GPU 0 is not allowed'
        asks GPU-00000001-0000-0000-0000-000000000000
        create
        passed
        has_gpus 1
    done
}

@test "order B: an image that asks for all gets the default" {
    policy '"max": 1'
    asks all
    create
    passed
    has_gpus ""
    [ "$(gojq '[.linux.devices[]?, .linux.resources.devices[]? | select(.major == 195 or .major == 510)] | length' "$DIR/low.config")" -eq 0 ]
    policy '"max": 1, "default": "1"'
    asks all
    create
    passed
    has_gpus 1
    gojq -e '.linux.devices | map(.path) | contains(["/dev/nvidia1", "/dev/nvidiactl", "/dev/nvidia-uvm"])' "$DIR/low.config"
    # A device that was named counts, whatever the image says.
    config '.process.env += ["NVIDIA_VISIBLE_DEVICES=all", "NVIDIA_VISIBLE_DEVICES=void"]
        | .linux.devices = [{path: "/dev/nvidia1", type: "c", major: 195, minor: 1}]'
    create
    passed
    cmp "$BUNDLE/config.json" "$DIR/low.config"
    policy '"max": 1'
    rm -r "$DIR/gpus/0000:01:00.0"
    create
    passed
    ! gojq -e '.linux.devices[0]' "$DIR/low.config" || false
    config '.process.env += ["NVIDIA_VISIBLE_DEVICES=all", "NVIDIA_VISIBLE_DEVICES=void"]
        | .annotations = {"io.container.manager": "libpod"}
        | .linux.devices = [{path: "/dev/nvidia1", type: "c", major: 195, minor: 1}]'
    create
    passed
    cmp "$BUNDLE/config.json" "$DIR/low.config"
    card 0000:01:00.0 0
    policy '"max": 1, "default": "deny"'
    asks all
    create
    refused 'gpus.all: the container asks for all GPUs, as images of CUDA do'
    policy '"max": 1, "all": "allow"'
    asks all
    create
    refused 'gpus.max: the container would have 2 GPUs'
    policy '"all": "allow"'
    asks all
    create
    passed
    has_gpus "0 1"
    policy '"all": "deny", "default": "0,1"'
    asks all
    create
    refused 'gpus.all: the container would have all GPUs of this host'
}

@test "order B: no GPU means none of the driver's nodes either" {
    local none
    order_b 1.19.1 jit-cdi
    for none in '"max": 0' '"devices": []'; do
        policy "$none"
        asks 0
        create
        refused 'no GPU is allowed'
        asks none
        create
        refused 'no GPU is allowed'
        config .
        create
        passed
        config '.linux.resources.devices += [{allow: true, type: "c", major: 510, minor: 0, access: "rw"}]'
        create
        refused 'no GPU is allowed'
    done
    policy '"max": 1'
    asks none
    create
    passed
    has_gpus ""
}

@test "order B: rules without numbers give all GPUs" {
    local rule
    policy '"max": 8'
    for rule in 'type: "c", major: 195' 'type: "c"' 'type: "c", minor: 3' 'type: "a"' 'type: "u", major: 195, minor: null' \
        'type: "c", major: 195, minor: -1'; do
        config ".linux.resources.devices += [{allow: true, access: \"rwm\", $rule}]"
        create
        refused 'gpus.all: the container could use all GPUs of this host'
    done
    config 'del(.linux.resources.devices)'
    create
    refused 'gpus.all: the container could use all GPUs of this host: it may use all devices'
    # To make nodes is not to open them.
    config '.linux.resources.devices += [{allow: true, type: "c", access: "m"}]'
    create
    passed
    config '.linux.resources.devices += [{allow: true, type: "c", major: 195, minor: 1, access: "r"}]'
    policy '"devices": ["0"]'
    create
    refused 'the GPU 1 is not allowed'
    policy '"devices": ["0"], "all": "allow"'
    config '.linux.resources.devices += [{allow: true, type: "c", major: 195, access: "rwm"}]'
    create
    refused 'the GPU 1 is not allowed; allowed are 0'
}

@test "with mapped ids and without rules, a container has the GPUs whose nodes it has" {
    local mapped='del(.linux.resources) | .linux += {namespaces: [{type: "user"}],
        uidMappings: [{containerID: 1234, hostID: 1234, size: 1}], gidMappings: [{containerID: 1234, hostID: 1234, size: 1}],
        devices: [{path: "/dev/nvidia1", type: "c", major: 195, minor: 1}]}'
    without_toolkit
    config "$mapped"
    policy '"devices": ["1"]' '"security": { "devices": { "allow": [] } }'
    create
    passed
    has_gpus 1
    config "$mapped"
    policy '"devices": ["0"]' '"security": { "devices": { "allow": [] } }'
    create
    refused 'the GPU 1 is not allowed'
    # Nothing puts rules in.
    config "$mapped"
    policy '"devices": ["1"]'
    create
    refused 'it may use all devices'
    config "$mapped | .linux.uidMappings[0].hostID = 1235 | .process.user.uid = 1234"
    policy '"devices": ["1"]' '"security": { "devices": { "allow": [] } }'
    create
    passed
    config "$mapped | .linux.uidMappings += [{containerID: 1, hostID: 1236, size: 1}]"
    create
    refused 'only put in for ids of its own: its user namespace has uids 1236 to 1236'
}

@test "a container without a cgroup has no rules for devices, and is refused" {
    local policies
    without_toolkit
    config .
    for policies in '"gpus": { "max": 1 }' '"security": { "devices": { "allow": [] } }'; do
        printf '{ "version": 1, "runtime": { "paths": ["%s"], "flavor": "crun" }, %s }' "$LOW" "$policies" >"$DIR/policy.json"
        run --separate-stderr on_host "$FIRST" --cgroup-manager disabled create --bundle "$BUNDLE" c1
        refused 'without a cgroup .--cgroup-manager=disabled. could use all devices'
        run --separate-stderr on_host "$FIRST" --cgroup-manager=cgroupfs create --bundle "$BUNDLE" c1
        passed
        rm "$DIR/low.config"
        # runc does not know the option, so it must be known which of them this is.
        sed -i 's/, "flavor": "crun"//' "$DIR/policy.json"
        run --separate-stderr on_host "$FIRST" --cgroup-manager=disabled create --bundle "$BUNDLE" c1
        [ "$status" -eq 1 ]
        [[ $stderr =~ 'runc and crun read this command line differently' ]]
        rm "$DIR/low.config" # written for the question which of them it is
    done
}

@test "a node that is a bind mount counts" {
    mknod "$DIR/node" c 195 1
    policy '"devices": ["0"]'
    config ".mounts += [{destination: \"/dev/x\", type: \"bind\", source: \"$DIR/node\", options: [\"bind\"]}]"
    create
    refused 'the GPU 1 is not allowed'
}

@test "GPUs have the numbers of nvidia-smi, not those of their nodes" {
    card 0000:01:00.0 1
    card 0000:02:00.0 0
    policy '"devices": ["0"]'
    config '.linux.devices = [{path: "/dev/nvidia1", type: "c", major: 195, minor: 1}]'
    create
    passed
    config '.linux.devices = [{path: "/dev/nvidia0", type: "c", major: 195, minor: 0}]'
    create
    refused 'the GPU 1 is not allowed'
    config '.linux.devices = [{path: "/dev/nvidia7", type: "c", major: 195, minor: 7}]'
    create
    refused 'the GPU /dev/nvidia7 is not allowed'
}

@test "order B: MIG devices are counted by compute instances" {
    instance 1 mig/config
    instance 2 mig/monitor
    instance 21 gpu1/mig/gi1/access
    instance 22 gpu1/mig/gi1/ci0/access
    instance 30 gpu1/mig/gi2/access
    instance 31 gpu1/mig/gi2/ci0/access
    policy '"max": 1, "devices": ["MIG-*"]'
    asks 1:0
    create
    passed
    has_gpus 1
    asks 1
    create
    refused 'the GPU 1 is not allowed; allowed are MIG-\*'
    asks 1:0
    policy '"devices": ["0"]'
    create
    refused 'MIG device nvidia-cap22 is not allowed'
    policy '"devices": ["1:*"]'
    create
    passed
    policy '"max": 1'
    config '.linux.devices = [{path: "/dev/nvidia1", type: "c", major: 195, minor: 1},
        (21, 22, 30, 31 | {path: "/dev/nvidia-caps/nvidia-cap\(.)", type: "c", major: 237, minor: .})]'
    create
    refused 'the container would have 2 GPUs \(MIG device nvidia-cap22, MIG device nvidia-cap31\)'
    config '.linux.devices = [{path: "/dev/x", type: "c", major: 237, minor: 1}]'
    create
    refused 'could change or watch all MIG devices'
}

@test "order B: NVIDIA's nodes need not be in security.devices, others do" {
    policy '"max": 1' '"security": { "devices": { "allow": [] } }'
    asks 0
    create
    passed
    config '.linux.devices = [{path: "/dev/nvme0", type: "c", major: 240, minor: 0}]'
    create
    refused 'security.devices'
    config '.linux.devices = [{path: "/dev/sda", type: "b", major: 195, minor: 0}]'
    create
    refused 'security.devices'
}

@test "a profile gives more GPUs" {
    policy '"max": 0' '"profiles": [ { "name": "big", "match": { "uid": ["1234"] }, "gpus": { "max": 2 } },
        { "name": "free", "match": { "uid": ["1235"] }, "gpus": { "max": false, "all": "allow" } } ]'
    asks 0,1
    create
    passed
    has_gpus "0 1"
    asks all
    gojq '.process.user.uid = 1235' "$BUNDLE/config.json" >"$DIR/new" && cp "$DIR/new" "$BUNDLE/config.json"
    create
    passed
    has_gpus "0 1"
    asks 0
    gojq '.process.user.uid = 1236' "$BUNDLE/config.json" >"$DIR/new" && cp "$DIR/new" "$BUNDLE/config.json"
    create
    refused 'no GPU is allowed'
}

@test "errors in gpus have a place" {
    local gpus
    for gpus in '"max": -1' '"max": "2"' '"devices": ["0-"]' '"devices": ["3-1"]' '"devices": ["*"]' '"devices": ["01"]' \
        '"all": "some"' '"default": "all"' '"default": "0,"' '"default": "x"' '"mx": 1'; do
        policy "$gpus"
        create
        refused 'policy.json:1:[0-9]+: '
    done
}
