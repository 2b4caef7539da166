"""diffprivlib's KMeans on a file of points; run by an interpreter in which diffprivlib imports.

Usage: ``python diffprivlib_kmeans.py points.npy n_clusters epsilon low high runs``. Prints a JSON
list of [centres, CPU seconds].
"""

import json
import sys
import time
import warnings

import numpy as np
from diffprivlib.models import KMeans

warnings.simplefilter("ignore")


def main() -> None:
    """Fit as often as asked."""
    path, n_clusters, epsilon, low, high, runs = sys.argv[1:]
    points = np.load(path)
    answers = []
    for _ in range(int(runs)):
        model = KMeans(int(n_clusters), epsilon=float(epsilon), bounds=(float(low), float(high)))
        start = time.process_time()
        model.fit(points)
        answers.append([model.cluster_centers_.tolist(), time.process_time() - start])
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
