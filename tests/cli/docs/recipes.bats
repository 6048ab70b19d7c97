#!/usr/bin/env bats
# The recipes for GitHub Actions and GitLab, run by hand with a registry on loopback.
# shellcheck disable=SC2154,SC2016  # status, output and stderr are set by bats' run

bats_require_minimum_version 1.5.0

load ../flatten/lib/flatten
load ../flatten/lib/registry

DEPLOY=$BATS_TEST_DIRNAME/../../../deploy

setup_file() {
    export HOME=$BATS_FILE_TMPDIR/home
    unset REGISTRY_AUTH_FILE DOCKER_CONFIG XDG_CONFIG_HOME
    mkdir "$HOME"
    make_images docker-registry jq gojq curl openssl || return
    few_cas || return
    registry_start "$BATS_FILE_TMPDIR/plain"
    export PLAIN=$REGISTRY
}

teardown_file() { registry_stop_all "$BATS_FILE_TMPDIR"; }

setup() {
    mkdir -p "$BATS_TEST_TMPDIR"/{work,bin,runner}
    ln -s "$FLATTEN" "$BATS_TEST_TMPDIR/bin/flatten"
    cd "$BATS_TEST_TMPDIR/work" || return
    export GITHUB_OUTPUT=$PWD/output GITHUB_STEP_SUMMARY=$PWD/summary GITHUB_PATH=$PWD/path
    export RUNNER_TEMP=$BATS_TEST_TMPDIR/runner PATH=$BATS_TEST_TMPDIR/bin:$PATH
    touch output summary path
}

# github NAME=VALUE...: runs the step of the action with these variables.
github() {
    run --separate-stderr env "$@" "$DEPLOY/github/run-flatten"
    show
}

output_of() { sed -n "s/^$1=//p" output; }

# tarball: a tarball with flatten as a release has it; prints its sum.
tarball() {
    mkdir -p flatbed-1/bin
    cp "$FLATTEN" flatbed-1/bin/flatten
    tar -czf flatbed.tar.gz flatbed-1
    sha256sum flatbed.tar.gz | cut -d ' ' -f 1
}

# gitlab JOB NAME=VALUE...: runs the script of a job of the template, as a runner does.
gitlab() {
    python3 - "$DEPLOY/gitlab/flatten.yml" "$1" >job.sh <<'END'
import sys, yaml
jobs = yaml.safe_load(open(sys.argv[1]))
job, base = jobs[sys.argv[2]], jobs[jobs[sys.argv[2]]["extends"]]
for name, value in base["variables"].items():
    print(f': "${{{name}={value}}}"')
print("\n".join(base["before_script"] + job["script"]))
END
    run --separate-stderr env "${@:2}" sh -e job.sh
    show
}

@test "GitHub: analyze is a gate, with an output, a summary and a page" {
    github FLATTEN_IMAGE="oci:$IMAGES/waste:v1" FLATTEN_MAX_WASTED=90% FLATTEN_HTML=page.html
    [ "$status" -eq 0 ]
    [ "$(output_of dead)" = 2484 ]
    [ -s page.html ]
    grep -q '2484 bytes are dead' summary
    github FLATTEN_IMAGE="oci:$IMAGES/waste:v1" FLATTEN_MAX_WASTED=1%
    [ "$status" -eq 4 ]
    [[ $stderr == *"dead of at most 1 %"* ]]
}

@test "GitHub: a path of the image cannot format the summary" {
    github FLATTEN_IMAGE="oci:$IMAGES/waste:v1"
    [ "$(grep -cF '</script>' summary)" -ge 1 ]
    [ -z "$(grep -F '</script>' summary | grep -v '^    ')" ]
    [[ $(cat summary) != *$'\x1b'* ]]
}

