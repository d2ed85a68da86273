"""The paper's laws: normal, scaled t, and the sum of the two."""

from dataclasses import dataclass, replace

import numpy as np

from confide.uncertainty import t_plus_normal
from confide.uncertainty.law import Draws, NormalMixture, Numbers, Row, SymmetricLaw, Values


@dataclass(frozen=True)
class TPlusNormalLaw(SymmetricLaw):
    r"""The law of $\mu + s\,T + \tau Z$, with $T \sim t(\nu)$ and $Z$ normal, for each row.

    With `t_scale` zero it is normal (Deep Ensembles' prediction interval), with `normal_scale` zero
    a scaled t (Theorem 3.3), with both the law that Algorithm 2 samples from.

    Attributes:
        location: its centre.
        t_scale: the scale s of the t part.
        normal_scale: the standard deviation of the normal part.
        degrees_of_freedom: of the t part.
    """

    t_scale: Row
    normal_scale: Row
    degrees_of_freedom: int

    @classmethod
    def normal(cls, location: Row, scale: Row) -> "TPlusNormalLaw":
        """A normal law."""
        return cls(location, np.zeros_like(scale), scale, degrees_of_freedom=1)

    @classmethod
    def t(cls, location: Row, scale: Row, degrees_of_freedom: int) -> "TPlusNormalLaw":
        """A scaled t law."""
        return cls(location, scale, np.zeros_like(scale), degrees_of_freedom)

    @property
    def has_t_part(self) -> bool:
        """Whether any row has one."""
        return bool(self.t_scale.any())

    def half_width(self, confidence_level: float) -> Row:
        """Half the width of the central interval with that probability."""
        return t_plus_normal.half_width(confidence_level, *self._parts)

    def cdf(self, value: Values) -> Row:
        """The probability of lying at or below `value` (one number, or one for each row)."""
        distance = np.broadcast_to(value - self.location, self.location.shape)
        central = t_plus_normal.central_probability(np.abs(distance), *self._parts)
        return (1 + np.sign(distance) * central) / 2

    def log_density(self, value: Values) -> Row:
        """The logarithm of the density at `value` (one number, or one for each row)."""
        distance = np.broadcast_to(value - self.location, self.location.shape)
        return t_plus_normal.log_density(distance, *self._parts)

    def normal_mixture(self) -> NormalMixture:
        """The law as a mixture of normal laws: a t variable is a normal of random variance."""
        scales, weights = t_plus_normal.normal_mixture(*self._parts)
        return NormalMixture(self.location[:, None], scales, weights)

    def sample(self, generator: np.random.Generator, n_samples: int) -> Draws:
        """Independent draws, for each row."""
        shape = (n_samples, len(self.location))
        t = generator.standard_t(self.degrees_of_freedom, shape)
        noise = generator.standard_normal(shape)
        return self.location + self.t_scale * t + self.normal_scale * noise

    def take(self, rows: Numbers) -> "TPlusNormalLaw":
        """The law of the rows with these numbers, in this order."""
        return replace(
            self,
            location=self.location[rows],
            t_scale=self.t_scale[rows],
            normal_scale=self.normal_scale[rows],
        )

    @property
    def _parts(self) -> tuple[Row, Row, int]:
        return self.t_scale, self.normal_scale, self.degrees_of_freedom
