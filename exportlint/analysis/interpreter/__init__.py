"""An abstract interpreter of Python: what names hold while torch.export traces."""
