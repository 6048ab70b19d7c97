/*
 * How a failure is told to whoever started a runtime: one record in the file that --log names, in
 * the form that runc writes, and the same text on stderr. containerd takes the last record with
 * level "error" from the log, podman reads the whole log as one object, CRI-O reads stderr.
 */
#ifndef SHIM_REPORT_H
#define SHIM_REPORT_H

#include "base/buf.h"

#include <time.h>

/* Appends the record of a message with its newline: JSON, or logrus' text form. Pure. */
void report_record(const char *message, const char *log_format, time_t now, struct buf *out);

/*
 * The file that a --log value names: crun's "file:" prefix is cut; NULL for what is no file
 * (syslog:, journald:), or is a terminal stream that has the message anyway.
 */
const char *report_file(const char *log);

/* Tells it. A log that cannot be written is no reason to be silent on stderr. */
void report_failure(const char *message, const char *log, const char *log_format);

#endif
