"""The changes that ``test_walks`` makes on a copy: what is written where, and who then uses it.

Each belongs to a line of the table in CONTRIBUTING.md. A change of a file puts new text in front of
a piece of it, or at its end; what follows is run on the copy and must succeed.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FAMILY", "NAMES_OF_THE_FAMILY", "WALKS", "Walk"]

END = ""


@dataclass(frozen=True)
class Walk:
    """One change.

    Attributes
    ----------
    line : str
        The first cell of its line of the table.
    changes : tuple of (file, place, text)
        What is put where: before the only ``place`` in a file of the package, or at its end.
    used : str
        Python that needs the change.
    """

    line: str
    changes: tuple[tuple[str, str, str], ...]
    used: str


ROWS = """
import numpy as np, pandas as pd
from privclust.cli import main
def command(*words):
    try:
        main(words)
    except SystemExit as end:
        assert end.code in (0, None), words
rows = pd.DataFrame(np.random.default_rng(0).uniform(0, 1, (400, 2)), columns=["x", "y"])
rows.to_csv("rows.csv", index=False)
"""

QUESTION = Walk(
    "a question to a view",
    (
        (
            "data/points/kernels.py",
            END,
            '''

@dataclass(frozen=True)
class RowsAbove:
    """The number of rows above a level, in each coordinate."""

    levels: Floats

    @property
    def question(self) -> Question:
        """A row adds 0 or 1 to each of the counts."""
        return Question("rows_above", Term.within(1, len(self.levels)))

    def __call__(self, rows: GridPiece) -> Integers:
        """Return what some rows add."""
        return (dense(rows) > np.rint(self.levels * GRID_RADIUS)).sum(axis=0)
''',
        ),
        (
            "data/points/view.py",
            '        "second_moments": "in which',
            '        "rows_above": "how many rows lie above a level",\n',
        ),
        (
            "data/points/view.py",
            "    def ask_second_moments(",
            '''    def ask_rows_above(self, name: str, levels: Floats, share: Share) -> Noisy:
        """Ask how many rows lie above a level, in each coordinate."""
        return self._answer(name, RowsAbove(levels), share)

''',
        ),
        (
            "data/points/view.py",
            "from privclust.data.points.mixed import",
            "from privclust.data.points.kernels import RowsAbove\n",
        ),
    ),
    """
import numpy as np
from privclust.budget import Budget
from support.views import view_of
budget = Budget(1)
view = view_of(np.array([[0.5, -0.5], [0.9, 0.9]]), budget=budget)
answer = view.ask_rows_above("levels", np.zeros(2), budget.whole)
assert answer.value.tolist() == [2, 1]
assert view.asks["rows_above"]
""",
)

UNIT = Walk(
    "a unit of rows, also one with ids",
    (
        (
            "unit/rows.py",
            END,
            '''

@dataclass(frozen=True)
class ThreeRows(RowUnit):
    """Neighbours differ by up to three rows."""

    name: ClassVar[str] = "three-rows"
    id_column = None
    n_rows = None

    @property
    def one_step(self) -> UnitStep:
        """Three rows more, or fewer."""
        return UnitStep(3)

    def describe(self, budget: Budget | None = None) -> str:
        """Say in plain words what is protected."""
        return f"Adding or removing any three rows {CHANGES}"
''',
        ),
        ("unit/__init__.py", "MatrixCount, MatrixEntry, MatrixRow)\n}", "ThreeRows, "),
        (
            "unit/__init__.py",
            "from privclust.unit.rows import AddRemoveRow",
            "from privclust.unit.rows import ThreeRows\n",
        ),
        (
            "unit/words.py",
            '    "replace-row": UnitWords(',
            """    "three-rows": UnitWords(
        one="three rows",
        many="rows",
        odds="that three given rows are in the data",
        guess="that these three rows are in the data",
        here="with any three rows in the data",
        there="without them",
        limit="Up to three rows are protected together.",
    ),
""",
        ),
        (
            "service/web/manage.py",
            '        "replace-row": "the content of a row",',
            '        "three-rows": "three rows",\n',
        ),
    ),
    f"""{ROWS}
command("kmeans", "rows.csv", "--bounds", "0", "1", "--clusters", "2", "--unit", "three-rows",
        "--output", "release")
