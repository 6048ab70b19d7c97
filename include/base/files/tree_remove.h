/*
 * Removal of a directory with all that is in it. No symbolic link is followed, and no file system
 * entered that is mounted there. Errors are ignored: what cannot be removed stays.
 */
#ifndef BASE_TREE_REMOVE_H
#define BASE_TREE_REMOVE_H

/*
 * Removes all that is in the directory `dir`, which nobody else can enter, whatever the depth of
 * its directories; the file `last`, unless it is NULL, after all others. Gives this user access to
 * each directory first.
 */
void tree_remove_content(int dir, const char *last);

/* Removes a directory that nobody else can change, or a file. */
void tree_remove(const char *path);

#endif
