"""Exports a small network of hand keypoints: the example of docs/tutorial-onnx.md."""

import torch
from torch import nn


def block(inputs, outputs, stride):
    """A depthwise separable convolution."""
    return nn.Sequential(
        nn.Conv2d(inputs, inputs, 3, stride, 1, groups=inputs, bias=False),
        nn.BatchNorm2d(inputs),
        nn.SiLU(),
        nn.Conv2d(inputs, outputs, 1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.SiLU(),
    )


class Keypoints(nn.Module):
    """21 keypoints of a hand in a crop of 128x128 pixels: a small backbone, two layers of attention."""

    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(3, 24, 3, 2, 1), nn.SiLU(), block(24, 48, 2), block(48, 96, 2), block(96, 128, 2)
        )
        layer = nn.TransformerEncoderLayer(128, 4, 256, dropout=0.0, batch_first=True, norm_first=True)
        self.attention = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(128, 21 * 3)

    def forward(self, crop):
        tokens = self.backbone(crop).flatten(2).transpose(1, 2)
        return self.head(self.attention(tokens).mean(1)).reshape(-1, 21, 3)


if __name__ == "__main__":
    network = Keypoints().eval()
    crop = torch.zeros(1, 3, 128, 128)
    torch.onnx.export(network, (crop,), "keypoints.onnx", input_names=["crop"], output_names=["keypoints"],
                      dynamo=True, external_data=True)