from privclust import Release
from privclust.ledger import Ledger
page = Release.load("release").to_html()
assert "any three rows" in page
assert "that three given rows are in the data" in page
Ledger.open("budget.db").create_dataset("rows", "three-rows")
""",
)

METHOD = Walk(
    "a method in a family",
    (
        (
            "clustering/twice.py",
            END,
            '''"""The method "twice"."""

from privclust.clustering.lloyd import ask_lloyd as ask_twice
''',
        ),
        ("clustering/estimator.py", '    "lloyd": ask_lloyd,', '    "twice": ask_twice,\n'),
        (
            "clustering/estimator.py",
            "from privclust.clustering.auto import",
            "from privclust.clustering.twice import ask_twice\n",
        ),
        ("clustering/estimator.py", '"lloyd"] = "auto"', '"twice", '),
        ("clustering/task.py", '"lloyd")', '"twice", '),
    ),
    f"""{ROWS}
command("kmeans", "rows.csv", "--bounds", "0", "1", "--clusters", "2", "--method", "twice",
        "--output", "release")
import inspect
from privclust import PrivateKMeans
from privclust.service.offers import OFFERS
assert "twice" in str(inspect.signature(PrivateKMeans))
assert any("twice" in str(offer.options) for offer in OFFERS.values())
""",
)

FIT_OPTION = Walk(
    "an option of all fits",
    (
        (
            "cli/fit.py",
            "    overwrite: options.Overwrite",
            '    project: Annotated[str | None, _text("project", "Of which project.")] = None\n',
        ),
    ),
    """
from privclust.cli import app
from privclust.families import FAMILIES
from support.command_line import command_of
commands = command_of(app).commands
for family in FAMILIES:
    assert "project" in {option.name for option in commands[family.command].params}
""",
)

ANY_OPTION = Walk(
    "an option of all commands",
    (
        (
            "cli/screen.py",
            '    "as_json": Annotated[bool',
            '    "hushed": Annotated[bool, typer.Option("--hushed", help="Say less.")],\n',
        ),
    ),
    """
from privclust.cli import app
from support.command_line import command_of
root = command_of(app)
for name in ("kmeans", "audit", "demo"):
    assert "hushed" in {option.name for option in root.commands[name].params}
assert "hushed" in {option.name for option in root.commands["ledger"].commands["grant"].params}
""",
)

OWN_OPTION = Walk(
    "an option of a family",
    (
        (
            "bounds/task.py",
            "UNREADABLE = Parameter(",
            'CALM = Parameter("calm", FLAG, False, "Say less.")\n',
        ),
        ("bounds/task.py", "SHARE, OneOf", "FLAG, "),
        ("bounds/task.py", "UNREADABLE), in_service", "CALM, "),
        ("bounds/estimator.py", "        delta: Any = 0,", "        calm: bool = False,\n"),
        ("bounds/estimator.py", "        self.delta = delta", "        self.calm = calm\n"),
    ),
    f"""{ROWS}
from privclust import PrivateBounds
from privclust.cli import app
from privclust.exceptions import ParameterError
from support.command_line import command_of
commands = command_of(app).commands
for group in (commands, commands["plan"].commands):
    assert "calm" in {{option.name for option in group["bounds"].params}}
try:
    PrivateBounds(calm="no").fit(rows)
except ParameterError as error:
    assert "calm must be True or False" in str(error)
else:
    raise AssertionError
""",
)

METRIC = Walk(
    "a metric of source-target",
    (
        (
            "data/sites/distances.py",
            '    Metric("manhattan", order=1),',
            '    Metric("twice", lengths=lambda straight: np.asarray(2 * straight)),\n',
        ),
        ("data/sites/distances.py", '"manhattan", "cosine"', '"twice", '),
        ("source_target/task.py", '"manhattan", "cosine"', '"twice", '),
    ),
    f"""{ROWS}
from privclust import PrivateSourceTargetMedoids, Release
costs = [
    PrivateSourceTargetMedoids(2, metric=metric, random_state=0)
    .fit(rows[:20], source=rows[20:]).release()
    for metric in ("euclidean", "twice")
]
command("source-target", "--source", "rows.csv", "--target", "rows.csv", "--column", "x",
        "--column", "y", "--metric", "twice", "--centers", "2", "--output", "release")
assert Release.load("release").parameters["metric"] == "twice"
""",
)

RULE = Walk(
    "a rule of the ledger",
    (
        (
            "ledger/rules.sql",
            "-- rule charge:",
            """-- rule somebody: nobody gets nothing
