#include "flatten/keeper/source/source_backends.h"

#include "flatten/keeper/files/temporary_file.h"
#include "flatten/keeper/podman/podman.h"
#include "flatten/keeper/source/layer_names.h"
#include "flatten/keeper/source/storage_store.h"
#include "flatten/name/image_name.h"
#include "flatten/name/media_type.h"

#include <string.h>

/*
 * An image in podman's store: walked where its layers lie (storage_store.c), or the archive that
 * `podman save` writes, in a temporary file. Like the daemon, podman is asked by ID. An image with
 * an OCI manifest is saved as an OCI layout: a docker-archive would have another configuration.
 */

/*
 * Sets *out to the name of the image: the tag that has the name as the user wrote it, else, for an
 * ID or a digest, the first one. NULL for none.
 */
static int choose_name(const char *asked, const struct json *facts, char **out, struct err *err)
{
    const struct json *tags = json_get(facts, "RepoTags");
    const char *first = json_text(json_at(tags, 0)), *found = NULL;
    _cleanup_free_ char *tagged = image_name_tagged(asked, err);

    if (!tagged)
        return -1;
    for (size_t i = 0; i < json_count(tags) && !found; i++) {
        const char *tag = json_text(json_at(tags, i));
        if (!tag)
            continue;
        size_t len = strlen(tag), end = strlen(tagged);
        bool ends = len >= end && strcmp(tag + len - end, tagged) == 0;
        if (ends && (len == end || tag[len - end - 1] == '/'))
            found = tag;
    }
    if (!found)
        found = image_name_is_fixed(asked) ? first : tagged;
    return !found || (*out = strdup(found)) ? 0 : err_nomem(err);
}

/* Sets a platform, which the reader compares with the configuration. */
static int set_platform(struct source_daemon *d, const char *platform, struct err *err)
{
    const char *slash = platform ? strchr(platform, '/') : NULL;

    if (!platform)
        return 0;
    if (!slash)
        return err_set(err, ERR_USAGE, "--platform=%s is not OS/ARCH", platform);
    d->os = strndup(platform, (size_t)(slash - platform));
    d->architecture = strndup(slash + 1, strcspn(slash + 1, "/"));
    return d->os && d->architecture ? 0 : err_nomem(err);
}

/* Returns the saved archive, a descriptor, or -1. */
static int save_archive(const struct reference *ref, const struct json *facts, struct err *err)
{
    const char *id = json_text(json_get(facts, "Id"));
    const char *type = json_text(json_get(facts, "ManifestType"));
    bool oci = type && strcmp(type, MEDIA_TYPE_MANIFEST) == 0;
    uint64_t size;

    if (!id || strlen(id) != (size_t)2 * SHA256_SIZE ||
        strspn(id, "0123456789abcdef") != (size_t)2 * SHA256_SIZE)
        return err_set(err, ERR_FORMAT, "podman does not say the image's Id");
    if (!json_u64(json_get(facts, "Size"), &size))
        size = 0;
    if (temporary_file_check_room(size, err) < 0)
        return -1;
    _cleanup_fd_ int fd = temporary_file_open(err);
    if (fd < 0)
        return -1;
    if (podman_save(ref, id, oci, fd, err) < 0)
        return -1;
    return steal_fd(&fd);
}

/* Walks the image if that is enough and possible, else has it saved. */
static int open_image(struct source *s, const struct json *facts,
                      const struct source_choice *choice, struct err *err)
{
    struct source_daemon *d = &s->daemon;
    struct err why = ERR_INIT;

    if (choice->walk && storage_store_walk(d, s->ref, facts, choice->walk, &why) == 0)
        return 0;
    if (choice->walk && !(d->why = strdup(why.msg)))
        return err_nomem(err);
    d->fd = save_archive(s->ref, facts, err);
    return d->fd < 0 ? -1 : 0;
}

int source_find_storage(struct source *s, const struct source_choice *choice, struct err *err)
{
    struct source_daemon *d = &s->daemon;
    _cleanup_json_ struct json_doc *doc = NULL;
    const struct json *facts = podman_inspect(s->ref, s->ref->name, &doc, NULL, err);

    if (!facts || set_platform(d, choice->platform, err) < 0 ||
        choose_name(s->ref->name, facts, &d->name, err) < 0 ||
        open_image(s, facts, choice, err) < 0)
        return err_wrap(err, "containers-storage:%s", s->ref->name);
    return 0;
}

int source_still_there_storage(const struct source *s, struct err *err)
{
    const char *place = s->daemon.place;
    _cleanup_free_ char *id = strndup(place, strcspn(place, " ")), *now = NULL;
    _cleanup_json_ struct json_doc *doc = NULL;
    bool missing = false;

    if (!id)
        return err_nomem(err);
    const struct json *facts = podman_inspect(s->ref, id, &doc, &missing, err);
    if (facts && !(now = layer_names_place(facts)))
        return err_nomem(err);
    if (!facts && !missing)
        return err_wrap(err, "containers-storage:%s", s->ref->name);
    if (now && strcmp(now, place) == 0)
        return layer_names_check(place, err) < 0
                   ? err_wrap(err, "containers-storage:%s", s->ref->name)
                   : 0;
    return err_set(err, ERR_SYSTEM,
                   "containers-storage:%s: the image was removed from the store while it was read",
                   s->ref->name);
}

int source_diff_ids_storage(const struct reference *ref, struct buf *out, struct err *err)
{
    _cleanup_json_ struct json_doc *doc = NULL;
    const struct json *facts = podman_inspect(ref, ref->name, &doc, NULL, err);
    const struct json *ids = json_path(facts, "RootFS", "Layers", NULL);
    struct digest digest;

    if (!facts)
        return err_wrap(err, "containers-storage:%s", ref->name);
    for (size_t i = 0; i < json_count(ids); i++) {
        const char *id = json_text(json_at(ids, i));
        if (!id || digest_parse(id, &digest, err) < 0)
            return err_set(err, ERR_FORMAT, "podman does not say what the layers of %s are",
                           ref->name);
        buf_append(out, digest.text, sizeof(digest.text));
    }
    return buf_check(out, err);
}
