"""Trees grown by XGBoost."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Float32

from confide.extras import require
from confide.learners.boosting import BoostedTrees, Stretch, check_children, check_splits
from confide.randomness import generator_from

_COLUMN_SHARES = ("colsample_bytree", "colsample_bylevel", "colsample_bynode")
# The same whatever the user says.
_FIXED: Mapping[str, Any] = {
    "objective": "reg:squarederror",
    "base_score": 0.0,
    "tree_method": "hist",
    "nthread": 1,
    "seed": 0,
}
# How XGBoost reads constraints where columns have numbers and no names.
_WRITTEN: Mapping[str, Callable[[Any], str]] = {
    "monotone_constraints": lambda signs: str(tuple(signs)),
    "interaction_constraints": str,
}
_NO_PARENT = 2**31 - 1


class XGBoost(BoostedTrees):
    """Boosted trees of XGBoost."""

    library: ClassVar[str] = "xgboost"
    # For 200 rounds. Root mean squared error of five members in units of the target's deviation,
    # five-fold: concrete 0.242 and wine_red 0.735, where they were chosen; boston 0.365 and energy
    # 0.035. With a rate of 0.05: 0.262, 0.733, 0.369, 0.038. With 80 % of the rows: 0.250, 0.729,
    # 0.372, 0.033. With 80 % of the columns at each node: 0.243, 0.733, 0.367, 0.035, in twice the
    # time (see `_sample_columns_anew`), so all of them are used. 256 bins took two to three times
    # as long and were no better.
    defaults: ClassVar[Mapping[str, Any]] = {
        "learning_rate": 0.1,
        "max_depth": 5,
        "subsample": 0.5,
        "max_bin": 64,
    }
    names: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "learning_rate": ("eta",),
        "gamma": ("min_split_loss",),
        "lambda": ("reg_lambda",),
        "alpha": ("reg_alpha",),
        **dict.fromkeys(("max_depth", "max_leaves", "grow_policy", "max_bin"), ()),
        **dict.fromkeys(("min_child_weight", "max_delta_step", "subsample", *_COLUMN_SHARES), ()),
        **dict.fromkeys(("monotone_constraints", "interaction_constraints"), ()),
    }
    shares: ClassVar[Collection[str]] = ("subsample", *_COLUMN_SHARES)

    def _table(self, X: Float32[np.ndarray, "row feature"]) -> Any:
        xgboost = require(self.library, "boosting")
        return xgboost.QuantileDMatrix(X, max_bin=self.settings["max_bin"], nthread=1)

    def _boosted(self, table: Any, model: Any, stretch: Stretch) -> Any:
        xgboost = require(self.library, "boosting")
        settings = self.settings
        for name, write in _WRITTEN.items():
            if name in settings:
                settings[name] = write(settings[name])
        # Rows are sampled here: XGBoost's own draws would begin anew with every stretch.
        share = settings.pop("subsample")
        samples_columns = any(settings.get(name, 1) < 1 for name in _COLUMN_SHARES)
        table.set_label(stretch.y)
        table.set_weight(stretch.weight)
        so_far = None if model is None else model.save_raw("ubj")
        booster = xgboost.Booster({**settings, **_FIXED}, [table], so_far)
        for number in stretch.rounds:
            generator = generator_from(stretch.key, number)
            if share < 1:
                is_sampled = generator.random(len(stretch.y), np.float32) < share
                table.set_weight(stretch.weight * is_sampled)
            if samples_columns:
                _sample_columns_anew(booster, int(generator.integers(2**31)))
            booster.update(table, number)
        # A copy without the table, and what XGBoost remembers of it.
        return xgboost.Booster({"nthread": 1}, model_file=booster.save_raw("ubj"))

    def _predicted(
        self, model: Any, X: Float32[np.ndarray, "row feature"]
    ) -> Float[np.ndarray, " row"]:
        return model.inplace_predict(X)

    def _content(self, model: Any) -> tuple[Sequence[Any], int]:
        return _trees(bytes(model.save_raw("json"))), model.num_features()

    def _text(self, trees: Sequence[Any], n_features: int) -> str:
        model = {
            "gbtree_model_param": {"num_parallel_tree": "1", "num_trees": str(len(trees))},
            "iteration_indptr": list(range(len(trees) + 1)),
            "tree_info": [0] * len(trees),
            "trees": [_tree(i, nodes, n_features) for i, nodes in enumerate(trees)],
        }
        learner = {
            "attributes": {},
            "feature_names": [],
            "feature_types": [],
            "gradient_booster": {"model": model, "name": "gbtree"},
            "learner_model_param": {
                "base_score": "0E0",
                "boost_from_average": "0",
                "num_class": "0",
                "num_feature": str(n_features),
                "num_target": "1",
            },
            "objective": {"name": "reg:squarederror", "reg_loss_param": {"scale_pos_weight": "1"}},
        }
        # The oldest version that reads this, so that all of them do.
        return json.dumps({"learner": learner, "version": [2, 0, 0]}, separators=(",", ":"))

    def _checked_trees(self, text: str, n_features: int) -> Sequence[Any]:
        try:
            trees = _trees(text)
        except (LookupError, TypeError, RecursionError) as error:
            raise ValueError(f"a model is not XGBoost's ({error!r})") from error
        for nodes in trees:
            _check_nodes(nodes, n_features)
        return trees

    def _model(self, trees: Sequence[Any], n_features: int) -> Any:
        xgboost = require(self.library, "boosting")
        text = self._text(trees, n_features)
        return xgboost.Booster({"nthread": 1}, model_file=bytearray(text, "ascii"))


def _sample_columns_anew(booster: Any, seed: int) -> None:
    """Makes the next round's columns depend on the seed alone.

    XGBoost seeds the sampling of columns when it sets up what grows trees, and never again. So it
    is made to set it up again, by asking for another one in between.
    """
    booster.set_param({"tree_method": "exact"})
    booster.num_features()  # parameters take effect when something is asked
    booster.set_param({"tree_method": "hist", "seed": seed})


def _trees(text: str | bytes) -> list[dict[str, list[Any]]]:
    """What predicting needs of the trees in XGBoost's JSON; inputs are never missing."""
    trees = json.loads(text)["learner"]["gradient_booster"]["model"]["trees"]
    names = ("left_children", "right_children", "split_indices", "split_conditions")
    return [{name: tree[name] for name in names} for tree in trees]


