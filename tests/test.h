/* What every cmocka suite includes, in the order that cmocka wants. */
#ifndef TW_TESTS_TEST_H
#define TW_TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
