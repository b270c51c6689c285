## Matrix kernels, one file per ISA.
