/*
 * Gathers facts on the mounts that a container's user brought: what each source is behind symbolic
 * links and other mounts, and whether the container's own ids reach it. plan_make judges them.
 *
 * A source is looked up as the low-level runtime would (but not through the magic links of /proc),
 * and named by its mount (mount_table.h); so are the paths of the policy's rules, where only links
 * that root made are followed. A source that a user could swap is `exposed`: if it is to be
 * mounted, it is looked up once more and held by descriptor (binds_hold.h), under a path that ends
 * with the place where it was found: PIN_DIRECTORY/bind:NUMBER/home/alice. The same is true of a
 * place where users can have an engine mount something meanwhile: its directory of volumes, and
 * directories above that.
 */
#ifndef SHIM_BINDS_H
#define SHIM_BINDS_H

#include "shim/request/facts.h"

/* A mount beneath a source. */
struct bind_below {
    const char *path;   /* the name of what it shows */
    const char *opaque; /* as in bind_source */
};

/* The one who wants a mount, by its source and target. */
enum bind_origin {
    BIND_OF_USER,
    BIND_OF_CDI,    /* a CDI specification of the host has it */
    BIND_OF_DRIVER, /* a file of NVIDIA's driver on its own path */
};

struct bind_source {
    const char
        *target; /* of any mount: where links of the container's root lead, if elsewhere; or NULL */
    bool judged; /* a bind mount; the rest is only filled in then */
    const char *path;         /* its name; NULL: not known, see `problem` */
    const char *found;        /* its path, without symbolic links */
    const char *problem;      /* why `path` is NULL; never NULL then */
    const char *pin;          /* the path at which an earlier edit held it, or NULL */
    const char *opaque;       /* the mount point of a file system that it is in, and that could show
                                 anything: an overlay, or what a user had an engine mount; or NULL */
    const char *type;         /* the type of that file system */
    bool idmapped;            /* that mount shows other owners than the file system has */
    struct bind_below *below; /* the mounts beneath it */
    size_t below_count;
    bool exposed;
    bool unsteady;    /* users can have an engine mount something there, or below, at any time */
    bool null_device; /* /dev/null: harmless */
    bool device; /* a device file of this host, which only root of the host could have replaced,
                    in a rootless engine */
    bool block;  /* of `device`: a block device */
    unsigned major, minor; /* of `device` */
    bool init;             /* the program for --init, owned by root: harmless if read-only */
    bool own;              /* a file that the calling engine mounts into this container by itself */
    bool open;             /* it would be such a file, if only root could replace it */
    bool engine; /* such a file of an engine, perhaps for another container, or a named volume:
                    users cannot look there */
    bool volume; /* a named volume */
    const char *state; /* the directory of an engine that holds it, if the engine does not mount it;
                          or NULL */
    bool readable, writable;
    const char *group; /* the group that would let the user in, and of which the user is a member on
                          this host, but not the process: "5000 (vision)"; or NULL */
    enum bind_origin origin; /* BIND_OF_USER for what a user could have put there */
    bool origin_writable;    /* the specification does not make it read-only */
    bool socket;
};

struct bind_rule_path {
    const char *path;    /* the name of the rule's path; NULL: see `problem` */
    const char *problem; /* why its template has no value; NULL: the host has no such directory */
};

struct bind_facts {
    struct bind_source *sources;    /* one for each of the container's mounts */
    struct bind_rule_path *rules;   /* one for each rule */
    const struct bind_source *root; /* the container's root, if it is neither in the bundle nor in
                                       an engine's storage; or NULL */
    const char *other_ids; /* why the ids that the container maps are not its own (bind_ids.h), or
                              NULL */
    const char *nobody;    /* the reason why the container's ids are not known, or NULL */
};

/*
 * Gathers the facts; `bundle` is the open directory that relative sources start from. Everything is
 * in the arena or borrowed. A source that cannot be looked at has a `problem`. Fails without
 * memory, if the mount table or the access of the container's user cannot be found out, or as
 * targets_find does.
 */
int binds_gather(const struct policy *policy, const struct spec *spec, const struct facts *facts,
                 int bundle, struct arena *arena, struct bind_facts *out,
                 struct err *err) must_check;

/* Returns the part of a held source behind PIN_DIRECTORY/bind:NUMBER, or NULL. Pure. */
const char *binds_unpinned(const char *source);

#endif
