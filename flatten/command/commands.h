/* The commands of flatten: what each offers (for options_parse and help), and how it runs. */
#ifndef FLATTEN_COMMANDS_H
#define FLATTEN_COMMANDS_H

#include "base/cli/program.h"

/* Rows for how registries are spoken with; `field` gives the offset of what the command has. */
#define REGISTRY_OPTIONS(field)                                                                    \
    {"retries",                                                                                    \
     0,                                                                                            \
     OPTION_NUMBER,                                                                                \
     field(retries),                                                                               \
     "N",                                                                                          \
     NULL,                                                                                         \
     "how often a request to a registry that may work later is repeated; by default 5"},           \
        {"cert-dir",                                                                               \
         0,                                                                                        \
         OPTION_FILE,                                                                              \
         field(cert_dir),                                                                          \
         "DIR",                                                                                    \
         NULL,                                                                                     \
         "certificates for registries: *.crt of CAs, and NAME.cert with NAME.key to be shown"},    \
    {                                                                                              \
        "insecure", 0, OPTION_FLAG, field(insecure), NULL, NULL,                                   \
            "speak with registries whose certificate cannot be verified, or that have no HTTPS"    \
    }

extern const struct command_spec command_squash_spec, command_verify_spec, command_analyze_spec;
command_run command_squash, command_verify, command_analyze;

#endif
