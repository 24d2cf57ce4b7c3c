/* Tilewright: everything a user includes. */
#ifndef TILEWRIGHT_H
#define TILEWRIGHT_H

#include "support/diag.h"
#include "support/status.h"

#endif
