// Every op, for who includes one header.
#pragma once

#include "core/create.h"
#include "core/ops/binary.h"
#include "core/ops/conv.h"
#include "core/ops/dropout.h"
#include "core/ops/einsum.h"
#include "core/ops/index.h"
#include "core/ops/loss.h"
#include "core/ops/matmul.h"
#include "core/ops/norm.h"
#include "core/ops/order.h"
#include "core/ops/recurrent.h"
#include "core/ops/reduce.h"
#include "core/ops/softmax.h"
#include "core/ops/unary.h"
#include "core/ops/view.h"
#include "core/random.h"
