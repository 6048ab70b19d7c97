#include "shim/admin/engine/ctr.h"

#include "shim/admin/engine/runtime_program.h"
#include "shim/host/process/child.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ANSWER_BYTES = 4 * 1024 * 1024, WORDS = 7, MANIFESTS = 32, DIGEST_SIZE = 128 };

/* A name in the arguments of ctr must not be an option. */
static bool is_name(const char *text)
{
    return text && *text && *text != '-';
}

/*
 * Runs "ctr WORDS…" in a namespace; without its name, for all. Returns the output, which the caller
 * frees.
 */
static char *ask(const struct ctr_space *space, const char *const words[WORDS], struct err *err)
{
    struct runtime_program ctr;
    const char *argv[WORDS + 6];
    size_t count = 0;
    int status;

    runtime_program_find("ctr", &ctr);
    if (!ctr.found) {
        err_set(err, ERR_UNSUPPORTED, "ctr, the client of containerd, is not installed");
        return NULL;
    }
    argv[count++] = ctr.path;
    argv[count++] = "--address";
    argv[count++] = space->address;
    if (space->name) {
        argv[count++] = "--namespace";
        argv[count++] = space->name;
    }
    for (size_t i = 0; i < WORDS && words[i]; i++)
        argv[count++] = words[i];
    argv[count] = NULL;
    _cleanup_free_ char *text = malloc(ANSWER_BYTES);
    if (!text) {
        err_nomem(err);
        return NULL;
    }
    if (child_output((char *const *)(uintptr_t)argv, text, ANSWER_BYTES, &status, err) < 0)
        return NULL;
    if (status != 0) {
        err_set(err, ERR_SYSTEM, "containerd at %s does not answer 'ctr %s %s'", space->address,
                words[0], words[1]);
        return NULL;
    }
    return steal_ptr(&text);
}

static struct json_doc *ask_json(const struct ctr_space *space, const char *const words[WORDS],
                                 struct err *err)
{
    static const struct json_options options = {.max_bytes = ANSWER_BYTES};
    _cleanup_free_ char *text = ask(space, words, err);

    return text ? json_parse(text, strlen(text), &options, err) : NULL;
}

/* ---- lists ---- */

int ctr_read_table(char *text, ctr_visit *visit, void *ctx, struct err *err)
{
    char *rest = text, *line = strsep(&rest, "\n"); /* the titles */

    while (line && (line = strsep(&rest, "\n"))) {
        const char *words[CTR_WORDS] = {"", "", ""};
        char *at = line;
        for (size_t i = 0; i < CTR_WORDS && at; i++) {
            at += strspn(at, " \t");
            words[i] = strsep(&at, " \t");
        }
        if (is_name(words[0]) && visit(ctx, words, err) < 0)
            return -1;
    }
    return 0;
}

static int visit_table(const struct ctr_space *space, const char *what, ctr_visit *visit, void *ctx,
                       struct err *err)
{
    const char *const words[WORDS] = {what, "ls"};
    _cleanup_free_ char *text = ask(space, words, err);

    return text ? ctr_read_table(text, visit, ctx, err) : -1;
}

int ctr_each_space(const char *address, ctr_visit *visit, void *ctx, struct err *err)
{
    const struct ctr_space all = {.address = address};

    return visit_table(&all, "namespaces", visit, ctx, err);
}

int ctr_each_container(const struct ctr_space *space, ctr_visit *visit, void *ctx, struct err *err)
{
    return visit_table(space, "containers", visit, ctx, err);
}

/* ---- files ---- */

char *ctr_read_mount(char *text)
{
    static const char before[] = "mount -t overlay ";
    char *options = strncmp(text, before, strlen(before)) == 0 ? strstr(text, " -o ") : NULL;

    if (!options)
        return NULL;
    options += strlen(" -o ");
    options[strcspn(options, "\n")] = '\0';
    /* The kernel's table of mounts would have escapes for these. */
    return strpbrk(options, " \t\\") ? NULL : options;
}

/* Asks for the mount of a snapshot. */
static const char *ask_mount(const struct ctr_space *space, const char *snapshotter,
                             const char *key, struct arena *arena, struct err *err)
{
    const char *const words[WORDS] = {"snapshots", "--snapshotter", snapshotter, "mounts", "/",
                                      key};

    if (!is_name(snapshotter) || !is_name(key)) {
        err_set(err, ERR_UNSUPPORTED, "containerd has no snapshot of it");
        return NULL;
    }
    _cleanup_free_ char *text = ask(space, words, err);
    if (!text)
        return NULL;
    const char *options = ctr_read_mount(text);
    if (!options) {
        err_set(err, ERR_UNSUPPORTED, "its snapshot (%.40s) is on no overlay", snapshotter);
        return NULL;
    }
    const char *copy = arena_strndup(arena, options, strlen(options));
    if (!copy)
        err_nomem(err);
    return copy;
}

