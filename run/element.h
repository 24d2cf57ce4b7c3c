/* Elements of buffers as numbers. */
#ifndef TW_RUN_ELEMENT_H
#define TW_RUN_ELEMENT_H

#include "ir/type.h"
#include "support/float_formats.h"

#ifdef __cplusplus
extern "C" {
#endif

/* False for the integers. */
TW_API bool tw_element_float_format(tw_scalar format, tw_float_format *out);
/* Bytes of one element in memory; 0 for the formats whose values a double does not hold or that have no byte
 * of their own (i64, i1), and for numbers that are no format. */
TW_API size_t tw_element_bytes(tw_scalar format);
/* Element `index` of an array in little-endian order, exactly; integers are signed. 0 where tw_element_bytes
 * is. */
TW_API double tw_element_get(tw_scalar format, const void *bytes, size_t index);

#ifdef __cplusplus
}
#endif
#endif
