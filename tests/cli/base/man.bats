#!/usr/bin/env bats
# The man pages match the programs.

setup() {
    : "${FLATTEN:?the flatten to test}"
    : "${FLATBED:?the flatbed to test}"
    : "${MAN_DIR:?the directory of the man pages}"
}

# Prints the long options in the text on standard input, one a line.
options_of() {
    grep -oE -- '--[a-z][a-z-]+' | sort -u
}

options_of_help() {
    { "$FLATTEN" --help; "$FLATTEN" squash --help; "$FLATTEN" carve --help; "$FLATTEN" verify --help
        "$FLATTEN" unpack --help
        "$FLATTEN" analyze --help; } | options_of
}

options_of_man() {
    mandoc -Tutf8 -O width=200 "$MAN_DIR/flatten.1" | col -b | options_of
}

@test "mandoc reports no errors" {
    for page in "$MAN_DIR"/*.[0-9]; do
        run mandoc -Tlint -W warning "$page"
        [ "$status" -eq 0 ] || { echo "$output"; false; }
    done
}

@test "flatten(1) has exactly the options of --help" {
    diff <(options_of_help) <(options_of_man)
}

@test "flatten(1) and --help list the same exit statuses" {
    for status in 0 1 2 3 4 5 6 7 8; do
        "$FLATTEN" --help | tr '\n' ' ' | grep -qE "(status: |, |  *)$status "
        grep -qx ".It $status" "$MAN_DIR/flatten.1"
    done
}

flatbed_help() {
    "$FLATBED" --help
    for command in check explain install uninstall bench restack gc doctor copyups stale zfs status monitor start-time watch stage warm; do
        "$FLATBED" "$command" --help
    done
}

@test "flatbed(8) has exactly the options of --help, and those of the programs that it names" {
    diff <(flatbed_help | options_of) <(mandoc -Tutf8 -O width=200 "$MAN_DIR/flatbed.8" | col -b |
        sed -e '/DIVERTING RUNC/,/^ENVIRONMENT/d' -e '/^[[:space:]]*systemctl /d' | options_of)
}

@test "flatbed(8) and --help list the same exit statuses" {
    for status in 0 1 2 3 4 5 7 8 9 10 11; do
        "$FLATBED" --help | tr '\n' ' ' | grep -qE "(status: |, |  *)$status "
        grep -qx ".It $status" "$MAN_DIR/flatbed.8"
    done
}

@test "flatbed(8) names every diagnosis of doctor" {
    for id in $(sed -n '/doctor_ids/,/NULL/p' "$BATS_TEST_DIRNAME/../../../shim/admin/doctor/doctor.c" |
        grep -oE '"[a-z-]+"' | tr -d '"'); do
        grep -qE "^\.It Li (.* )?$id( |$)" "$MAN_DIR/flatbed.8" || { echo "$id is missing"; false; }
    done
}

@test "flatbed(8) names every finding of check" {
    for rule in $(grep -ohE '(FINDING_[A-Z]+|: FINDING_WARNING), "[a-z-]+"' \
        "$BATS_TEST_DIRNAME"/../../../shim/admin/{check/lint,check/lint_host,check/lint_engines,check/lint_nvidia,check/lint_stage,command_check}.c | grep -oE '"[a-z-]+"' | tr -d '"' | sort -u); do
        grep -q -- "$rule" "$MAN_DIR/flatbed.8" || { echo "$rule is missing"; false; }
    done
}
