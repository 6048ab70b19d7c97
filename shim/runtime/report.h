/*
 * Reports a failure to the program that started the runtime: one record in the file that --log
 * names, in the form that runc writes, and the same text on stderr. containerd takes the last
 * record with level "error" from the log, podman reads the whole log as one object, CRI-O reads
 * stderr.
 */
#ifndef SHIM_REPORT_H
#define SHIM_REPORT_H

#include "base/buf.h"

#include <time.h>

/* Appends the record of a message with its newline: JSON, or logrus' text form. Pure. */
void report_record(const char *message, const char *log_format, time_t now, struct buf *out);

/*
 * Returns the file that a --log value names, without crun's prefix "file:"; NULL if it names no
 * file (syslog:, journald:), or a standard stream that gets the message anyway.
 */
const char *report_file(const char *log);

/* Reports the message to the log and to stderr. A log that cannot be written is no error. */
void report_failure(const char *message, const char *log, const char *log_format);

#endif
