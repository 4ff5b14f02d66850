#!/usr/bin/env python3
"""Small models with random weights, exported by both exporters of PyTorch with everything dynamic.

    make.py FOLDER [MODEL…]         writes FOLDER/MODEL.script.onnx, MODEL.dynamo.onnx and inputs of several sizes, MODEL.npz
    make.py --list                  the models

An export that fails is told in a line and left out.  Needs torch, torchvision, transformers, onnx and onnxscript.  To
add a model, write a function with @export(dynamic axes): it returns the module and its inputs at the sizes, the first
being those that it is exported with; and a second module, where torch.export needs the model in other words."""
import os
import sys
import warnings

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

warnings.filterwarnings("ignore")
MODELS = {}


def export(**axes):
    """axes: a dictionary of axis to name for each input, in their order"""
    def add(make):
        MODELS[make.__name__] = make, axes
        return make
    return add


def ids(*shape, most=20):
    return torch.randint(1, most, shape)


# ---- sequences

class Tagger(nn.Module):
    def __init__(self, packed, cell=nn.LSTM):
        super().__init__()
        self.words, self.cell, self.packed = nn.Embedding(20, 8), cell(8, 12, 2, batch_first=True, bidirectional=True), packed
        self.out = nn.Linear(24, 5)

    def forward(self, x, lengths=None):
        x = self.words(x)
        if self.packed:
            x = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        x = self.cell(x)[0]
        if self.packed:
            x = nn.utils.rnn.pad_packed_sequence(x, batch_first=True)[0]
        return self.out(x)


@export(x={0: "batch", 1: "length"})
def tagger():
    return Tagger(False), [(ids(b, n),) for b, n in ((2, 7), (1, 3), (4, 11))]


@export(x={0: "batch", 1: "length"})
def tagger_gru():
    return Tagger(False, nn.GRU), [(ids(b, n),) for b, n in ((2, 7), (1, 3), (4, 11))]


class ScannedTagger(nn.Module):
    """One layer of it for torch.export, which takes no packed sequences: a Scan over masked steps in each direction"""
    def __init__(self):
        super().__init__()
        self.words, self.out = nn.Embedding(20, 8), nn.Linear(24, 5)
        self.cells = nn.ModuleList([nn.LSTMCell(8, 12) for _ in range(2)])

    def scanned(self, cell, x, live):
        from torch._higher_order_ops.scan import scan

        def step(state, now):
            (h, c), (x, on) = state, now
            i, f, g, o = (x @ cell.weight_ih.T + cell.bias_ih + h @ cell.weight_hh.T + cell.bias_hh).chunk(4, 1)
            d = f.sigmoid() * c + i.sigmoid() * g.tanh()
            y = torch.where(on, o.sigmoid() * d.tanh(), h)
            return (y, torch.where(on, d, c)), torch.where(on, y, torch.zeros_like(y))
        none = torch.zeros(x.shape[1], 12)
        return scan(step, (none, none.clone()), (x, live))[1]

    def forward(self, x, lengths):
        live = (torch.arange(x.shape[1])[:, None] < lengths[None])[..., None]
        x = self.words(x).transpose(0, 1)
        on, back = self.scanned(self.cells[0], x, live), self.scanned(self.cells[1], x.flip(0), live.flip(0))
        return self.out(torch.cat([on, back.flip(0)], -1)).transpose(0, 1)


@export(x={0: "batch", 1: "length"}, lengths={0: "batch"})
def tagger_packed():
    return Tagger(True), [(ids(len(l), max(l)), torch.tensor(l)) for l in ([7, 4], [3], [5, 11, 2, 5])], ScannedTagger()


class Translator(nn.Module):
    """A GRU that reads and one that writes until its end of text, in torch.jit.script: a Loop"""
    def __init__(self):
        super().__init__()
        self.source, self.target = nn.Embedding(20, 8), nn.Embedding(20, 8)
        self.read, self.gates, self.new = nn.GRU(8, 12), nn.Linear(20, 24), nn.Linear(20, 12)
        self.out = nn.Linear(12, 20)

    def forward(self, x: torch.Tensor, most: torch.Tensor):
        h = self.read(self.source(x))[1][0]
        word = torch.ones([x.size(1)], dtype=torch.long)
        words = word.unsqueeze(0)
        going, turn = True, 0
        while going and turn < int(most):
            x = self.target(word)
            z, r = self.gates(torch.cat([x, h], 1)).sigmoid().chunk(2, 1)
            h = z * h + (1 - z) * self.new(torch.cat([x, r * h], 1)).tanh()
            word = self.out(h).argmax(1)
            words = torch.cat([words, word.unsqueeze(0)])
            turn += 1
            going = bool((word != 2).any())
        return words


