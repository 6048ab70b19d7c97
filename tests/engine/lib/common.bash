# shellcheck shell=bash
# The basis of every engine test: a private directory, requirements, waiting, cleaning up. frame.bash uses it.
#
# Everything that an engine writes is under $FB_DIR, a directory made by mktemp: sockets, state, images, logs,
# the policy ($FB_POLICY), host directories for containers ($FB_SRV) and wrappers ($FB_DIR/bin).
# The program under test is $FLATBED_RUNTIME, an absolute path.
#
# Requirements: require_* only *record* why a file cannot run here; fb_gate then skips each test
# with that reason, or fails it with CI=true or FLATBED_TESTS_STRICT=1.
#
# FLATBED_TESTS_KEEP=1 keeps the directory. FLATBED_TESTS_TMP is its parent: a short path, as it holds sockets.
#
# shellcheck disable=SC2154  # status and output are set by bats' run

export FB_IMAGE=flatbed-test:1

fb_strict() { [ "${CI-}" = true ] || [ "${FLATBED_TESTS_STRICT-}" = 1 ]; }

# Prints a note that is shown between the lines of TAP output.
fb_note() { echo "# flatbed: $*" >&3; }

fb_begin() {
    FB_DIR=$(mktemp -d "${FLATBED_TESTS_TMP:-/tmp}/fb.XXXXXX")
    chmod 0755 "$FB_DIR"
    FB_POLICY=$FB_DIR/policy.json
    FB_SRV=$FB_DIR/srv
    FB_REFUSED=
    export FB_DIR FB_POLICY FB_SRV FB_REFUSED
    mkdir -p "$FB_DIR/bin" "$FB_DIR/tmp" "$FB_SRV"
    require_shim
}

# ------------------------------------------------------------------ requirements

refuse() { [ -n "$FB_REFUSED" ] || export FB_REFUSED="$*"; }

require_tool() {
    local tool
    for tool; do
        command -v "$tool" >/dev/null || refuse "$tool is not installed"
    done
}

require_shim() {
    case ${FLATBED_RUNTIME-} in
        '') refuse "FLATBED_RUNTIME is not set" ;;
        /*) [ -x "$FLATBED_RUNTIME" ] || refuse "FLATBED_RUNTIME=$FLATBED_RUNTIME is no program" ;;
        *) refuse "FLATBED_RUNTIME=$FLATBED_RUNTIME is not absolute" ;;
    esac
}

# Root must be able to mount: the root of an unprivileged container is not enough for any engine.
require_root() {
    if [ "$(id -u)" != 0 ]; then
        refuse "not root"
    elif ! unshare --mount --propagation private mount -t tmpfs none /mnt 2>/dev/null; then
        refuse "root may not mount here"
    fi
}

require_flatbed() { [ -x "${FLATBED-}" ] || refuse "FLATBED is not set to the program"; }

require_busybox() {
    require_tool busybox
    if ldd "$(command -v busybox)" >/dev/null 2>&1; then
        refuse "busybox is not static (busybox-static is needed)"
    fi
}

# Returns 0 if $FB_DIR can hold the upper side of an overlay mount; containerd does not try that itself.
overlay_works() {
    local dir=$FB_DIR/overlay-probe result=0
    mkdir -p "$dir"/{lower,upper,work,merged}
    # shellcheck disable=SC2016
    unshare --mount --propagation private sh -c 'cd "$1" &&
        mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work none merged' sh "$dir" 2>/dev/null || result=1
    rm -rf "$dir"
    return "$result"
}

# Skips or fails the test if a requirement is missing. A test with requirements of its own calls it after them.
fb_gate() {
    [ -n "$FB_REFUSED" ] || return 0
    if fb_strict; then
        echo "required here, but: $FB_REFUSED"
        return 1
    fi
    skip "$FB_REFUSED"
}

# Returns 0 if root has the capability with this number: CAP_SYS_RESOURCE is 24, CAP_SYS_ADMIN 21.
has_cap() {
    local hex
    hex=$(sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status)
    (((16#$hex >> $1) & 1))
}

# ------------------------------------------------------------------ waiting

# wait_for COMMAND…: waits until the command succeeds; fails after three minutes.
wait_for() { wait_seconds 180 "$@"; }

wait_seconds() {
    local end=$((SECONDS + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        ((SECONDS < end)) || return 1
        sleep 0.05
    done
}

pid_alive() {
    local stat
    stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
    stat=${stat##*) }
    [ "${stat%% *}" != Z ]
}

pid_gone() { ! pid_alive "$1"; }

# daemon_await NAME PID LOG COMMAND…: waits until COMMAND succeeds; prints the log if the daemon ends or does not answer.
daemon_await() {
    local name=$1 pid=$2 log=$3 left=6000
    shift 3
    until "$@" >/dev/null 2>&1; do
        if pid_gone "$pid" || ((left-- <= 0)); then
            echo "$name does not answer; the end of its log:"
            tail -n 25 "$log"
            return 1
        fi
        sleep 0.05
    done
}

daemon_stop() {
    [ -n "${1-}" ] || return 0
    kill "$1" 2>/dev/null || return 0
    wait_seconds 20 pid_gone "$1" || kill -KILL "$1" 2>/dev/null || true
    wait_seconds 5 pid_gone "$1" || fb_note "process $1 does not end"
}

# ------------------------------------------------------------------ cleaning up

# fb_left_behind [WORD]: lists processes with $FB_DIR, and WORD, on their command line: shims and conmons that an
# engine left.
fb_left_behind() {
    # The list is made before grep starts: otherwise grep finds itself.
    local lines=(/proc/[0-9]*/cmdline)
    mapfile -t lines < <(grep -lzsF -- "${FB_DIR:?}/" "${lines[@]}")
    [ "${#lines[@]}" -eq 0 ] || grep -lzsF -- "${1-}" "${lines[@]}" | cut -d / -f 3 || true
}

