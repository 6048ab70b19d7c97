/*
 * The mounts that a container's user brought, as the host sees them: what each source is behind
 * symlinks and other mounts, and whether the container's own ids reach it. plan_make judges them.
 *
 * A source is looked up as the runtime would (but not through the magic links of /proc), and named
 * by its mount (mount_table.h); so are the paths of the policy's rules, where only root's symlinks
 * are followed. What a user could swap is `exposed`: if it is to be mounted, it is looked up once
 * more and held by descriptor (pin.h), under a path that ends with where it was found:
 * PIN_FOLDER/bind:NUMBER/home/alice. So is what an engine could mount something on meanwhile,
 * because a user wants it: its folder of volumes, and what holds that.
 */
#ifndef SHIM_BINDS_H
#define SHIM_BINDS_H

#include "shim/request/facts.h"

/* A mount beneath a source. */
struct bind_below {
    const char *path;   /* what it shows there */
    const char *opaque; /* as in bind_source */
};

struct bind_source {
    const char *target;  /* of any mount: where the container's links lead, if elsewhere; or NULL */
    bool judged;         /* a bind mount; the rest is only filled in then */
    const char *path;    /* what it is; NULL: it cannot be told, see `problem` */
    const char *found;   /* where, without symlinks */
    const char *problem; /* never NULL where path is */
    const char *pin;     /* where an edit before this one held it, or NULL */
    const char *opaque;  /* the mount point of a file system that it is in, and that could show
                            anything: an overlay, or what a user had an engine mount; or NULL */
    const char *type;    /* of that */
    struct bind_below *below; /* what is mounted beneath it */
    size_t below_count;
    bool exposed;
    bool unsteady;    /* users can have an engine mount something there, or below, at any time */
    bool null_device; /* /dev/null: harmless */
    bool init;        /* the program for --init, root's: harmless where it is read-only */
    bool engine;      /* what an engine mounts by itself, from where users cannot look */
    const char
        *state; /* the folder of an engine's that it is in, if it is nothing of that; or NULL */
    bool readable, writable;
};

struct bind_rule_path {
    const char *path;    /* what the rule's path is; NULL: `problem` */
    const char *problem; /* why its template has no value */
};

struct bind_facts {
    struct bind_source *sources;  /* one for each of the container's mounts */
    struct bind_rule_path *rules; /* one for each rule */
    const char *nobody;           /* why the container's ids are not known, or NULL */
};

/* `bundle` is the open folder that relative sources start from. */
int binds_gather(const struct policy *policy, const struct spec *spec, const struct facts *facts,
                 int bundle, struct arena *arena, struct bind_facts *out,
                 struct err *err) must_check;

/* The part of a pinned source behind PIN_FOLDER/bind:NUMBER, or NULL. Pure. */
const char *binds_unpinned(const char *source);

#endif