const char *ctr_options(const struct ctr_space *space, const char *snapshotter, const char *key,
                        struct arena *arena, struct err *err)
{
    const char *const words[WORDS] = {"containers", "info", key};

    if (snapshotter)
        return ask_mount(space, snapshotter, key, arena, err);
    _cleanup_json_ struct json_doc *doc = ask_json(space, words, err);
    if (!doc)
        return NULL;
    const struct json *info = json_root(doc);
    return ask_mount(space, json_text(json_get(info, "Snapshotter")),
                     json_text(json_get(info, "SnapshotKey")), arena, err);
}

/* ---- layers ---- */

const char *ctr_read_layers(char *text)
{
    static const char bind[] = "mount -t bind ", lower[] = "lowerdir=";
    char *options = ctr_read_mount(text);

    if (strncmp(text, bind, strlen(bind)) == 0) { /* of one layer */
        text += strlen(bind);
        text[strcspn(text, " \n")] = '\0';
        return text;
    }
    while (options && *options && strncmp(options, lower, strlen(lower)) != 0) {
        options += strcspn(options, ",");
        options += *options == ',';
    }
    if (!options || !*options)
        return NULL;
    options += strlen(lower);
    options[strcspn(options, ",")] = '\0';
    return options;
}

const char *ctr_layers(const struct ctr_space *space, const char *snapshotter, const char *name,
                       struct arena *arena, struct err *err)
{
    _cleanup_free_ char *key = strf("flatbed-%d-%s", (int)getpid(), name);
    const char *const view[WORDS] = {
        "snapshots", "--snapshotter", snapshotter, "view", "--target=/", key, name};
    const char *const end[WORDS] = {"snapshots", "--snapshotter", snapshotter, "rm", key};
    struct err ignored;

    if (!key) {
        err_nomem(err);
        return NULL;
    }
    _cleanup_free_ char *text = ask(space, view, err);
    if (!text)
        return NULL;
    free(ask(space, end, &ignored));
    const char *layers = ctr_read_layers(text);
    const char *copy = layers ? arena_strndup(arena, layers, strlen(layers)) : NULL;
    if (!layers)
        err_set(err, ERR_UNSUPPORTED, "its layers are in no directories");
    else if (!copy)
        err_nomem(err);
    return copy;
}

/* ---- images ---- */

static struct json_doc *ask_content(const struct ctr_space *space, const char *digest)
{
    const char *const words[WORDS] = {"content", "get", digest};
    struct err ignored;

    return is_name(digest) ? ask_json(space, words, &ignored) : NULL;
}

/* Returns the configuration of a manifest. */
static struct json_doc *config_of(const struct ctr_space *space, const struct json *manifest)
{
    return ask_content(space, json_text(json_path(manifest, "config", "digest", NULL)));
}

/* Keeps the digest of "images ls": name, type, digest. */
static int keep_digest(void *ctx, const char *const words[CTR_WORDS], struct err *err)
{
    (void)err;
    snprintf(ctx, DIGEST_SIZE, "%s", words[2]);
    return 0;
}

/* Sets the digest that a name of an image has. */
static void find_digest(const struct ctr_space *space, const char *image, char digest[DIGEST_SIZE])
{
    _cleanup_free_ char *filter = strf("name==%s", image);
    const char *const words[WORDS] = {"images", "ls", filter};
    struct err ignored;
    _cleanup_free_ char *text = filter ? ask(space, words, &ignored) : NULL;

    digest[0] = '\0';
    if (text && ctr_read_table(text, keep_digest, digest, &ignored) < 0)
        digest[0] = '\0';
}

struct json_doc *ctr_image_config(const struct ctr_space *space, const char *image)
{
    char digest[DIGEST_SIZE];

    if (strncmp(image, "sha256:", 7) == 0)
        snprintf(digest, sizeof(digest), "%s", image);
    else
        find_digest(space, image, digest);
    _cleanup_json_ struct json_doc *doc = ask_content(space, digest);
    const struct json *list = doc ? json_get(json_root(doc), "manifests") : NULL;
    if (!list)
        return doc ? config_of(space, json_root(doc)) : NULL;
    /* Only the manifest of this machine is there, as a rule: others were not pulled. */
    for (size_t i = 0; i < json_count(list) && i < MANIFESTS; i++) {
        _cleanup_json_ struct json_doc *one =
            ask_content(space, json_text(json_get(json_at(list, i), "digest")));
        struct json_doc *config = one ? config_of(space, json_root(one)) : NULL;
        if (config)
            return config;
    }
    return NULL;
}
