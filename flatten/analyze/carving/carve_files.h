/* The files of a layer stack that show, as layout_make takes them. */
#ifndef FLATTEN_CARVE_FILES_H
#define FLATTEN_CARVE_FILES_H

#include "flatten/analyze/carving/carve_estimate.h"
#include "flatten/carve/layout/layout.h"

struct carve_files {
    struct layout_file *files;
    struct layout_name *names;
    size_t file_count, name_count;
    uint8_t *is_dir; /* by node */
};

/* Lists the files. The caller clears *out, also after a failure. */
int carve_files_list(const struct carve_input *in, struct carve_files *out,
                     struct err *err) must_check;

/* Frees what it owns. */
void carve_files_clear(struct carve_files *f);

#endif
