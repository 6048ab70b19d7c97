#include "flatten/keeper/podman/podman.h"

#include "flatten/exchange/image_limits.h"
#include "flatten/keeper/podman/child.h"
#include "flatten/keeper/podman/podman_words.h"

#include <string.h>

/* ---- its errors ---- */

/* Cuts standard error to its last line, without "Error: ". */
static const char *last_line(struct buf *said)
{
    static const char mark[] = "Error: ";

    while (said->len && strchr("\r\n ", said->data[said->len - 1]))
        buf_truncate(said, said->len - 1);
    if (!said->len)
        return "";
    const char *newline = strrchr(said->data, '\n');
    const char *line = newline ? newline + 1 : said->data;
    return strncmp(line, mark, sizeof(mark) - 1) == 0 ? line + sizeof(mark) - 1 : line;
}

/* Explains an exit status other than 0. Returns -1. */
static int explain_status(int status, struct buf *said, struct err *err)
{
    _cleanup_buf_ struct buf printable = BUF_INIT;
    const char *line = last_line(said);

    buf_put_printable(&printable, line, strlen(line));
    if (!printable.len)
        return err_set(err, ERR_SYSTEM, "podman ends with exit status %d", status);
    return err_set(err, ERR_SYSTEM, "podman says: %s", printable.data);
}

/* Explains why podman could not be run. Returns -1. */
static int explain_start(struct err *err)
{
    if (err->sys == ENOENT)
        return err_set(err, ERR_SYSTEM,
                       "podman is not in PATH: install it, or name an archive or a layout");
    return err_wrap(err, "podman");
}

/* Runs podman with these words. Returns -1 unless its exit status is 0. */
static int run(const struct reference *store, const char *const words[], const char *name,
               struct child *c, struct err *err)
{
    _cleanup_podman_words_ struct podman_words w = {0};
    _cleanup_buf_ struct buf said = BUF_INIT;

    if (podman_words_make(store, words, name, &w, err) < 0)
        return -1;
    c->argv = w.words;
    int status = child_run(c, &said, err);
    c->argv = NULL;
    if (status < 0)
        return explain_start(err);
    return status == 0 ? 0 : explain_status(status, &said, err);
}

/* ---- its commands ---- */

/* The texts of podman for an image that is not there (containers/storage, libimage). */
static bool says_missing(const struct err *err)
{
    return strstr(err->msg, "image not known") || strstr(err->msg, "no such image") ||
           strstr(err->msg, "failed to find image");
}

/* Runs podman and parses its output. */
static struct json_doc *run_json(const struct reference *store, const char *const words[],
                                 const char *name, struct err *err)
{
    static const struct json_options options = {.max_bytes = IMAGE_JSON_LIMIT};
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct child c = {.in = -1, .out = -1, .text = &text, .limit = IMAGE_JSON_LIMIT};

    if (run(store, words, name, &c, err) < 0)
        return NULL;
    struct json_doc *doc = json_parse(text.len ? text.data : "", text.len, &options, err);
    if (!doc)
        err_wrap(err, "podman %s", words[0]);
    return doc;
}

struct json_doc *podman_info(const struct reference *store, struct err *err)
{
    static const char *const words[] = {"info", "--format=json", NULL};

    return run_json(store, words, NULL, err);
}

const struct json *podman_inspect(const struct reference *store, const char *name,
                                  struct json_doc **doc, bool *missing, struct err *err)
{
    static const char *const words[] = {"image", "inspect", NULL};

    *doc = run_json(store, words, name, err);
    bool unknown = !*doc && says_missing(err);
    if (missing)
        *missing = unknown;
    if (unknown)
        err_set(err, ERR_USAGE, "podman has no image %s: 'podman images' lists them", name);
    const struct json *facts = *doc ? json_at(json_root(*doc), 0) : NULL;
    if (*doc && !facts)
        err_set(err, ERR_FORMAT, "podman image inspect says nothing");
    return facts;
}

int podman_save(const struct reference *store, const char *id, bool oci, int fd, struct err *err)
{
    static const char *const docker[] = {"save", "--quiet", "--format=docker-archive", NULL};
    static const char *const layout[] = {"save", "--quiet", "--uncompressed",
                                         "--format=oci-archive", NULL};
    struct child c = {.in = -1, .out = fd};

    return run(store, oci ? layout : docker, id, &c, err);
}

int podman_load(const struct reference *store, int fd, struct err *err)
{
    /* By this path it reads the file; from standard input it would make a copy first. */
    static const char *const words[] = {"load", "--quiet", "--input=/proc/self/fd/0", NULL};
    struct child c = {.in = fd, .out = -1};

    return run(store, words, NULL, &c, err);
}
