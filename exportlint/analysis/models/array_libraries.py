"""Libraries that compute with arrays of numpy, and make arrays of the tensors that they are given."""

from __future__ import annotations

from exportlint.analysis.library_functions import functions

functions("scipy.*", arrays="refused")
functions("scipy.special.softmax scipy.integrate.simpson", arrays="traced")
functions("sklearn.* skimage.* cv2.* pandas.* PIL.Image.fromarray", arrays="refused")
"""Measured on 2.13 with about 50 functions of them: TorchDynamo traces only what calls nothing but simple numpy."""
