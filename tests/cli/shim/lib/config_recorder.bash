# A low-level runtime that only records the config.json that it is given, and what a test asks of it.
# shellcheck shell=bash

# record_config: makes $DIR/low, which copies the config.json of $BUNDLE to $DIR/low.config.
record_config() {
    printf '#!/bin/sh\ncp "%s/config.json" "%s/low.config"\n' "$BUNDLE" "$DIR" >"$DIR/low"
    chmod 0755 "$DIR/low"
}

# remove_mounted: removes $DIR, with what is mounted below it.
remove_mounted() {
    [ -n "${DIR-}" ] || return 0
    while read -r where; do umount -l "$where"; done < <(awk -v d="$DIR/" 'index($5, d) == 1 { print $5 }' /proc/self/mountinfo)
    rm -rf --one-file-system "$DIR"
}

# refused REGEX: exit 1, the message on stderr, and the low-level runtime did not run.
refused() {
    # shellcheck disable=SC2154
    echo "status $status, stdout '$output', stderr '$stderr'"
    [ "$status" -eq 1 ]
    [[ $stderr =~ $1 ]]
    [ ! -e "$DIR/low.config" ]
}

passed() {
    echo "status $status, stderr '$stderr'"
    [ "$status" -eq 0 ]
    [ -e "$DIR/low.config" ]
}
