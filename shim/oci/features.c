#include "shim/oci/features.h"

#include "base/json/json.h"
#include "shim/host/kernel.h"
#include "shim/host/process/child.h"
#include "shim/host/rundir.h"

#include <string.h>
#include <sys/stat.h>

enum { MOST_OUTPUT = 64 * 1024 };

/* ---- what it says ---- */

static bool array_has(const struct json *array, const char *word)
{
    for (size_t i = 0; i < json_count(array); i++) {
        const char *text = json_is(array, JSON_ARRAY) ? json_text(array->items[i]) : NULL;
        if (text && strcmp(text, word) == 0)
            return true;
    }
    return false;
}

/*
 * No runtime lists "ridmap" among its options. runc learnt it together with telling of idmap, and
 * crun, which tells its version, in 1.9.
 */
static bool knows_ridmap(const struct json *root)
{
    const char *version = json_text(json_path(root, "annotations", "run.oci.crun.version", NULL));
    int major, minor;

    if (!version)
        return true;
    return sscanf(version, "%d.%d", &major, &minor) == 2 && (major > 1 || minor >= 9);
}

void features_parse(const char *text, struct features *out)
{
    struct err ignored;
    _cleanup_json_ struct json_doc *doc = json_parse(text, strlen(text), NULL, &ignored);
    const struct json *root = doc ? json_root(doc) : NULL;

    out->rro = array_has(json_get(root, "mountOptions"), "rro");
    out->idmap = json_true(json_path(root, "linux", "mountExtensions", "idmap", "enabled", NULL));
    out->ridmap = out->idmap && knows_ridmap(root);
}

/* Asks the runtime. Returns false if it does not answer. */
static bool features_ask(struct lowlevel *low, struct features *out)
{
    char command[] = "features";
    char *const argv[] = {low->path, command, NULL};
    _cleanup_free_ char *text = malloc(MOST_OUTPUT);
    struct err ignored;
    int status;

    if (!text || child_output(argv, text, MOST_OUTPUT, &status, &ignored) < 0 || status != 0)
        return false;
    features_parse(text, out);
    return true;
}

/* ---- what it said ---- */

static char *cache_name(const struct lowlevel *low)
{
    struct stat st;

    if (stat(low->path, &st) < 0)
        return NULL;
    return strf("%jx-%jx-%jx.%lx.json", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino,
                (uintmax_t)st.st_mtim.tv_sec, (unsigned long)st.st_mtim.tv_nsec);
}

static bool features_recall(int dirfd, const char *name, struct features *out)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err ignored;

    if (rundir_read(dirfd, name, 4096, &text, &ignored) < 0)
        return false;
    struct json_doc *doc = json_parse_buf(&text, NULL, &ignored);
    const struct json *root = doc ? json_root(doc) : NULL;
    const struct json *rro = json_get(root, "rro");
    bool known = json_is(rro, JSON_BOOL);
    if (known) /* idmapping is never done on what was kept */
        *out = (struct features){.rro = rro->boolean};
    if (doc)
        json_free(doc);
    return known;
}

static void features_remember(int dirfd, const char *name, const struct features *features)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err ignored;

    buf_printf(&text, "{\"rro\":%s}\n", features->rro ? "true" : "false");
    if (text.failed || rundir_write(dirfd, name, &text, &ignored) < 0)
        return; /* the next call asks again */
}

void features_find(struct lowlevel *low, bool needed, struct features *out)
{
    struct err ignored;
    _cleanup_fd_ int dirfd = rundir_open("features", NULL, true, &ignored);
    _cleanup_free_ char *name = cache_name(low);

    *out = (struct features){0};
    bool can_keep = dirfd >= 0 && name;
    if (!needed && (!can_keep || features_recall(dirfd, name, out))) {
        /* the answer is known, or not worth a start of the runtime */
    } else if (features_ask(low, out) && can_keep) {
        features_remember(dirfd, name, out);
    }
    if ((out->rro || out->idmap) && !kernel_restricts_mounts())
        *out = (struct features){0};
}