class LoopTranslator(Translator):
    """The same for torch.export, whose loops keep the shapes of their states: room for a dozen words"""
    def forward(self, x, most):
        from torch._higher_order_ops.while_loop import while_loop

        def going(turn, word, h, words):
            return (turn < most) & (turn < 11) & (word != 2).any()

        def step(turn, word, h, words):
            x = self.target(word)
            z, r = self.gates(torch.cat([x, h], 1)).sigmoid().chunk(2, 1)
            h = z * h + (1 - z) * self.new(torch.cat([x, r * h], 1)).tanh()
            word = self.out(h).argmax(1)
            here = torch.arange(12)[:, None] == turn
            return turn + 1, word, h, torch.where(here, word[None], words)
        word = torch.ones([x.shape[1]], dtype=torch.long)
        h, words = self.read(self.source(x))[1][0], torch.zeros([12, x.shape[1]], dtype=torch.long)
        turns, _, _, words = while_loop(going, step, (torch.zeros([], dtype=torch.long), word, h, words))
        return words, turns


@export(x={0: "length", 1: "batch"}, most={})
def translator():
    feeds = [(ids(n, b), torch.tensor(m)) for n, b, m in ((5, 1, 6), (3, 2, 9), (8, 1, 1))]
    return torch.jit.script(Translator()), feeds, LoopTranslator()


# ---- attention over pictures and sound

def padding(lengths, n):
    return torch.arange(n)[None] >= lengths[:, None]


class Speech(nn.Module):
    """As wav2vec: strided convolutions, a convolution for positions, transformer layers with a mask by length"""
    def __init__(self):
        super().__init__()
        self.front = nn.ModuleList([nn.Conv1d(1, 8, 10, 5), nn.Conv1d(8, 8, 3, 2), nn.Conv1d(8, 16, 2, 2)])
        self.place = nn.Conv1d(16, 16, 8, padding=4, groups=4)
        self.layers = nn.ModuleList([nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, dropout=0) for _ in range(2)])
        self.out = nn.Linear(16, 6)

    def forward(self, x, lengths):
        x = x[:, None]
        for c in self.front:
            x = F.gelu(c(x))
            lengths = torch.div(lengths - c.kernel_size[0], c.stride[0], rounding_mode="floor") + 1
        mask = padding(lengths, x.shape[2])
        x = (x + F.gelu(self.place(x))[:, :, :-1]).transpose(1, 2)
        for layer in self.layers:
            x = layer(x, src_key_padding_mask=mask)
        return self.out(x), lengths


@export(x={0: "batch", 1: "samples"}, lengths={0: "batch"})
def wav2vec():
    torch.backends.mha.set_fastpath_enabled(False)
    return Speech(), [(torch.randn(len(l), max(l)), torch.tensor(l)) for l in ([200, 160], [120], [310, 150, 90])]


