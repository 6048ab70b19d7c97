/*
 * State: files that programs write as packages come and go, or at each build. They change with
 * every version of an image, so they lie apart from what is stable. The table is data:
 *
 *   STATE_WHOLE  also where a package has the file: databases of package managers, which change
 *                with every package, and accounts, which alpine-baselayout and setup list
 *   STATE_REST   only what nobody owns, and no file above 8 MiB: caches, logs, generated
 *                configuration. A model or data set that an image has in var/cache or tmp is not
 *                state: it would make the layer that always changes a large one.
 *
 * Names of files in any directory come after the table: is_state_name.
 */
#include "flatten/carve/owners/finder.h"

#include <string.h>

enum state { STATE_NONE, STATE_REST, STATE_WHOLE };

#define REST_MOST (8LL << 20)

static const struct {
    const char *path;
    enum state state;
} table[] = {
    {"var/lib/dpkg", STATE_WHOLE},
    {"var/lib/apt", STATE_WHOLE},
    {"var/lib/aptitude", STATE_WHOLE},
    {"var/lib/ucf", STATE_WHOLE},
    {"var/lib/systemd/deb-systemd-helper-enabled", STATE_WHOLE},
    {"lib/apk/db", STATE_WHOLE},
    {"usr/lib/apk/db", STATE_WHOLE},
    {"etc/apk/world", STATE_WHOLE},
    {"var/lib/rpm", STATE_WHOLE},
    {"usr/lib/sysimage/rpm", STATE_WHOLE},
    {"var/lib/rpm-state", STATE_WHOLE},
    {"var/lib/dnf", STATE_WHOLE},
    {"usr/lib/sysimage/dnf", STATE_WHOLE},
    {"usr/lib/sysimage/libdnf5", STATE_WHOLE},
    {"var/lib/yum", STATE_WHOLE},
    {"var/lib/zypp", STATE_WHOLE},
    {"var/lib/alternatives", STATE_WHOLE},
    {"var/cache/ldconfig", STATE_WHOLE},
    {"etc/ld.so.cache", STATE_WHOLE},
    {"etc/passwd", STATE_WHOLE},
    {"etc/passwd-", STATE_WHOLE},
    {"etc/group", STATE_WHOLE},
    {"etc/group-", STATE_WHOLE},
    {"etc/shadow", STATE_WHOLE},
    {"etc/shadow-", STATE_WHOLE},
    {"etc/gshadow", STATE_WHOLE},
    {"etc/gshadow-", STATE_WHOLE},
    {"etc/subuid", STATE_WHOLE},
    {"etc/subuid-", STATE_WHOLE},
    {"etc/subgid", STATE_WHOLE},
    {"etc/subgid-", STATE_WHOLE},
    {"etc/machine-id", STATE_WHOLE},
    {"etc", STATE_REST},
    {"run", STATE_REST},
    {"tmp", STATE_REST},
    {"var/cache", STATE_REST},
    {"var/lib/pam", STATE_REST},
    {"var/lib/systemd", STATE_REST},
    {"var/log", STATE_REST},
    {"var/tmp", STATE_REST},
    {"usr/share/applications/mimeinfo.cache", STATE_REST},
    {"usr/share/glib-2.0/schemas/gschemas.compiled", STATE_REST},
    {"usr/share/icons/hicolor/icon-theme.cache", STATE_REST},
    {"usr/share/info/dir", STATE_REST},
    {"usr/share/mime", STATE_REST},
};

/*
 * Returns the state of some names: conda's history; node_modules/.package-lock.json of npm; plain
 * files whose names begin with a dot in / and in root's home, as shells and other programs leave.
 */
static enum state state_of_name(const struct finder *f, uint32_t node, uint32_t home)
{
    uint32_t dir = tree_parent(f->source->tree, node);
    struct node_name name = finder_name(f, node);

    if (name.text[0] == '.' && (dir == TREE_ROOT || dir == home))
        return STATE_REST;
    if (node_name_is(name, "history") && node_name_is(finder_name(f, dir), "conda-meta"))
        return STATE_WHOLE;
    if (node_name_is(name, ".package-lock.json") &&
        node_name_is(finder_name(f, dir), "node_modules"))
        return STATE_REST;
    return STATE_NONE;
}

static void set_state(struct finder *f, uint32_t node, enum state state)
{
    uint32_t *owner = &f->out->by_node[node];

    if (state == STATE_WHOLE || (state == STATE_REST && *owner == OWNERS_NOBODY &&
                                 f->source->size(f->source->ctx, node) <= REST_MOST))
        *owner = OWNERS_STATE;
}

/* A directory's entry in by_node is its state until all is done: parents come first. */
static void mark_table(struct finder *f)
{
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        uint32_t node = finder_walk(f, TREE_ROOT, table[i].path, strlen(table[i].path), true);
        if (node == TREE_NONE || node == TREE_ROOT)
            continue;
        if (!f->source->is_dir(f->source->ctx, node))
            set_state(f, node, table[i].state);
        else if (f->out->by_node[node] < table[i].state)
            f->out->by_node[node] = table[i].state;
    }
}

void state_apply(struct finder *f)
{
    const struct owner_source *s = f->source;
    uint32_t *by_node = f->out->by_node, home = finder_walk(f, TREE_ROOT, "root", 4, true);

    for (uint32_t node = 0; node < f->out->node_count; node++)
        if (s->is_dir(s->ctx, node))
            by_node[node] = STATE_NONE;
    mark_table(f);
    for (uint32_t node = 1; node < f->out->node_count; node++) {
        uint32_t dir = tree_parent(s->tree, node);
        uint32_t above = s->is_dir(s->ctx, dir) ? by_node[dir] : STATE_NONE;
        if (s->is_dir(s->ctx, node)) {
            by_node[node] = by_node[node] > above ? by_node[node] : above;
            continue;
        }
        enum state state = state_of_name(f, node, home);
        set_state(f, node, state > above ? state : (enum state)above);
    }
    for (uint32_t node = 0; node < f->out->node_count; node++)
        if (s->is_dir(s->ctx, node))
            by_node[node] = OWNERS_NOBODY;
}
