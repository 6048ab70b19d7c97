/*
 * Shared by the readers of databases: owners by name, claims to files, paths walked in the image,
 * and a window through which one database at a time is read.
 */
#ifndef FLATTEN_OWNERS_FINDER_H
#define FLATTEN_OWNERS_FINDER_H

#include "flatten/carve/owners/owners.h"

struct diversion;

struct finder {
    const struct owner_source *source;
    struct owners *out;
    uint64_t left;   /* bytes that may still be read, or followed in symbolic links */
    size_t texts;    /* bytes that owners' names and versions may still take */
    char *window;    /* of `lines`: one database is read at a time */
    uint32_t *slots; /* hash table of owners: indexes, OWNERS_NOBODY is empty */
    bool *shipped;   /* by node: a package of the distribution has the file */
    /* Directories; TREE_NONE if the image has none. */
    uint32_t dpkg_info, dpkg_status_d, alternatives;
    struct diversion *diversions; /* sorted by path; in `texts_of_diversions` */
    size_t diversion_count;
    struct arena diverted; /* memory of diversions */
};

/* A name of a node: not terminated. */
struct node_name {
    const char *text;
    size_t len;
};

/* Returns the last component of a node's path; empty for the root. */
struct node_name finder_name(const struct finder *f, uint32_t node);
/* Returns true if the name ends so, and has more than that. */
bool node_name_ends(struct node_name name, const char *end);
/* Returns true if this is the name. */
bool node_name_is(struct node_name name, const char *text);

/*
 * Sets *owner to the index of the owner, which is added if need be: OWNERS_NOBODY if the name is
 * empty, too long or holds a NUL, or if a limit is reached.
 */
int finder_owner(struct finder *f, enum owner_kind kind, const char *name, size_t len,
                 uint32_t *owner, struct err *err) must_check;
/* Returns the index of an owner that is there, else OWNERS_NOBODY. */
uint32_t finder_find(const struct finder *f, enum owner_kind kind, const char *name, size_t len);
/* Notes the version of one copy of the package. */
int finder_version(struct finder *f, uint32_t owner, const char *version, size_t len,
                   struct err *err) must_check;

/* Gives the file at the node to the owner, unless a stronger one has it. TREE_NONE is accepted. */
void finder_claim(struct finder *f, uint32_t owner, uint32_t node);

/*
 * Returns the node of a path, or TREE_NONE. Symbolic links are followed as in a container, the last
 * component only with `follow`. A relative path starts at `from`.
 */
uint32_t finder_walk(struct finder *f, uint32_t from, const char *path, size_t len, bool follow);

/* A database that is read from its beginning, in lines or in pieces. */
struct lines {
    struct finder *finder;
    uint32_t node;
    uint64_t at, end;  /* of the file: what is not in the window yet */
    size_t from, fill; /* of the window */
};

enum { LINES_WINDOW = 64 * 1024 };

/* Returns false if no regular file is at the node (which may be TREE_NONE). */
bool lines_open(struct finder *f, uint32_t node, struct lines *l);
/*
 * Sets the next line, without its newline; valid until the next call. Longer lines than the window
 * are left out. Returns 1, 0 at the end, or -1.
 */
int lines_next(struct lines *l, const char **line, size_t *len, struct err *err) must_check;
/* As lines_next, with the next bytes as they come. */
int lines_piece(struct lines *l, const char **piece, size_t *len, struct err *err) must_check;

/* Returns the value of a line "KEY: VALUE" in *value and *value_len; false for other lines. */
bool lines_field(const char *line, size_t len, const char *key, const char **value,
                 size_t *value_len);

/* ---- package managers: each takes the node if it is a database ---- */

/* Before all others: reads where dpkg put the files that a package diverted. */
int diversions_read(struct finder *f, struct err *err) must_check;
/* Sets *path and *len to where a file of the package lies. */
void diversions_apply(const struct finder *f, uint32_t owner, const char **path, size_t *len);
/* Frees what diversions_read made. */
void diversions_clear(struct finder *f);

int dpkg_take(struct finder *f, uint32_t node, struct err *err) must_check;
/* After all lists of dpkg: reads the versions. */
int dpkg_versions(struct finder *f, struct err *err) must_check;
int apk_read(struct finder *f, struct err *err) must_check;
int rpm_read(struct finder *f, struct err *err) must_check;
int pip_take(struct finder *f, uint32_t node, struct err *err) must_check;
int conda_take(struct finder *f, uint32_t node, struct err *err) must_check;
/* Sets *owner if the directory is a package; all below it belongs to it. */
int npm_take(struct finder *f, uint32_t node, uint32_t *owner, struct err *err) must_check;

/* ---- rules for all kinds ---- */

/* Gives .pyc files and symbolic links to the owners of the files that they are made from. */
void follow_all(struct finder *f);
/* Gives state to OWNERS_STATE. The directories' entries in by_node are used, and 0 afterwards. */
void state_apply(struct finder *f);

/* Returns how often the files of such a package change. */
enum owner_tier tier_of(enum owner_kind kind, const char *name);

#endif
