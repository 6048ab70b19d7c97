#!/usr/bin/env bats
# The words at the end of a run: what was written where, and what to do next. Numbers agree with their nouns.
# shellcheck disable=SC2154,SC2016  # status, output and stderr are set by bats' run

bats_require_minimum_version 1.5.0

load lib/flatten

setup_file() { make_images gojq skopeo; }

# says TEXT...: the last lines of the last run's standard error.
says() {
    local from=$((${#stderr_lines[@]} - $#)) i
    for i in "$@"; do
        # shellcheck disable=SC2053  # a pattern
        [[ ${stderr_lines[from]} == "flatten: "$i ]] || { echo "not: $i"; return 1; }
        from=$((from + 1))
    done
}

@test "an archive: docker load" {
    ok "$IMAGES/old.tar" out.tar
    says "wrote the image (* kB) to the archive out.tar, as image:v1" "next: docker load -i out.tar"
    ok "$IMAGES/old.tar" docker-archive:out.tar:mine
    says "wrote the image (*) to the archive out.tar, as mine:latest" "next: docker load -i out.tar"
    ok "oci:$IMAGES/base" out.tar
    says "wrote the image (*) to the archive out.tar" "next: docker load -i out.tar, then docker tag ID NAME:TAG*"
    ok -a "$IMAGES/several.tar" out.tar
    says "wrote 2 images to the archive out.tar" "next: docker load -i out.tar"
}

@test "a layout: the command that is printed copies the image" {
    for words in "$IMAGES/old.tar oci:out" "$IMAGES/old.tar oci:out:one:v1" "$IMAGES/old.tar oci:a+b:x" \
        "$IMAGES/old.tar oci-archive:out.tar" "oci:$IMAGES/platforms oci:several" "docker-archive:$IMAGES/crowd.tar:@4 oci:none"; do
        # shellcheck disable=SC2086  # several words
        ok $words
        [[ ${stderr_lines[-1]} == "flatten: next: "*"skopeo copy "*" docker://HOST/NAME:TAG to push it"* ]]
        command=${stderr_lines[-1]##*skopeo}
        command=skopeo${command%% docker://HOST*}
        eval "$command dir:copied"
        rm -r copied
    done
    [ "$command" = "skopeo copy oci:none" ]
    ok "$IMAGES/old.tar" "oci:it's new:v2"
    [[ ${stderr_lines[-1]} == "flatten: next: skopeo copy 'oci:it'\\''s new:v2' docker://HOST/NAME:TAG to push it, or to"* ]]
    ok -a "$IMAGES/several.tar" oci:all
    says "wrote 2 images to the OCI layout all" "next: skopeo copy oci:all:NAME docker://HOST/NAME:TAG to push it*"
}

@test "the words come after the result, and not with --quiet or --json" {
    "$FLATTEN" "$IMAGES/old.tar" oci:out >log 2>&1
    [[ $(tail -n 1 log) == "flatten: next: "* ]]
    ok -q "$IMAGES/old.tar" oci:out
    [ -z "$stderr" ]
    ok --json "$IMAGES/old.tar" oci:out
    [ -z "$stderr" ]
    ok --dry-run "$IMAGES/old.tar"
    says "nothing was written: leave out --dry-run to write the image"
    ok --dry-run --json "$IMAGES/old.tar"
    [ -z "$stderr" ]
}

@test "what was left out is said in words" {
    ok "$IMAGES/old.tar" oci:out
    [[ ${stderr_lines[0]} == "flatten: 3 layers became 1; 5.0 kB of 8.0 kB are left out, which newer layers replace or delete" ]]
    ok "oci:$IMAGES/base" oci:base
    [[ ${stderr_lines[0]} == "flatten: 2 layers became 1" ]]
    ok --keep-base=2 "$IMAGES/old.tar" oci:out:two
    [[ ${stderr_lines[0]} == "flatten: 1 layer became 1, above 2 kept ones"* ]]
    ok --keep-base=3 "$IMAGES/old.tar" oci:out:three
    [[ ${stderr_lines[0]} == "flatten: 3 layers are kept" ]]
}

@test "analyze --html says where the page is, and what to do with it" {
    run --separate-stderr "$FLATTEN" analyze --html=page.html "$IMAGES/old.tar"
    [ "$status" -eq 0 ]
    says "wrote the page page.html (* kB): open it in a browser, as with xdg-open page.html; it needs no network"
    for option in -q --json; do
        run --separate-stderr "$FLATTEN" analyze "$option" --html=page.html "$IMAGES/old.tar"
        [ -z "$stderr" ]
    done
    run --separate-stderr "$FLATTEN" analyze --html="a b.html" --max-depth=1 "$IMAGES/old.tar"
    [ "$status" -eq 4 ]
    says "wrote *xdg-open 'a b.html'*"
    run --separate-stderr "$FLATTEN" analyze --html=none.html "oci:$IMAGES/bad-whiteout"
    [[ $stderr != *wrote* ]]
}

@test "one of a thing is no plural" {
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$BATS_TEST_DIRNAME/../../oracle python3 - <<'END'
import images
from tarball import f, tar_bytes, wh
images.write_oci("one", [tar_bytes([f("a", "1")])])
images.write_oci("two", [tar_bytes([f("a", "1")]), tar_bytes([wh("a"), f("b", "1")])])
END
    one='(^|[^0-9.,:])1 (layers|entries|files|paths|images|names|directories|probes|records|bytes|platforms|modules|attestations|warnings|kept ones)([^a-z]|$)'
    for words in "oci:one oci:out" "-n oci:one" "-n --keep-base=1 oci:two" "--keep-base=1 oci:two oci:out" \
        "-a oci:one oci:all" "verify oci:one oci:one" "analyze oci:one" "analyze --contents --dedup oci:one oci:two" \
        "analyze --max-depth=1 oci:one" "oci:$IMAGES/platforms oci:p"; do
        # shellcheck disable=SC2086  # several words
        run "$FLATTEN" $words
        echo "$words: $output"
        ! grep -E "$one" <<<"$output" || return 1
    done
    run "$FLATTEN" analyze oci:one
    [[ $output == *"1 layer, 1 entry, 1 B of file content"*"Lookups: 1 path in "* ]]
    run "$FLATTEN" verify oci:one oci:two
    [[ $output == *" differ"* ]]
    fails 2 "the image has 1 layer" --last=2 oci:one oci:x
}
