"""The networks of examples/models against Hugging Face's, on random weights that were saved by those."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest

import adjoint as ad

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore")]

MODELS = Path(__file__).parents[2] / "examples" / "models"
TOLERANCE = {"rtol": 2e-4, "atol": 2e-5}
SMALL = {"num_hidden_layers": 2, "hidden_size": 32, "intermediate_size": 48, "num_attention_heads": 4}
CODES = np.random.default_rng(0).integers(0, 60, (2, 9))


@pytest.fixture
def example(monkeypatch):
    def load(name):
        monkeypatch.syspath_prepend(str(MODELS))
        return importlib.import_module(name)

    return load


def saved(theirs, folder):
    """The model with random weights everywhere, biases and statistics included, written to a folder."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator) * 0.1)
        for name, buffer in theirs.named_buffers():
            if name.endswith(("running_mean", "running_var")):
                buffer.add_(torch.rand(buffer.shape, generator=generator))
    theirs.eval().save_pretrained(folder)
    return theirs


def test_gpt2(example, tmp_path):
    config = transformers.GPT2Config(
        n_layer=2, n_embd=32, n_head=4, vocab_size=60, n_positions=16, bos_token_id=0, eos_token_id=0
    )
    theirs = saved(transformers.GPT2LMHeadModel(config), tmp_path)
    ours = example("gpt2").GPT2.load(tmp_path)
    with torch.no_grad():
        expected = theirs(torch.tensor(CODES)).logits.numpy()
    np.testing.assert_allclose(ours(ad.tensor(CODES)).numpy(), expected, **TOLERANCE)
    prompt = CODES[:1, :4]
    written = theirs.generate(
        torch.tensor(prompt), max_new_tokens=8, do_sample=False, eos_token_id=None, pad_token_id=0
    )
    assert ours.generate(prompt[0].tolist(), 8) == written[0].tolist()


@pytest.mark.parametrize("shards", ("1GB", "20KB"))
@pytest.mark.parametrize("options", ({"num_key_value_heads": 2}, {"tie_word_embeddings": True, "rms_norm_eps": 1e-4}))
def test_llama(example, tmp_path, options, shards):
    config = transformers.LlamaConfig(
        **SMALL, vocab_size=60, bos_token_id=0, eos_token_id=0, rope_parameters={"rope_type": "default", "rope_theta": 500.0},
        **options,
    )  # fmt: skip
    theirs = saved(transformers.LlamaForCausalLM(config), tmp_path)
    theirs.save_pretrained(tmp_path, max_shard_size=shards)
    if shards == "20KB":
        (tmp_path / "model.safetensors").unlink(missing_ok=True)
        assert (tmp_path / "model.safetensors.index.json").exists()
    ours = example("llama").Llama.load(tmp_path)
    with torch.no_grad():
        expected = theirs(torch.tensor(CODES)).logits.numpy()
    np.testing.assert_allclose(ours(ad.tensor(CODES)).numpy(), expected, **TOLERANCE)
    prompt = CODES[:1, :4]
    written = theirs.generate(
        torch.tensor(prompt), max_new_tokens=8, do_sample=False, eos_token_id=None, pad_token_id=0
    )
    assert ours.generate(prompt[0].tolist(), 8) == written[0].tolist()


def test_bert(example, tmp_path):
    theirs = saved(transformers.BertForMaskedLM(transformers.BertConfig(**SMALL, vocab_size=60)), tmp_path)
    ours = example("bert").BERT.load(tmp_path)
    kinds = (np.arange(9) > 4).astype(np.int64) * np.ones((2, 1), np.int64)
    words = (np.arange(9) < np.array([[9], [6]])).astype(np.int64)
    with torch.no_grad():
        expected = theirs(torch.tensor(CODES), torch.tensor(words), torch.tensor(kinds)).logits.numpy()
    found = ours(ad.tensor(CODES), ad.tensor(kinds), ad.tensor(words)).numpy()
    np.testing.assert_allclose(found[words > 0], expected[words > 0], **TOLERANCE)


