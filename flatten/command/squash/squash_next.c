#include "flatten/command/squash/squash_command.h"

#include "base/cli/log.h"
#include "base/human.h"

#include <string.h>

/* The end of a run in words: where the image is now, and the commands that use it. */

/* Sets *out to the image's name at the destination, as it was published; or NULL. */
static int find_name(const struct squash_run *run, char **out, struct err *err)
{
    const struct reference *to = run->to;
    _cleanup_free_ char *name = NULL;

    *out = NULL;
    if (squash_has_several(run) ||
        sink_image_name(to, squash_entry_name(run, &run->entries[0]), &name, err) < 0)
        return squash_has_several(run) ? 0 : -1;
    if (!name || !(to->transport == TRANSPORT_OCI || to->transport == TRANSPORT_OCI_ARCHIVE)) {
        *out = steal_ptr(&name);
        return 0;
    }
    *out = strdup(sink_layout_tag(name, to->name != NULL));
    return *out ? 0 : err_nomem(err);
}

static void put_what(const struct squash_run *run, struct buf *out)
{
    const struct squash_entry *entry = &run->entries[0];
    const struct squashed *s = &run->jobs[entry->first].squashed;
    char size[HUMAN_SIZE];
    uint64_t bytes = 0;

    for (size_t i = 0; i < s->count; i++)
        bytes += s->layers[i].size;
    if (squash_has_several(run))
        buf_printf(out, "%zu image%s", run->entry_count, human_s(run->entry_count));
    else if (entry->count > 1)
        buf_printf(out, "the images of %zu platforms", entry->count);
    else
        buf_printf(out, "the image (%s)", human_size(bytes, size));
}

static void say_written(const struct squash_run *run, const char *name)
{
    static const char *const places[] = {
        [TRANSPORT_OCI] = "the OCI layout ",         [TRANSPORT_OCI_ARCHIVE] = "the archive ",
        [TRANSPORT_DOCKER_ARCHIVE] = "the archive ", [TRANSPORT_DOCKER_DAEMON] = "Docker",
        [TRANSPORT_REGISTRY] = "the registry",       [TRANSPORT_STORAGE] = "podman",
    };
    const struct reference *to = run->to;
    _cleanup_buf_ struct buf what = BUF_INIT;

    put_what(run, &what);
    log_info("wrote %s to %s%s%s%s", what.data ? what.data : "the image", places[to->transport],
             to->path ? to->path : "", name ? ", as " : "", name ? name : "");
}

/* Appends "oci:DIR:TAG" as a word for a shell. */
static void put_reference(const char *transport, const char *path, const char *name,
                          struct buf *out)
{
    _cleanup_buf_ struct buf word = BUF_INIT;

    buf_printf(&word, "%s:%s%s%s", transport, path, name ? ":" : "", name ? name : "");
    human_put_word(out, word.data ? word.data : "");
}

/* Appends a command that copies out of a layout, which few engines can do themselves. */
static void put_copy(const struct squash_run *run, const char *transport, const char *name,
                     struct buf *out)
{
    buf_puts(out, run->entries[0].count > 1 ? "skopeo copy --all " : "skopeo copy ");
    put_reference(transport, run->to->path, squash_has_several(run) ? "NAME" : name, out);
    buf_puts(out, " docker://HOST/NAME:TAG");
}

static void put_command(const char *command, const char *word, struct buf *out)
{
    buf_puts(out, command);
    human_put_word(out, word);
}

static void put_next(const struct squash_run *run, const char *name, struct buf *out)
{
    const struct reference *to = run->to;

    switch (to->transport) {
    case TRANSPORT_OCI:
        put_copy(run, "oci", name, out);
        buf_puts(out, " to push it");
        if (run->entries[0].count == 1)
            buf_puts(out, ", or to docker-daemon:NAME:TAG to load it into Docker");
        return;
    case TRANSPORT_OCI_ARCHIVE:
        put_command("podman load -i ", to->path, out);
        buf_puts(out, ", or ");
        put_copy(run, "oci-archive", name, out);
        buf_puts(out, " to push it");
        return;
    case TRANSPORT_DOCKER_ARCHIVE:
        put_command("docker load -i ", to->path, out);
        if (!name && !squash_has_several(run))
            buf_puts(out, ", then docker tag ID NAME:TAG, as the image has no name");
        return;
    case TRANSPORT_DOCKER_DAEMON:
        put_command("docker run --rm -it ", name ? name : "NAME", out);
        put_command(", or docker push ", name ? name : "NAME", out);
        return;
    case TRANSPORT_STORAGE:
        put_command("podman run --rm -it ", name ? name : "NAME", out);
        put_command(", or podman push ", name ? name : "NAME", out);
        return;
    case TRANSPORT_REGISTRY:
        put_command("docker pull ", name ? name : "NAME", out);
        return;
    }
}

void squash_say_next(const struct squash_run *run)
{
    _cleanup_free_ char *name = NULL;
    _cleanup_buf_ struct buf next = BUF_INIT;
    struct err ignored = ERR_INIT;

    if (find_name(run, &name, &ignored) < 0)
        return; /* out of memory: the result has been printed */
    say_written(run, name);
    put_next(run, name, &next);
    if (next.data)
        log_info("next: %s", next.data);
}
