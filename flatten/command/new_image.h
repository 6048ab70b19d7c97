/* Makes a new image of an image, for flatten squash and flatten carve. */
#ifndef FLATTEN_NEW_IMAGE_H
#define FLATTEN_NEW_IMAGE_H

#include "flatten/command/commands.h"
#include "flatten/command/squash/squash_command.h"

/*
 * Checks the options, finds source and destination, and does the work in the sandbox. The operands
 * are SOURCE and, perhaps, DESTINATION. Returns the exit status, or -1.
 */
int new_image(const struct squash_command *c, const struct operands *operands,
              struct err *err) must_check;

#endif
