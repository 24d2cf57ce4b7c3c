/* A library with comgr's interface that only checks how it is used. $FAKE_COMGR_VERSION is the version it
 * reports, $FAKE_COMGR_LLVM what its "linker" signs with; without them it is what it was built as. An action
 * is done only when it has the number that version uses for it and an option under which comgr does not
 * cache. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jit/comgr_abi.h"

#ifndef DEFAULT_VERSION
#define DEFAULT_VERSION "3"
#define DEFAULT_LLVM    "Vendor LLD 21.1.8"
#endif
#define EXPORT __attribute__((visibility("default")))
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

static char linked[256];
static bool uncached;
static char log_text[256];

static unsigned major_version(void) {
    const char *version = getenv("FAKE_COMGR_VERSION");
    return (unsigned)atoi(version ? version : DEFAULT_VERSION);
}

EXPORT void amd_comgr_get_version(size_t *major, size_t *minor) {
    *major = major_version();
    *minor = 7;
}

EXPORT comgr_status amd_comgr_status_string(comgr_status status, const char **text) {
    *text = status ? "FAKE_ERROR" : "SUCCESS";
    return COMGR_SUCCESS;
}

EXPORT comgr_status amd_comgr_get_isa_count(size_t *count) {
    *count = 2;
    return COMGR_SUCCESS;
}

EXPORT comgr_status amd_comgr_get_isa_name(size_t index, const char **name) {
    *name = index ? "amdgcn-amd-amdhsa--gfx942" : "amdgcn-amd-amdhsa--gfx950";
    return COMGR_SUCCESS;
}

EXPORT comgr_status amd_comgr_create_data(comgr_kind kind, comgr_data *data) {
    data->handle = kind;
    return COMGR_SUCCESS;
}

EXPORT comgr_status amd_comgr_release_data(comgr_data data) {
    (void)data;
    return COMGR_SUCCESS;
}

EXPORT comgr_status amd_comgr_set_data(comgr_data data, size_t size, const char *bytes) {
    (void)data, (void)size, (void)bytes;
    return COMGR_SUCCESS;
}

EXPORT comgr_status amd_comgr_set_data_name(comgr_data data, const char *name) {
    (void)data, (void)name;
    return COMGR_SUCCESS;
}

EXPORT comgr_status amd_comgr_get_data(comgr_data data, size_t *size, char *bytes) {
    const char *text = data.handle == COMGR_KIND_LOG ? log_text : linked;
    if (bytes) memcpy(bytes, text, *size);
    *size = strlen(text);
    return COMGR_SUCCESS;
}

EXPORT comgr_status amd_comgr_create_data_set(comgr_data_set *set) {
    set->handle = 1;
    return COMGR_SUCCESS;
}

EXPORT comgr_status amd_comgr_destroy_data_set(comgr_data_set set) {
    (void)set;
    return COMGR_SUCCESS;
}

EXPORT comgr_status amd_comgr_data_set_add(comgr_data_set set, comgr_data data) {
    (void)set, (void)data;
    return COMGR_SUCCESS;
}

EXPORT comgr_status amd_comgr_action_data_count(comgr_data_set set, comgr_kind kind, size_t *count) {
    (void)set;
    *count = kind != COMGR_KIND_LOG || log_text[0];
    return COMGR_SUCCESS;
}

EXPORT comgr_status amd_comgr_action_data_get_data(comgr_data_set set, comgr_kind kind, size_t index,
                                                   comgr_data *data) {
    (void)set, (void)index;
    data->handle = kind;
    return COMGR_SUCCESS;
}

EXPORT comgr_status amd_comgr_create_action_info(comgr_action_info *info) {
    info->handle = 1;
    uncached = false;
    return COMGR_SUCCESS;
}

EXPORT comgr_status amd_comgr_destroy_action_info(comgr_action_info info) {
    (void)info;
    return COMGR_SUCCESS;
}

EXPORT comgr_status amd_comgr_action_info_set_isa_name(comgr_action_info info, const char *name) {
    (void)info;
    return strstr(name, "gfx942") ? COMGR_SUCCESS : COMGR_INVALID_ARGUMENT;
}

EXPORT comgr_status amd_comgr_action_info_set_option_list(comgr_action_info info, const char *options[],
                                                          size_t count) {
    (void)info;
    for (size_t i = 0; i < count; i++)
        if (!strncmp(options[i], "-fprofile", 9) || strstr(options[i], ",-fprofile")) uncached = true;
    return COMGR_SUCCESS;
}

EXPORT comgr_status amd_comgr_action_info_set_logging(comgr_action_info info, bool logging) {
    (void)info, (void)logging;
    return COMGR_SUCCESS;
}

EXPORT comgr_status amd_comgr_do_action(int action, comgr_action_info info, comgr_data_set input,
                                        comgr_data_set output) {
    (void)info, (void)input, (void)output;
    int codegen = major_version() == 2 ? 6 : 4, link = major_version() == 2 ? 9 : 7;
    snprintf(log_text, sizeof log_text, "%s",
             uncached ? ""
                      : "/tmp/comgr-1/input/kernel.ll:3:5: error: this could come from a cache\n>   ^\n");
    const char *signature = getenv("FAKE_COMGR_LLVM");
    snprintf(linked, sizeof linked, "an object, Linker: %s\n", signature ? signature : DEFAULT_LLVM);
    return uncached && (action == codegen || action == link) ? COMGR_SUCCESS : COMGR_ERROR;
}
