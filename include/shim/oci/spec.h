/*
 * The parts of config.json that this program reads (OCI runtime-spec, config.md): views on the
 * document, in which only cleaned paths are copies.
 *
 * Go's encoding/json matches member names without regard to case (and folds U+017F and U+212A), C
 * runtimes do not: a document with "Mounts" beside "mounts" would be two different containers. Such
 * members are refused at every depth, as are NUL bytes in names and texts, where C ends them. So
 * are wrong types of what is read.
 */
#ifndef SHIM_SPEC_H
#define SHIM_SPEC_H

#include "base/arena.h"
#include "base/json/json.h"
#include "shim/host/users/idmap.h"

enum { SPEC_GROUPS = 1024 };

struct spec_mount {
    const struct json *entry; /* the whole entry */
    const char *destination;  /* clean and absolute */
    const char *source;       /* as written; NULL: none */
    const char *type;         /* NULL: none */
    struct json *options;     /* array or NULL */
    bool bind;                /* the type, or an option, says so */
    bool read_only;           /* the last of ro, rw, and of binds rro */
};

struct spec {
    struct json *root;
    struct json *annotations; /* object or NULL */
    const char *hostname;     /* or NULL */
    struct json *mounts;      /* array or NULL */
    struct spec_mount *list;  /* of `mounts`, in order */
    size_t mount_count;
    struct json *process;         /* object, or NULL: the spec allows a container without one */
    struct json *env;             /* array of strings or NULL */
    struct json *rlimits;         /* of the process: array or NULL */
    uint32_t uid, gid;            /* of process.user, inside the container */
    uint32_t groups[SPEC_GROUPS]; /* process.user.additionalGids; more are refused */
    size_t group_count;
    struct id_map uid_map, gid_map; /* empty: no user namespace of its own */
    bool joins_user_namespace;  /* it joins an existing one, whose mapping config.json may not have,
                                   or gets one without a mapping */
    const char *user_namespace; /* the path of the one that it joins; NULL: none, or in doubt */
};

/*
 * Fills *out with views on `doc`; cleaned paths are in `arena`. Both must outlive it. ERR_FORMAT
 * names the member that is wrong.
 */
int spec_read(struct json_doc *doc, struct arena *arena, struct spec *out,
              struct err *err) must_check;

/* As spec_read, of the process.json of an exec, which has only the process. */
int spec_read_exec(struct json_doc *doc, struct spec *out, struct err *err) must_check;

/* Returns the text of an annotation, or NULL. */
const char *spec_annotation(const struct spec *spec, const char *key);

/*
 * Returns the value of a variable in process.env (the last one counts, as in the runtimes), or
 * NULL.
 */
const char *spec_env(const struct spec *spec, const char *name);

/* Returns true if the list of a mount's options (or NULL) has this one. */
bool spec_has_option(const struct json *options, const char *name);

/* Returns true if an entry of `mounts` shows its files with other owners than they have. */
bool spec_is_idmapped(const struct json *mount);

/* Takes a number out of user.additionalGids of a process, wherever it is; true if it was there. */
bool spec_take_group(struct json *process, uint32_t gid);

/* Returns true if Go would take one member name for the other, but they are not the same bytes. */
bool spec_name_shadows(const char *name, size_t len, const char *known);

#endif
