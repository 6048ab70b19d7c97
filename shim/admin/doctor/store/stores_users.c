/*
 * The stores of rootless podman and Docker. A user can have one if /etc/subuid names him
 * (subuid(5)): in his home, or where storage.conf has rootless_storage_path (storage.conf(5)).
 */
#include "shim/admin/doctor/store/store.h"

#include "base/fdio.h"
#include "base/human.h"
#include "shim/admin/engine/engine_stores.h"
#include "shim/host/trust.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FILE_BYTES = 4 * 1024 * 1024, USERS_MOST = 2000, FILE_SYSTEMS_MOST = 64, SECONDS_MOST = 2 };

struct person {
    const char *name, *id, *home; /* fields of passwd(5) */
};

/* A file system with stores of users. */
struct shared {
    struct file_system fs;
    const char *path, *owner; /* of the first one that was found */
    size_t stores;
    const char *driver, *driver_path; /* the first store with a slow driver; or NULL */
};

struct search {
    struct arena arena;
    struct buf owners;    /* /etc/subuid */
    const char *template; /* rootless_storage_path, or NULL */
    struct shared list[FILE_SYSTEMS_MOST];
    size_t count;
    struct diagnoses *out;
};

static bool begins_line(const char *line, const char *word)
{
    size_t len = strlen(word);

    return len && strncmp(line, word, len) == 0 && line[len] == ':';
}

/* Returns true if /etc/subuid has the user, by name or by number. */
static bool has_ids(const struct search *s, const struct person *p)
{
    for (const char *line = s->owners.data; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (begins_line(line, p->name) || begins_line(line, p->id))
            return true;
    }
    return false;
}

static const char *value_of(const char *variable, const struct person *p)
{
    if (strncmp(variable, "$HOME", 5) == 0)
        return p->home;
    if (strncmp(variable, "$USER", 5) == 0)
        return p->name;
    return strncmp(variable, "$UID", 4) == 0 ? p->id : NULL;
}

/* Returns the path with $HOME, $USER and $UID of the user; NULL without memory. */
static const char *expand(const char *template, const struct person *p, struct arena *arena)
{
    _cleanup_buf_ struct buf text = BUF_INIT;

    while (*template) {
        const char *value = value_of(template, p);
        if (value)
            buf_puts(&text, value);
        else
            buf_putc(&text, *template);
        template += value ? strspn(template + 1, "HOMEUSRID") + 1 : 1;
    }
    return text.data && !text.failed ? arena_strndup(arena, text.data, text.len) : NULL;
}

static struct shared *find_shared(struct search *s, dev_t file_system)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->list[i].fs.file_system == file_system)
            return &s->list[i];
    return NULL;
}

static void look_at(struct search *s, const struct person *p, const char *home, const char *path)
{
    const struct file_system_look look = {.home = home, .path = path};
    struct file_system_seen seen;

    if (!path || !store_look(&look, &seen, s->out) || seen.error)
        return;
    const char *whole = home ? arena_printf(&s->arena, "%s/%s", home, path) : path;
    struct shared *of = find_shared(s, seen.is.file_system);
    if (!of && s->count < FILE_SYSTEMS_MOST) {
        of = &s->list[s->count++];
        *of = (struct shared){.fs = seen.is, .path = whole};
        of->owner = arena_strndup(&s->arena, p->name, strlen(p->name));
    }
    if (!of)
        return;
    of->stores++;
    if (seen.driver && !of->driver) {
        of->driver = seen.driver;
        of->driver_path = whole;
    }
}

static void look_at_user(struct search *s, const struct person *p)
{
    if (s->template)
        look_at(s, p, NULL, expand(s->template, p, &s->arena));
    else
        look_at(s, p, p->home, ".local/share/containers/storage");
    look_at(s, p, p->home, ".local/share/docker");
}

/* Splits a line of passwd(5). Returns false for one that is none, and for root. */
static bool split(char *line, struct person *out)
{
    char *fields[7];

    for (size_t i = 0; i < 7; i++) {
        fields[i] = strsep(&line, ":");
        if (!fields[i])
            return false;
    }
    *out = (struct person){.name = fields[0], .id = fields[2], .home = fields[5]};
    return *out->name && *out->home == '/' && out->home[1] && strcmp(out->id, "0") != 0;
}

static void search_all(struct search *s, char *passwd)
{
    time_t end = time(NULL) + SECONDS_MOST;
    struct person person;
    size_t users = 0;

    for (char *line; users < USERS_MOST && time(NULL) <= end && (line = strsep(&passwd, "\n"));)
        if (split(line, &person) && has_ids(s, &person)) {
            look_at_user(s, &person);
            users++;
        }
}

static void tell(struct search *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct shared *of = &s->list[i];
        if (!of->path || !of->owner)
            continue;
        diagnoses_add(s->out, DIAGNOSIS_OK, "store-users", of->path,
                      "%zu store%s of rootless engines, such as %s's, on this %s", of->stores,
                      human_s(of->stores), of->owner, of->fs.name);
        store_judge(of->path, &of->fs, s->out);
        if (of->driver_path)
            store_judge_driver(of->driver_path, of->driver, s->out);
    }
}

void stores_examine_users(struct diagnoses *out)
{
    _cleanup_buf_ struct buf passwd = BUF_INIT;
    struct search *s = calloc(1, sizeof(*s));
    struct err ignored;

    if (!s) {
        out->failed = true;
        return;
    }
    s->out = out;
    s->template = engine_podman_users_root(&s->arena);
    if (!trust_rootless() &&
        file_read(AT_FDCWD, "/etc/subuid", FILE_BYTES, &s->owners, &ignored) == 0 &&
        file_read(AT_FDCWD, "/etc/passwd", FILE_BYTES, &passwd, &ignored) == 0 && passwd.data) {
        search_all(s, passwd.data);
        tell(s);
    }
    buf_free(&s->owners);
    arena_free(&s->arena);
    free(s);
}
