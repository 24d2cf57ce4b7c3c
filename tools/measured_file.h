/* arch/intrinsics.<flavor>.json: one line an intrinsic, so that changes can be read. */
#ifndef TW_TOOLS_MEASURED_FILE_H
#define TW_TOOLS_MEASURED_FILE_H

#include <jansson.h>

#include "support/diag.h"

tw_status measured_file_write(const char *path, const json_t *file, tw_diag *diag);
/* TW_ERR_MISMATCH with an error for each row that the file at `path` does not have like this; a note where
 * the tool set was another one. */
tw_status measured_file_compare(const char *path, const json_t *file, tw_diag *diag);

#endif
