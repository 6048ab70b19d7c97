/*
 * Parses references from the command line. A word without a transport is looked up as a path, so
 * this is done before the sandbox.
 */
#ifndef FLATTEN_REFERENCE_PARSE_H
#define FLATTEN_REFERENCE_PARSE_H

#include "flatten/name/reference.h"

/* Parses a source. ERR_USAGE if it is malformed. The caller clears *out with reference_clear. */
int reference_parse(const char *text, struct reference *out, struct err *err) must_check;

/*
 * Parses a destination: FILE.tar need not exist, and is an archive. "docker-daemon:" needs no name,
 * for images that keep theirs. ":{tag}" at the end becomes out->by_tag.
 */
int reference_parse_destination(const char *text, struct reference *out,
                                struct err *err) must_check;

/*
 * Lets a bare name mean an image of podman where there is no Docker daemon, and says so unless
 * `quiet`. Other references stay as they are.
 */
void reference_choose_engine(struct reference *ref, bool quiet);

#endif
