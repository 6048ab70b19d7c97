# Waits for conditions. The limits are for hangs: a busy machine is not a failure.
# shellcheck shell=bash disable=SC2016,SC2034  # words for another shell; HOLDER is for the tests

# wait_until COMMAND...: waits until COMMAND succeeds; fails after three minutes.
wait_until() {
    local end=$((SECONDS + 180))
    until "$@" >/dev/null 2>&1; do
        ((SECONDS < end)) || { echo "in vain: $*"; return 1; }
        sleep 0.05
    done
}

is_locked() { ! flock --nonblock "$1" true; }

# hold_lock FILE: starts a process that locks FILE until it is killed; its process ID is in HOLDER.
hold_lock() {
    bash -c 'exec 9<"$0" && flock 9 && exec sleep 3600' "$1" 3>&- &
    HOLDER=$!
    wait_until is_locked "$1"
}
