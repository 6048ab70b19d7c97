#include "flatten/keeper/source/source_backends.h"

#include "flatten/keeper/files/temporary_file.h"
#include "flatten/keeper/http/engine_api.h"
#include "flatten/keeper/source/daemon_content.h"
#include "flatten/keeper/source/daemon_store.h"
#include "flatten/keeper/source/layer_names.h"
#include "flatten/keeper/source/source_open.h"
#include "flatten/name/image_name.h"

#include <string.h>

/*
 * An image of the Docker daemon: where it lies in the daemon's store (daemon_store.c,
 * daemon_content.c), or the archive that `docker save` would write, in a temporary file.
 * The daemon is asked by Id, not by name: a name may come to mean another image meanwhile, and one
 * without a tag would be all tags.
 */
enum { API_PLATFORM = 48 }; /* API 1.48 can save one platform of an image */

struct platform {
    char os[64], architecture[64], variant[64];
};

static bool is_word(const char *text, size_t len)
{
    return len > 0 && len < sizeof(((struct platform *)NULL)->os) &&
           strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_.-") >= len;
}

static int platform_parse(const char *text, struct platform *out, struct err *err)
{
    char *const parts[] = {out->os, out->architecture, out->variant};
    const char *at = text;

    *out = (struct platform){0};
    for (size_t i = 0; i < 3; i++) {
        size_t len = strcspn(at, "/");
        if (!is_word(at, len))
            break;
        memcpy(parts[i], at, len);
        at += len;
        if (!*at && i > 0)
            return 0;
        at += *at == '/';
    }
    return err_set(err, ERR_USAGE, "--platform=%s is not OS/ARCH", text);
}

/*
 * Takes the platform of the image that the daemon would run. False if the daemon says too little to
 * ask for it.
 */
static bool platform_inspected(const struct json *facts, struct platform *out)
{
    const char *os = json_text(json_get(facts, "Os"));
    const char *architecture = json_text(json_get(facts, "Architecture"));
    const char *variant = json_text(json_get(facts, "Variant"));

    *out = (struct platform){0};
    if (!os || !architecture || !is_word(os, strlen(os)) ||
        !is_word(architecture, strlen(architecture)))
        return false;
    snprintf(out->os, sizeof(out->os), "%s", os);
    snprintf(out->architecture, sizeof(out->architecture), "%s", architecture);
    if (variant && is_word(variant, strlen(variant)))
        snprintf(out->variant, sizeof(out->variant), "%s", variant);
    return true;
}

static char *platform_json(const struct platform *p)
{
    return strf("{\"os\":\"%s\",\"architecture\":\"%s\"%s%s%s}", p->os, p->architecture,
                p->variant[0] ? ",\"variant\":\"" : "", p->variant, p->variant[0] ? "\"" : "");
}

/*
 * Sets *out to the name of the image: as the user gave it, unless that was an ID, else the first
 * tag. NULL for none.
 */
static int choose_name(const char *asked, const struct json *facts, char **out, struct err *err)
{
    const struct json *tags = json_get(facts, "RepoTags");
    const char *first = json_text(json_at(tags, 0));
    _cleanup_free_ char *tagged = image_name_tagged(asked, err);
    bool has_tag = false;

    if (!tagged)
        return -1;
    for (size_t i = 0; i < json_count(tags); i++) {
        const char *tag = json_text(json_at(tags, i));
        has_tag = has_tag || (tag && strcmp(tag, tagged) == 0);
    }
    if (has_tag || !image_name_is_fixed(asked))
        *out = steal_ptr(&tagged);
    else if (first && !(*out = strdup(first)))
        return err_nomem(err);
    return 0;
}

/*
 * Returns about how many bytes an archive of the image has, or 0 if that is not known. A daemon
 * with containerd's store (then there is a Descriptor) may count what layers unpack to besides the
 * blobs, which alone are in the archive (moby, pull request 53426).
 */
static uint64_t archive_size(const struct json *facts)
{
    uint64_t size;

    return !json_get(facts, "Descriptor") && json_u64(json_get(facts, "Size"), &size) ? size : 0;
}

/* Returns the spooled archive, a descriptor, or -1. */
static int download_archive(struct engine *e, const struct json *facts,
                            const struct platform *platform, struct err *err)
{
    const char *id = json_text(json_get(facts, "Id"));
    uint64_t size = archive_size(facts);
    struct digest digest;

    if (!id || digest_parse(id, &digest, err) < 0)
        return err_set(err, ERR_FORMAT, "the daemon does not say the image's Id");
    _cleanup_free_ char *json = platform ? platform_json(platform) : NULL;
    if (platform && !json)
        return err_nomem(err);
    if (temporary_file_check_room(size, err) < 0)
        return -1;
    _cleanup_fd_ int fd = temporary_file_open(err);
    if (fd < 0)
        return -1;
    if (engine_save(e, digest.text, json, fd, err) < 0)
        return temporary_file_explain_room(fd, size, err);
    return steal_fd(&fd);
}

