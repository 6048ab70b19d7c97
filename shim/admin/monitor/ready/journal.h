/* The log of a container in systemd's journal, as Docker's and podman's driver journald write it.
 */
#ifndef SHIM_READY_JOURNAL_H
#define SHIM_READY_JOURNAL_H

#include <stddef.h>

/*
 * Returns what the container wrote since `started`, in seconds since 1970, as lines of JSON with
 * MESSAGE and __REALTIME_TIMESTAMP (journalctl(1), -o json); of more than `most` bytes the
 * beginning. "" if the journal has nothing of it, NULL if it cannot be asked. The caller frees it.
 */
char *journal_read(const char *id, double started, size_t most);

#endif
