/*
 * Locks (flock(2)) on files and directories that other processes rename or remove: a lock counts
 * only if what was opened by a name still has it once it is locked.
 */
#ifndef BASE_NAMED_LOCK_H
#define BASE_NAMED_LOCK_H

#include <stdbool.h>

/*
 * Locks what was opened as `name` in `dirfd`, for as long as `fd` is open; `how` is LOCK_SH or
 * LOCK_EX. Returns false without waiting if another process has it locked, or if the name is gone
 * or is that of something else by now; it may be locked then.
 */
bool named_lock(int dirfd, const char *name, int fd, int how);

#endif
