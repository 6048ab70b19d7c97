# shellcheck shell=bash
# The frame of an engine test: what a file needs is started once, and each test begins and ends in the same state.
#
#   load lib/frame
#   frame docker podman              # engines and helpers: lib/docker.bash, lib/podman.bash
#
#   file_require() { require_tool gojq; }   # further requirements of the file
#   policy() { policy_base runc; }        # the policy: written before the engines start, and before each test
#   file_ready() { … }                    # after the engines started
#   test_begin() { … }                    # before each test
#   test_end() { … }                      # after each test, when its containers are removed
#   file_end() { … }                      # before the engines stop
#
# All of these functions are optional. They are called only where the requirements are met, except file_end.
#
# A library LIB defines LIB_require, LIB_start, LIB_stop and LIB_remove_all (the containers and files of a test).
# They start in the order of the names, and stop in the reverse order.

load lib/common
load lib/image
load lib/policy
load lib/lowlevel

frame() {
    local part
    FB_PARTS=("$@")
    for part; do
        load "lib/$part"
    done
}

file_require() { :; }
file_ready() { :; }
file_end() { :; }
test_begin() { :; }
test_end() { :; }
policy() { policy_empty runc; }

setup_file() {
    local part
    fb_begin
    require_root
    require_busybox
    for part in "${FB_PARTS[@]}"; do
        "${part}_require"
    done
    file_require
    [ -z "$FB_REFUSED" ] || return 0
    policy
    wrapper flatbed-runtime
    image_archive
    for part in "${FB_PARTS[@]}"; do
        "${part}_start"
    done
    [ -n "$FB_REFUSED" ] || file_ready
}

teardown_file() {
    local i
    file_end
    for ((i = ${#FB_PARTS[@]} - 1; i >= 0; i--)); do
        "${FB_PARTS[i]}_stop"
    done
    namespace_stop
    fb_end
}

setup() {
    fb_gate
    policy
    srv_make
    # shellcheck disable=SC2034  # the name of a container, for tests
    ID=fb$$-$BATS_TEST_NUMBER
    test_begin
}

teardown() {
    local part
    [ -z "$FB_REFUSED" ] || return 0
    for part in "${FB_PARTS[@]}"; do
        "${part}_remove_all"
    done
    test_end
}
