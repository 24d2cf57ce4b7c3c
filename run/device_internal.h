/* Devices, buffers and modules from inside. */
#ifndef TW_RUN_DEVICE_INTERNAL_H
#define TW_RUN_DEVICE_INTERNAL_H

#include <pthread.h>

#include "run/device_ops.h"

struct tw_device {
    tw_device_impl impl;
    pthread_mutex_t lock; /* of everything below and of every call into impl.ops */
    tw_buffer *buffers;   /* all that live; `link` is the pointer that leads to an entry */
    tw_module *modules;
    tw_launch_counts counts;
};

struct tw_buffer {
    tw_device *device;
    tw_buffer *next, **link;
    size_t bytes;
    uint64_t address; /* 0 for a buffer of 0 bytes */
};

struct tw_module {
    tw_device *device;
    tw_module *next, **link;
    tw_code_object *object;
    void *state;
};

void tw_device_lock(const tw_device *device);
void tw_device_unlock(const tw_device *device);

#endif
