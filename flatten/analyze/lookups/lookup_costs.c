#include "flatten/analyze/lookups/lookup_costs.h"

#include "base/json/json.h"

#include <math.h>
#include <string.h>

enum { MOST_BYTES = 64 * 1024, MOST_K = 1000 };

const char *const lookup_kind_key[LOOKUP_KINDS] = {"stat", "missing", "readdir"};
const char *const lookup_cold_key[LOOKUP_COLDS] = {"mount", "dentries", "disk"};

/* Fitted to the measurements of docs/overlay-costs.md. */
const struct lookup_costs lookup_default_costs = {.k = {
                                                      [LOOKUP_STAT] = {0.083, 0.15, 0.30},
                                                      [LOOKUP_MISSING] = {0.155, 0.15, 0.46},
                                                      [LOOKUP_READDIR] = {0.263, 0.285, 0.43},
                                                  }};

double lookup_ratio(const struct lookup_costs *c, enum lookup_kind kind, enum lookup_cold cold,
                    double layers)
{
    return layers > 1 ? 1 + c->k[kind][cold] * (layers - 1) : 1;
}

/* ---- reading ---- */

static int parse_text(const struct json *root, const char *key, char out[LOOKUP_COSTS_TEXT],
                      struct err *err)
{
    const char *text = json_text(json_get(root, key));

    size_t len = text ? strlen(text) : 0;

    if (len == 0 || len >= LOOKUP_COSTS_TEXT)
        return err_set(err, ERR_FORMAT, "\"%s\" is missing, or not a short text", key);
    memcpy(out, text, len + 1);
    return 0;
}

static int parse_k(const struct json *value, const char *kind, const char *cold, double *out,
                   struct err *err)
{
    char *end = NULL;
    double k = json_is(value, JSON_NUMBER) ? strtod(value->text, &end) : -1;

    if (!end || *end || !isfinite(k) || k < 0 || k > MOST_K)
        return err_set(err, ERR_FORMAT, "k.%s.%s is not a number from 0 to %d", kind, cold, MOST_K);
    *out = k;
    return 0;
}

/* A state that was measured for one kind of lookup must have been measured for all. */
static int parse_cold(const struct json *k, int cold, struct lookup_costs *out, struct err *err)
{
    const char *name = lookup_cold_key[cold];
    int found = 0;

    for (int kind = 0; kind < LOOKUP_KINDS; kind++)
        found += json_path(k, lookup_kind_key[kind], name, NULL) != NULL;
    if (found == 0)
        return 0;
    for (int kind = 0; kind < LOOKUP_KINDS; kind++) {
        const char *key = lookup_kind_key[kind];
        if (parse_k(json_path(k, key, name, NULL), key, name, &out->k[kind][cold], err) < 0)
            return -1;
    }
    out->measured[cold] = true;
    return 0;
}

static int parse_costs(const struct json *root, struct lookup_costs *out, struct err *err)
{
    uint64_t version;
    bool any = false;

    if (!json_u64(json_get(root, "version"), &version))
        return err_set(err, ERR_FORMAT, "not what flatbed bench writes");
    if (version != 1)
        return err_set(err, ERR_UNSUPPORTED, "version %llu is not known",
                       (unsigned long long)version);
    if (parse_text(root, "measured", out->date, err) < 0 ||
        parse_text(root, "kernel", out->kernel, err) < 0 ||
        parse_text(root, "filesystem", out->filesystem, err) < 0)
        return -1;
    for (int cold = 0; cold < LOOKUP_COLDS; cold++) {
        if (parse_cold(json_get(root, "k"), cold, out, err) < 0)
            return -1;
        any = any || out->measured[cold];
    }
    return any ? 0 : err_set(err, ERR_FORMAT, "it has no \"k\"");
}

int lookup_costs_parse(const char *text, size_t len, struct lookup_costs *out, struct err *err)
{
    static const struct json_options options = {.max_bytes = MOST_BYTES, .unique_keys = true};
    _cleanup_json_ struct json_doc *doc = json_parse(text, len, &options, err);
    struct lookup_costs found = lookup_default_costs;

    *out = lookup_default_costs;
    if (!doc || parse_costs(json_root(doc), &found, err) < 0)
        return -1;
    *out = found;
    return 0;
}
