#include "shim/gather/engine_layer.h"

#include "base/fdio.h"
#include "base/json/json.h"

#include <fcntl.h>
#include <string.h>

enum { RECORD_BYTES = 64 * 1024 * 1024 };

/* Finds the id of the container, and the length of the path before it; false for other bundles. */
static bool parse_bundle(const char *bundle, const char **id, size_t *id_len)
{
    static const char userdata[] = "/userdata", containers[] = "-containers";
    size_t len = strlen(bundle);

    if (len < sizeof(userdata) || strcmp(bundle + len - (sizeof(userdata) - 1), userdata) != 0)
        return false;
    const char *end = bundle + len - (sizeof(userdata) - 1);
    const char *slash = memrchr(bundle, '/', (size_t)(end - bundle));
    if (!slash || (size_t)(slash - bundle) < sizeof(containers) ||
        memcmp(slash - (sizeof(containers) - 1), containers, sizeof(containers) - 1) != 0)
        return false;
    *id = slash + 1;
    *id_len = (size_t)(end - *id);
    return true;
}

static const char *find_layer(const struct json *record, const char *id, size_t id_len)
{
    for (size_t i = 0; i < json_count(record); i++) {
        const char *name = json_text(json_get(json_at(record, i), "id"));
        if (name && strlen(name) == id_len && memcmp(name, id, id_len) == 0)
            return json_text(json_get(json_at(record, i), "layer"));
    }
    return NULL;
}

/* Reads a record, if there is one. */
static int read_record(int directory, const char *name, const char *id, size_t id_len,
                       struct arena *arena, struct engine_layer *out, struct err *err)
{
    static const struct json_options options = {.max_bytes = RECORD_BYTES};
    _cleanup_buf_ struct buf text = BUF_INIT;

    if (faccessat(directory, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
        return 0;
    out->recorded = true;
    if (file_read(directory, name, RECORD_BYTES, &text, err) < 0)
        return -1;
    _cleanup_json_ struct json_doc *doc = json_parse_buf(&text, &options, err);
    if (!doc)
        return -1;
    const char *layer = find_layer(json_root(doc), id, id_len);
    if (layer && layer[0] && !(out->id = arena_strndup(arena, layer, strlen(layer))))
        return err_nomem(err);
    return 0;
}

int engine_layer_find(const char *bundle, struct arena *arena, struct engine_layer *out,
                      struct err *err)
{
    static const char *const records[] = {"containers.json", "volatile-containers.json"};
    size_t id_len;
    const char *id;

    *out = (struct engine_layer){.recorded = false};
    if (!parse_bundle(bundle, &id, &id_len))
        return 0;
    _cleanup_free_ char *path = strndup(bundle, (size_t)(id - bundle));
    if (!path)
        return err_nomem(err);
    _cleanup_fd_ int directory = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return err_sys(err, "%s", path);
    for (size_t i = 0; i < sizeof(records) / sizeof(*records) && !out->id; i++)
        if (read_record(directory, records[i], id, id_len, arena, out, err) < 0)
            return err_wrap(err, "%s%s", path, records[i]);
    return 0;
}

bool engine_layer_has(const struct engine_layer *layer, const char *path)
{
    size_t len = layer->id ? strlen(layer->id) : 0;

    for (const char *at = path; len && (at = strchr(at, '/')) != NULL;) {
        at++;
        if (strncmp(at, layer->id, len) == 0 && (at[len] == '/' || at[len] == '\0'))
            return true;
    }
    return false;
}
