#!/bin/sh
# What choosing one of 151936 tokens costs.
exec "$top_builddir/tests/test_sample" --bench
