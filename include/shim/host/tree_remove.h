/* Removes a directory with all that is in it. */
#ifndef SHIM_TREE_REMOVE_H
#define SHIM_TREE_REMOVE_H

/*
 * Removes `path` without following symbolic links or entering other file systems (fts(3),
 * FTS_XDEV). Returns when it has tried everything: what cannot be removed stays.
 */
void tree_remove(const char *path);

#endif
