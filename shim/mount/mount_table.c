#include "shim/mount/mount_table.h"

#include "base/fdio.h"
#include "base/path.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>

enum { TABLE_BYTES = 64 * 1024 * 1024 };

char *mount_table_unescape(const char *text, size_t len, struct arena *arena)
{
    char *out = arena_strndup(arena, text, len);
    const char *escape = out ? memchr(out, '\\', len) : NULL;

    if (!escape)
        return out;
    size_t to = (size_t)(escape - out);
    for (size_t from = to; from < len; from++) {
        const char *c = out + from;
        if (c[0] == '\\' && len - from > 3 && strspn(c + 1, "01234567") >= 3) {
            out[to++] = (char)((c[1] - '0') * 64 + (c[2] - '0') * 8 + (c[3] - '0'));
            from += 3;
        } else {
            out[to++] = *c;
        }
    }
    out[to] = '\0';
    return out;
}

/* Returns the field up to the blank, unescaped, and sets *text behind it. NULL without memory. */
static const char *take_field(const char **text, struct arena *arena)
{
    const char *field = *text;
    size_t len = strcspn(field, " \n");

    *text += len + (field[len] == ' ');
    return mount_table_unescape(field, len, arena);
}

/* Returns the offset behind the " - " that ends the optional fields; the line's length without one.
 */
static size_t skip_to_type(const char *line)
{
    size_t len = strcspn(line, "\n");
    const char *dash = memmem(line, len, " - ", 3);

    return dash ? (size_t)(dash - line) + 3 : len;
}

/* Returns the options from "source options", the end of a line. NULL without memory. */
static const char *take_super(const char *rest, struct arena *arena)
{
    rest += strcspn(rest, " \n");
    rest += *rest == ' ';
    return arena_strndup(arena, rest, strcspn(rest, " \n"));
}

/* Returns true if the comma-separated options before the next blank have one of that name. */
static bool has_option(const char *options, const char *name)
{
    size_t len = strlen(name);

    for (size_t word;; options += word + 1) {
        word = strcspn(options, ", \n");
        if (word == len && memcmp(options, name, len) == 0)
            return true;
        if (options[word] != ',')
            return false;
    }
}

/* Returns the number behind "shared:" or the like; 0 if it is not there. */
static unsigned take_group(const char *fields, size_t len, const char *name)
{
    const char *found = memmem(fields, len, name, strlen(name));
    unsigned number = 0;

    for (const char *p = found ? found + strlen(name) : ""; *p >= '0' && *p <= '9'; p++)
        number = number * 10 + (unsigned)(*p - '0');
    return number;
}

/* Reads the fields that only overlays need; `line` is behind the mount point, `rest` behind the
 * type. */
static int take_overlay(const char *line, const char *rest, struct arena *arena,
                        struct mount_entry *out, struct err *err)
{
    out->options = take_field(&line, arena);
    out->shared = take_group(line, (size_t)(rest - line), "shared:");
    out->slave = take_group(line, (size_t)(rest - line), "master:");
    out->super = take_super(rest, arena);
    return out->options && out->super ? 0 : err_nomem(err);
}

/* Reads a number and the character behind it, and sets *text there. sscanf(3) takes longer than the
 * kernel. */
static bool take_number(const char **text, char behind, unsigned *out)
{
    unsigned long number = 0;
    const char *p = *text;

    while (*p >= '0' && *p <= '9' && number <= INT_MAX)
        number = number * 10 + (unsigned long)(*p++ - '0');
    if (p == *text || *p != behind || number > INT_MAX)
        return false;
    *out = (unsigned)number;
    *text = p + 1;
    return true;
}

/* Parses "36 35 98:0 /root /point options …". */
static int parse_line(const char *line, struct arena *arena, struct mount_entry *out,
                      struct err *err)
{
    unsigned id, parent;

    if (!take_number(&line, ' ', &id) || !take_number(&line, ' ', &parent) ||
        !take_number(&line, ':', &out->major) || !take_number(&line, ' ', &out->minor))
        return err_set(err, ERR_FORMAT, "not a table of mounts");
    out->id = (int)id;
    out->root = take_field(&line, arena);
    out->point = take_field(&line, arena);
    out->idmapped = has_option(line, "idmapped");
    const char *rest = line + skip_to_type(line);
    out->type = take_field(&rest, arena);
    if (!out->root || !out->point || !out->type)
        return err_nomem(err);
    return strcmp(out->type, "overlay") == 0 ? take_overlay(line, rest, arena, out, err) : 0;
}

