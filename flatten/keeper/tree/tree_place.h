/* The place of a new tree: the directory that becomes it, beside its final name. */
#ifndef FLATTEN_TREE_PLACE_H
#define FLATTEN_TREE_PLACE_H

#include "base/cleanup.h"
#include "base/files/unfinished.h"

struct tree_place {
    int parent;                /* the directory in which the tree will lie */
    char *name;                /* its name there */
    char tmp[UNFINISHED_NAME]; /* the name of the directory around it until then; "": none */
    int around;                /* that directory, locked */
    int tree;                  /* the tree's root directory, in `around` */
};

#define TREE_PLACE_INIT                                                                            \
    {                                                                                              \
        .parent = -1, .around = -1, .tree = -1                                                     \
    }

/* Checks the path and makes the directories. The caller clears it, also after a failure. */
int tree_place_make(struct tree_place *p, const char *path, struct err *err) must_check;

/* Renames the tree to its name. */
int tree_place_publish(struct tree_place *p, struct err *err) must_check;

/* Removes what is not published, and closes the descriptors. */
void tree_place_clear(struct tree_place *p);

#endif