def test_vit(example, tmp_path):
    config = transformers.ViTConfig(**SMALL, image_size=16, patch_size=4, num_labels=5)
    theirs = saved(transformers.ViTForImageClassification(config), tmp_path)
    ours = example("vit").ViT.load(tmp_path)
    images = np.random.default_rng(0).normal(size=(3, 3, 16, 16)).astype("f4")
    with torch.no_grad():
        expected = theirs(torch.tensor(images)).logits.numpy()
    np.testing.assert_allclose(ours(ad.tensor(images)).numpy(), expected, **TOLERANCE)


@pytest.mark.parametrize("options", ({}, {"layer_type": "basic"}, {"downsample_in_bottleneck": True}))
def test_resnet(example, tmp_path, options):
    config = transformers.ResNetConfig(embedding_size=8, hidden_sizes=[16, 32], depths=[2, 1], num_labels=5, **options)
    theirs = saved(transformers.ResNetForImageClassification(config), tmp_path)
    ours = example("resnet").ResNet.load(tmp_path)
    images = np.random.default_rng(0).normal(size=(3, 3, 33, 40)).astype("f4")
    with torch.no_grad():
        expected = theirs(torch.tensor(images)).logits.numpy()
    np.testing.assert_allclose(ours(ad.tensor(images)).numpy(), expected, **TOLERANCE)


@pytest.mark.parametrize("options", ({}, {"downsample_padding": 0, "freq_shift": 1, "flip_sin_to_cos": False}))
def test_unet(example, tmp_path, options):
    diffusers = pytest.importorskip("diffusers")
    theirs = diffusers.UNet2DModel(
        sample_size=16, block_out_channels=(16, 32, 32), down_block_types=("DownBlock2D", "AttnDownBlock2D", "DownBlock2D"),
        up_block_types=("UpBlock2D", "AttnUpBlock2D", "UpBlock2D"), norm_num_groups=8, attention_head_dim=8, **options,
    )  # fmt: skip
    saved(theirs, tmp_path)
    ours = example("unet").UNet.load(tmp_path)
    images = np.random.default_rng(0).normal(size=(2, 3, 16, 16)).astype("f4")
    times = np.array([3, 700])
    with torch.no_grad():
        expected = theirs(torch.tensor(images), torch.tensor(times)).sample.numpy()
    np.testing.assert_allclose(ours(ad.tensor(images), ad.tensor(times)).numpy(), expected, 1e-3, 1e-4)


@pytest.mark.parametrize(
    ("module", "name", "options"),
    (
        ("gpt2", "GPT2", {"activation_function": "relu"}),
        ("gpt2", "GPT2", {"scale_attn_by_inverse_layer_idx": True}),
        ("gpt2", "GPT2", {"tie_word_embeddings": False}),
        ("llama", "Llama", {"hidden_act": "gelu"}),
        ("llama", "Llama", {"rope_scaling": {"rope_type": "llama3", "factor": 8.0}}),
        ("bert", "BERT", {"hidden_act": "relu"}),
        ("vit", "ViT", {"hidden_act": "relu"}),
        ("resnet", "ResNet", {"hidden_act": "gelu"}),
        ("unet", "UNet", {"act_fn": "relu"}),
    ),
)
def test_what_a_configuration_asks_for_and_a_network_is_not(module, name, options, example):
    """Weights would fit, and the numbers be others."""
    sizes = {
        "llama": (50, 32, 64, 2, 4),
        "bert": (50, 32, 64, 2, 4),
        "vit": (32, 64, 2, 4),
        "unet": (1, 1, (8, 16), (), ()),
    }
    with pytest.raises(ValueError, match="computed here"):
        getattr(example(module), name)(*sizes.get(module, ()), **options)


def test_a_window_of_attention(example, tmp_path):
    config = transformers.MistralConfig(
        **SMALL, vocab_size=60, bos_token_id=0, eos_token_id=0, num_key_value_heads=2, sliding_window=9
    )
    theirs = saved(transformers.MistralForCausalLM(config), tmp_path)
    ours = example("llama").Llama.load(tmp_path)
    with torch.no_grad():
        expected = theirs(torch.tensor(CODES)).logits.numpy()
    np.testing.assert_allclose(ours(ad.tensor(CODES)).numpy(), expected, **TOLERANCE)
    with pytest.raises(ValueError, match="no more than 9 others"):
        ours.generate([1, 2, 3], 7)
