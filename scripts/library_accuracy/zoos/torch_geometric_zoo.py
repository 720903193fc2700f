"""Convolutions, pooling and models of torch_geometric, on a graph of six nodes with eight edges."""

from collections.abc import Iterator
from typing import Any

NODES = "float32[6, 8]"
EDGES = "int64[2, 10] < 6"

CONVOLUTIONS: dict[str, dict[str, Any]] = {
    **{
        name: {}
        for name in (
            "GCNConv", "SAGEConv", "GraphConv", "GATConv", "GATv2Conv", "TransformerConv", "TAGConv", "ARMAConv", "SGConv",
            "SSGConv", "MFConv", "FeaStConv", "LEConv", "ResGatedGraphConv", "ClusterGCNConv", "GENConv", "SuperGATConv",
            "EGConv", "GeneralConv", "FiLMConv", "HypergraphConv", "WLConvContinuous", "SimpleConv", "LGConv", "PANConv",
        )
    },
    "ChebConv": {"K": 2},
    "GatedGraphConv": {"num_layers": 2},
    "APPNP": {"K": 2, "alpha": 0.1},
    "AGNNConv": {},
    "FAConv": {},
    "AntiSymmetricConv": {},
    "MixHopConv": {},
    "SSGConv": {"alpha": 0.1},
    "EGConv": {"num_heads": 2},
    "PANConv": {"filter_size": 2},
}  # fmt: skip

ONE_SIZE = ("FAConv", "AntiSymmetricConv")
NO_SIZE = ("SimpleConv", "LGConv", "APPNP", "AGNNConv", "WLConvContinuous")
OUT_ONLY = ("GatedGraphConv",)


def cases() -> Iterator[dict[str, Any]]:
    """Convolutions, then models, then layers that need no graph."""
    for name, options in CONVOLUTIONS.items():
        sizes = [] if name in NO_SIZE else [8] if name in (*ONE_SIZE, *OUT_ONLY) else [8, 8]
        inputs = [NODES, NODES, EDGES] if name == "FAConv" else [NODES, EDGES]
        yield {"model": f"torch_geometric.nn:{name}", "arguments": sizes, "keywords": options, "inputs": inputs}
    for name in ("GCN", "GraphSAGE", "GAT", "EdgeCNN"):
        keywords = {"in_channels": 8, "hidden_channels": 8, "num_layers": 2, "out_channels": 4}
        yield {"model": f"torch_geometric.nn:{name}", "keywords": keywords, "inputs": [NODES, EDGES]}
    for name in (
        "BatchNorm",
        "InstanceNorm",
        "LayerNorm",
        "GraphNorm",
        "GraphSizeNorm",
        "PairNorm",
        "MeanSubtractionNorm",
    ):
        sizes = [] if name in ("GraphSizeNorm", "PairNorm", "MeanSubtractionNorm") else [8]
        yield {"model": f"torch_geometric.nn:{name}", "arguments": sizes, "inputs": [NODES]}
    for name in (
        "SumAggregation", "MeanAggregation", "MaxAggregation", "MinAggregation", "MulAggregation", "VarAggregation",
        "StdAggregation", "SoftmaxAggregation", "PowerMeanAggregation", "MedianAggregation",
    ):  # fmt: skip
        yield {"model": f"torch_geometric.nn:{name}", "inputs": [NODES, "int64[6] < 1"]}
    yield {"model": "torch_geometric.nn:MLP", "arguments": [[8, 16, 4]], "inputs": [NODES]}
    yield {
        "model": "torch_geometric.nn:DenseGCNConv",
        "arguments": [8, 4],
        "inputs": ["float32[2, 6, 8]", "float32[2, 6, 6]"],
    }
    yield {
        "model": "torch_geometric.nn:DenseSAGEConv",
        "arguments": [8, 4],
        "inputs": ["float32[2, 6, 8]", "float32[2, 6, 6]"],
    }
    yield {
        "model": "torch_geometric.nn:DenseGATConv",
        "arguments": [8, 4],
        "inputs": ["float32[2, 6, 8]", "float32[2, 6, 6]"],
    }
    yield {"model": "torch_geometric.nn:HeteroLinear", "arguments": [8, 4, 3], "inputs": [NODES, "int64[6] < 3"]}
    yield {"model": "torch_geometric.nn:Linear", "arguments": [8, 4], "inputs": [NODES]}
    yield {"model": "torch_geometric.nn:InnerProductDecoder", "inputs": [NODES, EDGES]}
    yield {"model": "torch_geometric.nn:PositionalEncoding", "arguments": [8], "inputs": ["float32[6]"]}
    yield {"model": "torch_geometric.nn:TemporalEncoding", "arguments": [8], "inputs": ["float32[6]"]}