class ConformerLayer(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.n1, self.n2, self.n3, self.n4 = (nn.LayerNorm(d) for _ in range(4))
        self.ff1 = nn.Sequential(nn.Linear(d, 2 * d), nn.SiLU(), nn.Linear(2 * d, d))
        self.ff2 = nn.Sequential(nn.Linear(d, 2 * d), nn.SiLU(), nn.Linear(2 * d, d))
        self.qkv, self.out, self.rel = nn.Linear(d, 3 * d), nn.Linear(d, d), nn.Linear(d, d)
        self.u = nn.Parameter(torch.randn(2, d // 2))
        self.wide, self.deep, self.norm, self.thin = nn.Conv1d(d, 2 * d, 1), nn.Conv1d(d, d, 7, padding=3, groups=d), \
            nn.BatchNorm1d(d), nn.Conv1d(d, d, 1)

    def attend(self, x, places, mask):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, 2, d // 2).permute(2, 0, 3, 1, 4)
        p = self.rel(places).view(1, -1, 2, d // 2).transpose(1, 2)
        by_place = (q + self.u[None, :, None]) @ p.transpose(2, 3)              # b h t 2t-1, shifted by padding
        by_place = F.pad(by_place, (1, 0)).view(b, 2, -1, t)[:, :, 1:].reshape(b, 2, t, 2 * t - 1)[..., :t]
        a = (q @ k.transpose(2, 3) + by_place) / (d // 2) ** .5
        a = a.masked_fill(mask[:, None, None], -1e4).softmax(-1)
        return self.out((a @ v).transpose(1, 2).reshape(b, t, d))

    def forward(self, x, places, mask):
        x = x + self.ff1(self.n1(x)) / 2
        x = x + self.attend(self.n2(x), places, mask)
        y = F.glu(self.wide(self.n3(x).transpose(1, 2)), 1).masked_fill(mask[:, None], 0)
        x = x + self.thin(F.silu(self.norm(self.deep(y)))).transpose(1, 2)
        return self.n4(x + self.ff2(x) / 2)


class Conformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.front, self.lin = nn.Conv2d(1, 4, 3, 2), nn.Linear(4 * 9, 16)
        self.layers = nn.ModuleList([ConformerLayer(16) for _ in range(2)])

    def forward(self, x, lengths):
        x = F.relu(self.front(x[:, None]))
        b, c, t, f = x.shape
        x, lengths = self.lin(x.transpose(1, 2).reshape(b, t, c * f)), (lengths - 1) // 2
        at = torch.arange(t - 1, -t, -1, device=x.device).float()[:, None]
        wave = at * torch.exp(torch.arange(8) * -.5)
        places, mask = torch.cat([wave.sin(), wave.cos()], 1)[None], padding(lengths, t)
        for layer in self.layers:
            x = layer(x, places, mask)
        return x, lengths


@export(x={0: "batch", 1: "frames"}, lengths={0: "batch"})
def conformer():
    return Conformer(), [(torch.randn(len(l), max(l), 20), torch.tensor(l)) for l in ([31, 20], [12], [40, 17, 29])]


@export(x={0: "batch", 2: "height", 3: "width"})
def swin():
    from torchvision.models.swin_transformer import SwinTransformer
    return SwinTransformer([4, 4], 12, [2, 2], [2, 4], [4, 4], num_classes=5), \
        [(torch.randn(b, 3, h, w),) for b, h, w in ((2, 48, 64), (1, 64, 64), (1, 40, 72))]


@export(x={0: "batch", 2: "height", 3: "width"})
def detr():
    class Detr(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU(), nn.Conv2d(8, 16, 3, 2, 1), nn.ReLU())
            self.t = nn.Transformer(16, 2, 1, 1, 32, dropout=0, batch_first=True)
            self.query, self.row, self.col = (nn.Parameter(torch.rand(n, k)) for n, k in ((6, 16), (50, 8), (50, 8)))
            self.cls, self.box = nn.Linear(16, 4), nn.Linear(16, 4)

        def forward(self, x):
            x = self.body(x)
            h, w = x.shape[-2:]
            p = torch.cat([self.col[:w].unsqueeze(0).repeat(h, 1, 1), self.row[:h].unsqueeze(1).repeat(1, w, 1)], -1)
            y = self.t(x.flatten(2).transpose(1, 2) + p.flatten(0, 1)[None], self.query[None].expand(x.shape[0], -1, -1))
            return self.cls(y), self.box(y).sigmoid()
    return Detr(), [(torch.randn(b, 3, h, w),) for b, h, w in ((2, 24, 32), (1, 32, 40), (3, 17, 23))]


# ---- language models of transformers

@export(x={0: "batch", 1: "length"}, mask={0: "batch", 1: "length"})
def llama():
    from transformers import LlamaConfig, LlamaForCausalLM
    c = LlamaConfig(vocab_size=32, hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=4,
                    num_key_value_heads=2, max_position_embeddings=64, use_cache=False, attn_implementation="eager")
    m = LlamaForCausalLM(c)
    return Logits(m), [(ids(b, n), torch.ones(b, n, dtype=torch.long)) for b, n in ((2, 5), (1, 9), (3, 2))]


class Logits(nn.Module):
    def __init__(self, m):
        super().__init__()
        self.m = m

    def forward(self, x, mask):
        return self.m(input_ids=x, attention_mask=mask).logits


class Cached(nn.Module):
    """Two layers of a decoder with rotary places, each with its cache as inputs and outputs"""
    def __init__(self, d=16, heads=4):
        super().__init__()
        self.words, self.out, self.heads = nn.Embedding(32, d), nn.Linear(d, 32), heads
        self.q, self.k, self.v, self.o = (nn.ModuleList([nn.Linear(d, n) for _ in range(2)]) for n in (d, d // 2, d // 2, d))

    def turn(self, x, at):
        a = at[:, None].float() * torch.tensor([1.0, .1])
        c, s = a.cos(), a.sin()
        u, v = x[..., :2], x[..., 2:]
        return torch.cat([u * c - v * s, v * c + u * s], -1)

    def forward(self, x, k0, v0, k1, v1):
        b, t = x.shape
        past, new = k0.shape[2], []
        at = torch.arange(past, past + t)
        mask = torch.arange(past + t)[None] > at[:, None]
        x = self.words(x)
        for i, (k, v) in enumerate(((k0, v0), (k1, v1))):
            q = self.turn(self.q[i](x).view(b, t, self.heads, -1).transpose(1, 2), at)
            k = torch.cat([k, self.turn(self.k[i](x).view(b, t, self.heads // 2, -1).transpose(1, 2), at)], 2)
            v = torch.cat([v, self.v[i](x).view(b, t, self.heads // 2, -1).transpose(1, 2)], 2)
            new += [k, v]
            a = q @ k.repeat_interleave(2, 1).transpose(2, 3) / 2
            a = a.masked_fill(mask, float("-inf")).softmax(-1) @ v.repeat_interleave(2, 1)
            x = x + self.o[i](a.transpose(1, 2).reshape(b, t, -1))
        return self.out(x), *new


PAST = {0: "batch", 2: "past"}


@export(x={0: "batch", 1: "length"}, k0=PAST, v0=PAST, k1=PAST, v1=PAST)
def llama_cache():
    return Cached(), [(ids(b, n), *(torch.randn(b, 2, p, 4) for _ in range(4)))
                      for b, n, p in ((2, 3, 5), (1, 1, 9), (1, 7, 0), (3, 2, 2))]


@export(x={0: "batch", 1: "length"}, y={0: "batch", 1: "written"})
def t5():
    from transformers import T5Config, T5ForConditionalGeneration
    c = T5Config(vocab_size=32, d_model=16, d_kv=8, d_ff=24, num_layers=2, num_heads=2, use_cache=False)
    m = T5ForConditionalGeneration(c)

    class T5(nn.Module):
        def __init__(self):
            super().__init__()
            self.m = m

        def forward(self, x, y):
            return self.m(input_ids=x, decoder_input_ids=y).logits
    return T5(), [(ids(b, n), ids(b, k)) for b, n, k in ((2, 6, 4), (1, 11, 1), (3, 2, 9))]


def whisper():
    from transformers import WhisperConfig
    from transformers.models.whisper.modeling_whisper import WhisperDecoder
    c = WhisperConfig(vocab_size=32, d_model=16, decoder_layers=2, decoder_attention_heads=2, decoder_ffn_dim=32,
                      max_target_positions=40, pad_token_id=0, use_cache=False, attn_implementation="eager")
    m = WhisperDecoder(c)

    class Whisper(nn.Module):
        def __init__(self):
            super().__init__()
            self.m = m

        def forward(self, y, sound, mask=None):
            return self.m(input_ids=y, encoder_hidden_states=sound, attention_mask=mask).last_hidden_state
    return Whisper(), [(ids(b, n), torch.randn(b, k, 16)) for b, n, k in ((2, 4, 10), (1, 1, 7), (1, 9, 20))]


@export(y={0: "batch", 1: "written"}, sound={0: "batch", 1: "frames"})
def whisper_decoder():
    """Without a mask it looks for several texts in one row, with what the older exporter has no operator for"""
    return whisper()


@export(y={0: "batch", 1: "written"}, sound={0: "batch", 1: "frames"}, mask={0: "batch", 1: "written"})
def whisper_masked():
    model, feeds = whisper()
    return model, [(y, sound, torch.ones_like(y)) for y, sound in feeds]


# ---- detection

def batched_nms(boxes, scores, kinds, near):
    from torchvision.ops import nms
    return nms(boxes + kinds[:, None].to(boxes) * 1000, scores, near)


class Yolo(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.SiLU(), nn.Conv2d(8, 16, 3, 2, 1), nn.SiLU())
        self.down, self.small, self.large = nn.Conv2d(16, 16, 3, 2, 1), nn.Conv2d(32, 7, 1), nn.Conv2d(16, 7, 1)

    def boxes(self, x, stride):
        b, c, h, w = x.shape
        y, z = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij")
        at = torch.stack([z, y], -1).reshape(1, -1, 2)
        x = x.flatten(2).transpose(1, 2)
        xy, wh = (x[..., :2].sigmoid() * 2 - .5 + at) * stride, (x[..., 2:4].sigmoid() * 2) ** 2 * stride
        return torch.cat([xy - wh / 2, xy + wh / 2, x[..., 4:].sigmoid()], -1)

    def forward(self, x):
        x = self.body(x)
        d = F.relu(self.down(x))
        up = F.interpolate(d, size=x.shape[2:], mode="nearest")
        all_ = torch.cat([self.boxes(self.small(torch.cat([x, up], 1)), 4), self.boxes(self.large(d), 8)], 1)[0]
        score, kind = all_[:, 4:].max(1)
        keep = score > .5
        box, score, kind = all_[keep][:, :4], score[keep], kind[keep]
        chosen = batched_nms(box, score, kind, .5)[:10]
        return box[chosen], score[chosen], kind[chosen]


@export(x={2: "height", 3: "width"})
def yolo():
    return Yolo(), [(torch.randn(1, 3, h, w),) for h, w in ((32, 48), (64, 32), (48, 80))]


def detection(m):
    from torchvision.ops import boxes
    boxes.batched_nms = batched_nms         # torchvision's own asks how many boxes there are, which torch.export refuses

    class Detection(nn.Module):
        def __init__(self):
            super().__init__()
            self.m = m

        def forward(self, x):
            return tuple(self.m([x])[0].values())
    return Detection(), [(torch.rand(3, h, w),) for h, w in ((64, 80), (80, 64), (96, 96))]


def backbone():
    body = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU(), nn.Conv2d(8, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 16, 3, 2, 1))
    body.out_channels = 16
    return body


def anchors():
    from torchvision.models.detection.anchor_utils import AnchorGenerator
    return AnchorGenerator(((16, 32),), ((.5, 1.0, 2.0),))


@export(x={1: "height", 2: "width"})
def ssd():
    from torchvision.models.detection.anchor_utils import DefaultBoxGenerator
    from torchvision.models.detection.ssd import SSD
    from torchvision.models.detection.ssd import SSDHead
    boxes = DefaultBoxGenerator([[2]])
    return detection(SSD(backbone(), boxes, (64, 64), 4, head=SSDHead([16], boxes.num_anchors_per_location(), 4),
                         topk_candidates=20, detections_per_img=8))


def pooled(size):
    from torchvision.ops import MultiScaleRoIAlign
    return MultiScaleRoIAlign(["0"], size, 2)


RCNN = dict(min_size=64, max_size=96, rpn_pre_nms_top_n_test=30, rpn_post_nms_top_n_test=12, box_detections_per_img=6,
            box_score_thresh=.05)


def box_head():
    from torchvision.models.detection.faster_rcnn import FastRCNNPredictor, TwoMLPHead
    return dict(box_roi_pool=pooled(4), box_head=TwoMLPHead(16 * 16, 24), box_predictor=FastRCNNPredictor(24, 4))


@export(x={1: "height", 2: "width"})
def faster_rcnn():
    from torchvision.models.detection import FasterRCNN
    return detection(FasterRCNN(backbone(), rpn_anchor_generator=anchors(), **box_head(), **RCNN))


@export(x={1: "height", 2: "width"})
def mask_rcnn():
    from torchvision.models.detection import MaskRCNN
    from torchvision.models.detection.mask_rcnn import MaskRCNNHeads, MaskRCNNPredictor
    return detection(MaskRCNN(backbone(), rpn_anchor_generator=anchors(), mask_roi_pool=pooled(6),
                              mask_head=MaskRCNNHeads(16, (8,), 1), mask_predictor=MaskRCNNPredictor(8, 8, 4),
                              **box_head(), **RCNN))


# ---- others

class Voice(nn.Module):
    """Letters to sound: durations say how many frames each letter has"""
    def __init__(self):
        super().__init__()
        self.words, self.body = nn.Embedding(20, 8), nn.Conv1d(8, 8, 3, padding=1)
        self.long, self.up = nn.Conv1d(8, 1, 1), nn.ConvTranspose1d(8, 1, 8, 4, 2)

    def forward(self, x):
        x = F.relu(self.body(self.words(x).transpose(1, 2)))
        frames = (self.long(x).sigmoid() * 4).ceil().long()[:, 0]
        ends = frames.cumsum(1)
        at = torch.arange(ends[:, -1].max())
        path = ((at[None, :, None] < ends[:, None]) & (at[None, :, None] >= (ends - frames)[:, None])).float()
        return self.up((path @ x.transpose(1, 2)).transpose(1, 2)).tanh()


@export(x={0: "batch", 1: "letters"})
def voice():
    return Voice(), [(ids(b, n),) for b, n in ((2, 6), (1, 3), (1, 14))]


class UNet(nn.Module):
    """A step of diffusion: time, attention, skips; sizes need not be even"""
    def __init__(self):
        super().__init__()
        self.time, self.head = nn.Linear(8, 16), nn.Conv2d(3, 8, 3, 1, 1)
        self.down, self.mid = nn.Conv2d(8, 16, 3, 2, 1), nn.MultiheadAttention(16, 2, batch_first=True)
        self.norm, self.up, self.out = nn.GroupNorm(4, 16), nn.Conv2d(16, 8, 3, 1, 1), nn.Conv2d(16, 3, 3, 1, 1)

    def forward(self, x, t):
        wave = t[:, None] * torch.exp(torch.arange(4) * -1.0)
        t = self.time(torch.cat([wave.sin(), wave.cos()], 1))
        a = F.silu(self.head(x))
        d = self.norm(self.down(a) + t[:, :, None, None])
        b, c, h, w = d.shape
        s = d.flatten(2).transpose(1, 2)
        d = d + self.mid(s, s, s, need_weights=False)[0].transpose(1, 2).reshape(b, c, h, w)
        u = self.up(F.interpolate(F.silu(d), size=a.shape[2:], mode="bilinear"))
        return self.out(torch.cat([u, a], 1))


@export(x={0: "batch", 2: "height", 3: "width"}, t={0: "batch"})
def unet():
    return UNet(), [(torch.randn(b, 3, h, w), torch.rand(b) * 9) for b, h, w in ((2, 16, 24), (1, 13, 19), (3, 8, 8))]


class GraphNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.out = nn.Linear(10, 8), nn.Linear(13, 5), nn.Linear(5, 2)

    def forward(self, x, edges):
        near = F.relu(self.a(torch.cat([x[edges[0]], x[edges[1]]], 1)))
        sums = torch.zeros(x.shape[0], 8).index_add(0, edges[1], near)
        return self.out(F.relu(self.b(torch.cat([x, sums], 1)))).mean(0), sums


@export(x={0: "nodes"}, edges={1: "edges"})
def graph_net():
    return GraphNet(), [(torch.randn(n, 5), torch.randint(0, n, (2, e))) for n, e in ((6, 9), (4, 3), (12, 30))]


# ---- writing

def write(folder, name, make, axes):
    torch.manual_seed(0)
    try:
        model, feeds, *other = make()
    except Exception as why:
        print(f"{name}: not made: {type(why).__name__}: {why}", flush=True)
        return
    ways = {"script": model.eval(), "dynamo": (other or [model])[0].eval()}
    np.savez(os.path.join(folder, name + ".npz"), **{f"{i}_{k}": v.numpy() for i, f in enumerate(feeds) for k, v in enumerate(f)})
    for way, model in ways.items():
        to = os.path.join(folder, f"{name}.{way}.onnx")
        try:
            with torch.no_grad():
                if way == "script":
                    torch.onnx.export(model, feeds[0], to, dynamo=False, opset_version=17, input_names=list(axes),
                                      dynamic_axes={k: v for k, v in axes.items() if v})
                else:
                    torch.onnx.export(model, feeds[0], to, dynamo=True, input_names=list(axes), verbose=False,
                                      external_data=False,
                                      dynamic_shapes=tuple({k: torch.export.Dim.DYNAMIC for k in v} for v in axes.values()))
            print(f"{name}.{way}: {os.path.getsize(to)} bytes", flush=True)
        except Exception as why:
            print(f"{name}.{way}: not exported: {type(why).__name__}: {' '.join(str(why).split())[:160]}", flush=True)


def main():
    if sys.argv[1] == "--list":
        print(*MODELS)
        return
    os.makedirs(sys.argv[1], exist_ok=True)
    for name in sys.argv[2:] or MODELS:
        write(sys.argv[1], name, *MODELS[name])


if __name__ == "__main__":
    main()
