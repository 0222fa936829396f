"""Loaders of perception's served models: GroundingDINO and SAM 2, by transformers.

Each returns what the tool of that name makes of an image by itself, so that only the looking differs.
"""

from __future__ import annotations

import numpy as np
from PIL import Image

from visual_tools.perception.detection import BOX, TEXT, Detect, Found, distinct, phrases
from visual_tools.perception.segmentation import Segment, Segmented
from visual_tools.tool import Arguments, Look

MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
"""Of ImageNet's red, green and blue, from 0 to 1."""


def grounding_dino(id: str, revision: str, device: str) -> Look:
    """Load GroundingDINO (Liu et al. 2024), with the thresholds of the released code.

    Args:
        id: on the hub, or a folder.
        revision: a commit or a branch.
        device: where it runs.

    Raises:
        OSError: the weights can't be had.
    """
    import torch
    from transformers import AutoModelForZeroShotObjectDetection, AutoProcessor

    processor = AutoProcessor.from_pretrained(id, revision=revision)
    model = AutoModelForZeroShotObjectDetection.from_pretrained(id, revision=revision).to(device).eval()

    def look(image: Image.Image, arguments: Arguments) -> tuple[Found, ...]:
        named = phrases(arguments["caption"])
        if not named:
            raise ValueError(f"{Detect.name}: caption {arguments['caption']!r:.60} names nothing")
        inputs = processor(images=image, text=f"{'. '.join(named)}.", return_tensors="pt").to(device)
        with torch.inference_mode():
            outputs = model(**inputs)
        (found,) = processor.post_process_grounded_object_detection(
            outputs,
            inputs["input_ids"],
            threshold=arguments.get("box_threshold", BOX),
            text_threshold=arguments.get("text_threshold", TEXT),
            target_sizes=[image.size[::-1]],
        )
        limits = np.array([*image.size, *image.size], dtype=float)
        boxes = np.clip(found["boxes"].double().cpu().numpy(), 0, limits)
        labels = [label or " or ".join(named) for label in found["text_labels"]]
        triples = zip(labels, boxes.tolist(), found["scores"].tolist(), strict=True)
        return distinct([Found(label, tuple(box), score) for label, box, score in triples])

    return look


def sam2(id: str, revision: str, device: str) -> Look:
    """Load SAM 2 (Ravi et al. 2024); of its masks the one that it holds for the best.

    Args:
        id: on the hub, or a folder.
        revision: a commit or a branch.
        device: where it runs.

    Raises:
        OSError: the weights can't be had.
    """
    import torch
    from transformers import Sam2Model

    model = Sam2Model.from_pretrained(id, revision=revision).eval()
    model.to(device)
    side = int(model.config.prompt_encoder_config.image_size)

    def look(image: Image.Image, arguments: Arguments) -> Segmented:
        points, box = Segment.prompts(image.size, arguments)
        # What its processor does, which needs torchvision: stretched to a square, ImageNet's mean and deviation.
        pixels = torch.tensor(np.asarray(image.resize((side, side), Image.Resampling.BILINEAR)) / 255)
        pixels = ((pixels - torch.tensor(MEAN)) / torch.tensor(DEVIATION)).permute(2, 0, 1)[None].float()
        scale = torch.tensor([side / image.width, side / image.height])
        prompts = {}
        if points:
            prompts["input_points"] = (torch.tensor([[x, y] for x, y, _ in points]) * scale)[None, None]
            prompts["input_labels"] = torch.tensor([int(on) for *_, on in points])[None, None]
        if box is not None:
            prompts["input_boxes"] = (torch.tensor(box) * scale.repeat(2))[None, None]
        with torch.inference_mode():
            outputs = model(
                pixel_values=pixels.to(device), **{name: prompt.to(device) for name, prompt in prompts.items()}
            )
            whole = torch.nn.functional.interpolate(outputs.pred_masks[0].float(), image.size[::-1], mode="bilinear")
        scores = outputs.iou_scores[0, 0]
        best = int(scores.argmax())
        return Segmented((whole[0, best] > 0).cpu().numpy(), float(scores[best]))

    return look
