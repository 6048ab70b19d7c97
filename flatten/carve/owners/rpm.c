/*
 * rpm's database in SQLite, as rpm has written it since 4.16: the table Packages has a header of
 * each package, in the format of package files (rpm-software-management.github.io, "RPM v4 header")
 * without their magic: the number of entries and of bytes, entries of 16 bytes, and the data.
 * A file is a number of a directory and a name. The formats before it are not read.
 */
#include "flatten/carve/owners/sqlite.h"

#include <string.h>

enum {
    TAG_NAME = 1000,
    TAG_VERSION = 1001,
    TAG_RELEASE = 1002,
    TAG_DIRINDEXES = 1116,
    TAG_BASENAMES = 1117,
    TAG_DIRNAMES = 1118,
    HEADER_START = 8,
    ENTRY = 16,
    DIRS_MOST = 1 << 18,
};

struct rpm_header {
    const uint8_t *entries, *data;
    size_t entry_count, data_len;
};

/* The data of a tag, up to the header's end. */
struct rpm_tag {
    const uint8_t *at, *end;
    size_t count;
};

static uint32_t read_u32(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static bool header_open(const struct sqlite_value *blob, struct rpm_header *h)
{
    if (!blob->data || blob->len < HEADER_START)
        return false;
    h->entry_count = read_u32(blob->data);
    h->data_len = read_u32(blob->data + 4);
    if ((uint64_t)HEADER_START + (uint64_t)ENTRY * h->entry_count + h->data_len > blob->len)
        return false;
    h->entries = blob->data + HEADER_START;
    h->data = h->entries + ENTRY * h->entry_count;
    return true;
}

/* Sets what the header has of the tag; nothing if it has none. */
static struct rpm_tag find_tag(const struct rpm_header *h, uint32_t tag)
{
    for (size_t i = 0; i < h->entry_count; i++) {
        const uint8_t *entry = h->entries + ENTRY * i;
        uint32_t offset = read_u32(entry + 8);
        if (read_u32(entry) == tag && offset <= h->data_len)
            return (struct rpm_tag){h->data + offset, h->data + h->data_len, read_u32(entry + 12)};
    }
    return (struct rpm_tag){0};
}

/* Returns the next text of a tag and its length, or NULL. */
static const char *next_text(struct rpm_tag *tag, size_t *len)
{
    if (tag->count == 0)
        return NULL;
    const char *text = (const char *)tag->at;
    const uint8_t *nul = memchr(tag->at, '\0', (size_t)(tag->end - tag->at));
    if (!nul)
        return NULL;
    *len = (size_t)(nul - tag->at);
    tag->at = nul + 1;
    tag->count--;
    return text;
}

static int find_package(struct finder *f, const struct rpm_header *h, uint32_t *owner,
                        struct err *err)
{
    struct rpm_tag names = find_tag(h, TAG_NAME), versions = find_tag(h, TAG_VERSION);
    struct rpm_tag releases = find_tag(h, TAG_RELEASE);
    size_t name_len, len = 0;
    const char *name = next_text(&names, &name_len), *version = next_text(&versions, &len);
    const char *release = next_text(&releases, &len);
    char full[256];

    *owner = OWNERS_NOBODY;
    if (!name || finder_owner(f, OWNER_RPM, name, name_len, owner, err) < 0)
        return name ? -1 : 0;
    if (!version || !release)
        return 0;
    int used = snprintf(full, sizeof(full), "%s-%s", version, release);
    return (size_t)used < sizeof(full) ? finder_version(f, *owner, full, (size_t)used, err) : 0;
}

/* Returns the nodes of the package's directories; NULL without memory. */
static uint32_t *find_dirs(struct finder *f, const struct rpm_header *h, size_t *count,
                           struct err *err)
{
    struct rpm_tag names = find_tag(h, TAG_DIRNAMES);
    size_t bytes = (size_t)(names.end - names.at), most = names.count, len;
    const char *name;

    if (most > bytes)
        most = bytes;
    if (most > DIRS_MOST)
        most = DIRS_MOST;
    uint32_t *dirs = calloc(most + 1, sizeof(*dirs));

    *count = 0;
    if (!dirs) {
        err_nomem(err);
        return NULL;
    }
    while (*count < most && (name = next_text(&names, &len)))
        dirs[(*count)++] = finder_walk(f, TREE_ROOT, name, len, true);
    return dirs;
}

static int claim_files(struct finder *f, const struct rpm_header *h, struct err *err)
{
    struct rpm_tag names = find_tag(h, TAG_BASENAMES), indexes = find_tag(h, TAG_DIRINDEXES);
    size_t dir_count, len;
    uint32_t owner;
    const char *name;

    if (find_package(f, h, &owner, err) < 0)
        return -1;
    if (owner == OWNERS_NOBODY || names.count == 0)
        return 0;
    _cleanup_free_ uint32_t *dirs = find_dirs(f, h, &dir_count, err);
    if (!dirs)
        return -1;
    for (; indexes.end - indexes.at >= 4 && (name = next_text(&names, &len)); indexes.at += 4) {
        uint32_t dir = read_u32(indexes.at);
        if (dir < dir_count && dirs[dir] != TREE_NONE)
            finder_claim(f, owner, finder_walk(f, dirs[dir], name, len, false));
    }
    return 0;
}

/* Returns 1 if the file at the node is a database that was read, 0 if not, or -1. */
static int read_database(struct finder *f, uint32_t node, struct err *err)
{
    _cleanup_sqlite_ struct sqlite s = {0};
    struct sqlite_value blob;
    struct rpm_header header;
    int rc = sqlite_open(&s, f, node, err);

    if (rc > 0)
        rc = sqlite_table(&s, "Packages", err);
    if (rc <= 0)
        return rc;
    while ((rc = sqlite_next(&s, err)) > 0)
        if (sqlite_column(&s, 1, &blob) && header_open(&blob, &header) &&
            claim_files(f, &header, err) < 0)
            return -1;
    return rc < 0 ? -1 : 1;
}

int rpm_read(struct finder *f, struct err *err)
{
    static const char *const dirs[] = {"var/lib/rpm", "usr/lib/sysimage/rpm"};
    static const char *const others[] = {"Packages", "Packages.db"}; /* BerkeleyDB, ndb */
    const struct owner_source *s = f->source;
    uint32_t before = TREE_NONE;

    for (size_t i = 0; i < 2; i++) {
        uint32_t dir = finder_walk(f, TREE_ROOT, dirs[i], strlen(dirs[i]), true);
        if (dir == TREE_NONE || dir == before)
            continue;
        before = dir;
        static const char name[] = "rpmdb.sqlite";
        uint32_t node = tree_find(s->tree, dir, name, sizeof(name) - 1);
        int rc = read_database(f, node, err);
        if (rc < 0)
            return -1;
        f->out->rpm_unread |= rc == 0 && node != TREE_NONE && s->size(s->ctx, node) > 0;
        for (size_t k = 0; rc == 0 && k < 2; k++) {
            uint32_t other = tree_find(s->tree, dir, others[k], strlen(others[k]));
            f->out->rpm_unread |= other != TREE_NONE && s->size(s->ctx, other) > 0;
        }
    }
    return 0;
}
