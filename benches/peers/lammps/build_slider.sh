#!/bin/sh
# usage: build_slider.sh SRC OUT: the two changed files of LAMMPS 29Sep2021 as a library for LD_PRELOAD
cd "$1" && g++ -O2 -std=c++11 -fPIC -shared -DLAMMPS_SMALLBIG -DOMPI_SKIP_MPICXX -I. -IGRANULAR $(mpicxx --showme:compile) GRANULAR/pair_granular.cpp GRANULAR/fix_wall_gran.cpp /usr/lib/x86_64-linux-gnu/liblammps.so.0 -o "$2"
