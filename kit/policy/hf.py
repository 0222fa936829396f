"""Sampling from a transformers model: batched, token-exact, on any device.

A decode loop of our own rather than ``generate``, for four reasons: log-probabilities of exactly
the sampled tokens come with them; stop strings are kept as sampled; rows that are finished leave
the batch, so one long turn does not hold 63 short ones; and what a turn computed is remembered
for the next (:mod:`kit.policy.prefix`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from kit.chat import Chat
from kit.models import load_model
from kit.models.device import gpus_for
from kit.policy import (
    Completion,
    GenerationRequest,
    RequestSource,
    SamplingParams,
    check_logprobs,
    sample_streaming,
    timed,
)
from kit.policy.limits import CACHE_BYTES, MAX_BATCH_SIZE, batch_size_that_fits, token_bytes
from kit.policy.open_turn import OpenTurn
from kit.policy.prefix import Prefix, PrefixStore, stack
from kit.policy.scripted import Script
from kit.policy.suppress import suppress_logits

if TYPE_CHECKING:
    from kit.policy.decoding import RoomyCache


class HFPolicy:
    """Samples from a transformers model in this process.

    Args:
        model: a vision-language model of a family in :data:`kit.models.FAMILIES`, or a PEFT model around one.
        chat: its chat encoder.
        batch_size: how many requests decode together at the most; on a GPU as many as there is room for.
        cache_bytes: how much may be remembered between turns; 0 computes every context afresh.

    Attributes:
        seconds: wall time spent inside the model so far.
    """

    def __init__(
        self, model: Any, chat: Chat, batch_size: int = MAX_BATCH_SIZE, cache_bytes: int = CACHE_BYTES
    ) -> None:
        self.model = model
        self.chat = chat
        self.batch_size = batch_size
        self.seconds = 0.0
        self._store = PrefixStore(chat.image_id, cache_bytes)
        from transformers.convert_slow_tokenizer import bytes_to_unicode  # seconds: first when a policy is made

        byte = {sign: bytes([value]) for value, sign in bytes_to_unicode().items()}  # as byte-level tokens are spelt
        tokens = chat.tokenizer.convert_ids_to_tokens(range(len(chat.tokenizer)))
        self._pieces = [b"".join(byte.get(sign) or sign.encode() for sign in token or "") for token in tokens]

    def reset(self) -> None:
        """Forget what was computed: a new rollout begins, perhaps with new weights."""
        self._store.clear()

    def sample(self, requests: Sequence[GenerationRequest], params: SamplingParams) -> list[Completion]:
        """One sample for each request, in order."""
        return sample_streaming(self, requests, params)

    def stream(self, ready: RequestSource, params: SamplingParams) -> Iterator[tuple[int, Completion]]:
        """Each as its turn ends, so that its environment steps while the others decode.

        Next turns wait until all have ended and their environments have answered: what is decoded together, and with
        it all rounding, then doesn't depend on how fast anything was.
        """
        while asked := ready("all"):
            for place, sample in timed(self._round([request for _, request in asked], params), self._spent):
                yield asked[place][0], sample

    def _spent(self, seconds: float) -> None:
        self.seconds += seconds

    def _round(self, requests: Sequence[GenerationRequest], params: SamplingParams) -> Iterator[tuple[int, Completion]]:
        """One sample for each request, as they end, with its place."""
        training = self.model.training
        self.model.eval()
        found = [self._store.find(request) for request in requests]
        # Contexts with and without a remembered prefix apart, and of similar length together: less padding.
        order = sorted(range(len(requests)), key=lambda i: (found[i] is None, len(requests[i].ids)))
        known = sum(prefix is not None for prefix in found)
        try:
            for part in (order[:known], order[known:]):
                size = self._size([len(requests[i].ids) for i in part], params)
                for at in range(0, len(part), size):
                    chunk = part[at : at + size]
                    for row, turn in self._decode([requests[i] for i in chunk], [found[i] for i in chunk], params):
                        yield chunk[row], turn
        finally:
            self.model.train(training)

    def _size(self, lengths: Sequence[int], params: SamplingParams) -> int:
        """Choose how many to decode together."""
        if self.model.device.type != "cuda" or not lengths:
            return self.batch_size
        token = token_bytes(self.model.config.get_text_config(), self.model.dtype.itemsize)
        free, _ = torch.cuda.mem_get_info(self.model.device)
        return batch_size_that_fits(self.batch_size, free, token, max(lengths) + params.max_new_tokens)

    def _prefill(
        self, requests: Sequence[GenerationRequest], prefixes: Sequence[Prefix | None]
    ) -> tuple[Tensor, Tensor, Tensor, RoomyCache]:
        """Run what is new of each context.

        Returns next-token logits ``(B, V)``, next positions ``(B,)``, attention ``(B, T)`` and the cache.
        """
        from kit.policy.decoding import RoomyCache

        device, family = self.model.device, self.chat.family
        done = [prefix.length if prefix else 0 for prefix in prefixes]
        seen = [prefix.images if prefix else 0 for prefix in prefixes]
        new = [request.ids[n:] for request, n in zip(requests, done, strict=True)]
        wide = max(len(ids) for ids in new)
        ids = torch.tensor([[self.chat.pad_id] * (wide - len(row)) + list(row) for row in new])
        attention = torch.tensor([[0] * (wide - len(row)) + [1] * len(row) for row in new])
        pixels = [self.chat.pixels(p) for r, n in zip(requests, seen, strict=True) for p in r.images[n:]]
        positions, following = self._positions(requests, wide)
        cache, past = RoomyCache(), attention[:, :0]
        if prefixes[0] is not None:
            cache, past = stack([prefix for prefix in prefixes if prefix is not None])
        attention = torch.cat([past.to(device), attention.to(device)], dim=1)
        images = family.image_inputs(pixels, ids == self.chat.image_id)
        out = self.model(
            input_ids=ids.to(device),
            attention_mask=attention,
            position_ids=positions.to(device),
            **{name: value.to(device) for name, value in images.items()},
            past_key_values=cache,
            use_cache=True,
            logits_to_keep=1,
        )
        return out.logits[:, -1], following.to(device), attention, cache

    def _positions(self, requests: Sequence[GenerationRequest], wide: int) -> tuple[Tensor, Tensor]:
        """Positions of the last ``wide`` tokens ``(…, B, wide)`` and of the next one ``(B,)``."""
        longest = max(len(r.ids) for r in requests)
        ids = torch.tensor([[self.chat.pad_id] * (longest - len(r.ids)) + list(r.ids) for r in requests])
        attention = torch.tensor([[0] * (longest - len(r.ids)) + [1] * len(r.ids) for r in requests])
        pixels = [self.chat.pixels(p) for r in requests for p in r.images]
        model = self.model.get_base_model() if hasattr(self.model, "get_base_model") else self.model
        positions, following = self.chat.family.positions(model, attention, ids == self.chat.image_id, pixels)
        return positions[..., longest - wide :], following

    def _start(
        self, requests: Sequence[GenerationRequest], prefixes: Sequence[Prefix | None]
    ) -> tuple[Tensor, Tensor, Tensor, RoomyCache]:
        """Prefill, once for identical contexts (a group's first turn), then one row a request."""
        slots: dict[tuple[object, ...], int] = {}
        where = [slots.setdefault((r.ids, r.images), len(slots)) for r in requests]
        first = [where.index(slot) for slot in range(len(slots))]
        logits, positions, attention, cache = self._prefill([requests[i] for i in first], [prefixes[i] for i in first])
        if len(first) < len(requests):
            index = torch.tensor(where, device=attention.device)
            cache.batch_select_indices(index)
            logits, positions, attention = logits[index], positions[index], attention[index]
        return logits, positions, attention, cache

    @torch.no_grad()
    def _decode(
        self, requests: Sequence[GenerationRequest], prefixes: Sequence[Prefix | None], params: SamplingParams
    ) -> Iterator[tuple[int, Completion]]:
        """Samples with their rows, as they end."""
        from kit.policy.decoding import grouped_attention

        logits, positions, attention, cache = self._start(requests, prefixes)
        turns = [OpenTurn(params.stops, self.chat.end_id, self._pieces, request.seed) for request in requests]
        rows = list(range(len(requests)))  # which request each row of the batch belongs to
        for step in range(params.max_new_tokens):
            tokens, chosen = self._choose(logits, params.temperature, [(r, turns[r]) for r in rows])
            check_logprobs(logprobs := chosen.tolist())
            for row, token, logprob in zip(rows, tokens.tolist(), logprobs, strict=True):
                if turns[row].add(token, logprob):
                    yield row, turns[row].sample
            live = [i for i, row in enumerate(rows) if not turns[row].finish]
            if not live or step + 1 == params.max_new_tokens:
                break
            # Leave finished rows behind once they are a quarter: re-indexing the cache isn't free.
            if len(live) <= 0.75 * len(rows):
                self._remember(requests, turns, rows, cache, attention, finished=True)
                keep = torch.tensor(live, device=attention.device)
                cache.batch_select_indices(keep)
                rows = [rows[i] for i in live]
                tokens, positions, attention = tokens[keep], positions[keep], attention[keep]
            attention = torch.cat([attention, attention.new_ones(len(rows), 1)], dim=1)
            with grouped_attention(self.model):
                logits = self.model(
                    input_ids=tokens[:, None],
                    attention_mask=attention,
                    position_ids=self.chat.family.next_positions(positions),
                    past_key_values=cache,
                    use_cache=True,
                ).logits[:, -1]
            positions = positions + 1
        self._remember(requests, turns, rows, cache, attention, finished=False)
        for row in rows:
            if not turns[row].finish:
                yield row, turns[row].sample

    def _remember(
        self,
        requests: Sequence[GenerationRequest],
        turns: list[OpenTurn],
        rows: list[int],
        cache: RoomyCache,
        attention: Tensor,
        finished: bool,
    ) -> None:
        """Store the rows that leave the batch. The last sampled token was never fed, so it isn't cached."""
        if self._store.max_bytes == 0:
            return
        for i, row in enumerate(rows):
            if turns[row].finish or not finished:
                columns = attention[i].clone()
                # Columns decoded after this row's turn ended are not part of its context.
                surplus = int(columns.sum()) - (len(requests[row].ids) + len(turns[row].ids) - 1)
                if surplus > 0:
                    columns[-surplus:] = 0
                self._store.keep(requests[row], turns[row].ids, cache, i, columns)

    def _choose(self, logits: Tensor, temperature: float, at: Sequence[tuple[int, OpenTurn]]) -> tuple[Tensor, Tensor]:
        """Sampled tokens ``(B,)`` and their log-probabilities ``(B,)`` under the distribution sampled from.

        ``at`` says which request each row belongs to, and its turn so far.
        """
        logp = self._logp(logits, temperature)
        if temperature == 0:
            tokens = logp.argmax(-1)
        else:
            # A uniform number a row, from the row's own seed, through the inverse of the distribution function: who
            # else is in the batch, and on which device, changes nothing but rounding.
            reached = logp.double().exp().cumsum(-1)
            draws = torch.tensor([[turn.draw()] for _, turn in at], dtype=reached.dtype, device=reached.device)
            tokens = torch.searchsorted(reached, draws * reached[:, -1:], right=True)[:, 0]
            tokens = tokens.clamp(max=logp.size(-1) - 1)  # of logits that aren't finite it finds none: see _decode
        return tokens, logp.gather(-1, tokens[:, None])[:, 0]

    def _logp(self, logits: Tensor, temperature: float) -> Tensor:
        """Log-probabilities of the distribution that is sampled from: forbidden ids out, temperature in."""
        logits = suppress_logits(logits.float(), self.chat.suppressed_ids)
        return torch.log_softmax(logits / temperature if temperature > 0 else logits, dim=-1)


class ForcedPolicy(HFPolicy):
    """Runs the model over a script's turns: every token costs what sampling it would, but the script chooses it.

    For benchmarks that need whole episodes before a policy can play any, and to score given turns.

    Args:
        model: a transformers model or its PEFT wrapper.
        chat: the model's chat encoder.
        script: an episode → the text of its next turn.
    """

    def __init__(self, model: Any, chat: Chat, script: Script, **kwargs: Any) -> None:
        super().__init__(model, chat, **kwargs)
        self.script = script
        self._forced: list[list[int]] = []

    def _decode(
        self, requests: Sequence[GenerationRequest], prefixes: Sequence[Prefix | None], params: SamplingParams
    ) -> Iterator[tuple[int, Completion]]:
        if any(request.episode is None for request in requests):
            raise ValueError("ForcedPolicy: a request has no episode; use it through kit.rollout")
        texts = [self.script(request.episode) for request in requests if request.episode is not None]
        self._forced = [[*self.chat.text(text), self.chat.end_id] for text in texts]
        return super()._decode(requests, prefixes, params)

    def _choose(self, logits: Tensor, temperature: float, at: Sequence[tuple[int, OpenTurn]]) -> tuple[Tensor, Tensor]:
        # A row that is finished but still in the batch is past its script's end: any token will do.
        picks = [self._forced[row][min(len(turn.ids), len(self._forced[row]) - 1)] for row, turn in at]
        tokens = torch.tensor(picks, device=logits.device)
        return tokens, self._logp(logits, temperature).gather(-1, tokens[:, None])[:, 0]


def load_model_and_chat(path: str | Path, device: str = "auto") -> tuple[Any, Chat]:
    """A model to play with, and its chat, from one checkpoint folder or hub id; on a GPU in bfloat16.

    ``device`` as in :func:`kit.models.device.gpus_for`: a small model computes on the processor.

    Raises:
        ValueError: the checkpoint is missing or of another family, or there is no such device.
    """
    if not gpus_for(path, device):
        return load_model(path), Chat.from_pretrained(path)
    model: Any = load_model(path, dtype=torch.bfloat16)
    return model.to("cuda"), Chat.from_pretrained(path)
