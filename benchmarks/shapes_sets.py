"""Sets of shapes by formula: those of scikit-learn, of the clustering literature, and further ones.

``TOY`` were used to choose constants. ``HELD``, ``FRESH`` and ``NEW`` chose none, but each was
looked at while the algorithm still changed; ``UNTOUCHED`` were drawn after its last change.
``ONE`` are sets of one cluster. See ``docs/research/shapes.md``.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.cluster import AgglomerativeClustering

from privclust import Box, Schema
from sklearn import datasets

CITIES = Path(__file__).parents[1] / "examples" / "clinic_sites_cities.csv"

Rows = tuple[np.ndarray, np.ndarray]
Maker = Callable[[np.random.Generator, int], Rows]


def ring(g: np.random.Generator, n: int, radius: float, width: float) -> np.ndarray:
    """Return rows along a circle."""
    turn = g.uniform(0, 2 * np.pi, n)
    return radius * np.c_[np.cos(turn), np.sin(turn)] + g.normal(0, width, (n, 2))


def pack(parts: Sequence[np.ndarray]) -> Rows:
    """Return parts as one set, each with its number as a label."""
    return np.vstack(parts), np.repeat(np.arange(len(parts)), [len(part) for part in parts])


def one(rows: np.ndarray) -> Rows:
    """Return rows that are one cluster."""
    return rows, np.zeros(len(rows), int)


def normals(
    centres: Sequence[Sequence[float]], widths: Sequence[float], shares: Sequence[float]
) -> Maker:
    """Return what makes round clusters."""

    def make(g: np.random.Generator, n: int) -> Rows:
        labels = g.choice(len(centres), n, p=shares)
        rows = np.array(centres)[labels]
        return rows + g.normal(size=rows.shape) * np.array(widths)[labels, None], labels

    return make


def seed_of(g: np.random.Generator) -> int:
    """Return a seed for a function of scikit-learn."""
    return int(g.integers(2**31))


def circles(g: np.random.Generator, n: int) -> Rows:
    """Return scikit-learn's circles."""
    return datasets.make_circles(n, factor=0.5, noise=0.05, random_state=seed_of(g))


def moons(g: np.random.Generator, n: int) -> Rows:
    """Return scikit-learn's moons."""
    return datasets.make_moons(n, noise=0.05, random_state=seed_of(g))


def _centres(seed: int) -> np.ndarray:
    return datasets.make_blobs(10, random_state=seed, return_centers=True)[2]


def varied(g: np.random.Generator, n: int) -> Rows:
    """Return round clusters of different widths."""
    widths = [1.0, 2.5, 0.5]
    return datasets.make_blobs(
        n, centers=_centres(170), cluster_std=widths, random_state=seed_of(g)
    )


def aniso(g: np.random.Generator, n: int) -> Rows:
    """Return long clusters."""
    rows, labels = datasets.make_blobs(n, centers=_centres(170), random_state=seed_of(g))
    return rows @ [[0.6, -0.6], [-0.4, 0.8]], labels


def blobs(g: np.random.Generator, n: int) -> Rows:
    """Return three round clusters."""
    return datasets.make_blobs(n, centers=_centres(30), random_state=seed_of(g))


