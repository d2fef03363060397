"""Mathematics that several baselines share."""

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
