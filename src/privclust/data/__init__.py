"""The door, and what is behind it.

Sources read rows in blocks, encoding clips them and puts them on a public integer grid, kernels
add them up to exact integers, and the private views release noisy values. Besides, only
``privclust.opening`` has rows, to pass them on, and ``privclust.holder``, to answer their holder;
nothing else in the library ever has a row or an exact statistic of rows.
"""
