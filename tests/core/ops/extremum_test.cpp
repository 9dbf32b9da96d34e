// max, min, argmax, argmin.
#include <doctest/doctest.h>
