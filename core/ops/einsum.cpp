// Einstein summation.
#include "core/ops/einsum.h"
