#include "flatten/keeper/keeper_internal.h"

int keeper_on_tree(struct keeper *k, struct pending *p, struct outcome *out, struct err *err)
{
    (void)p;
    if (!k->task->tree || k->tree || k->published)
        return keeper_breach(k, err, "a directory that is not there");
    k->tree = tree_unpack_start(k->task->tree, !k->task->no_owner, err);
    if (!k->tree)
        return -1;
    out->fd = tree_unpack_pipe(k->tree);
    out->close = true;
    return 0;
}

/* Ends the tree writer's error with the path of the directory. Returns -1. */
static int wrap_tree(const struct keeper *k, struct err *err)
{
    return err_wrap(err, "%s", k->task->tree);
}

int keeper_on_tree_end(struct keeper *k, struct pending *p, struct outcome *out, struct err *err)
{
    (void)p;
    if (!k->tree)
        return keeper_breach(k, err, "the end of a tree that was not begun");
    out->fd = tree_unpack_finish(k->tree, &out->reply.number, err);
    return out->fd < 0 ? wrap_tree(k, err) : 0;
}

int keeper_on_tree_name(struct keeper *k, struct pending *p, struct outcome *out, struct err *err)
{
    (void)p, (void)out;
    if (!k->tree)
        return keeper_breach(k, err, "no tree to publish");
    if (keeper_settle_sources(k, err) < 0)
        return -1;
    if (tree_unpack_publish(k->tree, err) < 0)
        return wrap_tree(k, err);
    k->published = PUBLISHED_YES;
    cleanup_tree_unpack(&k->tree);
    k->tree = NULL;
    return 0;
}
