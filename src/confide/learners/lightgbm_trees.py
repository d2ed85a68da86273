"""Trees grown by LightGBM."""

import re
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float, Float32, UInt32

from confide.extras import require
from confide.learners.boosting import BoostedTrees, Stretch, check_children, check_splits
from confide.randomness import generator_from

# The same whatever the user says.
_FIXED: Mapping[str, Any] = {
    "objective": "regression",
    "metric": "none",
    "boost_from_average": False,
    "num_threads": 1,
    "force_col_wise": True,  # one of the two must be said, else both are timed and the faster used
    "deterministic": True,
    "use_missing": False,
    "feature_pre_filter": False,
    "bagging_freq": 1,
    "verbosity": -1,
}
# Too little to change which rows are sampled, see `_chance`.
_NUDGE = 1e-9
_WHOLE = re.compile(r"-?\d{1,9}(?: -?\d{1,9})*")
_NUMBER = r"-?\d{1,309}(?:\.\d{1,30})?(?:e[-+]\d{1,3})?"
_NUMBERS = re.compile(f"{_NUMBER}(?: {_NUMBER})*")
# The lines of a tree that predicting needs, with how they are written.
_LINES = {
    "split_feature": _WHOLE,
    "threshold": _NUMBERS,
    "left_child": _WHOLE,
    "right_child": _WHOLE,
    "leaf_value": _NUMBERS,
}
_END = "end of trees\n"


class Model(NamedTuple):
    """A member's trees in LightGBM's words, and the booster that was made of them."""

    trees: tuple[str, ...]
    booster: Any


class LightGBM(BoostedTrees):
    """Boosted trees of LightGBM."""

    library: ClassVar[str] = "lightgbm"
    # For 200 rounds, see `XGBoost` for the measure: concrete 0.237 and wine_red 0.734 (with three
    # rows in a leaf); boston 0.360 and energy 0.034 (three rows: 0.363, 0.038). 31 leaves: 0.237,
    # 0.728, 0.375, 0.038, in almost twice the time. 80 % of the columns at each node: 0.240, 0.736,
    # 0.366, 0.038 (with three rows).
    defaults: ClassVar[Mapping[str, Any]] = {
        "learning_rate": 0.1,
        "num_leaves": 15,
        "bagging_fraction": 0.5,
        # Rows are counted by their weight, so that a row that is seen twice counts twice.
        "min_data_in_leaf": 1,
        "min_sum_hessian_in_leaf": 1.0,
        "max_bin": 63,
    }
    names: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "learning_rate": ("shrinkage_rate", "eta"),
        "num_leaves": ("num_leaf", "max_leaves", "max_leaf", "max_leaf_nodes"),
        "max_depth": (),
        "min_data_in_leaf": (
            *("min_data_per_leaf", "min_data", "min_child_samples", "min_samples_leaf"),
        ),
        "min_sum_hessian_in_leaf": (
            *("min_sum_hessian_per_leaf", "min_sum_hessian", "min_hessian", "min_child_weight"),
        ),
        "bagging_fraction": ("sub_row", "subsample", "bagging"),
        "feature_fraction": ("sub_feature", "colsample_bytree"),
        "feature_fraction_bynode": ("sub_feature_bynode", "colsample_bynode"),
        "extra_trees": ("extra_tree",),
        "lambda_l1": ("reg_alpha", "l1_regularization"),
        "lambda_l2": ("reg_lambda", "lambda", "l2_regularization"),
        "min_gain_to_split": ("min_split_gain",),
        "max_delta_step": ("max_tree_output", "max_leaf_output"),
        "path_smooth": (),
        "max_bin": ("max_bins",),
        "min_data_in_bin": (),
        "monotone_constraints": ("mc", "monotone_constraint", "monotonic_cst"),
        "monotone_constraints_method": ("monotone_constraining_method", "mc_method"),
        "monotone_penalty": ("monotone_splits_penalty", "ms_penalty", "mc_penalty"),
        "interaction_constraints": (),
    }
    shares: ClassVar[Collection[str]] = (
        *("bagging_fraction", "feature_fraction", "feature_fraction_bynode"),
    )

    def _table(self, X: Float32[np.ndarray, "row feature"]) -> Any:
        lightgbm = require(self.library, "boosting")
        settings = {**self.settings, **_FIXED}
        share = settings["bagging_fraction"]
        if _nudged(share, 2) * len(X) < 1:
            raise ValueError(
                f"LightGBM must train on at least one row in a round, and `bagging_fraction` "
                f"{share} of {len(X)} rows is none. Pass more rows, or a larger share in "
                "`learner_parameters`."
            )
        table = lightgbm.Dataset(X, params=settings, free_raw_data=False).construct()
        # LightGBM refuses a table in which nothing can be split; such members have no trees.
        can_be_split = any(table.feature_num_bin(i) > 1 for i in range(X.shape[1]))
        return table if can_be_split else None

    def _boosted(self, table: Any, model: Any, stretch: Stretch) -> Any:
        if table is None:
            deque(stretch.rounds, maxlen=0)  # they count as done
            return model
        lightgbm = require(self.library, "boosting")
        settings = {**self.settings, **_FIXED}
        table.set_label(stretch.y).set_weight(stretch.weight)
        # Also where it is zero: LightGBM would else begin with the mean if nothing can be split.
        start = np.zeros(len(stretch.y)) if model is None else self._predicted(model, table.data)
        table.set_init_score(start)
        share = settings.pop("bagging_fraction")
        booster = lightgbm.Booster({**settings, "bagging_fraction": _nudged(share, 2)}, table)
        for number in stretch.rounds:
            booster.reset_parameter(_chance(stretch.key, number, share))
            booster.update()
        trees = (() if model is None else model.trees) + _grown(booster.model_to_string())
        return self._model(trees, table.num_feature()) if trees else None

    def _predicted(
        self, model: Any, X: Float32[np.ndarray, "row feature"]
    ) -> Float[np.ndarray, " row"]:
        return model.booster.predict(X, num_threads=1)

    def _content(self, model: Any) -> tuple[Sequence[Any], int]:
        return model.trees, model.booster.num_feature()

    def _text(self, trees: Sequence[Any], n_features: int) -> str:
        blocks = [f"Tree={i}\n{tree}" for i, tree in enumerate(trees)]
        head = {
            "version": "v4",
            "num_class": 1,
            "num_tree_per_iteration": 1,
            "label_index": 0,
            "max_feature_idx": n_features - 1,
            "objective": "regression",
            "feature_names": " ".join(f"Column_{i}" for i in range(n_features)),
            "feature_infos": " ".join(["none"] * n_features),
            "tree_sizes": " ".join(str(len(block)) for block in blocks),
        }
        lines = "".join(f"{name}={value}\n" for name, value in head.items())
        return f"tree\n{lines}\n{''.join(blocks)}{_END}"

    def _checked_trees(self, text: str, n_features: int) -> Sequence[Any]:
        blocks = text.removesuffix(_END).split("\nTree=")[1:]
        return tuple(_checked_tree(block, n_features) for block in blocks)

    def _model(self, trees: Sequence[Any], n_features: int) -> Any:
        lightgbm = require(self.library, "boosting")
        text = self._text(trees, n_features)
        return Model(tuple(trees), lightgbm.Booster(model_str=text))


