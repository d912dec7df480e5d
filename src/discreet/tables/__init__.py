"""Private rows, from wherever they live, as blocks of integers on public grids."""
