#include "shim/admin/leftovers/named_cache.h"

#include "base/path.h"
#include "shim/policy/read/policy_read.h"

#include <string.h>

/* Returns the path of the policy's cache, which the caller frees; NULL with an error. */
static char *policy_cache(struct err *err)
{
    _cleanup_policy_ struct policy *policy = policy_new(err);
    const char *place = RESTACK_CACHE;

    if (!policy)
        return NULL;
    if (policy_open(policy, NULL, err) < 0 ||
        (policy->mode != POLICY_OFF && policy_decode(policy, err) < 0)) {
        err_wrap(err, "--cache says where to look, whatever the policy says");
        return NULL;
    }
    if (policy->rootfs.cache.text)
        place = policy->rootfs.cache.text;
    char *copy = strdup(place);
    if (!copy)
        err_nomem(err);
    return copy;
}

int named_cache_open(const char *named, bool make, struct restack_cache *out, struct err *err)
{
    _cleanup_free_ char *path = named ? strdup(named) : policy_cache(err);

    if (!path)
        return named ? err_nomem(err) : -1;
    if (!path_is_clean_absolute(path))
        return err_set(err, ERR_USAGE, "--cache=%s: not a clean absolute path", path);
    if (restack_cache_open(path, make, out, err) == 0)
        return 0;
    return !make && err_missing(err) ? 0 : -1;
}

struct json *named_cache_item(const struct restack_item *item, struct json_doc *doc)
{
    struct json *object = json_object(doc);

    json_set(doc, object, "key", json_string(doc, item->key));
    json_set(doc, object, "state", json_string(doc, item->state));
    if (item->why)
        json_set(doc, object, "why", json_string(doc, item->why));
    json_set(doc, object, "layers", json_number(doc, item->layers));
    json_set(doc, object, "layer", json_string(doc, item->layer));
    json_set(doc, object, "files", json_number(doc, item->files));
    if (item->lookups)
        json_set(doc, object, "lookups", json_string(doc, item->lookups));
    json_set(doc, object, "bytes", json_number(doc, item->bytes));
    json_set(doc, object, "made", json_number(doc, item->made));
    json_set(doc, object, "used", json_number_signed(doc, item->used));
    json_set(doc, object, "mounted", json_bool(doc, item->mounted));
    json_set(doc, object, "current", json_bool(doc, item->current));
    if (item->leaves)
        json_set(doc, object, "removed", json_string(doc, item->leaves));
    return object;
}