# fb_reap [WORD]: kills them.
# shellcheck disable=SC2120  # the engines pass a word
fb_reap() {
    local pid
    for pid in $(fb_left_behind "$@"); do
        kill -KILL "$pid" 2>/dev/null || true
        wait_seconds 2 pid_gone "$pid" || true
    done
}

fb_mounts() {
    awk -v dir="$FB_DIR" 'index($5 "/", dir "/") == 1 { print $5 }' /proc/self/mountinfo | tac
}

fb_unmount() {
    local where
    while read -r where; do
        umount "$where" 2>/dev/null || umount -l "$where" 2>/dev/null || true
    done < <(fb_mounts)
}

fb_end() {
    [ -n "${FB_DIR-}" ] || return 0
    fb_reap
    fb_unmount
    if [ -n "$(fb_mounts)" ]; then
        fb_note "still mounted, so $FB_DIR stays: $(fb_mounts | tr '\n' ' ')"
        return 1
    fi
    if [ "${FLATBED_TESTS_KEEP-}" = 1 ]; then
        fb_note "kept: $FB_DIR"
    else
        rm -rf --one-file-system "$FB_DIR" "/run/flatbed/state/${FB_DIR//\//%2F}"*
    fi
}

# ------------------------------------------------------------------ assertions

expect_status() {
    [ "$status" -eq "$1" ] && return 0
    echo "exit status $status instead of $1:"
    echo "$output"
    return 1
}

expect_failure() {
    [ "$status" -ne 0 ] && return 0
    echo "should have failed:"
    echo "$output"
    return 1
}

expect_output() {
    [ "$output" = "$1" ] && return 0
    printf 'wanted: %s\ngot:    %s\n' "$1" "$output"
    return 1
}

# expect_match REGEX [TEXT]: an extended regular expression.
expect_match() {
    local text=${2-$output}
    [[ $text =~ $1 ]] && return 0
    printf 'nothing here matches %s:\n%s\n' "$1" "$text"
    return 1
}

expect_no_match() {
    local text=${2-$output}
    [[ $text =~ $1 ]] || return 0
    printf 'this matches %s:\n%s\n' "$1" "$text"
    return 1
}

expect_equal() {
    [ "$1" = "$2" ] && return 0
    printf 'differ:\n  %s\n  %s\n' "$1" "$2"
    return 1
}