/* Finds the image in the daemon's store; -1 with the reason why that cannot be or is no use. */
static int find_place(struct source_daemon *d, struct engine *e, const struct json *facts,
                      enum walk_kind kind, struct err *why)
{
    _cleanup_json_ struct json_doc *doc = engine_info(e, why);
    const struct json *info = doc ? json_root(doc) : NULL;

    if (!info)
        return -1;
    if (engine_has_snapshotter(info))
        return daemon_content_find(d, info, facts, why);
    if (kind == WALK_NONE)
        return err_set(why, ERR_UNSUPPORTED, "the options need its layers one by one");
    return daemon_store_walk(d, info, facts, kind, why);
}

/* Reads the image in the daemon's store, if that is possible. Returns 1, 0 with d->why, or -1. */
static int try_place(struct source_daemon *d, struct engine *e, const struct json *facts,
                     enum walk_kind kind, struct err *err)
{
    struct err why = ERR_INIT;

    if (find_place(d, e, facts, kind, &why) == 0)
        return 1;
    return (d->why = strdup(why.msg)) ? 0 : err_nomem(err);
}

static int find_named(struct source *s, struct engine *e, const struct json *facts,
                      const struct source_choice *choice, const struct platform *asked,
                      struct err *err)
{
    struct source_daemon *d = &s->daemon;
    struct platform platform;
    int placed = try_place(d, e, facts, choice->walk, err);
    int speaks = engine_speaks(e, API_PLATFORM, err);

    if (speaks < 0 || placed < 0)
        return -1;
    bool known = asked || platform_inspected(facts, &platform);
    if (asked)
        platform = *asked;
    if (!placed &&
        (d->fd = download_archive(e, facts, speaks && known ? &platform : NULL, err)) < 0)
        return -1;
    if (known &&
        (!(d->os = strdup(platform.os)) || !(d->architecture = strdup(platform.architecture))))
        return err_nomem(err);
    return choose_name(s->ref->name, facts, &d->name, err);
}

/*
 * Puts the name before the error; for a bare word with the other meaning that it may have. Returns
 * -1.
 */
static int wrap_name(const struct reference *ref, struct err *err)
{
    if (!ref->sniffed)
        return err_wrap(err, "docker-daemon:%s", ref->name);
    return err_wrap(err, "docker-daemon:%s (an image of a registry is docker://%s)", ref->name,
                    ref->name);
}

int source_find_daemon(struct source *s, const struct source_choice *choice, struct err *err)
{
    const char *platform = choice->platform;
    struct platform asked;
    _cleanup_engine_ struct engine *e = NULL;
    _cleanup_json_ struct json_doc *doc = NULL;

    if ((platform && platform_parse(platform, &asked, err) < 0) || !(e = engine_open(err)))
        return -1;
    if (!(doc = engine_inspect(e, s->ref->name, NULL, err)))
        return wrap_name(s->ref, err);
    if (find_named(s, e, json_root(doc), choice, platform ? &asked : NULL, err) < 0)
        return err_wrap(err, "docker-daemon:%s", s->ref->name);
    return 0;
}

int source_still_there_daemon(const struct source *s, struct err *err)
{
    const char *place = s->daemon.place;
    _cleanup_free_ char *id = strndup(place, strcspn(place, " ")), *now = NULL;
    _cleanup_engine_ struct engine *e = id ? engine_open(err) : NULL;
    bool missing = false;
    _cleanup_json_ struct json_doc *doc = e ? engine_inspect(e, id, &missing, err) : NULL;

    if (!id || (doc && !(now = layer_names_place(json_root(doc)))))
        return err_nomem(err);
    if (!doc && !missing)
        return err_wrap(err, "docker-daemon:%s", s->ref->name);
    if (now && strcmp(now, place) == 0)
        return layer_names_check(place, err) < 0 ? err_wrap(err, "docker-daemon:%s", s->ref->name)
                                                 : 0;
    return err_set(err, ERR_SYSTEM,
                   "docker-daemon:%s: the image was removed from the daemon while it was read",
                   s->ref->name);
}

int source_diff_ids_daemon(const struct reference *ref, struct buf *out, struct err *err)
{
    _cleanup_engine_ struct engine *e = engine_open(err);
    _cleanup_json_ struct json_doc *doc = e ? engine_inspect(e, ref->name, NULL, err) : NULL;
    const struct json *ids = doc ? json_path(json_root(doc), "RootFS", "Layers", NULL) : NULL;
    struct digest digest;

    if (!doc)
        return wrap_name(ref, err);
    for (size_t i = 0; i < json_count(ids); i++) {
        const char *id = json_text(json_at(ids, i));
        if (!id || digest_parse(id, &digest, err) < 0)
            return err_set(err, ERR_FORMAT, "the daemon does not say what the layers of %s are",
                           ref->name);
        buf_append(out, digest.text, sizeof(digest.text));
    }
    return buf_check(out, err);
}
