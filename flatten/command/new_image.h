/* Makes a new image of an image, for flatten squash and flatten carve. */
#ifndef FLATTEN_NEW_IMAGE_H
#define FLATTEN_NEW_IMAGE_H

#include "flatten/command/commands.h"
#include "flatten/command/squash/squash_command.h"
#include "flatten/merge/tree/semantics.h"

/* Option rows of both commands; field(NAME) is the offset of NAME in struct squash_command. */
#define NEW_IMAGE_OPTIONS(field)                                                                   \
    {"keep-base",                                                                                  \
     'k',                                                                                          \
     OPTION_TEXT,                                                                                  \
     field(keep_base),                                                                             \
     "N|IMAGE",                                                                                    \
     NULL,                                                                                         \
     "keep the N oldest layers as they are, or those shared with another image"},                  \
        {"compression",                                                                            \
         'c',                                                                                      \
         OPTION_TEXT,                                                                              \
         field(compression),                                                                       \
         "KIND[:LEVEL]",                                                                           \
         NULL,                                                                                     \
         "zstd (1 to 19), gzip (0 to 3) or none; by default zstd:3 for OCI layouts and daemons "   \
         "with containerd's store, gzip:1 for registries, none for docker-archive and other "      \
         "engines"},                                                                               \
        {"threads",                                                                                \
         't',                                                                                      \
         OPTION_NUMBER,                                                                            \
         field(threads),                                                                           \
         "N",                                                                                      \
         NULL,                                                                                     \
         "how many processors to use, for zstd, for the layers of carve, and to unpack layers; "   \
         "by default all; the result is the same"},                                                \
        {"max-size",                                                                               \
         0,                                                                                        \
         OPTION_NUMBER,                                                                            \
         field(max_size),                                                                          \
         "GIB",                                                                                    \
         NULL,                                                                                     \
         "the largest size of an unpacked layer, and of a new one; by default 256"},               \
        RATIO_OPTION(field),                                                                       \
        {"semantics",                                                                              \
         0,                                                                                        \
         OPTION_CHOICE,                                                                            \
         field(semantics),                                                                         \
         "RULES",                                                                                  \
         semantics_names,                                                                          \
         "the rules to apply where engines and the image-spec read layers differently"},           \
        {"platform",                                                                               \
         0,                                                                                        \
         OPTION_TEXT,                                                                              \
         field(platform),                                                                          \
         "OS/ARCH",                                                                                \
         NULL,                                                                                     \
         "the image to take from an index; by default all, or this machine's if the destination "  \
         "holds "                                                                                  \
         "one"},                                                                                   \
        {"created",                                                                                \
         0,                                                                                        \
         OPTION_TEXT,                                                                              \
         field(created),                                                                           \
         "TIME",                                                                                   \
         NULL,                                                                                     \
         "the new image's creation time, RFC 3339 or seconds since 1970; by default "              \
         "SOURCE_DATE_EPOCH, "                                                                     \
         "else the source's"},                                                                     \
        {"dry-run",                                                                                \
         'n',                                                                                      \
         OPTION_FLAG,                                                                              \
         field(dry_run),                                                                           \
         NULL,                                                                                     \
         NULL,                                                                                     \
         "print which layers would be kept and made; write nothing"},                              \
        {"verify",                                                                                 \
         0,                                                                                        \
         OPTION_FLAG,                                                                              \
         field(verify),                                                                            \
         NULL,                                                                                     \
         NULL,                                                                                     \
         "before publishing, prove that the result unpacks to the source's tree"},                 \
        REGISTRY_OPTIONS(field),                                                                   \
        {"json", 0, OPTION_FLAG, field(json), NULL, NULL, "print the result as JSON"},             \
        {"verbose",                                                                                \
         'v',                                                                                      \
         OPTION_FLAG,                                                                              \
         field(verbose),                                                                           \
         NULL,                                                                                     \
         NULL,                                                                                     \
         "say why an image of an engine is not read in its store"},                                \
    {                                                                                              \
        "quiet", 'q', OPTION_FLAG, field(quiet), NULL, NULL, "print only errors"                   \
    }

/*
 * Checks the options, finds source and destination, and does the work in the sandbox. The operands
 * are SOURCE and, perhaps, DESTINATION. Returns the exit status, or -1.
 */
int new_image(const struct squash_command *c, const struct operands *operands,
              struct err *err) must_check;

/* The same for flatten carve --family: the operands are several SOURCEs and DESTINATION. */
int new_family(const struct squash_command *c, const struct operands *operands,
               struct err *err) must_check;

#endif
