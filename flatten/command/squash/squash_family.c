#include "flatten/command/squash/squash_family.h"

#include <string.h>

int squash_family_open(struct squash_run *run, size_t which, struct err *err)
{
    struct source **members = realloc(run->family.opened, (which + 1) * sizeof(struct source *));

    if (!members)
        return err_nomem(err);
    run->family.opened = members;
    run->from = &run->family.sources[which];
    run->source = NULL;
    struct source *source = reader_source(run->reader, which, err);
    if (!source)
        return -1;
    run->family.opened[run->family.opened_count++] = run->source = source;
    return 0;
}

/* ---- names ---- */

static int find_name(const struct squash_run *run, const struct squash_entry *entry, char **out,
                     struct err *err)
{
    return sink_image_name(run->to, squash_entry_name(run, entry), out, err);
}

int squash_family_check_name(const struct squash_run *run, struct err *err)
{
    size_t last = run->entry_count - 1;
    _cleanup_free_ char *name = NULL;

    if (!run->to->path && !run->to->name)
        return 0; /* a rehearsal */
    if (find_name(run, &run->entries[last], &name, err) < 0)
        return -1;
    if (!name)
        return err_set(
            err, ERR_USAGE,
            run->to->transport == TRANSPORT_DOCKER_ARCHIVE
                ? "the image has no name of the form NAME:TAG, as a docker-archive needs it: use "
                  "oci-archive:FILE"
                : "the image has no name that the destination could take: name the source with "
                  "its tag");
    for (size_t i = 0; i < last; i++) {
        _cleanup_free_ char *other = NULL;
        if (find_name(run, &run->entries[i], &other, err) < 0)
            return -1;
        if (other && strcmp(other, name) == 0)
            return err_set(
                err, ERR_USAGE,
                "it would be called %s, as another image of the family: give the sources "
                "different tags",
                name);
    }
    return 0;
}

bool squash_family_put_name(const struct squash_run *run, const struct squash_entry *entry,
                            struct buf *out)
{
    _cleanup_free_ char *name = NULL;
    struct err ignored = ERR_INIT;

    if (find_name(run, entry, &name, &ignored) < 0 || !name)
        return false;
    buf_puts(out, name);
    return true;
}

/* ---- layers ---- */

int squash_family_write(struct squash_run *run, struct sink *sink, struct err *err)
{
    const struct squash_command *c = run->command;
    const struct squash_options options = {.merged = {.max_size = c->max_size << 30},
                                           .compress = run->compress,
                                           .readable = c->verify && sink};

    if (family_write(run->family.images, &options, sink, err) < 0)
        return -1;
    for (size_t i = 0; i < run->count; i++) {
        struct squash_job *job = &run->jobs[i];
        if (family_take(run->family.images, i, &options, &job->squashed, &job->carved, err) < 0)
            return -1;
    }
    return 0;
}
