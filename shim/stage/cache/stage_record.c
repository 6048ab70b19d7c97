/* The record of an entry, as JSON. */
#include "base/fdio.h"
#include "base/files/atomic_file.h"
#include "base/json/json.h"
#include "shim/stage/cache/stage_cache.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { RECORD_BYTES = 64 * 1024, RECORD_VERSION = 1 };

static void put_root(struct json_doc *doc, struct json *top, const struct stage_root *root)
{
    struct json *object = json_set(doc, top, "root", json_object(doc));

    json_set(doc, object, "inode", json_number(doc, root->ino));
    json_set(doc, object, "modified", json_number_signed(doc, root->modified));
    json_set(doc, object, "changed", json_number_signed(doc, root->changed));
}

static void put_totals(struct json_doc *doc, struct json *top, const struct stage_totals *totals)
{
    char manifest[STAGE_KEY];

    snprintf(manifest, sizeof(manifest), "%016" PRIx64 "%016" PRIx64, totals->manifest[0],
             totals->manifest[1]);
    json_set(doc, top, "files", json_number(doc, totals->files));
    json_set(doc, top, "directories", json_number(doc, totals->directories));
    json_set(doc, top, "bytes", json_number(doc, totals->bytes));
    json_set(doc, top, "left_out", json_number(doc, totals->left_out));
    json_set(doc, top, "open", json_bool(doc, totals->open));
    json_set(doc, top, "manifest", json_string(doc, manifest));
}

int stage_record_write(int dirfd, const struct stage_record *r, struct err *err)
{
    _cleanup_atomic_file_ struct atomic_file file = ATOMIC_FILE_INIT;
    _cleanup_buf_ struct buf text = BUF_INIT;
    _cleanup_json_ struct json_doc *doc = json_new_object(err);

    if (!doc)
        return -1;
    struct json *top = json_root(doc);
    json_set(doc, top, "version", json_number(doc, RECORD_VERSION));
    json_set(doc, top, "source", json_string(doc, r->source));
    if (r->digest)
        json_set(doc, top, "digest", json_string(doc, r->digest));
    if (r->owned)
        json_set(doc, top, "owner", json_number(doc, r->owner));
    json_set(doc, top, "account", json_number(doc, r->account));
    json_set(doc, top, "by_user", json_bool(doc, r->by_user));
    put_root(doc, top, &r->root);
    put_totals(doc, top, &r->totals);
    json_set(doc, top, "room", json_number(doc, r->room));
    json_set(doc, top, "made", json_number(doc, r->made));
    json_set(doc, top, "duration", json_number(doc, r->duration));
    json_set(doc, top, "verified", json_bool(doc, r->verified));
    if (json_write(doc, &text, err) < 0 ||
        atomic_file_begin(&file, dirfd, "record.json", 0600, err) < 0 ||
        fd_write_all(file.fd, text.data, text.len, err) < 0)
        return -1;
    return atomic_file_commit(&file, err);
}

static bool get_flag(const struct json *top, const char *key, bool *out)
{
    const struct json *value = json_get(top, key);

    *out = json_is(value, JSON_BOOL) && value->boolean;
    return json_is(value, JSON_BOOL);
}

static bool get_uid(const struct json *top, const char *key, uid_t *out)
{
    uint64_t number;

    if (!json_u64(json_get(top, key), &number) || number >= UINT32_MAX)
        return false;
    *out = (uid_t)number;
    return true;
}

static bool get_totals(const struct json *top, struct stage_totals *out)
{
    const char *manifest = json_text(json_get(top, "manifest"));

    return manifest && strlen(manifest) == STAGE_KEY - 1 &&
           sscanf(manifest, "%16" SCNx64 "%16" SCNx64, &out->manifest[0], &out->manifest[1]) == 2 &&
           json_u64(json_get(top, "files"), &out->files) &&
           json_u64(json_get(top, "directories"), &out->directories) &&
           json_u64(json_get(top, "bytes"), &out->bytes) &&
           json_u64(json_get(top, "left_out"), &out->left_out) && get_flag(top, "open", &out->open);
}

static bool get_root(const struct json *root, struct stage_root *out)
{
    return json_u64(json_get(root, "inode"), &out->ino) &&
           json_i64(json_get(root, "modified"), &out->modified) &&
           json_i64(json_get(root, "changed"), &out->changed);
}

bool stage_record_read(int dirfd, struct arena *arena, struct stage_record *out)
{
    static const struct json_options options = {.max_bytes = RECORD_BYTES};
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err ignored;
    uint64_t version;

    *out = (struct stage_record){0};
    if (file_read(dirfd, "record.json", RECORD_BYTES, &text, &ignored) < 0)
        return false;
    _cleanup_json_ struct json_doc *doc = json_parse_buf(&text, &options, &ignored);
    if (!doc)
        return false;
    const struct json *top = json_root(doc);
    const char *source = json_text(json_get(top, "source"));
    const char *digest = json_text(json_get(top, "digest"));
    out->source = source ? arena_strndup(arena, source, strlen(source)) : NULL;
    out->digest = digest ? arena_strndup(arena, digest, strlen(digest)) : NULL;
    out->owned = json_get(top, "owner") != NULL;
    return out->source && json_u64(json_get(top, "version"), &version) &&
           version == RECORD_VERSION && (!out->owned || get_uid(top, "owner", &out->owner)) &&
           get_uid(top, "account", &out->account) && get_flag(top, "by_user", &out->by_user) &&
           get_root(json_get(top, "root"), &out->root) && get_totals(top, &out->totals) &&
           json_u64(json_get(top, "room"), &out->room) &&
           json_u64(json_get(top, "made"), &out->made) &&
           json_u64(json_get(top, "duration"), &out->duration) &&
           get_flag(top, "verified", &out->verified);
}
