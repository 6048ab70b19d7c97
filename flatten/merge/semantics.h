/*
 * Where the image-spec and the engines that unpack images onto overlayfs read a layer differently,
 * somebody has to choose. SEMANTICS_OVERLAY: what a container of moby, containerd or podman sees.
 * SEMANTICS_SPEC: what image-spec layer.md says, as umoci applies it.
 */
#ifndef FLATTEN_SEMANTICS_H
#define FLATTEN_SEMANTICS_H

enum semantics { SEMANTICS_OVERLAY, SEMANTICS_SPEC };

/* What --semantics takes, in the order of the enum; NULL-terminated. */
extern const char *const semantics_names[];

/* The semantics of that name; SEMANTICS_OVERLAY for NULL. */
enum semantics semantics_named(const char *name);

#endif
