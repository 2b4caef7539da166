"""The papers that privclust began with, a folder each, and what their experiments need.

- :mod:`~privclust.papers.tau`: co-clustering, Fast-τCC and DP-τCC (Battaglia and Pensa 2025);
- :mod:`~privclust.papers.zones`: k-means with convergent zones (Joshi and Thakkar 2022, after Lu
  and Shen 2021);
- :mod:`~privclust.papers.targets`: source-target clustering, NAS and NNA (Schnapp and Sabato 2025);
- :mod:`~privclust.papers.dilca`: distances of categories, DILCA and DP-DILCA (Battaglia, Celano and
  Pensa 2021, after Ienco, Pensa and Meo 2012);
- :mod:`~privclust.papers.rivals`: what these papers compare with, made private;
- :mod:`~privclust.papers.datasets` and :mod:`~privclust.papers.metrics`: their data and measures.

In the folder of a paper, ``published`` is the algorithm as it was printed, which is NOT PRIVATE and
takes neither budget nor ledger; ``private`` is its private repair, with the paper's own parameters.
None of them is the best choice for a task: that is in the top of the package.
"""
