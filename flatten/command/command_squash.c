#include "flatten/command/commands.h"

#include "flatten/command/new_image.h"
#include "flatten/merge/tree/semantics.h"

#define FIELD(name) offsetof(struct squash_command, name)
static const struct option_spec squash_options[] = {
    {"into", 0, OPTION_NUMBER, FIELD(into), "N", NULL, "how many new layers to make; by default 1"},
    {"keep-base", 'k', OPTION_TEXT, FIELD(keep_base), "N|IMAGE", NULL,
     "keep the N oldest layers as they are, or those shared with another image"},
    {"last", 'l', OPTION_TEXT, FIELD(last), "N", NULL, "merge only the N newest layers"},
    {"compression", 'c', OPTION_TEXT, FIELD(compression), "KIND[:LEVEL]", NULL,
     "zstd (1 to 19), gzip (0 to 3) or none; by default zstd:3 for OCI layouts, gzip:1 for "
     "registries and none for docker-archive and engines"},
    {"threads", 't', OPTION_NUMBER, FIELD(threads), "N", NULL,
     "how many processors to use, for zstd and to unpack layers; by default all; the result is the "
     "same"},
    {"max-size", 0, OPTION_NUMBER, FIELD(max_size), "GIB", NULL,
     "the largest size of an unpacked layer, and of a new one; by default 256"},
    RATIO_OPTION(FIELD),
    {"semantics", 0, OPTION_CHOICE, FIELD(semantics), "RULES", semantics_names,
     "the rules to apply where engines and the image-spec read layers differently"},
    {"platform", 0, OPTION_TEXT, FIELD(platform), "OS/ARCH", NULL,
     "the image to take from an index; by default all, or this machine's if the destination holds "
     "one"},
    {"created", 0, OPTION_TEXT, FIELD(created), "TIME", NULL,
     "the new image's creation time, RFC 3339 or seconds since 1970; by default SOURCE_DATE_EPOCH, "
     "else the source's"},
    {"all-images", 'a', OPTION_FLAG, FIELD(all_images), NULL, NULL,
     "squash every image of an archive or a layout into one destination, under its own name"},
    {"dry-run", 'n', OPTION_FLAG, FIELD(dry_run), NULL, NULL,
     "print which layers would be kept and merged; write nothing"},
    {"verify", 0, OPTION_FLAG, FIELD(verify), NULL, NULL,
     "before publishing, prove that the result unpacks to the source's tree"},
    REGISTRY_OPTIONS(FIELD),
    {"json", 0, OPTION_FLAG, FIELD(json), NULL, NULL, "print the result as JSON"},
    {"verbose", 'v', OPTION_FLAG, FIELD(verbose), NULL, NULL,
     "say why an image of an engine is not read in its store"},
    {"quiet", 'q', OPTION_FLAG, FIELD(quiet), NULL, NULL, "print only errors"},
    {0},
};

const struct command_spec command_squash_spec = {
    .program = "flatten",
    .name = "squash",
    .operands = "SOURCE [DESTINATION]",
    .summary = "Merge an image's layers into one, keeping what a container sees.",
    .details = "An image of an engine becomes NAME:TAG-flat there when no destination is given.\n"
               "The new image's ID and manifest digest go to standard output; for several\n"
               "platforms, the digest of their index. With --all-images there is a line for each\n"
               "image, with its name first; in an engine (docker-daemon: or\n"
               "containers-storage: alone) it is NAME:TAG-flat.\n",
    .options = squash_options,
    .min_operands = 1,
    .max_operands = 2,
    .completes = OPERANDS_FILES,
};

int command_squash(int argc, char *const argv[], bool *help, struct err *err)
{
    struct squash_command c = {
        .into = 1, .retries = REGISTRY_RETRIES, .max_size = LAYER_MAX_SIZE >> 30};
    struct operands operands = {0};
    int rc = options_parse(&command_squash_spec, argc, argv, &c, &operands, help, err);

    if (rc == 0 && !*help)
        rc = new_image(&c, &operands, err);
    free(operands.list);
    return rc;
}
