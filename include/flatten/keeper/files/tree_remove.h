/* Removal of a directory with all that is in it. */
#ifndef FLATTEN_TREE_REMOVE_H
#define FLATTEN_TREE_REMOVE_H

/*
 * Removes all that is in the directory `dir`, which nobody else can enter, whatever the depth of
 * its directories; the file `last`, unless it is NULL, after all others. Follows no symbolic link,
 * and gives this user access to each directory first. Errors are ignored: what cannot be removed
 * stays.
 */
void tree_remove_content(int dir, const char *last);

#endif
