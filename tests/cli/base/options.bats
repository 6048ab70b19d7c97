#!/usr/bin/env bats
# Command-line handling of every program: exit status, stdout and stderr of a sample program.
# shellcheck disable=SC2154  # status, output and stderr are set by bats' run

bats_require_minimum_version 1.5.0

setup() {
    [ -x "$SAMPLE" ] || { echo "SAMPLE is not set to flatbed-sample"; return 1; }
}

@test "options and operands are accepted in any order" {
    run --separate-stderr "$SAMPLE" pack one -qf --format zstd two -o out
    [ "$status" -eq 0 ]
    [ "$output" = "pack quiet force
output=out
format=zstd
operand=one
operand=two" ]
    [ -z "$stderr" ]
}

@test "without a command the fallback command runs" {
    run --separate-stderr "$SAMPLE" image
    [ "$status" -eq 0 ]
    [ "$output" = "pack
operand=image" ]
}

@test "a mistyped option gives status 2, a suggestion on stderr and nothing on stdout" {
    run --separate-stderr "$SAMPLE" pack --fromat=zstd x
    [ "$status" -eq 2 ]
    [ -z "$output" ]
    [ "$stderr" = "flatbed-sample: error: unknown option '--fromat'; did you mean '--format'?" ]
}

@test "a wrong choice lists the valid ones" {
    run --separate-stderr "$SAMPLE" pack --format=rar x
    [ "$status" -eq 2 ]
    [ "$stderr" = "flatbed-sample: error: --format=rar: expected one of gzip, zstd, none" ]
}

@test "control characters of an operand are not printed to the terminal" {
    run --separate-stderr "$SAMPLE" list $'\e[2J\nflatbed-sample: forged'
    [ "$status" -eq 2 ]
    run --separate-stderr "$SAMPLE" pack $'--\e[2J\nforged' x
    [ "$status" -eq 2 ]
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ $stderr == *'\x1b[2J\x0aforged'* ]]
}

@test "--help shows each option on stdout" {
    run --separate-stderr "$SAMPLE" list --help
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = "Usage: flatbed-sample list [OPTION]..." ]
    [[ $output == *"  -q, --quiet               say nothing but errors"* ]]
    [ -z "$stderr" ]
}
