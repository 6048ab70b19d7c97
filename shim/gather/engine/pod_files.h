/* The files of a pod that the kubelet mounts into its containers, by their paths. */
#ifndef SHIM_POD_FILES_H
#define SHIM_POD_FILES_H

#include <stdbool.h>

/*
 * Returns true for a path that the kubelet mounts into a container of the pod `uid`, or of any pod
 * (NULL): /etc/hosts, termination logs, volumes and parts of these. What lies above them is the
 * kubelet's own: there root of a container could put other volumes in their places. Source: the
 * paths of kubelet_getters.go, hostutil and subpath in Kubernetes. Pure.
 */
bool pod_files_has(const char *uid, const char *path);

#endif