def spirals(g: np.random.Generator, n: int) -> Rows:
    """Return two arms."""

    def arm(m: int, start: float) -> np.ndarray:
        turn = np.sqrt(g.uniform(0.04, 1, m)) * 3 * np.pi
        rows = np.c_[turn * np.cos(turn + start), turn * np.sin(turn + start)] / (3 * np.pi)
        return rows + g.normal(0, 0.02, (m, 2))

    return pack([arm(n // 2, 0), arm(n - n // 2, np.pi)])


def diamonds(g: np.random.Generator, n: int) -> Rows:
    """Return two diamonds that nearly touch."""
    turned = [g.uniform(-1, 1, (n // 2, 2)) @ [[0.5, 0.5], [0.5, -0.5]] for _ in range(2)]
    return pack([turned[0] - [1.03, 0], turned[1] + [1.03, 0]])


def lsun(g: np.random.Generator, n: int) -> Rows:
    """Return two bars and a ball."""
    bars = g.uniform([0, 0], [0.7, 3], (n // 2, 2)), g.uniform([1.2, 0], [3.6, 0.7], (n // 4, 2))
    return pack([*bars, g.normal([2.8, 2.6], 0.33, (n // 4, 2))])


def target(g: np.random.Generator, n: int) -> Rows:
    """Return a disc, a ring, and four small groups far out."""
    few, disc = n // 260, int(0.46 * n)
    far = [g.normal([2.9 * a, 2.9 * b], 0.05, (few, 2)) for a in (-1, 1) for b in (-1, 1)]
    return pack([ring(g, disc, 0, 0.22), ring(g, n - disc - 4 * few, 1.9, 0.08), *far])


def wingnut(g: np.random.Generator, n: int) -> Rows:
    """Return two plates, each denser at the corner that faces the other."""

    def plate(m: int) -> np.ndarray:
        rows = g.random((6 * m, 2)) * [2, 1]
        return rows[g.random(6 * m) < 0.25 + 0.75 * rows[:, 0] / 2 * rows[:, 1]][:m]

    return pack([plate(n // 2), [2.3, -0.25] - plate(n // 2)])


def noisy_shapes(g: np.random.Generator, n: int) -> Rows:
    """Return moons, a ball, and rows everywhere."""
    background = int(0.15 * n)
    rows, labels = datasets.make_moons(int(0.6 * n), noise=0.05, random_state=seed_of(g))
    ball = g.normal([0.5, 1.7], 0.12, (n - background - len(rows), 2))
    even = g.uniform([-1.5, -1], [2.5, 2.3], (background, 2))
    named = np.r_[labels, np.full(len(ball), 2), np.full(background, -1)]
    return np.vstack([rows, ball, even]), named


def birch(g: np.random.Generator, n: int) -> Rows:
    """Return 5 x 5 round clusters."""
    centres, labels = np.argwhere(np.ones((5, 5))), g.integers(0, 25, n)
    return centres[labels] + g.normal(0, 0.17, (n, 2)), labels


def sine(g: np.random.Generator, n: int) -> Rows:
    """Return two long waves."""
    along, labels = g.uniform(0, 10, n), g.integers(0, 2, n)
    return np.c_[along, 1.1 * labels + 0.8 * np.sin(along) + g.normal(0, 0.12, n)], labels


def smile(g: np.random.Generator, n: int) -> Rows:
    """Return a face: a ring, two eyes, a mouth."""
    turn = g.uniform(1.15 * np.pi, 1.85 * np.pi, n // 4)
    mouth = 0.6 * np.c_[np.cos(turn), np.sin(turn)] + g.normal(0, 0.03, (n // 4, 2))
    eyes = [g.normal([side, 0.35], 0.08, (n // 8, 2)) for side in (-0.35, 0.35)]
    return pack([ring(g, n // 2, 1, 0.03), *eyes, mouth])


def pinwheel(g: np.random.Generator, n: int) -> Rows:
    """Return five bent arms."""
    parts = []
    for arm in range(5):
        length = 1 + 0.35 * g.normal(size=n // 5)
        bent = 0.35 * np.exp(np.clip(length, -2, 2.2)) / 2
        turn = 2 * np.pi * arm / 5 + 0.12 * g.normal(size=n // 5) + bent
        parts.append(np.c_[length * np.cos(turn), length * np.sin(turn)])
    return pack(parts)


def stripes(g: np.random.Generator, n: int) -> Rows:
    """Return three slanting bars."""
    bars = [np.c_[g.uniform(0, 4, n // 3), g.normal(j, 0.16, n // 3)] for j in range(3)]
    return pack([bar @ [[0.8, 0.6], [-0.6, 0.8]] for bar in bars])


def chameleon(g: np.random.Generator, n: int) -> Rows:
    """Return a wave, two boxes, a ball, and rows everywhere."""
    m = n // 10
    along = g.uniform(0, 6, 4 * m)
    wave = np.c_[along, 0.7 * np.sin(along) + g.uniform(-0.25, 0.25, 4 * m)]
    boxes = [g.uniform([x, 1.8], [x + w, 2.8], (2 * m, 2)) for x, w in ((0.3, 2.0), (3.2, 2.5))]
    rows, labels = pack([wave, *boxes, g.normal([3, -2.2], 0.3, (m, 2))])
    even = g.uniform([-0.5, -3], [6.5, 3.3], (m, 2))
    return np.vstack([rows, even]), np.r_[labels, np.full(m, -1)]


def boxes4(g: np.random.Generator, n: int) -> Rows:
    """Return four rectangles of different sizes."""
    ends = [([0, 0], [2, 1]), ([2.4, 0], [3, 3]), ([0, 1.5], [0.8, 3]), ([1.2, 1.6], [2, 2.6])]
    shares = [0.35, 0.3, 0.2, 0.15]
    sized = zip(ends, shares, strict=True)
    return pack([g.uniform(low, high, (int(share * n), 2)) for (low, high), share in sized])


def horseshoe(g: np.random.Generator, n: int) -> Rows:
    """Return an arch and a ball inside."""
    turn = g.uniform(-0.15 * np.pi, 1.15 * np.pi, int(0.7 * n))
    arch = 1.5 * np.c_[np.cos(turn), np.sin(turn)] + g.normal(0, 0.1, (len(turn), 2))
    return pack([arch, g.normal([0, 0.1], 0.25, (n - len(turn), 2))])


def rays(g: np.random.Generator, n: int) -> Rows:
    """Return five rays around an empty middle."""
    parts = []
    for ray in range(5):
        along, turn = g.uniform(0.6, 2, n // 5), 2 * np.pi * ray / 5
        across = g.normal(0, 0.08, n // 5)
        parts.append(
            np.c_[
                along * np.cos(turn) - across * np.sin(turn),
                along * np.sin(turn) + across * np.cos(turn),
            ]
        )
    return pack(parts)


def beads(g: np.random.Generator, n: int) -> Rows:
    """Return eight balls along a circle, of different sizes."""
    labels = g.choice(8, n, p=np.arange(4, 12) / 60)
    turn = 2 * np.pi * labels / 8
    return 3 * np.c_[np.cos(turn), np.sin(turn)] + g.normal(0, 0.4, (n, 2)), labels


def clouds(g: np.random.Generator, n: int) -> Rows:
    """Return three clusters with heavy tails."""
    labels = g.integers(0, 3, n)
    rows = np.array([[-4.0, 0], [4, 0], [0, 6]])[labels] + g.standard_t(5, (n, 2))
    return np.clip(rows, -12, 14), labels


def frame(g: np.random.Generator, n: int) -> Rows:
    """Return a square within the frame of another."""
    turn, along = g.integers(0, 4, n // 2), g.uniform(-2, 2, n // 2)
    side = np.where(turn < 2, 2, -2)
    sides = np.where((turn % 2 == 0)[:, None], np.c_[along, side], np.c_[side, along])
    square = g.uniform(-0.9, 0.9, (n - n // 2, 2))
    return pack([sides + g.uniform(-0.2, 0.2, sides.shape), square])


def letter(g: np.random.Generator, n: int) -> Rows:
    """Return a C around a bar."""
    turn = g.uniform(0.25 * np.pi, 1.75 * np.pi, int(0.75 * n))
    bow = np.c_[1.2 * np.cos(turn), 1.8 * np.sin(turn)] + g.normal(0, 0.12, (len(turn), 2))
    return pack([bow, g.uniform([0, -0.5], [1.6, 0.1], (n - len(turn), 2))])


def zigzags(g: np.random.Generator, n: int) -> Rows:
    """Return four lines of teeth."""
    along, labels = g.uniform(0, 6, n), g.integers(0, 4, n)
    teeth = np.abs(along % 2 - 1)
    return np.c_[along, 0.9 * labels + 0.8 * teeth + g.normal(0, 0.07, n)], labels


def chevrons(g: np.random.Generator, n: int) -> Rows:
    """Return three arrow heads, one behind the other."""
    across, labels = g.uniform(-1, 1, n), g.integers(0, 3, n)
    return np.c_[0.7 * labels - 0.8 * np.abs(across) + g.normal(0, 0.06, n), across], labels


def bars(g: np.random.Generator, n: int) -> Rows:
    """Return five bars, the longer the sparser."""
    labels = g.integers(0, 5, n)
    along = g.uniform(0, 1, n) * (1 + 0.6 * labels)
    return np.c_[along, 0.7 * labels + g.uniform(-0.15, 0.15, n)], labels


def blossom(g: np.random.Generator, n: int) -> Rows:
    """Return six petals around a disc."""
    labels = g.choice(7, n, p=[0.16] + [0.14] * 6)
    turn, petal = 2 * np.pi * labels / 6, g.normal(size=(n, 2)) * [0.35, 0.16] + [2.2, 0]
    turned = np.c_[
        np.cos(turn) * petal[:, 0] - np.sin(turn) * petal[:, 1],
        np.sin(turn) * petal[:, 0] + np.cos(turn) * petal[:, 1],
    ]
    return np.where((labels == 0)[:, None], g.normal(0, 0.3, (n, 2)), turned), labels


def ring_around(g: np.random.Generator, n: int) -> Rows:
    """Return three clusters within a ring."""
    inner = [g.normal(place, 0.16, (n // 6, 2)) for place in ([0.6, 0], [-0.5, 0.5], [-0.3, -0.6])]
    return pack([ring(g, n - 3 * (n // 6), 1.6, 0.08), *inner])


def waves(g: np.random.Generator, n: int) -> Rows:
    """Return two waves in phase, evenly dense along themselves but for their slopes."""
    along, labels = g.uniform(0, 9, n), g.integers(0, 2, n)
    return np.c_[along, 0.5 * np.sin(along) + 0.9 * labels + g.normal(0, 0.08, n)], labels


def triangle(g: np.random.Generator, n: int) -> Rows:
    """Return a triangle."""
    rows = g.random((n, 2))
    return one(np.where(rows.sum(axis=1, keepdims=True) > 1, 1 - rows, rows))


def lshape(g: np.random.Generator, n: int) -> Rows:
    """Return an L."""
    rows = g.random((3 * n, 2))
    return one(rows[(rows > 0.4).sum(axis=1) < 2][:n])


def sphere(g: np.random.Generator, n: int) -> np.ndarray:
    """Return rows on a sphere."""
    rows = g.normal(size=(n, 3))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def chainlink(g: np.random.Generator, n: int) -> Rows:
    """Return two rings, each through the other."""
    a, b = ring(g, n // 2, 1, 0.08), ring(g, n // 2, 1, 0.08)
    off = g.normal(0, 0.08, (2, n // 2))
    return pack([np.c_[a, off[0]], np.c_[b[:, 0] + 1, off[1], b[:, 1]]])


def hepta(g: np.random.Generator, n: int) -> Rows:
    """Return seven balls, the one in the middle denser."""
    centres, labels = np.vstack([np.zeros(3), 3 * np.eye(3), -3 * np.eye(3)]), g.integers(0, 7, n)
    widths = np.where(labels == 0, 0.25, 0.5)[:, None]
    return centres[labels] + g.normal(size=(n, 3)) * widths, labels


def atom(g: np.random.Generator, n: int) -> Rows:
    """Return a ball within a shell."""
    shell = sphere(g, n // 2) * (2.5 + g.normal(0, 0.1, (n // 2, 1)))
    return pack([g.normal(0, 0.25, (n - n // 2, 3)), shell])


def tetra(g: np.random.Generator, n: int) -> Rows:
    """Return four balls that nearly touch."""
    centres = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    labels = g.integers(0, 4, n)
    return centres[labels] + 1.2 * sphere(g, n) * g.random((n, 1)) ** (1 / 3), labels


def band(g: np.random.Generator, n: int) -> Rows:
    """Return a slanting band."""
    return one(g.random((n, 2)) * [6, 1] @ np.array([[0.8, 0.6], [-0.6, 0.8]]))


Sets = dict[str, tuple[Maker, int]]
TOY: Sets = {
    "circles": (circles, 2), "moons": (moons, 2), "varied": (varied, 3), "aniso": (aniso, 3),
    "blobs": (blobs, 3),
}  # fmt: skip
HELD: Sets = {
    "spirals": (spirals, 2),
    "rings3": (lambda g, n: pack([ring(g, n // 3, r, 0.03) for r in (0.3, 0.6, 0.95)]), 3),
    "diamonds": (diamonds, 2),
    "lsun": (lsun, 3),
    "target": (target, 2),
    "wingnut": (wingnut, 2),
    "engytime": (
        lambda g, n: pack(
            [g.normal([0, 0], [0.6, 0.8], (n // 2, 2)), g.normal([3, 2.4], [1.2, 0.8], (n // 2, 2))]
        ),
        2,
    ),
    "noisyshapes": (noisy_shapes, 3),
    "birch": (birch, 25),
    "sine": (sine, 2),
}
FRESH: Sets = {
    "smile": (smile, 4),
    "pinwheel": (pinwheel, 5),
    "stripes": (stripes, 3),
    "chameleon": (chameleon, 4),
    "sizes": (
        normals(
            [[0, 0], [3.2, 0.3], [1.5, 3], [4.6, 3.2], [6.2, 0.6]],
            [0.8, 0.5, 0.6, 0.35, 0.45],
            [0.4, 0.2, 0.2, 0.08, 0.12],
        ),
        5,
    ),
}
NEW: Sets = {
    "boxes4": (boxes4, 4), "horseshoe": (horseshoe, 2), "rays": (rays, 5), "beads": (beads, 8),
    "clouds": (clouds, 3),
}  # fmt: skip
UNTOUCHED: Sets = {
    "frame": (frame, 2),
    "letter": (letter, 2),
    "zigzags": (zigzags, 4),
    "big and small": (normals([[0, 0], [3.4, 1.2]], [1.1, 0.5], [0.8, 0.2]), 2),
    "hills": (
        normals(
            [[0, 0], [3, 0.5], [6, 0], [1, 3], [4.2, 3.4], [7, 3]],
            [0.7, 0.6, 0.8, 0.5, 0.9, 0.6],
            [0.25, 0.1, 0.2, 0.1, 0.25, 0.1],
        ),
        6,
    ),
}
LAST: Sets = {
    "chevrons": (chevrons, 3), "bars": (bars, 5), "blossom": (blossom, 7),
    "ring around": (ring_around, 4), "waves": (waves, 2),
}  # fmt: skip
ONE: Sets = {
    "triangle": (triangle, 1),
    "exponential": (lambda g, n: one(np.minimum(g.exponential(1, (n, 2)), 6)), 1),
    "L": (lshape, 1),
    "Student": (lambda g, n: one(np.clip(g.standard_t(3, (n, 2)), -10, 10)), 1),
    "band": (band, 1),
}
SOLID: Sets = {
    "chainlink": (chainlink, 2), "hepta": (hepta, 7), "atom": (atom, 2), "tetra": (tetra, 4),
}  # fmt: skip
SOLID_ONE: Sets = {
    "golf ball": (lambda g, n: one(sphere(g, n)), 1),
    "cube": (lambda g, n: one(g.random((n, 3))), 1),
}
GROUPS: dict[str, Sets] = {
    "toy": TOY, "held": HELD, "fresh": FRESH, "new": NEW, "untouched": UNTOUCHED, "last": LAST,
    "one cluster": ONE,
    "three columns": SOLID, "three columns, one cluster": SOLID_ONE,
}  # fmt: skip


def declared_bounds(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what an owner might declare: the range, a tenth wider on both sides."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    return low - 0.1 * (high - low), high + 0.1 * (high - low)


@dataclass(frozen=True)
class TownMap:
    """Rows around places, the group of places that each belongs to, and public bounds."""

    rows: np.ndarray
    truth: np.ndarray
    n_groups: int
    low: tuple[float, float]
    high: tuple[float, float]

    @classmethod
    def around(
        cls, places: np.ndarray, people: np.ndarray, n: int, rng: np.random.Generator,
        scatter: float, linked: float, box: tuple[tuple[float, float], tuple[float, float]],
    ) -> TownMap:  # fmt: skip
        """Return rows by population; places closer than ``linked`` are one group."""
        grouped = AgglomerativeClustering(None, distance_threshold=linked, linkage="single")
        groups = grouped.fit_predict(places)
        chosen = rng.choice(len(places), n, p=people / people.sum())
        rows = np.clip(places[chosen] + rng.normal(0, scatter, (n, 2)), *box)
        return cls(rows, groups[chosen], len(np.unique(groups)), *box)


def towns(n: int, rng: np.random.Generator) -> TownMap:
    """Return rows around European cities by population, and the conurbation of each."""
    cities, box = pd.read_csv(CITIES), ((-11.0, 35.0), (32.0, 66.0))
    places = cities[["longitude", "latitude"]].to_numpy()
    inside = ((places > box[0]) & (places < box[1])).all(axis=1)
    people = cities["population_thousands"].to_numpy()[inside]
    return TownMap.around(places[inside], people, n, rng, 0.15, 0.9, box)


def villages(n: int, rng: np.random.Generator) -> TownMap:
    """Return rows around 150 places at random, few of them large."""
    places, people = rng.uniform(2, 98, (150, 2)), 1 / np.arange(1, 151) ** 0.8
    return TownMap.around(places, people, n, rng, 0.4, 2.4, ((0.0, 0.0), (100.0, 100.0)))


def hamlets(n: int, rng: np.random.Generator) -> TownMap:
    """Return rows around 250 places at random, of all sizes."""
    places, people = rng.uniform(1, (59, 39), (250, 2)), rng.lognormal(0, 1, 250)
    return TownMap.around(places, people, n, rng, 0.12, 0.7, ((0.0, 0.0), (60.0, 40.0)))


def coast(n: int, rng: np.random.Generator) -> TownMap:
    """Return rows around 120 places along a coast, within bounds far wider than it."""
    along, people = rng.uniform(3, 97, 120), rng.pareto(1.5, 120) + 0.2
    places = np.column_stack([along, 30 + 9 * np.sin(along / 9) + rng.normal(0, 2, 120)])
    return TownMap.around(places, people, n, rng, 0.25, 1.5, ((0.0, 0.0), (100.0, 60.0)))


# The rule that looks for towns was chosen on the first two, and not looked at with the others.
MAPS: dict[str, Callable[[int, np.random.Generator], TownMap]] = {
    "towns of Europe": towns, "villages": villages, "hamlets": hamlets, "coast": coast,
}  # fmt: skip


def real_tables(data: Path | None) -> Iterator[tuple[str, np.ndarray, Schema]]:
    """Yield the tables that are at hand, with bounds that anybody would declare."""
    pixels = datasets.load_sample_image("china.jpg").reshape(-1, 3)[:, [0, 2]].astype(float)
    whole = [Box(0, 255, form="integer")] * 2
    yield "photograph: red, blue", pixels, _schema(*whole)
    if data is not None and (data / "superconductivity.npz").exists():
        stored = np.load(data / "superconductivity.npz", allow_pickle=True)
        column = list(stored["names"]).index("wtd_mean_Valence")
        rows = np.c_[stored["features"][:, column], stored["critical_temperature"]].astype(float)
        yield "superconductors: valence, temperature", rows, _schema(Box(0, 8), Box(0, 200))
    if data is not None and (data / "adult.csv.gz").exists():
        with gzip.open(data / "adult.csv.gz") as file:
            table = pd.read_csv(file)[["age", "hours-per-week"]].to_numpy(float)
        ages_and_hours = Box(17, 90, form="integer"), Box(1, 99, form="integer")
        yield "adult: age, hours", table, _schema(*ages_and_hours)


def _schema(*boxes: Box) -> Schema:
    return Schema({f"x{j}": box for j, box in enumerate(boxes)})
