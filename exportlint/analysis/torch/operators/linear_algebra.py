"""Products of matrices, and what is made of them."""

from __future__ import annotations

from exportlint.analysis.torch.operator import each, operator

OPERATORS = (
    operator("baddbmm", shape="first"),
    *each("bmm matmul mm", shape="multiplied"),
    operator("nn.functional.linear", shape="transformed", backward="untraced"),
    operator("cdist", needs="nonempty", plain=("p",)),
    operator("tensordot", needs="several"),
    operator("matrix_power linalg.matrix_power", plain=("n",)),
    *each("linalg.multi_dot chain_matmul", varying="fixed"),
    operator("geqrf", varying="refused"),
    *each("stft istft", plain=("n_fft", "hop_length", "win_length")),
)
