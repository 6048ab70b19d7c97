/* The config.json of a measured container. */
#ifndef SHIM_START_CONFIG_H
#define SHIM_START_CONFIG_H

#include "shim/admin/start/image_user.h"
#include "shim/admin/start/start.h"

/*
 * Appends the configuration of a container with the image's entry point, environment and working
 * directory, without network, and with the filter and the capabilities of container.json;
 * `volumes`: with those of the options.
 */
int start_config_put(const struct start_options *options, const struct image_user *user,
                     bool volumes, struct buf *out, struct err *err) must_check;

/* Writes it to config.json in the working directory; the user is looked up in START_ROOTFS. */
int start_config_write(const struct start_options *options, bool volumes,
                       struct err *err) must_check;

#endif
