#include "flatten/carve/carve_tree.h"

#include "flatten/carve/spool/spool_identities.h"
#include "flatten/stream/ustar.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- reading ---- */

static enum merge_result read_tree(struct carve_tree *t, const struct carve_tree_options *how,
                                   struct merged_options *options, struct merged_report *report,
                                   struct err *err)
{
    cleanup_spool(&t->spool);
    t->spool = spool_new(how->fd, how->at, options->max_size, err);
    if (!t->spool || (how->pack && spool_pack(t->spool, how->pack, err) < 0))
        return MERGE_FAILED;
    return merged_entries(t->image, options, &t->spool->base, report, err);
}

/* No layer is written before all digests have been checked. */
static int read_image(struct carve_tree *t, const struct carve_tree_options *how,
                      struct merged_report *report, struct err *err)
{
    struct merged_options options = t->options->merged;

    options.count_probes = options.kept == 0; /* those of the layout are without kept layers */
    enum merge_result result = read_tree(t, how, &options, report, err);

    if (result == MERGE_NEEDS_INDEX) {
        options.indexed = true;
        options.told = report->conflict;
        result = read_tree(t, how, &options, report, err);
    }
    if (result != MERGE_DONE || spool_finish(t->spool, err) < 0) {
        verifier_explain(t->reading.verifier, err);
        return -1;
    }
    return verifier_finish(t->reading.verifier, err);
}

static int find_identities(struct carve_tree *t, const struct carve_tree_options *how,
                           struct err *err)
{
    if (!how->identities)
        return 0;
    t->identities = spool_identities(t->spool, how->stamps ? &t->stamps : NULL, err);
    return t->identities ? 0 : -1;
}

/* ---- owners ---- */

static int64_t file_size(void *ctx, uint32_t node)
{
    const struct spool_record *r = spool_at(((struct carve_tree *)ctx)->spool, node);

    return r && S_ISREG(r->mode) ? (int64_t)r->size : -1;
}

static int read_file(void *ctx, uint32_t node, uint64_t offset, void *data, size_t len,
                     struct err *err)
{
    return spool_read(((struct carve_tree *)ctx)->spool,
                      spool_at(((struct carve_tree *)ctx)->spool, node), offset, data, len, err);
}

static bool file_is_dir(void *ctx, uint32_t node)
{
    const struct spool_record *r = spool_at(((struct carve_tree *)ctx)->spool, node);

    return node == TREE_ROOT || (r && S_ISDIR(r->mode));
}

static const char *file_link(void *ctx, uint32_t node)
{
    struct carve_tree *t = ctx;
    const struct spool_record *r = spool_at(t->spool, node);
    struct err ignored = ERR_INIT;

    return r && S_ISLNK(r->mode) ? spool_target(t->spool, r, &t->link, &ignored) : NULL;
}

void carve_tell(const struct squash_options *options, const char *of, const char *text)
{
    const struct merged_options *o = &options->merged;

    if (o->notice)
        o->notice(o->notice_ctx, 0, of, text);
}

static int find_owners(struct carve_tree *t, struct err *err)
{
    const struct owner_source source = {.tree = t->spool->tree,
                                        .size = file_size,
                                        .read = read_file,
                                        .is_dir = file_is_dir,
                                        .link = file_link,
                                        .ctx = t};

    if (owners_find(&source, &t->owners, err) < 0)
        return -1;
    if (t->owners.rpm_unread)
        carve_tell(
            t->options, "packages",
            "its rpm database is in a form that is not read: its files are placed by directory");
    if (t->owners.cut)
        carve_tell(t->options, "packages",
                   "some databases of packages are too large: their files are placed by directory");
    return 0;
}

int carve_tree_read(struct carve_tree *t, struct image *image, const struct squash_options *options,
                    const struct carve_tree_options *how, struct merged_report *report,
                    struct err *err)
{
    *t = (struct carve_tree){
        .image = image, .options = options, .reading = {.image = image}, .link = BUF_INIT};
    if (reading_begin(&t->reading, image, options, err) < 0 ||
        read_image(t, how, report, err) < 0 || find_identities(t, how, err) < 0)
        return -1;
    return find_owners(t, err);
}

void carve_tree_end_reading(struct carve_tree *t)
{
    if (t->reading.image)
        reading_end(&t->reading);
    t->reading.image = NULL;
}

void carve_tree_clear(struct carve_tree *t)
{
    carve_tree_end_reading(t);
    cleanup_spool(&t->spool);
    free(t->identities);
    free(t->stamps);
    owners_clear(&t->owners);
    buf_free(&t->link);
}

/* ---- files ---- */

void placing_clear(struct placing *p)
{
    free(p->files);
    free(p->names);
    free(p->file_of);
    free(p->is_dir);
}

/* Returns about how many bytes of a layer the file takes, with a header for each name. */
static uint64_t layer_bytes(const struct spool_record *r)
{
    return r->size + ustar_padding(r->size) + (uint64_t)r->names * USTAR_BLOCK;
}

bool placing_skips(struct tree *tree, uint32_t node)
{
    size_t len;
    const char *name = tree_name(tree, node, &len);

    return len > 4 && memcmp(name, ".wh.", 4) == 0;
}

int placing_list(const struct carve_tree *t, struct placing *p, struct err *err)
{
    const struct spool *s = t->spool;
    const struct owners *owners = &t->owners;

    p->files = calloc(s->record_count + 1, sizeof(*p->files));
    p->names = calloc(s->name_count + 1, sizeof(*p->names));
    p->file_of = calloc(s->record_count + 1, sizeof(*p->file_of));
    p->is_dir = calloc(tree_count(s->tree), sizeof(*p->is_dir));
    if (!p->files || !p->names || !p->file_of || !p->is_dir)
        return err_nomem(err);
    p->is_dir[TREE_ROOT] = 1;
    for (size_t i = 0; i < s->record_count; i++) {
        const struct spool_record *r = &s->records[i];
        if (S_ISDIR(r->mode)) {
            p->is_dir[r->node] = 1;
            continue;
        }
        if (placing_skips(s->tree, r->node))
            continue;
        p->file_of[i] = (uint32_t)p->count;
        p->files[p->count++] = (struct layout_file){
            .node = r->node, .owner = owners->by_node[r->node], .bytes = layer_bytes(r)};
    }
    for (size_t i = 0; i < s->name_count; i++) {
        const struct spool_name *name = &s->names[i];
        struct layout_file *file = &p->files[p->file_of[name->record]];
        file->owner = owners_stronger(owners, file->owner, owners->by_node[name->node]);
        p->names[i] = (struct layout_name){name->node, p->file_of[name->record]};
    }
    return 0;
}

struct layout_input placing_input(const struct carve_tree *t, const struct placing *p)
{
    return (struct layout_input){.tree = t->spool->tree,
                                 .files = p->files,
                                 .file_count = p->count,
                                 .names = p->names,
                                 .name_count = t->spool->name_count,
                                 .is_dir = p->is_dir,
                                 .owners = &t->owners};
}