NEW.kind = 'grant' AND NEW.holder = 'nobody'

""",
        ),
    ),
    """
from privclust.exceptions import LedgerError
from privclust.ledger import Ledger
ledger = Ledger.open("budget.db")
ledger.create_dataset("rows")
ledger.grant("rows", 1, holder="somebody")
try:
    ledger.grant("rows", 1, holder="nobody")
except LedgerError as error:
    assert "nobody gets nothing" in f"{error} {error.__cause__}", error
else:
    raise AssertionError
""",
)

SECTION = Walk(
    "a section in the report of a family",
    (
        (
            "bounds/release.py",
            '        "outside": ',
            '        "columns": len(release.schema.names),\n',
        ),
        (
            "bounds/report.html.j2",
            END,
            "<section><h2>How many</h2><p>There are {{ kind.columns }} columns.</p></section>\n",
        ),
    ),
    f"""{ROWS}
from privclust import PrivateBounds
assert "There are 2 columns." in PrivateBounds(2).fit(rows).release().to_html()
""",
)

MATRIX_UNIT = Walk(
    "a unit of a matrix",
    (
        (
            "unit/matrix.py",
            "def _is_whole(",
            '''@dataclass(frozen=True)
class MatrixPair(MatrixUnit):
    """Neighbours are matrices of counts of one shape, one entry of which differs by up to two."""

    unreadable: Unreadable = "error"
    name: ClassVar[str] = "matrix-pair"

    @property
    def levels(self) -> int:
        """A count differs by up to two."""
        return 2

    def describe(self, budget: Budget | None = None) -> str:
        """Say in plain words what is protected."""
        return f"Adding up to two to any one entry, or taking up to two away, {CHANGES}"


''',
        ),
        ("unit/__init__.py", "ReplaceRow, Person", "MatrixPair, "),
        ("unit/__init__.py", "    MatrixRow,\n    MatrixUnit,\n    group", "    MatrixPair,\n"),
        (
            "unit/words.py",
            '    "matrix-row": UnitWords(',
            """    "matrix-pair": UnitWords(
        one="two counts",
        many="counts",
        odds="that two given counts are in an entry",
        guess="that these two counts are there",
        here="with any two counts in an entry",
        there="without them",
        limit="Two counts are protected together.",
    ),
""",
        ),
        (
            "service/web/manage.py",
            '        "matrix-row": "one',
            '        "matrix-pair": "two counts",\n',
        ),
    ),
    """
import numpy as np
from privclust import PrivateCoclustering
counts = np.random.default_rng(0).poisson(3, (30, 6))
release = PrivateCoclustering(2, 2, unit="pair").fit(counts).release()
assert "that two given counts are in an entry" in release.to_html()
assert release.privacy.unit["name"] == "matrix-pair"
""",
)

ESTIMATOR = Walk(
    "an estimator in a family",
    (
        (
            "clustering/halves.py",
            END,
            '''"""``PrivateHalves``: two clusters."""

from privclust.clustering.estimator import PrivateKMeans


class PrivateHalves(PrivateKMeans):
    """Private k-means with two clusters."""

    def __init__(self, *, epsilon=1.0, delta=0, budget=None, schema=None, bounds=None,
                 unit="add-remove-row", random_state=None, ledger=None, dataset=None):
        super().__init__(2, epsilon=epsilon, delta=delta, budget=budget, schema=schema,
                         bounds=bounds, unit=unit, random_state=random_state, ledger=ledger,
                         dataset=dataset)
''',
        ),
        (
            "clustering/__init__.pyi",
            END,
            "from privclust.clustering.halves import PrivateHalves as PrivateHalves\n",
        ),
        (
            "clustering/task.py",
            '        Variant(\n            "privclust.papers.zones:PrivateZoneKMeans"',
            '        Variant("privclust.clustering:PrivateHalves", (), methods=("halves",)),\n',
        ),
    ),
    f"""{ROWS}