def _tree(number: int, nodes: Mapping[str, list[Any]], n_features: int) -> dict[str, Any]:
    n_nodes = len(nodes["left_children"])
    parents = [_NO_PARENT] * n_nodes
    for side in ("left_children", "right_children"):
        for parent, child in enumerate(nodes[side]):
            if child > 0:
                parents[child] = parent
    categories = ("categories", "categories_nodes", "categories_segments", "categories_sizes")
    return {
        **nodes,
        "parents": parents,
        **dict.fromkeys(("base_weights", "loss_changes", "sum_hessian"), [0.0] * n_nodes),
        **dict.fromkeys(("default_left", "split_type"), [0] * n_nodes),
        **{name: [] for name in categories},
        "id": number,
        "tree_param": {
            "num_deleted": "0",
            "num_feature": str(n_features),
            "num_nodes": str(n_nodes),
            "size_leaf_vector": "1",
        },
    }


def _check_nodes(nodes: Mapping[str, list[Any]], n_features: int) -> None:
    left, right, feature, condition = nodes.values()
    if not 0 < len(left) == len(right) == len(feature) == len(condition):
        raise ValueError("a tree lacks nodes")
    whole = (*left, *right, *feature)
    if not all(type(number) is int and -1 <= number < _NO_PARENT for number in whole):
        raise ValueError("nodes and features of a tree are not whole numbers")
    if not all(type(number) is float for number in condition):
        raise ValueError("the splits or leaves of a tree are not numbers")
    children = np.array([left, right])
    is_leaf = children == -1
    if not np.array_equal(is_leaf[0], is_leaf[1]):
        raise ValueError("a node of a tree has one child")
    with np.errstate(over="ignore"):  # too large for XGBoost is infinite
        numbers = np.array(condition).astype(np.float32)
    check_children(children, is_leaf, len(left))
    check_splits(np.array(feature), n_features, numbers)
