/* A program with every form of option, for test_options*.c and tests/cli/sample.c. */
#ifndef TESTS_SAMPLE_OPTIONS_H
#define TESTS_SAMPLE_OPTIONS_H

#include "base/cli/options.h"

#include <stdint.h>

struct sample_options {
    bool quiet, force;
    const char *output, *format, *label;
    uint64_t threads, wait;
    struct option_list tags;
};

#define SAMPLE_AT(field) offsetof(struct sample_options, field)

static const char *const sample_formats[] = {"gzip", "zstd", "none", NULL};

static const struct option_spec sample_pack_options[] = {
    {"quiet", 'q', OPTION_FLAG, SAMPLE_AT(quiet), NULL, NULL, "say nothing but errors"},
    {"force", 'f', OPTION_FLAG, SAMPLE_AT(force), NULL, NULL,
     "don't ask: overwrite [what] is there"},
    {"output", 'o', OPTION_FILE, SAMPLE_AT(output), "FILE", NULL, "where the result goes"},
    {"format", 'c', OPTION_CHOICE, SAMPLE_AT(format), "FORMAT", sample_formats, "compress with"},
    {"label", 0, OPTION_TEXT, SAMPLE_AT(label), "TEXT", NULL, "a word for the result"},
    {"threads", 'j', OPTION_NUMBER, SAMPLE_AT(threads), "N", NULL, "how many threads work"},
    {"wait", 0, OPTION_SECONDS, SAMPLE_AT(wait), "SECONDS", NULL, "how long it may take"},
    {"tag", 0, OPTION_LIST, SAMPLE_AT(tags), "TAG", NULL, "a tag for the result; may be repeated"},
    {0},
};

static const struct option_spec sample_list_options[] = {
    {"quiet", 'q', OPTION_FLAG, SAMPLE_AT(quiet), NULL, NULL, "say nothing but errors"},
    {0},
};

static const struct command_spec sample_pack = {
    .program = "flatbed-sample",
    .name = "pack",
    .operands = "SOURCE [DESTINATION]",
    .summary = "pack a source: quickly, and 'well'",
    .details = "Packs what it is given.\n",
    .options = sample_pack_options,
    .min_operands = 1,
    .max_operands = 2,
    .completes = OPERANDS_FILES,
};

static const struct command_spec sample_list = {
    .program = "flatbed-sample",
    .name = "list",
    .operands = "",
    .summary = "list what was packed",
    .options = sample_list_options,
    .max_operands = 0,
};

static const struct command_spec *const sample_commands[] = {&sample_pack, &sample_list, NULL};

static const struct program_spec sample_program = {
    .name = "flatbed-sample",
    .summary = "a sample of a command line",
    .details = "Exit status: 0, or 2 when the command line is wrong.\n",
    .commands = sample_commands,
    .fallback = &sample_pack,
};

/* The same without a fallback: a command must be named. */
static const struct program_spec sample_strict = {
    .name = "flatbed-strict",
    .summary = "a sample where a command must be named",
    .commands = sample_commands,
};

#endif
