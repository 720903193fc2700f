"""Products of matrices, and what is made of them."""

from __future__ import annotations

from exportlint.analysis.torch.operator import each, operator

OPERATORS = (
    operator("baddbmm", shape="first"),
    operator("bmm", shape="multiplied", rows="equal"),
    *each("matmul mm", shape="multiplied"),
    operator("nn.functional.linear", shape="transformed", backward="untraced"),
    *each("inverse linalg.inv matrix_exp cholesky linalg.cholesky", shape="same"),
    operator("cdist", shape="paired", needs="nonempty", plain=("p",)),
    operator("tensordot", needs="several"),
    operator("matrix_power linalg.matrix_power", plain=("n",)),
    *each("linalg.multi_dot chain_matmul", varying="fixed"),
    operator("geqrf", varying="refused"),
    *each("fft.rfft fft.irfft", shape="resized"),
    *each("fft.fftshift fft.ifftshift", shape="same"),
    operator("einsum", shape="contracted"),
    operator("outer ger", shape="outer"),
    operator("stft", shape="batched", plain=("n_fft", "hop_length", "win_length")),
    operator("istft", plain=("n_fft", "hop_length", "win_length")),
)
