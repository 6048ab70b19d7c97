/* The layers below a known one, as LAYER/lower names them: "l/SHORT:l/SHORT". */
#include "shim/admin/stale/state.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

enum { LOWER_BYTES = 256 * 1024 };

/* Layers that are known, and those below them that are not yet. */
struct search {
    struct known *known, more;
};

/* Adds the layer behind one short name. A layer of another store has no link here. */
static int add_short(int layers, const char *path, struct search *s, struct err *err)
{
    char target[PATH_MAX];
    const char *name;
    size_t len;
    ssize_t got = readlinkat(layers, path, target, sizeof(target) - 1);

    if (got < 0)
        return errno == ENOENT || errno == EINVAL ? 0 : err_sys(err, "%s", path);
    target[got] = '\0';
    if (!stale_link_target(target, &name, &len))
        return 0;
    target[name + len - target] = '\0';
    if (!known_has(s->known, name))
        known_add(&s->more, name, len);
    return 0;
}

static int add_lowers(int layers, const char *id, struct search *s, struct err *err)
{
    _cleanup_free_ char *path = strf("%s/lower", id);
    _cleanup_buf_ struct buf text = BUF_INIT;

    if (!path)
        return err_nomem(err);
    if (store_read(layers, path, LOWER_BYTES, &text, err) < 0)
        return err_missing(err) ? 0 : -1;
    for (char *at = text.data; at && *at;) {
        size_t len = strcspn(at, ":\n");
        char *next = at + len + (at[len] != '\0');
        at[len] = '\0';
        if (strncmp(at, "l/", 2) == 0 && !strchr(at + 2, '/') && add_short(layers, at, s, err) < 0)
            return -1;
        at = next;
    }
    return 0;
}

int lowers_known(int layers, struct known *known, struct err *err)
{
    size_t count = known->count; /* a file names all layers below, not the next alone */
    struct search s = {.known = known};
    int rc = 0;

    (void)known_has(known, ""); /* sorts it once */
    for (size_t i = 0; i < count && rc == 0; i++)
        if (stale_is_layer(STALE_DOCKER, known->list[i]))
            rc = add_lowers(layers, known->list[i], &s, err);
    for (size_t i = 0; i < s.more.count && rc == 0; i++)
        known_add(known, s.more.list[i], strlen(s.more.list[i]));
    known->failed = known->failed || s.more.failed;
    known_free(&s.more);
    return rc;
}
