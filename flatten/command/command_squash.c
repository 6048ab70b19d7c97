#include "flatten/command/commands.h"

#include "flatten/command/new_image.h"

#define FIELD(name) offsetof(struct squash_command, name)
static const struct option_spec squash_options[] = {
    {"into", 0, OPTION_NUMBER, FIELD(into), "N", NULL, "how many new layers to make; by default 1"},
    {"last", 'l', OPTION_TEXT, FIELD(last), "N", NULL, "merge only the N newest layers"},
    {"all-images", 'a', OPTION_FLAG, FIELD(all_images), NULL, NULL,
     "squash every image of an archive or a layout into one destination, under its own name"},
    NEW_IMAGE_OPTIONS(FIELD),
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
