/* The commands of flatten: their specifications, for options_parse and help, and their functions.
 */
#ifndef FLATTEN_COMMANDS_H
#define FLATTEN_COMMANDS_H

#include "base/cli/program.h"

/* Option rows about registries; field(NAME) is the offset of NAME in the command's struct. */
#define REGISTRY_OPTIONS(field)                                                                    \
    {"retries",                                                                                    \
     0,                                                                                            \
     OPTION_NUMBER,                                                                                \
     field(retries),                                                                               \
     "N",                                                                                          \
     NULL,                                                                                         \
     "repeat a request to a registry so often after a temporary failure; by default 5"},           \
        {"cert-dir",                                                                               \
         0,                                                                                        \
         OPTION_FILE,                                                                              \
         field(cert_dir),                                                                          \
         "DIR",                                                                                    \
         NULL,                                                                                     \
         "certificates for registries: *.crt of CAs, and NAME.cert with NAME.key of the client"},  \
    {                                                                                              \
        "insecure", 0, OPTION_FLAG, field(insecure), NULL, NULL,                                   \
            "accept registries whose certificate cannot be verified, or that have no HTTPS"        \
    }

/* The option against decompression bombs. */
#define RATIO_OPTION(field)                                                                        \
    {                                                                                              \
        "max-ratio", 0, OPTION_NUMBER, field(max_ratio), "N", NULL,                                \
            "how many times its compressed size an image may unpack to, beyond 1 GiB; by "         \
            "default 200"                                                                          \
    }

extern const struct command_spec command_squash_spec, command_carve_spec, command_verify_spec,
    command_unpack_spec, command_analyze_spec;
command_run command_squash, command_carve, command_verify, command_unpack, command_analyze;

#endif