def _chance(key: UInt32[np.ndarray, "2"], number: int, share: float) -> dict[str, Any]:
    """The parameters that make a round's rows and columns depend on its key and number alone.

    LightGBM begins a new stream of random columns when their seed changes, but one of random rows
    only when their share changes: so it does, by next to nothing, from each round to the next.
    """
    seeds = generator_from(key, number).integers(2**31, size=3).tolist()
    names = ("bagging_seed", "feature_fraction_seed", "extra_seed")
    return {"bagging_fraction": _nudged(share, number % 2), **dict(zip(names, seeds, strict=True))}


def _nudged(share: float, times: int) -> float:
    return share if share == 1 else share * (1 - times * _NUDGE)


def _grown(text: str) -> tuple[str, ...]:
    """The trees of a text that LightGBM wrote, but for those without a split, which add nothing."""
    blocks = text.partition(_END)[0].split("\nTree=")[1:]
    trees = (_lines(block) for block in blocks)
    return tuple(_tree(lines) for lines in trees if lines.get("split_feature"))


def _lines(block: str) -> dict[str, str]:
    """The lines of a tree that predictions need, by name."""
    pairs = (line.partition("=")[::2] for line in block.split("\n"))
    return {name: values for name, values in pairs if name in _LINES}


def _tree(lines: Mapping[str, str]) -> str:
    """What predictions need of a tree, as LightGBM writes it; inputs are never missing."""
    n_splits = lines["split_feature"].count(" ") + 1
    return (
        f"num_leaves={n_splits + 1}\nnum_cat=0\n"
        + "".join(f"{name}={lines[name]}\n" for name in ("split_feature", "threshold"))
        + f"decision_type={' '.join(['2'] * n_splits)}\n"
        + "".join(f"{name}={lines[name]}\n" for name in ("left_child", "right_child", "leaf_value"))
        + "is_linear=0\nshrinkage=1\n\n\n"
    )


def _checked_tree(block: str, n_features: int) -> str:
    lines = _lines(block)
    for name, pattern in _LINES.items():
        if not pattern.fullmatch(lines.get(name, "")):
            raise ValueError(f"a tree's {name} are missing or not numbers")
    feature, threshold, left, right, value = (
        np.array(lines[name].split(), int if pattern is _WHOLE else float)
        for name, pattern in _LINES.items()
    )
    n_splits = len(feature)
    if not len(threshold) == len(left) == len(right) == len(value) - 1 == n_splits:
        raise ValueError("a tree lacks nodes")
    children = np.stack([left, right])
    is_leaf = children < 0
    check_children(children, is_leaf, n_splits)
    check_splits(feature, n_features, np.r_[threshold, value])
    if not np.array_equal(np.sort(~children[is_leaf]), np.arange(n_splits + 1)):
        raise ValueError("the leaves of a tree are missing or shared")
    return _tree(lines)
