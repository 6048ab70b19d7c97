/*
 * The examinations of `flatbed doctor`: each looks at one part of the host, changes nothing but
 * for a temporary file without a name that measures a copy, and adds diagnoses. A path that does
 * not answer is given up after five seconds.
 */
#ifndef SHIM_DOCTOR_H
#define SHIM_DOCTOR_H

#include "shim/admin/doctor/diagnosis/diagnosis.h"
#include "shim/policy/policy.h"

/* The IDs of all diagnoses, NULL at the end. */
extern const char *const doctor_ids[];

/* Returns true for an ID of the list. */
bool doctor_knows(const char *id);

/*
 * Examines the storage of Docker, containerd and podman where their configurations say it is,
 * `more` directories, and the storage of rootless engines: the file system and its room, what a
 * copy-up takes there, and how deep the images are.
 */
void doctor_stores(const char *const *more, size_t more_count, struct diagnoses *out);

/* Counters of the host's disks. */
struct busy_disks {
    struct buf before;
    double start, end; /* seconds of the monotonic clock */
};

/* Reads the counters, if somebody wants to know how busy the disks are. */
void doctor_busy_begin(struct busy_disks *disks, const struct diagnoses *d);

/*
 * Tells how busy the disks of the engines' stores, and of `more` directories, have been since then;
 * waits until two seconds are over. Comes before examinations that load the disks.
 */
void doctor_busy_end(struct busy_disks *disks, const char *const *more, size_t more_count,
                     struct diagnoses *out);

/* Frees the counters. */
void busy_disks_free(struct busy_disks *disks);

#define _cleanup_busy_disks_ _cleanup_(busy_disks_free)

/* Examines the kernel's overlayfs: the defaults that engines do not expect. */
void doctor_kernel(struct diagnoses *out);

/* Looks for versions of runtimes, engines and NVIDIA's toolkit with known holes. */
void doctor_versions(struct diagnoses *out);

/* Compares the limits in the policy's "tuning" with what training needs, and with this host. */
void doctor_tuning(const struct policy *policy, struct diagnoses *out);

/* Examines the file systems of volumes of the policy. */
void doctor_volumes(const struct policy *policy, struct diagnoses *out);

/*
 * Examines the properties of ZFS beneath the engines' stores, `more` directories and the sources of
 * the policy's volumes (NULL: there is no policy).
 */
void doctor_zfs(const struct policy *policy, const char *const *more, size_t more_count,
                struct diagnoses *out);

/*
 * Examines the policy: errors, the order of NVIDIA's runtime and flatbed-runtime, /dev/shm, memlock
 * and workers, volumes. NULL: there is none.
 */
void doctor_policy(const struct policy *policy, struct diagnoses *out);

/*
 * On a host with GPUs of NVIDIA, examines whether the policy (NULL: there is none) limits them, and
 * whether engines can give them to containers.
 */
void doctor_gpus(const struct policy *policy, struct diagnoses *out);

/* Examines which engines run containers by flatbed-runtime, and who is in group docker. */
void doctor_engines(const struct policy *policy, struct diagnoses *out);

#endif
