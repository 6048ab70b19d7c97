#include "flatten/keeper/sink/daemon_leftover.h"

#include "base/fdio.h"
#include "flatten/keeper/sink/daemon_import.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LABEL_KEY "dev.flatbed.unfinished"

enum { BOOT_ID = 37, FOREIGN_SECONDS = 24 * 60 * 60 };

/* A process, also among those of other boots, hosts and containers. */
struct run {
    char boot[BOOT_ID]; /* boot_id of the kernel; "-" if it is not known */
    uint64_t namespace; /* of the pid */
    int pid;
    uint64_t start; /* in clock ticks since the boot */
};

/* ---- processes ---- */

/* Reads a short file of /proc; "" if that fails. */
static void read_short(const char *path, char *out, size_t room)
{
    _cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, out, room - 1);

    out[n > 0 ? n : 0] = '\0';
}

/* Returns when the process began, field 22 of proc_pid_stat(5); 0 if that is not known. */
static uint64_t start_of(int pid)
{
    char path[32], text[1024];

    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    read_short(path, text, sizeof(text));
    const char *at = strrchr(text, ')'); /* the name of the program may have blanks */
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) : 0;
}

static struct run this_run(void)
{
    struct run r = {.pid = getpid(), .start = start_of(getpid())};
    struct stat st;

    read_short("/proc/sys/kernel/random/boot_id", r.boot, sizeof(r.boot));
    if (!r.boot[0] || stat("/proc/self/ns/pid", &st) < 0)
        strcpy(r.boot, "-");
    else
        r.namespace = st.st_ino;
    return r;
}

static bool is_running(const struct run *r)
{
    uint64_t start;

    if (kill(r->pid, 0) < 0 && errno == ESRCH)
        return false;
    start = start_of(r->pid);
    return start == 0 || start == r->start;
}

/* ---- labels ---- */

void daemon_leftover_label(char out[DAEMON_LEFTOVER_LABEL])
{
    const struct run r = this_run();

    snprintf(out, DAEMON_LEFTOVER_LABEL, LABEL_KEY "=%s.%" PRIu64 ".%d.%" PRIu64, r.boot,
             r.namespace, r.pid, r.start);
}

static bool parse_label(const char *value, struct run *out)
{
    int end = 0;

    *out = (struct run){.pid = 0};
    return value &&
           sscanf(value, "%36[0-9a-f-].%20" SCNu64 ".%10d.%20" SCNu64 "%n", out->boot,
                  &out->namespace, &out->pid, &out->start, &end) == 4 &&
           value[end] == '\0' && out->pid > 0;
}

enum owner { OWNER_THIS, OWNER_GONE, OWNER_OTHER };

/* `created`: of the image, in seconds since 1970. */
static enum owner owner_of(const struct run *r, uint64_t created)
{
    const struct run self = this_run();

    if (strcmp(r->boot, "-") == 0 || strcmp(r->boot, self.boot) != 0 ||
        r->namespace != self.namespace)
        return created + FOREIGN_SECONDS < (uint64_t)time(NULL) ? OWNER_GONE : OWNER_OTHER;
    if (r->pid == self.pid && r->start == self.start)
        return OWNER_THIS;
    return is_running(r) ? OWNER_OTHER : OWNER_GONE;
}

/* ---- images ---- */

/* False for an image that somebody has built from one of flatten, whose label it inherits. */
static bool is_import(struct engine *e, const char *id)
{
    struct err ignored = ERR_INIT;
    _cleanup_json_ struct json_doc *doc = engine_inspect(e, id, NULL, &ignored);
    const struct json *image = doc ? json_root(doc) : NULL;
    const char *comment = json_text(json_get(image, "Comment"));

    return comment && strcmp(comment, DAEMON_IMPORT_MESSAGE) == 0 &&
           json_count(json_get(image, "RepoTags")) == 0;
}

static bool is_leftover(struct engine *e, const struct json *image, const char *id)
{
    uint64_t created;
    struct run run;

    if (!json_u64(json_get(image, "Created"), &created) ||
        !parse_label(json_text(json_path(image, "Labels", LABEL_KEY, NULL)), &run))
        return false;
    return owner_of(&run, created) != OWNER_OTHER && is_import(e, id);
}

void daemon_leftovers_remove(struct engine *e)
{
    struct err ignored = ERR_INIT;
    _cleanup_json_ struct json_doc *list = engine_list_labelled(e, LABEL_KEY, &ignored);
    const struct json *images = list ? json_root(list) : NULL;

    for (size_t i = 0; i < json_count(images); i++) {
        const struct json *image = json_at(images, i);
        const char *id = json_text(json_get(image, "Id"));
        if (id && is_leftover(e, image, id) && engine_remove(e, id, &ignored) < 0)
            continue; /* it has a container, say */
    }
}
