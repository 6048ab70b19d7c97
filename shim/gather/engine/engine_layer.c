#include "shim/gather/engine/engine_layer.h"

#include "base/fdio.h"
#include "base/json/json.h"

#include <fcntl.h>
#include <string.h>

enum { RECORD_BYTES = 64 * 1024 * 1024 };

static const char *find_layer(const struct json *record, const char *id)
{
    for (size_t i = 0; i < json_count(record); i++) {
        const char *name = json_text(json_get(json_at(record, i), "id"));
        if (name && strcmp(name, id) == 0)
            return json_text(json_get(json_at(record, i), "layer"));
    }
    return NULL;
}

/* Reads a record, if there is one. */
static int read_record(int directory, const char *name, const char *id, struct arena *arena,
                       struct engine_layer *out, struct err *err)
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
    const char *layer = find_layer(json_root(doc), id);
    if (layer && layer[0] && !(out->id = arena_strndup(arena, layer, strlen(layer))))
        return err_nomem(err);
    return 0;
}

int engine_layer_find(const struct engine_directories *engine, struct arena *arena,
                      struct engine_layer *out, struct err *err)
{
    static const char *const names[] = {"containers.json", "volatile-containers.json"};

    *out = (struct engine_layer){.recorded = false};
    if (!engine->records)
        return 0;
    _cleanup_fd_ int directory = open(engine->records, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return err_sys(err, "%s", engine->records);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !out->id; i++)
        if (read_record(directory, names[i], engine->record_id, arena, out, err) < 0)
            return err_wrap(err, "%s/%s", engine->records, names[i]);
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
