/*
 * Specifications of the Container Device Interface. JSON is YAML as well, so both readers must see
 * the same in a text that both accept. Each mount and hook that is decoded is found again.
 */
#include "fuzz.h"
#include "shim/cdi/cdi.h"
#include "shim/cdi/cdi_yaml.h"

#include <string.h>

static bool same(const struct json *a, const struct json *b);

static bool same_text(const char *a, size_t a_len, const char *b, size_t b_len)
{
    return a_len == b_len && memcmp(a, b, a_len) == 0;
}

/* Keys with NUL bytes are refused in YAML. */
static bool same_members(const struct json *a, const struct json *b)
{
    for (size_t i = 0; i < a->len; i++) {
        const struct json_member *m = &a->members[i];
        if (!same(m->value, json_get_len(b, m->key, m->key_len)))
            return false;
    }
    return a->len == b->len;
}

/* YAML takes numbers for texts that cdi_yaml.h does not list as numbers. */
static bool same(const struct json *json, const struct json *yaml)
{
    if (!yaml)
        return false;
    if (json->type == JSON_NUMBER && yaml->type == JSON_STRING)
        return same_text(json->text, json->len, yaml->text, yaml->len);
    if (json->type != yaml->type)
        return false;
    switch (json->type) {
    case JSON_NULL:
        return true;
    case JSON_BOOL:
        return json->boolean == yaml->boolean;
    case JSON_NUMBER:
        return strtoll(json->text, NULL, 10) == strtoll(yaml->text, NULL, 10);
    case JSON_STRING:
        return same_text(json->text, json->len, yaml->text, yaml->len);
    case JSON_ARRAY:
        for (size_t i = 0; i < json->len && i < yaml->len; i++)
            if (!same(json->items[i], yaml->items[i]))
                return false;
        return json->len == yaml->len;
    case JSON_OBJECT:
        return same_members(json, yaml);
    }
    return false;
}

static void check_decoded(const struct json *spec)
{
    _cleanup_arena_ struct arena arena = {0};
    struct cdi cdi = {0};
    struct err err = ERR_INIT;

    must(cdi_add(&cdi, spec, &arena, &err) == 0);
    for (size_t i = 0; i < cdi.mount_count; i++) {
        const struct cdi_mount *m = &cdi.mounts[i];
        must(cdi_find_mount(&cdi, m->source, m->target));
    }
    for (size_t i = 0; i < cdi.hook_count; i++) {
        _cleanup_json_ struct json_doc *doc = json_new_object(&err);
        must(doc);
        struct json *args = json_list(doc, json_root(doc), "args");
        for (size_t k = 0; k < cdi.hooks[i].arg_count; k++)
            json_append(doc, args, json_string(doc, cdi.hooks[i].args[k]));
        must(cdi_has_hook(&cdi, cdi.hooks[i].stage, cdi.hooks[i].path, args));
    }
}

/* True for JSON, also if it names a member twice. */
static bool is_json(const char *text, size_t size)
{
    struct err err;
    _cleanup_json_ struct json_doc *doc = json_parse(text, size, NULL, &err);

    return doc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct json_options options = {.unique_keys = true};
    const char *text = (const char *)data;
    struct err err = ERR_INIT;
    _cleanup_json_ struct json_doc *json = json_parse(text, size, &options, &err);
    _cleanup_json_ struct json_doc *yaml = cdi_yaml_parse(text, size, &err);
    const struct json *spec = yaml ? json_get(json_root(yaml), "spec") : NULL;

    must(yaml || err.kind == ERR_FORMAT);
    must(!yaml || json_is(spec, JSON_OBJECT));
    if (json)
        check_decoded(json_root(json));
    if (spec)
        check_decoded(spec);
    must(!json || !spec || same(json_root(json), spec));
    must(json || !spec || !is_json(text, size));
    return 0;
}
