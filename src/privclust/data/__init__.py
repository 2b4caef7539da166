"""The only place where rows exist.

Sources read rows in blocks, encoding clips them and puts them on a public integer grid, kernels
add them up to exact integers, and the private views let noisy values out. Nothing else in the
library ever holds a row or an exact statistic of rows.
"""
