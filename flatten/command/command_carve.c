#include "flatten/command/commands.h"

#include "flatten/command/new_image.h"

#define FIELD(name) offsetof(struct squash_command, name)
static const struct option_spec carve_options[] = {
    {"layers", 0, OPTION_NUMBER, FIELD(layers), "N", NULL,
     "the most layers, by default 60 of up to 512m; given without --layer-size, about so many, as "
     "small as that allows"},
    {"layer-size", 0, OPTION_TEXT, FIELD(layer_size), "SIZE", NULL,
     "the most bytes of a layer before it is compressed, as in 256m; by default 512m; a larger "
     "file has a layer of its own"},
    {"family", 0, OPTION_FLAG, FIELD(family), NULL, NULL,
     "carve several images together: what several of them have is in layers that they share"},
    {"like", 0, OPTION_TEXT, FIELD(like), "IMAGE", NULL,
     "the previous version of the image, as it was carved: its layers are kept while that pays"},
    {"max-dead", 0, OPTION_NUMBER, FIELD(max_dead), "PERCENT", NULL,
     "with --like: the most bytes of kept layers that are no longer visible, in per cent; by "
     "default 10"},
    {"stable-times", 0, OPTION_FLAG, FIELD(stable_times), NULL, NULL,
     "with --like: what differs from the previous version in nothing but its time takes its time"},
    NEW_IMAGE_OPTIONS(FIELD),
    {0},
};

const struct command_spec command_carve_spec = {
    .program = "flatten",
    .name = "carve",
    .operands = "SOURCE [DESTINATION]",
    .summary = "Lay an image out in new layers, each of packages that change together.",
    .details =
        "The tree stays the same, but for times with --stable-times. Without --like\n"
        "and --keep-base no layer hides anything. Layers are pulled side by side, and those\n"
        "of packages that do not change are the same in the next version of the image, byte\n"
        "for byte. The owners of files are read from the image: dpkg, apk, rpm, pip, conda,\n"
        "npm.\n"
        "\n"
        "With --family there are several SOURCEs, and DESTINATION holds all: oci:DIR,\n"
        "oci-archive:FILE or docker-archive:FILE, where the images keep their names, or\n"
        "docker://HOST/NAME:{tag} and oci:DIR:{tag}, where they keep their tags.\n"
        "\n"
        "An image of an engine becomes NAME:TAG-carved there when no destination is given.\n"
        "The new image's ID and manifest digest go to standard output.\n",
    .options = carve_options,
    .min_operands = 1,
    .max_operands = -1,
    .completes = OPERANDS_FILES,
};

int command_carve(int argc, char *const argv[], bool *help, struct err *err)
{
    struct squash_command c = {.carve = true,
                               .layers = CARVE_DEFAULT_LAYERS,
                               .max_dead = CARVE_DEFAULT_DEAD,
                               .into = 1,
                               .retries = REGISTRY_RETRIES,
                               .max_size = LAYER_MAX_SIZE >> 30};
    struct operands operands = {0};
    int rc = options_parse(&command_carve_spec, argc, argv, &c, &operands, help, err);

    if (rc == 0 && !*help)
        rc = c.family ? new_family(&c, &operands, err)
             : operands.count <= 2
                 ? new_image(&c, &operands, err)
                 : err_set(err, ERR_USAGE,
                           "carve takes SOURCE [DESTINATION] and no more, unless --family is "
                           "given; see 'flatten carve --help'");
    free(operands.list);
    return rc;
}
