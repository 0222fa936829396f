"""Text that the tests' tokenizers are learnt from."""

CORPUS = [
    "<think>A bottom right, B top left, C top right, D bottom left.</think>",
    "<code>state[0], state[1] = state[1], state[0]\nobservation_image_1 = observation(state)</code>",
    "<code>crop_image_1 = crop(observation_image_1, [0.0, 0.25, 0.5, 1.0])</code>",
    '<answer>["B", "C", "D", "A"]</answer>',
] * 20
