#include "shim/admin/monitor/ready/mark.h"

#include "base/fdio.h"
#include "base/rfc3339.h"
#include "shim/admin/engine/engine_stores.h"
#include "shim/admin/monitor/ready/docker_health.h"
#include "shim/admin/monitor/ready/journal.h"
#include "shim/mount/source_wait.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { HEALTH_BYTES = 1024 * 1024, LINE_BYTES = 4096, KEPT_CHECKS = 5 };
enum { LOG_BYTES = 16 * 1024 * 1024 }; /* of the end of a log */

static double seconds_of(const struct timespec *at)
{
    return (double)at->tv_sec + (double)at->tv_nsec / 1e9;
}

/* ---- a file in the container ---- */

/* Opens a path in a container's root, which the container may have filled with links. */
static int open_inside(pid_t pid, const char *path)
{
    _cleanup_free_ char *root = strf("/proc/%d/root", (int)pid), *whole = strf("%s%s", root, path);
    struct err ignored;

    if (!root || !whole || source_wait(whole, NULL, ENGINE_STORE_WAIT, &ignored) != 0)
        return -1;
    _cleanup_fd_ int fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -1 : fd_open_within(fd, path, O_PATH, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
}

/* A file of the image, or of a start before, is no mark until it is written again. */
static enum mark_answer find_file(pid_t pid, const char *path, double started, double *at)
{
    _cleanup_fd_ int fd = open_inside(pid, path);
    struct statx found;

    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR ? MARK_MISSING : MARK_UNKNOWN;
    if (statx(fd, "", AT_EMPTY_PATH, STATX_MTIME | STATX_BTIME, &found) < 0)
        return MARK_UNKNOWN;
    const struct statx_timestamp *born = &found.stx_btime, *written = &found.stx_mtime;
    double when = (double)written->tv_sec + (double)written->tv_nsec / 1e9;
    double birth = (double)born->tv_sec + (double)born->tv_nsec / 1e9;
    if (when < started)
        return MARK_MISSING;
    *at = found.stx_mask & STATX_BTIME && birth >= started ? birth : when;
    return MARK_SET;
}

/* ---- a health check ---- */

/* Returns when a check ended well after the start; false for any other. */
static bool is_healthy(const struct json *check, double started, double *at)
{
    const char *end = json_text(json_get(check, "End"));
    struct timespec when;
    int64_t status;

    if (!end)
        end = json_text(json_get(check, "end"));
    if ((!json_i64(json_get(check, "ExitCode"), &status) &&
         !json_i64(json_get(check, "exitCode"), &status)) ||
        status != 0 || !end || !rfc3339_parse(end, &when))
        return false;
    *at = seconds_of(&when);
    return *at >= started;
}

enum mark_answer mark_of_health(const struct json *health, double started, double *at)
{
    const struct json *log = json_get(health, "Log");

    if (!log)
        log = json_get(health, "log");
    if (!log)
        return MARK_UNKNOWN;
    size_t count = json_count(log);
    for (size_t i = 0; i < count; i++)
        if (is_healthy(json_at(log, i), started, at))
            return i == 0 && count >= KEPT_CHECKS ? MARK_PASSED : MARK_SET;
    return MARK_MISSING;
}

static struct json_doc *read_json(const char *path)
{
    static const struct json_options options = {.max_bytes = HEALTH_BYTES};
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err ignored;

    return path && file_read(AT_FDCWD, path, HEALTH_BYTES, &text, &ignored) == 0
               ? json_parse_buf(&text, &options, &ignored)
               : NULL;
}

static enum mark_answer health_of_docker(struct json_doc *doc, double started, double *at)
{
    return mark_of_health(json_path(json_root(doc), "State", "Health", NULL), started, at);
}

/* A health check that Docker has not written may have succeeded in its memory. */
static enum mark_answer find_health_of_docker(const struct container_found *c, double started,
                                              double *at)
{
    _cleanup_free_ char *path = strf("%s/containers/%s/config.v2.json", c->store, c->id);
    _cleanup_json_ struct json_doc *doc = read_json(path);
    enum mark_answer written = doc ? health_of_docker(doc, started, at) : MARK_UNKNOWN;

    if (written != MARK_MISSING)
        return written;
    _cleanup_json_ struct json_doc *asked = docker_health_ask(c->id);
    return asked ? health_of_docker(asked, started, at) : written;
}

static enum mark_answer find_health_of_podman(const struct container_found *c, double started,
                                              double *at)
{
    _cleanup_free_ char *path =
        strf("%s/overlay-containers/%s/userdata/healthcheck.log", c->store, c->id);
    _cleanup_json_ struct json_doc *doc = read_json(path);

    return doc ? mark_of_health(json_root(doc), started, at) : MARK_UNKNOWN;
}

/* ---- a line of the log ---- */

/* Copies a text that ends with the line, cut. */
static void copy_text(const char *text, size_t len, char out[LINE_BYTES])
{
    len = len < LINE_BYTES - 1 ? len : LINE_BYTES - 1;
    memcpy(out, text, len);
    out[len] = '\0';
    out[strcspn(out, "\n")] = '\0';
}

/* Reads the time of the journal, in microseconds since 1970. */
static bool read_microseconds(const struct json *time, double *at)
{
    const char *text = json_text(time);
    char *end;

    if (!text)
        return false;
    *at = (double)strtoull(text, &end, 10) / 1e6;
    return end != text && !*end;
}

/* Reads {"log": TEXT, "time": TIME}, or an entry of the journal. */
static bool read_json_line(const char *line, size_t len, char text[LINE_BYTES], double *at)
{
    static const struct json_options options = {.max_bytes = HEALTH_BYTES};
    struct err ignored;
    _cleanup_json_ struct json_doc *doc = json_parse(line, len, &options, &ignored);
    const struct json *root = doc ? json_root(doc) : NULL;
    const char *log = json_text(json_get(root, "log")), *time = json_text(json_get(root, "time"));
    const char *message = json_text(json_get(root, "MESSAGE"));
    struct timespec when;

    if (message && read_microseconds(json_get(root, "__REALTIME_TIMESTAMP"), at)) {
        copy_text(message, strlen(message), text);
        return true;
    }
    if (!log || !time || !rfc3339_parse(time, &when))
        return false;
    copy_text(log, strlen(log), text);
    *at = seconds_of(&when);
    return true;
}

/* Reads "TIME stdout F TEXT". */
static bool read_plain_line(const char *line, size_t len, char text[LINE_BYTES], double *at)
{
    char time[64];
    struct timespec when;
    const char *rest = line;

    for (int words = 0; words < 3; words++) {
        const char *space = memchr(rest, ' ', len - (size_t)(rest - line));
        if (!space || (words == 0 && (size_t)(space - line) >= sizeof(time)))
            return false;
        if (words == 0) {
            memcpy(time, line, (size_t)(space - line));
            time[space - line] = '\0';
        }
        rest = space + 1;
    }
    if (!rfc3339_parse(time, &when))
        return false;
    copy_text(rest, len - (size_t)(rest - line), text);
    *at = seconds_of(&when);
    return true;
}

enum mark_answer mark_in_log(const char *pattern, const char *log, size_t len, double started,
                             double *at)
{
    enum mark_answer answer = MARK_MISSING;
    char text[LINE_BYTES];
    regex_t compiled;

    if (regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB) != 0)
        return MARK_UNKNOWN;
    for (size_t used = 0; used < len && answer == MARK_MISSING;) {
        const char *line = log + used, *end = memchr(line, '\n', len - used);
        size_t size = end ? (size_t)(end - line) : len - used;
        bool (*read)(const char *, size_t, char *, double *) =
            size && *line == '{' ? read_json_line : read_plain_line;
        if (size && read(line, size, text, at) && *at >= started &&
            regexec(&compiled, text, 0, NULL, 0) == 0)
            answer = MARK_SET;
        used += size + 1;
    }
    regfree(&compiled);
    return answer;
}

