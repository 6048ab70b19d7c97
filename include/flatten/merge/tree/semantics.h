/*
 * The image-spec and the engines that unpack images onto overlayfs read some layers differently.
 * SEMANTICS_OVERLAY: what a container of moby, containerd or podman sees. SEMANTICS_SPEC: what
 * image-spec layer.md says, as umoci applies it.
 */
#ifndef FLATTEN_SEMANTICS_H
#define FLATTEN_SEMANTICS_H

enum semantics { SEMANTICS_OVERLAY, SEMANTICS_SPEC };

/* The values of --semantics, in the order of the enum; NULL-terminated. */
extern const char *const semantics_names[];

/* Returns the semantics of that name (one of semantics_names); SEMANTICS_OVERLAY for NULL. */
enum semantics semantics_named(const char *name);

/* The places where the two differ, as notices and reports show them. */
#define DIVERGENCE_OPAQUE_ROOT                                                                     \
    "an opaque marker in the root: engines ignore it, the spec hides all that is older"
#define DIVERGENCE_WHITEOUT_DIR                                                                    \
    "a whiteout and a directory in one layer: engines merge, the spec hides what is older"
#define DIVERGENCE_WHITEOUT_AFTER                                                                  \
    "an entry and then its whiteout in one layer: engines refuse to unpack it; the entry stays, "  \
    "as in the spec"
#define DIVERGENCE_OLD_LINK "a hard link into an older layer: engines refuse to unpack it"
#define DIVERGENCE_LINK_SHADOWED                                                                   \
    "a newer layer has entries below this symbolic link: engines replace it by a directory, the "  \
    "spec follows it"

#endif
