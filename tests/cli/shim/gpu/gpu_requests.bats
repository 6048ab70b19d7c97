#!/usr/bin/env bats
# The policy's "gpus" where NVIDIA's toolkit comes after flatbed-runtime (order A), and in the mode legacy: config.json has
# only requests.
#
# shellcheck disable=SC2154  # status and stderr are set by bats' run

load ../lib/gpus

@test "order A: every carrier of a request is judged before NVIDIA's runtime sees it" {
    local mode
    for mode in "1.17.8 cdi" "1.19.1 cdi" "1.19.1 jit-cdi" "1.17.8 legacy" "1.19.1 legacy"; do
        # shellcheck disable=SC2086
        order_a $mode
        policy '"max": 1, "devices": ["0"]'
        asks 0
        create
        passed
        asks 1
        create
        refused 'gpus.devices: the GPU 1 is not allowed; allowed are 0'
        asks 0,1
        create
        refused 'the GPU 1 is not allowed'
        config '.process.env += ["NVIDIA_VISIBLE_DEVICES=1", "NVIDIA_VISIBLE_DEVICES=0"]'
        create
        passed
        config '.process.env += ["NVIDIA_VISIBLE_DEVICES=0", "NVIDIA_VISIBLE_DEVICES=1"]'
        create
        refused 'the GPU 1 is not allowed'
        config '.mounts += [{destination: "/var/run/nvidia-container-devices/1", type: "bind", source: "/dev/null", options: ["bind"]}]'
        create
        refused 'the GPU 1 is not allowed'
        config '.mounts += [{destination: "/var/run/./nvidia-container-devices/cdi/nvidia.com/gpu/1", source: "/dev/null", options: ["bind"]}]'
        create
        refused 'the GPU 1 is not allowed'
        config '.mounts += [{destination: "/var/run/nvidia-container-devices/all", source: "/dev/null", options: ["bind"]}]'
        create
        refused 'gpus.all: the container asks for all GPUs \(/var/run/nvidia-container-devices/all\)'
        config '.annotations = {"cdi.k8s.io/x": "nvidia.com/gpu=0,nvidia.com/gpu=1"}'
        create
        refused 'the GPU 1 is not allowed'
    done
    policy '"max": 1'
    asks GPU-00000001
    create
    [[ ! $stderr =~ flatbed ]]
    asks 0,GPU-00000001-0000-0000-0000-000000000000
    create
    refused 'the container would have 2 GPUs'
    asks 0,GPU-00000000-0000-0000-0000-000000000000
    create
    [[ ! $stderr =~ gpus ]]
}

@test "order A: names that are not known to be GPUs are refused" {
    local name
    order_a 1.19.1 cdi
    policy '"max": 8'
    for name in 00 1-2 0x1 VOID nvidia.com/gpu=x management.nvidia.com/gpu=all vendor.com/class=0 nvidia.com/gpu=void 0000:01:00.0 -1 GPU- '0;1'; do
        asks "$name"
        create
        refused 'is not known to be a GPU; ask by number'
    done
    asks 0,,void
    create
    [[ ! $stderr =~ gpus ]]
    for name in NVIDIA_MIG_CONFIG_DEVICES=all NVIDIA_MIG_MONITOR_DEVICES=all NVIDIA_IMEX_CHANNELS=0 NVIDIA_MOFED=enabled; do
        config ".process.env += [\"$name\"]"
        create
        refused "${name%=*} asks for devices other than GPUs"
    done
}

@test "order A and legacy: the variable of an image that asks for all is rewritten" {
    local mode value
    for mode in "1.19.1 cdi" "1.17.8 legacy"; do
        # shellcheck disable=SC2086
        order_a $mode
        for value in all ALL ' all ' 0,all nvidia.com/gpu=all; do
            policy '"max": 1'
            asks "$value"
            create
            passed
            variable_is NVIDIA_VISIBLE_DEVICES=void
            has_gpus ""
        done
        policy '"max": 1, "default": "1"'
        asks all
        create
        passed
        [[ $(gojq -r '.process.env[1]' "$DIR/low.config") = NVIDIA_VISIBLE_DEVICES=1 ]]
        # An old image of CUDA gets all GPUs without asking.
        config '.process.env += ["CUDA_VERSION=9.0"]'
        policy '"max": 1'
        create
        passed
        variable_is NVIDIA_VISIBLE_DEVICES=void
        config '.process.env += ["CUDA_VERSION=12.4", "NVIDIA_REQUIRE_CUDA=cuda>=12.4"]'
        create
        passed
        variable_is ""
        policy '"max": 1, "default": "deny"'
        asks all
        create
        refused 'gpus.all'
        policy '"max": 1, "default": "0,1"'
        asks all
        create
        refused 'gpus.max: the container would have 2 GPUs'
    done
}

@test "order B with legacy: the hook will read the request, so it is judged" {
    order_b 1.17.8 legacy
    policy '"max": 1, "devices": ["0"]'
    asks 1
    create
    refused 'the GPU 1 is not allowed'
    asks all
    create
    passed
    variable_is NVIDIA_VISIBLE_DEVICES=void
    asks 0
    create
    passed
    variable_is NVIDIA_VISIBLE_DEVICES=0
}

@test "docker --gpus adds its hook without NVIDIA's runtime, and is judged" {
    without_toolkit
    policy '"devices": ["0"]'
    config '.process.env += ["NVIDIA_VISIBLE_DEVICES=0", "NVIDIA_VISIBLE_DEVICES=all"]
        | .hooks.prestart = [{path: "/usr/bin/nvidia-container-runtime-hook", args: ["nvidia-container-runtime-hook", "prestart"]}]'
    create
    passed
    variable_is NVIDIA_VISIBLE_DEVICES=void
    config '.process.env += ["NVIDIA_VISIBLE_DEVICES=1"]
        | .hooks.prestart = [{path: "/usr/bin/nvidia-container-runtime-hook", args: ["nvidia-container-runtime-hook", "prestart"]}]'
    create
    refused 'the GPU 1 is not allowed'
    # Nothing acts on the variable without the hook.
    config '.process.env += ["NVIDIA_VISIBLE_DEVICES=all"]'
    create
    passed
    cmp "$BUNDLE/config.json" "$DIR/low.config"
    variable_is NVIDIA_VISIBLE_DEVICES=all
}

@test "a swarm resource of the toolkit is a request, too" {
    mkdir -p "$DIR/root/etc/nvidia-container-runtime"
    printf '#swarm-resource = "X"\nswarm-resource = "DOCKER_RESOURCE_GPU, OTHER"\n' \
        >"$DIR/root/etc/nvidia-container-runtime/config.toml"
    order_a 1.19.1 cdi
    policy '"devices": ["0"]'
    config '.process.env += ["OTHER=1"]'
    create
    refused 'the GPU 1 is not allowed'
}

@test "GPUs with requests and devices together are counted together" {
    order_a 1.19.1 cdi
    policy '"max": 1'
    config '.process.env += ["NVIDIA_VISIBLE_DEVICES=0"] | .linux.devices = [{path: "/dev/nvidia1", type: "c", major: 195, minor: 1}]'
    create
    refused 'the container would have 2 GPUs \(1, 0\)'
}