/* A container without a line there may have no log, or another one. */
static enum mark_answer find_in_journal(const char *id, const char *pattern, double started,
                                        double *at)
{
    _cleanup_free_ char *log = journal_read(id, started, LOG_BYTES);

    return log && *log ? mark_in_log(pattern, log, strlen(log), started, at) : MARK_UNKNOWN;
}

static enum mark_answer find_line(const struct container_found *c, const char *pattern,
                                  double started, double *at)
{
    _cleanup_free_ char *path =
        c->engine == CONTAINER_DOCKER
            ? strf("%s/containers/%s/%s-json.log", c->store, c->id, c->id)
            : strf("%s/overlay-containers/%s/userdata/ctr.log", c->store, c->id);
    _cleanup_fd_ int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
    _cleanup_buf_ struct buf log = BUF_INIT;
    struct stat st;
    struct err ignored;

    if (fd < 0 && path && errno == ENOENT)
        return find_in_journal(c->id, pattern, started, at);
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return MARK_UNKNOWN;
    if (st.st_size > LOG_BYTES && lseek(fd, st.st_size - LOG_BYTES, SEEK_SET) < 0)
        return MARK_UNKNOWN;
    if (fd_read_all(fd, LOG_BYTES, &log, &ignored) < 0 && ignored.kind != ERR_LIMIT)
        return MARK_UNKNOWN;
    return mark_in_log(pattern, log.data ? log.data : "", log.len, started, at);
}

enum mark_answer mark_find(const struct policy_ready *ready, const struct container_found *c,
                           pid_t pid, double started, double *at)
{
    if (ready->kind == READY_FILE)
        return find_file(pid, ready->text, started, at);
    if (!c->store || (c->engine != CONTAINER_DOCKER && c->engine != CONTAINER_PODMAN))
        return MARK_UNKNOWN;
    if (ready->kind == READY_LOG)
        return find_line(c, ready->text, started, at);
    return c->engine == CONTAINER_DOCKER ? find_health_of_docker(c, started, at)
                                         : find_health_of_podman(c, started, at);
}
