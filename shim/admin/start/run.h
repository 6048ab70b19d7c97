/* One run of a container in the working directory, a bundle. */
#ifndef SHIM_START_RUN_H
#define SHIM_START_RUN_H

#include "shim/admin/start/start.h"

struct run_outcome {
    double seconds; /* from the start of the runtime to its end */
    int status;     /* exit status of the command; 128 and the signal that ended the runtime */
    char tail[START_TAIL]; /* the end of standard error */
};

/*
 * Runs the container and waits for its end. ERR_LIMIT beyond the timeout; ERR_SYSTEM if `alive`, a
 * pipe, is closed at its other end meanwhile. The container is gone in either case.
 */
int run_container(const struct start_options *options, int alive, struct run_outcome *out,
                  struct err *err) must_check;

#endif
