#!/usr/bin/env bats
# The completion scripts, tested in bash, zsh and fish.
# shellcheck disable=SC2154,SC2030,SC2031  # status and output are set by bats' run

bats_require_minimum_version 1.5.0

need() {
    command -v "$1" >/dev/null || { echo "$1 is not installed"; return 1; }
}

setup() {
    [ -x "$SAMPLE" ] || { echo "SAMPLE is not set to flatbed-sample"; return 1; }
    script=$BATS_TEST_TMPDIR/_flatbed-sample
    cd "$BATS_TEST_TMPDIR" || return
}

# complete_bash WORD...: prints the completions that bash offers for the last word, one a line.
complete_bash() {
    "$SAMPLE" --completion=bash >"$script"
    # shellcheck disable=SC2016
    run bash --norc -c '
        source /usr/share/bash-completion/bash_completion || exit 1
        source "$1" || exit 1
        shift
        COMP_LINE="$*" COMP_POINT=${#COMP_LINE} COMP_TYPE=9 COMP_KEY=9
        # Readline also splits words at =.
        COMP_WORDS=()
        for word; do
            if [[ $word == --*=* ]]; then
                COMP_WORDS+=("${word%%=*}" "=")
                [[ -z ${word#*=} ]] || COMP_WORDS+=("${word#*=}")
            else
                COMP_WORDS+=("$word")
            fi
        done
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        compopt() { :; } # exists only while readline completes
        _flatbed-sample
        printf "%s\n" "${COMPREPLY[@]}"
    ' bash "$script" "$@"
}

offered() { grep -qxF -- "$1" <<<"$output"; }

@test "bash, zsh and fish accept their scripts" {
    need zsh && need fish
    "$SAMPLE" --completion=bash >"$script" && bash -n "$script"
    "$SAMPLE" --completion=zsh >"$script" && zsh -n "$script"
    "$SAMPLE" --completion=fish >"$script" && fish --no-execute "$script"
}

@test "the name of another shell is refused" {
    run "$SAMPLE" --completion=tcsh
    [ "$status" -eq 2 ]
}

@test "bash completes an option" {
    complete_bash flatbed-sample pack --fo
    [ "$output" = "--force
--format=" ]
    complete_bash flatbed-sample pack src --ou
    [ "$output" = "--output=" ]
}

@test "bash completes the options of the given command" {
    complete_bash flatbed-sample list --
    offered --quiet
    offered --help
    run ! offered --force
    complete_bash flatbed-sample --
    offered --version
    offered --force
}

@test "bash completes a choice, both attached to its option and separate" {
    complete_bash flatbed-sample pack --format=
    [ "$output" = "gzip
zstd
none" ]
    complete_bash flatbed-sample pack --format=z
    [ "$output" = zstd ]
    complete_bash flatbed-sample pack --format n
    [ "$output" = none ]
}

@test "bash completes commands and files" {
    mkdir folder
    touch "paste" other
    complete_bash flatbed-sample pa
    [ "$output" = "paste
pack" ]
    complete_bash flatbed-sample pack --output=fo
    [ "$output" = folder ]
    complete_bash flatbed-sample pack oth
    [ "$output" = other ]
}

@test "bash offers no files for an option that takes a word or a number" {
    touch file
    complete_bash flatbed-sample pack --label ""
    [ -z "$output" ]
}

@test "fish completes an option, a choice and a command" {
    need fish
    export HOME=$BATS_TEST_TMPDIR
    "$SAMPLE" --completion=fish >"$script"
    run fish --no-config -c "source $script; complete -C 'flatbed-sample pack --fo'"
    [ "$status" -eq 0 ]
    [[ $output == *"--force"* && $output == *"don't ask: overwrite [what] is there"* ]]
    run fish --no-config -c "source $script; complete -C 'flatbed-sample pack --format='"
    [[ $output == *gzip* && $output == *zstd* && $output == *none* ]]
    run fish --no-config -c "source $script; complete -C 'flatbed-sample pa'"
    [[ $output == *"pack"*"pack a source: quickly, and 'well'"* ]]
    run fish --no-config -c "source $script; complete -C 'flatbed-sample list --fo'"
    [[ $output != *"--force"* ]]
}

# zsh completes in a pseudo-terminal: zpty types a word and a tab.
zsh_line() {
    "$SAMPLE" --completion=zsh >"$script"
    # shellcheck disable=SC2016
    run zsh -f "$BATS_TEST_DIRNAME/zsh_tab.zsh" "$BATS_TEST_TMPDIR" "$1"
    echo "zsh: $status: $output"
}

@test "zsh completes an option, a choice and a command" {
    need zsh
    zsh_line "flatbed-sample pack --outp"
    [[ $output == *"flatbed-sample pack --output="* ]]
    zsh_line "flatbed-sample pack --format=zs"
    [[ $output == *"flatbed-sample pack --format=zstd"* ]]
    zsh_line "flatbed-sample lis"
    [[ $output == *"flatbed-sample list"* ]]
}
