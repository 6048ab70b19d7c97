#!/usr/bin/env bats
# Protection against memory errors that the linker gives to each program of the release build.

setup() { PROGRAMS=("$FLATBED" "$FLATBED_RUNTIME" "$FLATTEN"); }

# each TEXT OPTION...: readelf with these options prints TEXT for each program.
each() {
    local program
    for program in "${PROGRAMS[@]}"; do
        readelf --wide "${@:2}" "$program" | grep -q -- "$1" || { echo "$program: no $1"; return 1; }
    done
}

@test "the address of a program is random: it is position-independent" {
    each 'Flags: .*PIE' --dynamic
}

@test "addresses of functions are found at the start, and read-only afterwards" {
    each 'BIND_NOW' --dynamic
    each 'GNU_RELRO' --segments
}

@test "the stack is not executable" {
    each 'GNU_STACK .* RW ' --segments
}