@test "GitHub: carve keeps the layers of the previous version, and does without one" {
    local like=docker://$PLAIN/gh/app:latest
    github FLATTEN_IMAGE="oci:$IMAGES/owned" FLATTEN_MODE=carve FLATTEN_LIKE="$like" FLATTEN_DESTINATION="$like"
    [ "$status" -eq 0 ]
    [[ $stderr == *"::notice::there is no $like"* ]]
    first=$(output_of digest)
    curl -fsS -H 'Accept: application/vnd.oci.image.manifest.v1+json' "http://$PLAIN/v2/gh/app/manifests/$first" >1.json
    : >output
    github FLATTEN_IMAGE="oci:$IMAGES/owned2" FLATTEN_MODE=carve FLATTEN_LIKE="$like" \
        FLATTEN_DESTINATION="docker://$PLAIN/gh/app:2"
    [ "$status" -eq 0 ]
    [[ $stderr != *::notice::* ]]
    curl -fsS -H 'Accept: application/vnd.oci.image.manifest.v1+json' \
        "http://$PLAIN/v2/gh/app/manifests/$(output_of digest)" >2.json
    [ -n "$(comm -12 <(gojq -r '.layers[].digest' 1.json | sort) <(gojq -r '.layers[].digest' 2.json | sort))" ]
    same "oci:$IMAGES/owned2" "docker://$PLAIN/gh/app:2"
}