command("kmeans", "rows.csv", "--bounds", "0", "1", "--method", "halves", "--output", "release")
from privclust import Release
from privclust.clustering import PrivateHalves
assert len(Release.load("release").arrays["cluster_sizes"]) == 2
""",
)

FIELD = Walk(
    "a field of a release",
    (
        (
            "coclustering/table_method.py",
            "        profiles=profiles,",
            "        parts=len(tables),\n",
        ),
        (
            "coclustering/result.py",
            "    notes: tuple",
            "    parts: int = 0  # how many tables were asked\n",
        ),
        (
            "coclustering/estimator.py",
            '            "tau": self.tau_,',
            '            "parts": self.parts_,\n',
        ),
        (
            "coclustering/estimator.py",
            "        self.block_totals_error_ = ",
            "        self.parts_ = result.parts\n",
        ),
        (
            "coclustering/estimator.py",
            "    tau_ : ",
            "    parts_ : int\n        How many tables were asked.\n",
        ),
    ),
    """
import numpy as np
from privclust import PrivateCoclustering, Release
counts = np.random.default_rng(0).poisson(3, (30, 6))
PrivateCoclustering(2, 2).fit(counts).release().save("release")
assert Release.load("release").parameters["parts"] >= 1
""",
)

OFFERED = Walk(
    "a family on the service",
    (
        (
            "service/offers.py",
            "from privclust.categories.task import",
            "from privclust.bounds.task import BOUNDS\n",
        ),
        (
            "service/offers.py",
            "        Offer(DENSITY, clumps),",
            "        Offer(BOUNDS, clumps),\n",
        ),
    ),
    """
from privclust.service.offers import OFFERS
assert OFFERS["bounds"].task.title == "Bounds of columns"
""",
)

NOISE = Walk(
    "a source of noise",
    (
        (
            "privacy/noise/counted.py",
            END,
            '''"""Exact noise that counts what is drawn."""

from privclust.privacy.noise.exact import ExactNoise


class CountedNoise(ExactNoise):
    """Exact noise, and how often discrete Laplace noise was drawn."""

    drawn = 0

    def laplace(self, scale, count):
        """Draw, and count."""
        self.drawn += 1
        return super().laplace(scale, count)
''',
        ),
    ),
    """
import numpy as np
from privclust.budget import Budget
from privclust.privacy.noise.counted import CountedNoise
from support.views import view_of
noise, budget = CountedNoise(), Budget(1)
view_of(np.zeros((4, 2)), budget=budget, noise=noise).ask_count("rows", budget.whole)
assert noise.drawn == 1
""",
)

RIVAL = Walk(
    "a rival",
    (
        (
            "papers/rivals/lazy.py",
            END,
            '''"""A rival that asks as DPLloyd does."""

from privclust.clustering.estimator import PrivateKMeans
from privclust.clustering.lloyd import ask_lloyd


class PrivateLazy(PrivateKMeans):
    """DPLloyd under another name."""

    def _ask_clusters(self, view, share, rng):
        return ask_lloyd(view, share, int(self.n_clusters), rng)
''',
        ),
        (
            "papers/rivals/__init__.pyi",
            END,
            "from privclust.papers.rivals.lazy import PrivateLazy as PrivateLazy\n",
        ),
    ),
    f"""{ROWS}
from privclust.papers.rivals import PrivateLazy
from privclust.papers import rivals
assert "PrivateLazy" in rivals.__all__
assert len(PrivateLazy(2, bounds=(0, 1)).fit(rows).cluster_centers_) == 2
""",
)

WALKS = (
    QUESTION,
    UNIT,
    MATRIX_UNIT,
    METHOD,
    ESTIMATOR,
    FIELD,
    OFFERED,
    FIT_OPTION,
    ANY_OPTION,
    OWN_OPTION,
    RIVAL,
    METRIC,
    RULE,
    SECTION,
    NOISE,
)

# A family is a folder and a line. This one is a copy of the smallest, under other names.
NAMES_OF_THE_FAMILY = {
    "privclust.bounds": "privclust.ranges",
    "PrivateBounds": "PrivateRanges",
    '_kind = "bounds"': '_kind = "ranges"',
    'name="bounds"': 'name="ranges"',
    'COMMANDS = {"bounds"': 'COMMANDS = {"ranges"',
}
FAMILY = Walk(
    "a family",
    (("families.py", '    Family("summary"', '    Family("ranges", "ranges", "ranges"),\n'),),
    f"""{ROWS}
command("ranges", "rows.csv", "--epsilon", "2", "--output", "release")
command("plan", "ranges", "--columns", "2")
from privclust import Release
from privclust.cli.audit import SUBJECTS
assert "ranges" in SUBJECTS
assert Release.load("release").kind == "ranges"
""",
)
