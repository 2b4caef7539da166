"""The door, and what is behind it.

Sources read rows in blocks, encoding clips them and puts them on a public integer grid, kernels
add them up to exact integers, and the private views let noisy values out. Beside it only
``privclust.opening`` holds rows, to hand them on, and ``privclust.holder``, to answer whoever
brought them; nothing else in the library ever has a row or an exact statistic of rows.
"""
