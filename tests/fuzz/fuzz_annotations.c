/*
 * One annotation, "KEY\nVALUE": each granted request has a plain name, and a target that a user
 * may choose.
 */
#include "shim/policy/template.h"
#include "shim_fuzz.h"

static const char policy_text[] =
    "{\"version\":1,\"opt_out\":[\"mounts\"],\"volumes\":{\"data\":{\"source\":\"/d/"
    "{name}\",\"target\":\"/t/{name}\"},"
    "\"logs\":{\"source\":\"/l\",\"target\":\"/l\",\"access\":\"rw\"}},"
    "\"tuning\":{\"shm_size\":\"8g\",\"memlock\":\"unlimited\",\"workers\":4}}";

static void check(const struct requests *requests)
{
    must(requests->count <= REQUESTS_IN_ALL + 2);
    must(!requests->project || template_name_valid(requests->project, strlen(requests->project)));
    must(!requests->profile || template_name_valid(requests->profile, strlen(requests->profile)));
    must(!(requests->off & ~(1u << OPT_OUT_MOUNTS)));
    for (size_t i = 0; i < TUNING_ASKABLE; i++)
        must(!requests->tuning[i].key || requests->tuning[i].amount);
    for (size_t i = 0; i < requests->count; i++) {
        const struct request *r = &requests->list[i];
        must((r->volume == NULL) == (r->problem != NULL));
        if (r->problem)
            continue;
        must(template_name_valid(r->name, strlen(r->name)));
        must(!r->target || !request_target_problem(r->target));
        must(!r->target || path_is_clean_absolute(r->target));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_arena_ struct arena arena = {0};
    struct err err = ERR_INIT;
    const uint8_t *newline = size ? memchr(data, '\n', size) : NULL;
    struct policy *policy = shim_fuzz_policy(policy_text, sizeof(policy_text) - 1);
    struct json_doc *doc = json_new_object(&err);
    struct spec spec = {.annotations = json_root(doc)};
    struct requests requests;

    must(policy && doc);
    if (newline) {
        size_t key_len = (size_t)(newline - data);
        char *key = strndup((const char *)data, key_len);
        must(key != NULL);
        json_set(doc, json_root(doc), key,
                 json_string_len(doc, (const char *)newline + 1, size - key_len - 1));
        must(requests_read(policy, &spec, &arena, &requests, &err) == 0);
        check(&requests);
        free(key);
    }
    json_free(doc);
    policy_free(policy);
    return 0;
}
