/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The kernel's CUBIC, recorded: each call goes to the kernel's own function. */
#include "cubic.h"

KERNELS_CUBIC("cubic", cubictcp_acked);
