"""Served models behind the tools: tiny random ones of the real classes, loaded from a folder as from the hub."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from PIL import Image

from turn_sandbox.images import NamedImage
from visual_tools.perception.detection import Detect
from visual_tools.perception.served import grounding_dino, sam2
from visual_tools.tool import Served, run

IMAGES = {"image": NamedImage("image", Image.new("RGB", (90, 60), "red"))}


@pytest.fixture(scope="module")
def dino(tmp_path_factory: pytest.TempPathFactory) -> str:
    from transformers import (
        BertConfig,
        BertTokenizerFast,
        GroundingDinoConfig,
        GroundingDinoForObjectDetection,
        GroundingDinoProcessor,
        SwinConfig,
    )
    from transformers.models.grounding_dino.image_processing_pil_grounding_dino import GroundingDinoImageProcessorPil

    folder = tmp_path_factory.mktemp("dino")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", "?", "red", "square", "thing"]
    tokenizer = BertTokenizerFast(vocab={word: k for k, word in enumerate(words)})
    layers = {"encoder_layers": 1, "encoder_ffn_dim": 16, "decoder_layers": 2, "decoder_ffn_dim": 16}
    swin = {"depths": [1, 1, 1, 1], "num_heads": [1, 1, 1, 1], "out_features": ["stage2", "stage3", "stage4"]}
    bert = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    config = GroundingDinoConfig(
        backbone_config=SwinConfig(image_size=128, embed_dim=8, window_size=2, **swin),
        text_config=BertConfig(vocab_size=len(words), **bert),
        d_model=32,
        num_queries=5,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        max_text_len=16,
        **layers,
    )
    torch.manual_seed(0)
    GroundingDinoForObjectDetection(config).save_pretrained(folder)
    images = GroundingDinoImageProcessorPil(size={"shortest_edge": 128, "longest_edge": 192})
    GroundingDinoProcessor(images, tokenizer).save_pretrained(folder)
    return str(folder)


def test_grounding_dino_finds_boxes_on_the_image(dino: str) -> None:
    """Random weights find nonsense, but in the form that the tool's answer is made of."""
    look = grounding_dino(dino, "main", "cpu")
    found = look(IMAGES["image"].image, {"caption": "red square. thing", "box_threshold": 0.0, "text_threshold": 0.0})
    assert 1 <= len(found) <= 5 and [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert all(0 <= one.box[0] <= one.box[2] <= 90 and 0 <= one.box[1] <= one.box[3] <= 60 for one in found)
    assert all(one.phrase.startswith("red square") for one in found), "with a threshold of 0, all words"
    count = run(Detect(look), {"caption": "red square. thing", "box_threshold": 0.0, "task": "count"}, IMAGES)
    assert count.text == str(len(found))
    assert run(Detect(look), {"caption": " . "}, IMAGES).text.endswith("caption ' . ' names nothing")


@pytest.fixture(scope="module")
def sam(tmp_path_factory: pytest.TempPathFactory) -> str:
    from transformers import Sam2Config, Sam2Model
    from transformers.models.sam2.configuration_sam2 import (
        Sam2HieraDetConfig,
        Sam2MaskDecoderConfig,
        Sam2PromptEncoderConfig,
        Sam2VisionConfig,
    )

    folder = tmp_path_factory.mktemp("sam")
    stages = {"embed_dim_per_stage": [8, 16, 32, 64], "blocks_per_stage": [1, 1, 2, 1]}
    backbone = Sam2HieraDetConfig(
        hidden_size=8,
        image_size=[64, 64],
        num_attention_heads_per_stage=[1, 1, 1, 1],
        window_size_per_stage=[8, 8, 8, 8],
        window_positional_embedding_background_size=[8, 8],
        global_attention_blocks=[3],
        **stages,
    )
    vision = Sam2VisionConfig(
        backbone_config=backbone,
        backbone_channel_list=[64, 32, 16, 8],
        backbone_feature_sizes=[[16, 16], [8, 8], [4, 4]],
        fpn_hidden_size=32,
    )
    prompts = Sam2PromptEncoderConfig(hidden_size=32, image_size=64, mask_input_channels=4)
    decoder = Sam2MaskDecoderConfig(hidden_size=32, mlp_dim=32, num_attention_heads=2, iou_head_hidden_dim=16)
    torch.manual_seed(0)
    Sam2Model(
        Sam2Config(vision_config=vision, prompt_encoder_config=prompts, mask_decoder_config=decoder)
    ).save_pretrained(folder)
    return str(folder)


@pytest.mark.parametrize(
    "prompts",
    [
        {"point_prompts": [[50, 40]]},
        {"box_prompt": [20, 10, 80, 50]},
        {"point_prompts": [[1, 1], [9, 9]], "point_labels": [1, 0]},
    ],
)
def test_sam_makes_a_mask_of_the_images_size(sam: str, prompts: dict[str, object]) -> None:
    look = sam2(sam, "main", "cpu")
    seen = look(IMAGES["image"].image, prompts)
    assert seen.mask.shape == (60, 90) and seen.mask.dtype == bool and isinstance(seen.score, float)


def test_weights_that_cannot_be_had_and_tools_without_a_model_are_told(tmp_path: Path) -> None:
    gone = Served(str(tmp_path / "gone"), "none", "visual_tools.perception.served:sam2")
    with pytest.raises(OSError, match="gone"):
        gone.load()
