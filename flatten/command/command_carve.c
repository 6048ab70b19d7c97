#include "flatten/command/commands.h"

#include "flatten/command/new_image.h"
#include "flatten/merge/tree/semantics.h"

#define FIELD(name) offsetof(struct squash_command, name)
static const struct option_spec carve_options[] = {
    {"layers", 0, OPTION_NUMBER, FIELD(layers), "N", NULL,
     "how many layers to make at most; by default 60"},
    {"layer-size", 0, OPTION_TEXT, FIELD(layer_size), "SIZE", NULL,
     "the most bytes of a layer before it is compressed, as in 256m; by default 512m; a larger "
     "file "
     "has a layer of its own"},
    {"like", 0, OPTION_TEXT, FIELD(like), "IMAGE", NULL,
     "the previous version of the image, as it was carved: its layers are kept while that pays"},
    {"max-dead", 0, OPTION_NUMBER, FIELD(max_dead), "PERCENT", NULL,
     "with --like: the most bytes of kept layers that are no longer visible; by default 10"},
    {"keep-base", 'k', OPTION_TEXT, FIELD(keep_base), "N|IMAGE", NULL,
     "keep the N oldest layers as they are, or those shared with another image"},
    {"compression", 'c', OPTION_TEXT, FIELD(compression), "KIND[:LEVEL]", NULL,
     "zstd (1 to 19), gzip (0 to 3) or none; by default zstd:3 for OCI layouts, gzip:1 for "
     "registries and none for docker-archive and engines"},
    {"threads", 't', OPTION_NUMBER, FIELD(threads), "N", NULL,
     "how many processors to use, for zstd and to unpack layers; by default all; the result is the "
     "same"},
    {"max-size", 0, OPTION_NUMBER, FIELD(max_size), "GIB", NULL,
     "the largest size of an unpacked layer, and of the image's files; by default 256"},
    RATIO_OPTION(FIELD),
    {"semantics", 0, OPTION_CHOICE, FIELD(semantics), "RULES", semantics_names,
     "the rules to apply where engines and the image-spec read layers differently"},
    {"platform", 0, OPTION_TEXT, FIELD(platform), "OS/ARCH", NULL,
     "the image to take from an index; by default all, or this machine's if the destination holds "
     "one"},
    {"created", 0, OPTION_TEXT, FIELD(created), "TIME", NULL,
     "the new image's creation time, RFC 3339 or seconds since 1970; by default SOURCE_DATE_EPOCH, "
     "else the source's"},
    {"dry-run", 'n', OPTION_FLAG, FIELD(dry_run), NULL, NULL,
     "print which layers would be made, and what would be in them; write nothing"},
    {"verify", 0, OPTION_FLAG, FIELD(verify), NULL, NULL,
     "before publishing, prove that the result unpacks to the source's tree"},
    REGISTRY_OPTIONS(FIELD),
    {"json", 0, OPTION_FLAG, FIELD(json), NULL, NULL, "print the result as JSON"},
    {"verbose", 'v', OPTION_FLAG, FIELD(verbose), NULL, NULL,
     "say why an image of an engine is not read in its store"},
    {"quiet", 'q', OPTION_FLAG, FIELD(quiet), NULL, NULL, "print only errors"},
    {0},
};

const struct command_spec command_carve_spec = {
    .program = "flatten",
    .name = "carve",
    .operands = "SOURCE [DESTINATION]",
    .summary = "Lay an image out in new layers, each of packages that change together.",
    .details = "The tree stays the same, and nothing in it is hidden by a newer layer. Layers are\n"
               "pulled side by side, and those of packages that do not change are the same in the\n"
               "next version of the image, byte for byte. The owners of files are read from the\n"
               "image: dpkg, apk, rpm, pip, conda, npm.\n"
               "\n"
               "An image of an engine becomes NAME:TAG-carved there when no destination is given.\n"
               "The new image's ID and manifest digest go to standard output.\n",
    .options = carve_options,
    .min_operands = 1,
    .max_operands = 2,
    .completes = OPERANDS_FILES,
};

int command_carve(int argc, char *const argv[], bool *help, struct err *err)
{
    struct squash_command c = {.carve = true,
                               .max_dead = 10,
                               .into = 1,
                               .retries = REGISTRY_RETRIES,
                               .max_size = LAYER_MAX_SIZE >> 30};
    struct operands operands = {0};
    int rc = options_parse(&command_carve_spec, argc, argv, &c, &operands, help, err);

    if (rc == 0 && !*help)
        rc = new_image(&c, &operands, err);
    free(operands.list);
    return rc;
}
