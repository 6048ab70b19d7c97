#include "shim/admin/stale/clear.h"

#include "shim/admin/stale/find.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { RENAMED = 160 };

static const struct stale_item *find_item(const struct stale_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->list[i].name, name) == 0)
            return &list->list[i];
    return NULL;
}

/* The name under which an item is removed. */
static const char *renamed(const struct stale_item *item, char out[RENAMED])
{
    snprintf(out, RENAMED, "%s%s", item->kind == STALE_REMAINS ? "" : STALE_PREFIX, item->name);
    return out;
}

static void keep(struct stale_list *list, struct stale_item *item, const char *why)
{
    item->kept = arena_strndup(&list->arena, why, strlen(why));
    if (!item->kept)
        item->kept = "it could not be removed";
}

/* Gives each item that is still stale, and old enough, the name under which it is removed. */
static void retire_all(const struct layer_store *store, const struct stale_limits *limits,
                       const struct stale_list *again, bool alone, struct stale_list *list,
                       size_t from)
{
    char name[RENAMED];

    for (size_t i = from; i < list->count; i++) {
        struct stale_item *item = &list->list[i];
        const struct stale_item *now = find_item(again, item->name);
        if (!now) {
            item->kept = "it is gone, or is in use now";
            continue;
        }
        if (item->kind == STALE_REMAINS)
            continue;
        item->kept = stale_refuse(limits, now->changed, alone);
        if (!item->kept && renameat2(store->layers, item->name, store->layers, renamed(item, name),
                                     RENAME_NOREPLACE) < 0)
            keep(list, item, strerror(errno));
    }
}

/* Removes the short name, if it is this layer's. */
static void remove_link(const struct layer_store *store, const struct stale_item *item)
{
    size_t prefix = item->kind == STALE_REMAINS ? strlen(STALE_PREFIX) : 0;
    _cleanup_fd_ int links = store_open(store->layers, "l", O_RDONLY | O_DIRECTORY, true);
    char target[RENAMED];
    const char *name;
    size_t len;

    if (links < 0 || !item->link)
        return;
    ssize_t got = readlinkat(links, item->link, target, sizeof(target) - 1);
    target[got > 0 ? got : 0] = '\0';
    if (stale_link_target(target, &name, &len) && strlen(item->name + prefix) == len &&
        strncmp(item->name + prefix, name, len) == 0)
        unlinkat(links, item->link, 0);
}

static void remove_item(const struct layer_store *store, const struct stale_limits *limits,
                        struct stale_list *list, struct stale_item *item)
{
    struct err err = ERR_INIT;
    char name[RENAMED];

    renamed(item, name);
    _cleanup_fd_ int lock = store_open(store->layers, name, O_RDONLY | O_DIRECTORY, true);
    if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) < 0) {
        item->kept = "another process removes it";
        return;
    }
    if (limits->log)
        limits->log(item);
    remove_link(store, item);
    if (store_remove_tree(store->layers, name, &err) < 0)
        keep(list, item, err.msg);
    else
        item->removed = true;
}

static void keep_all(struct stale_list *list, size_t from, const char *why)
{
    for (size_t i = from; i < list->count; i++)
        keep(list, &list->list[i], why);
}

void stale_clear(const struct layer_store *store, const struct stale_limits *limits,
                 struct stale_list *list, size_t from)
{
    struct stale_list again = {0};
    struct err err = ERR_INIT;
    int locks[STORE_LOCKS] = {-1, -1};

    int alone = store_lock(store, locks, &err);
    if (alone < 0 || stale_find(store, &again, &err) < 0)
        keep_all(list, from, err.msg);
    else
        retire_all(store, limits, &again, alone > 0, list, from);
    for (int i = 0; i < STORE_LOCKS; i++)
        cleanup_fd(&locks[i]);
    stale_free(&again);
    for (size_t i = from; i < list->count; i++)
        if (!list->list[i].kept)
            remove_item(store, limits, list, &list->list[i]);
}
