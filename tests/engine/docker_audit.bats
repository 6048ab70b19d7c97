#!/usr/bin/env bats
# The policy's "audit" and "profiles" under a real dockerd: started and refused containers are
# recorded with their names in docker.

bats_require_minimum_version 1.5.0

load lib/frame
frame docker

file_require() { require_tool gojq; }

test_begin() {
    mkdir -p "$FB_DIR/log"
    rm -f "$FB_DIR"/log/*
}

policy() {
    policy_write <<END
{
  "version": 1,
  "runtime": { "paths": ["runc"] },
  "requests": ["annotations", "mounts", "environment"],
  "security": { "user": { "root": "deny", "say": "run with --user" } },
  "profiles": [
    { "name": "staff", "match": { "uid": ["2000-2999"] },
      "volumes": { "data": { "source": "$FB_SRV/data/{name}", "target": "/workspace/data/{name}" } } },
    { "name": "builder", "match": { "annotation": { "flatbed.profile": "build" } }, "security": { "user": { "root": "allow" } } } ],
  "audit": { "file": "$FB_DIR/log/audit.jsonl", "metrics": "$FB_DIR/log/flatbed.prom" }
}
END
}

# written CONTAINER FILTER: applies the filter to the only record of the container.
written() { gojq -c "select(.container == \"$1\") | $2" "$FB_DIR/log/audit.jsonl"; }

@test "docker: a container that ran and one that was refused have one record each" {
    run docker_run --name ran --user 1234:1234 "$FB_IMAGE" true
    expect_status 0
    id=$(docker_cli inspect --format '{{.Id}}' ran)
    [ "$(written "$id" '[.verdict, .engine, .command, .uid, .profile]')" = '["allowed","docker","create",1234,null]' ]

    run docker_run --name refused "$FB_IMAGE" true
    expect_failure
    expect_match 'run with --user'
    id=$(docker_cli inspect --format '{{.Id}}' refused)
    [ "$(written "$id" '[.verdict, .engine, .uid]')" = '["denied","docker",0]' ]
    [[ $(written "$id" .error) =~ "run with --user" ]]
    [ "$(wc -l <"$FB_DIR/log/audit.jsonl")" = 2 ]
    grep -qxF 'flatbed_containers_total{verdict="allowed"} 1' "$FB_DIR/log/flatbed.prom"
    grep -qxF 'flatbed_containers_total{verdict="denied"} 1' "$FB_DIR/log/flatbed.prom"
}

@test "docker: a profile by uid offers volumes, one by request changes the rules" {
    run docker_run --name staff --user 2000:2000 --env FLATBED_DATA=imagenet "$FB_IMAGE" test -d /workspace/data/imagenet
    expect_status 0
    id=$(docker_cli inspect --format '{{.Id}}' staff)
    [ "$(written "$id" '[.verdict, .profile, (.operations[] | [.verdict, .target])]')" = '["changed","staff",["added","/workspace/data/imagenet"]]' ]
    run docker_run --rm --user 3000:3000 --env FLATBED_DATA=imagenet "$FB_IMAGE" true
    expect_failure
    expect_match "no volumes called 'data' here"

    run docker_run --rm --volume /dev/null:/run/flatbed/request/profile/build "$FB_IMAGE" id -u
    expect_status 0
    expect_match '^0'
    run docker_run --rm --env FLATBED_PROFILE=root "$FB_IMAGE" true
    expect_failure
    expect_match "the profile 'root' cannot be requested here; those that can: build"
}