static size_t count_lines(const char *text)
{
    size_t count = 0;

    for (; (text = strchr(text, '\n')) != NULL; text++)
        count++;
    return count;
}

int mount_table_parse(const char *text, struct arena *arena, struct mount_table *out,
                      struct err *err)
{
    *out = (struct mount_table){0};
    out->list = arena_alloc(arena, (count_lines(text) + 1) * sizeof(*out->list));
    if (!out->list)
        return err_nomem(err);
    while (*text) {
        const char *end = strchr(text, '\n');
        if (parse_line(text, arena, &out->list[out->count], err) < 0)
            return -1;
        out->count++;
        text = end ? end + 1 : text + strlen(text);
    }
    return 0;
}

int mount_table_read(struct arena *arena, struct mount_table *out, struct err *err)
{
    return mount_table_read_at(AT_FDCWD, "/proc/self/mountinfo", arena, out, err);
}

int mount_table_read_at(int dirfd, const char *path, struct arena *arena, struct mount_table *out,
                        struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;

    if (file_read(dirfd, path, TABLE_BYTES, &text, err) < 0 ||
        mount_table_parse(text.data ? text.data : "", arena, out, err) < 0)
        return err_wrap(err, "%s", path);
    return 0;
}

/* Returns the part of `path` beneath `dir`, without leading slash; `path` lies there. */
static const char *path_below(const char *path, const char *dir)
{
    const char *rest = strcmp(dir, "/") == 0 ? path : path + strlen(dir);

    return rest + strspn(rest, "/");
}

static void put_joined(struct buf *out, const char *dir, const char *rest)
{
    if (!*rest)
        buf_puts(out, dir);
    else
        buf_printf(out, "%s/%s", strcmp(dir, "/") == 0 ? "" : dir, rest);
}

const struct mount_entry *mount_table_find(const struct mount_table *table, int id)
{
    for (size_t i = 0; i < table->count; i++)
        if (table->list[i].id == id)
            return &table->list[i];
    return NULL;
}

/* Returns the mount of that file system with the shortest root that holds `inside`; the first of
 * several. */
static const struct mount_entry *widest_mount(const struct mount_table *table,
                                              const struct mount_entry *of, const char *inside)
{
    const struct mount_entry *best = NULL;

    for (size_t i = 0; i < table->count; i++) {
        const struct mount_entry *m = &table->list[i];
        if (m->major == of->major && m->minor == of->minor && path_is_beneath(inside, m->root) &&
            (!best || strlen(m->root) < strlen(best->root)))
            best = m;
    }
    return best ? best : of;
}

bool mount_table_name(const struct mount_table *table, int id, const char *path, struct buf *out)
{
    const struct mount_entry *covering = mount_table_find(table, id);
    _cleanup_buf_ struct buf inside = BUF_INIT;

    if (!covering || !path_is_beneath(path, covering->point))
        return false;
    put_joined(&inside, covering->root, path_below(path, covering->point));
    if (inside.failed) {
        out->failed = true;
        return false;
    }
    const struct mount_entry *best = widest_mount(table, covering, inside.data);
    put_joined(out, best->point, path_below(inside.data, best->root));
    return true;
}

const struct mount_entry *mount_table_overlay_at(const struct mount_table *table, const char *point)
{
    const struct mount_entry *last = NULL;

    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->list[i].point, point) == 0)
            last = &table->list[i];
    return last && last->super ? last : NULL;
}

const char *mount_table_over(const struct mount_table *table, const char *path)
{
    const char *best = NULL;

    for (size_t i = 0; i < table->count; i++) {
        const char *point = table->list[i].point;
        if (point[0] == '/' && point[1] && path_is_beneath(path, point) &&
            (!best || strlen(point) > strlen(best)))
            best = point;
    }
    return best;
}

bool mount_table_beneath(const struct mount_table *table, const char *path)
{
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->list[i].point, path) != 0 && path_is_beneath(table->list[i].point, path))
            return true;
    return false;
}
