"""Ten further tables, to judge predictions beyond the sets of the paper.

Their source centres the columns and transforms some targets: they are tables to predict, not
reference values.
"""

from confide.datasets.sets import BenchmarkSet

_COPY = "github.com/treforevans/uci_datasets, commit f073752, file uci_datasets/{}/data.csv.gz"


def _table(name: str, checksum: str, n_features: int) -> BenchmarkSet:
    # The source has no names of columns.
    names = tuple(f"x{i}" for i in range(1, n_features + 1))
    return BenchmarkSet(checksum, names, _COPY.format(name))


_CHECKSUMS = {
    "airfoil": ("9d8a0d6fe2096c7cbe67fc4d64da556328935398d3225603011d3dc2fecd099a", 5),
    "autompg": ("943df8ad68b62b200b99d196918a39eaa2beb40f7946d44b4c26079e844be368", 7),
    "machine": ("36b2947c76a8eb25c0784ef0e774be204936a1eb2597814e696aa5606d587b36", 7),
    "servo": ("729f0593c6cbbca02aebdd32c314295adb6b59700b71308fe22af7246dabf5a3", 4),
    "bike": ("0a72d7f3b0f7f3bd934fa4d95021db67fbc3e30a536e7b25f34b07a92e4302b1", 17),
    "elevators": ("c9d3c4932a328774db34da0578c6c192a51b4a36ce8b6f4311f0a253efcf5dee", 18),
    "pol": ("7037a26aa4cdf0e10f29befb56cde93a85fa6a9ae9a790b58b847f374499a3e4", 26),
    "parkinsons": ("371d7a1ab0ee3dda2dcdd0b180063e99e0f162bfd4f7e469cc383861968b25bb", 20),
    "skillcraft": ("b77fef868d635340c3b791dad7332dbf67d05409c43d0f012b0b58abcd255dd0", 19),
    "stock": ("1c1ea2d85f2d127ecf4e08b0a3a902ec4aae8057f9d9789c96436ab5de1f3373", 11),
}

MORE_SETS = {
    name: _table(name, checksum, n_features) for name, (checksum, n_features) in _CHECKSUMS.items()
}
