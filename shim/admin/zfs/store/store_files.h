/* Files of a store that users may have tampered with: opened beneath its root, without links. */
#ifndef SHIM_ZFS_STORE_FILES_H
#define SHIM_ZFS_STORE_FILES_H

#include "base/json/json.h"

#include <dirent.h>

/* Opens a directory beneath `root`. Returns NULL if it is not there; the caller calls closedir. */
DIR *store_directory(int root, const char *path) must_check;

/* Appends a regular file. Returns 1 if it is not there. */
int store_file(int root, const char *path, size_t most, struct buf *out,
               struct err *err) must_check;

/* Reads a file as JSON. Returns NULL without an error if it is not there. */
struct json_doc *store_json(int root, const char *path, struct err *err) must_check;

#endif
