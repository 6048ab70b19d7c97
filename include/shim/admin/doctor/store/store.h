/* The directory in which an engine keeps images and containers. */
#ifndef SHIM_STORE_H
#define SHIM_STORE_H

#include "shim/admin/doctor/diagnosis/diagnosis.h"
#include "shim/admin/doctor/disk/file_system.h"

/*
 * Looks at a directory. One that does not answer in five seconds, or less if others did not, is a
 * diagnosis, and a warning at once unless `silent`. Returns false without an answer.
 */
bool store_look(const struct file_system_look *look, struct file_system_seen *seen,
                struct diagnoses *out);

/*
 * Returns the milliseconds for the next path that may hang: five seconds, less after others, and
 * one second from eight seconds on.
 */
unsigned store_patience(const struct diagnoses *d);

/* Returns true for a path below one that was found to hang. */
bool store_hangs(const char *path, const struct diagnoses *d);

/* Examines a store. One that is not there is left out, unless somebody asked for it. */
void store_examine(const char *path, bool asked, struct diagnoses *out);

/* Tells of the slow driver that keeps images in a store; nothing for NULL. */
void store_judge_driver(const char *path, const char *driver, struct diagnoses *out);

/* Judges type, disk and room of the store with that path. */
void store_judge(const char *path, const struct file_system *fs, struct diagnoses *out);

/* Examines the stores of rootless podman and Docker, each file system once. */
void stores_examine_users(struct diagnoses *out);

#endif