@test "GitHub: another failure than a missing version is none of its business" {
    github FLATTEN_IMAGE="oci:$IMAGES/owned" FLATTEN_MODE=carve FLATTEN_LIKE=docker://127.0.0.1:1/app:1 \
        FLATTEN_DESTINATION="docker://$PLAIN/gh/none:1"
    [ "$status" -eq 3 ]
    [[ $stderr == *"--like="* ]]
    [ "$(curl -s -o /dev/null -w '%{http_code}' "http://$PLAIN/v2/gh/none/manifests/1")" = 404 ]
}

@test "GitHub: an image with too much waste is not pushed" {
    github FLATTEN_IMAGE="oci:$IMAGES/waste:v1" FLATTEN_MODE=squash FLATTEN_MAX_WASTED=1% \
        FLATTEN_DESTINATION="docker://$PLAIN/gh/waste:1"
    [ "$status" -eq 4 ]
    [ "$(curl -s -o /dev/null -w '%{http_code}' "http://$PLAIN/v2/gh/waste/manifests/1")" = 404 ]
    github FLATTEN_IMAGE="oci:$IMAGES/waste:v1" FLATTEN_MODE=squash FLATTEN_DESTINATION="docker://$PLAIN/gh/waste:1"
    [ "$status" -eq 0 ]
    same "oci:$IMAGES/waste:v1" "docker://$PLAIN/gh/waste:1"
}

@test "GitHub: wrong inputs are refused before anything is read" {
    for words in "FLATTEN_MODE=analyze" "FLATTEN_IMAGE=x FLATTEN_MODE=merge" "FLATTEN_IMAGE=x FLATTEN_MODE=carve" \
        "FLATTEN_IMAGE=x FLATTEN_DESTINATION=y"; do
        # shellcheck disable=SC2086
        github $words
        [ "$status" -eq 2 ]
        [[ $stderr == "::error::"* ]]
    done
}

@test "GitHub: the tarball is installed if its sum is right" {
    sum=$(tarball)
    FLATTEN_URL=file://$PWD/flatbed.tar.gz FLATTEN_SHA256=$sum "$DEPLOY/github/install-flatten"
    "$(cat path)/flatten" --version
    : >path
    run ! env FLATTEN_URL="file://$PWD/flatbed.tar.gz" FLATTEN_SHA256="${sum//[0-9]/0}" "$DEPLOY/github/install-flatten"
    run ! env FLATTEN_URL="file://$PWD/flatbed.tar.gz" "$DEPLOY/github/install-flatten"
    [ ! -s path ]
}

@test "GitHub: action.yml uses its inputs, all of them, and docs/ci.md has no others" {
    python3 - "$DEPLOY/github/action.yml" "$DEPLOY/../docs/ci.md" "$DEPLOY/github" <<'END'
import re, sys, yaml, os
text = open(sys.argv[1]).read()
action, page = yaml.safe_load(text), open(sys.argv[2]).read()
inputs = set(action["inputs"])
assert set(re.findall(r"inputs\.([\w-]+)", text)) == inputs
fences = [yaml.safe_load(t.replace("!reference", "")) for t in re.findall(r"```yaml\n(.*?)```", page, re.S)]
step = next(s for s in fences[0]["jobs"]["image"]["steps"] if "deploy/github" in s.get("uses", ""))
assert set(step["with"]) <= inputs, set(step["with"]) - inputs
rows = re.findall(r"^\| (`.*?) \|", page, re.M)
assert {name for row in rows for name in re.findall(r"`([\w-]+)`", row)} == inputs
given = {name for s in action["runs"]["steps"] for name in s["env"]}
scripts = "".join(open(os.path.join(sys.argv[3], s)).read() for s in ("run-flatten", "install-flatten"))
assert given == set(re.findall(r"FLATTEN_[A-Z0-9_]+", scripts))
assert set(fences[1]["image"]["variables"]) <= set(re.findall(r"FLATTEN_\w+", open(sys.argv[3] + "/../gitlab/flatten.yml").read()))
END
}

@test "GitLab: the gate stops, and leaves the page" {
    gitlab .flatten-analyze FLATTEN_IMAGE="oci:$IMAGES/waste:v1"
    [ "$status" -eq 0 ]
    [ -s analyze.html ]
    rm analyze.html
    gitlab .flatten-analyze FLATTEN_IMAGE="oci:$IMAGES/waste:v1" FLATTEN_MAX_WASTED=1%
    [ "$status" -eq 4 ]
    [ -s analyze.html ]
}

@test "GitLab: carve, first without a previous version, then with one; another failure fails" {
    local like=docker://$PLAIN/gl/app:latest
    gitlab .flatten-carve FLATTEN_IMAGE="oci:$IMAGES/owned" FLATTEN_LIKE="$like" FLATTEN_DESTINATION="$like"
    [ "$status" -eq 0 ]
    gitlab .flatten-carve FLATTEN_IMAGE="oci:$IMAGES/owned2" FLATTEN_LIKE="$like" \
        FLATTEN_DESTINATION="docker://$PLAIN/gl/app:2"
    [ "$status" -eq 0 ]
    same "oci:$IMAGES/owned2" "docker://$PLAIN/gl/app:2"
    gitlab .flatten-carve FLATTEN_IMAGE="oci:$IMAGES/owned" FLATTEN_LIKE=docker://127.0.0.1:1/app:1 \
        FLATTEN_DESTINATION="docker://$PLAIN/gl/none:1"
    [ "$status" -eq 3 ]
}

@test "GitLab: the tarball is installed if its sum is right" {
    sum=$(tarball)
    rm "$BATS_TEST_TMPDIR/bin/flatten"
    gitlab .flatten-analyze FLATTEN_IMAGE="oci:$IMAGES/waste:v1" FLATTEN_URL="file://$PWD/flatbed.tar.gz" FLATTEN_SHA256="$sum"
    [ "$status" -eq 0 ]
    gitlab .flatten-analyze FLATTEN_IMAGE="oci:$IMAGES/waste:v1" FLATTEN_URL="file://$PWD/flatbed.tar.gz" \
        FLATTEN_SHA256="${sum//[0-9]/0}"
    [ "$status" -ne 0 ]
}

@test "the nightly run has every hack/test-ARTEFACT, in jobs with what fresh-debian needs" {
    python3 - "$DEPLOY/.." <<'END'
import pathlib, sys, yaml
top = pathlib.Path(sys.argv[1])
run = yaml.safe_load((top / ".github/workflows/artefacts.yml").read_text())
job = run["jobs"]["test"]
tried = job["strategy"]["matrix"]["include"]
assert {t["test"] for t in tried} == {path.name[5:] for path in (top / "hack").glob("test-*")}
assert {t["suite"] for t in tried if t["test"] == "packages"} == {"bookworm", "trixie"}
assert job["steps"][-1]["run"] == "hack/fresh-debian --once --suite ${{ matrix.suite }} hack/test-${{ matrix.test }}"
assert "cron" in run[True]["schedule"][0]  # YAML 1.1 reads the key "on" as true
END
}
