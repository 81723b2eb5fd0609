// The walk: which step of which block a step number stands for.

const PER_BLOCK = 6;

/** How many steps a walk through `depth` blocks has. */
export const stepCount = (depth) => 2 + PER_BLOCK * depth;

/**
 * One step: {id, part, sublayer, layer, block, shows}, within a block also {before, delta, update, scale, pattern}.
 *
 * part:      "input", "norm", "write" (a sublayer writes its correction), "add", "sum".
 * layer:     the block from 0 as in the trace's names; block: the same from 1.
 * shows:     the trace entry that this step computes.
 * before:    the stream's entry that the sublayer started from, update: the one it leads to,
 * delta:     the correction's entry; scale, pattern: those of the step's norm and block.
 */
export function stepAt(step, depth) {
  if (step <= 1) {
    const first = "blocks.0.resid_pre";
    return { id: "input", part: "input", sublayer: null, layer: 0, block: 0, shows: first };
  }
  if (step >= stepCount(depth)) {
    const last = `blocks.${depth - 1}.resid_post`;
    return { id: "sum", part: "sum", sublayer: null, layer: depth - 1, block: depth, shows: last };
  }
  const layer = Math.floor((step - 2) / PER_BLOCK);
  const place = (step - 2) % PER_BLOCK;
  const sublayer = place < 3 ? "attention" : "ffn";
  const part = ["norm", "write", "add"][place % 3];
  const at = `blocks.${layer}.`;
  const names =
    sublayer === "attention"
      ? { norm: "ln1", before: "resid_pre", delta: "attn_out", update: "resid_mid" }
      : { norm: "ln2", before: "resid_mid", delta: "mlp_out", update: "resid_post" };
  const before = at + names.before;
  const delta = at + names.delta;
  const update = at + names.update;
  const shows = { norm: `${at}${names.norm}.normalized`, write: delta, add: update }[part];
  const id = part === "write" ? sublayer : `${part}-${sublayer}`;
  return {
    id,
    part,
    sublayer,
    layer,
    block: layer + 1,
    shows,
    before,
    delta,
    update,
    scale: `${at}${names.norm}.scale`,
    pattern: `${at}attn.pattern`,
  };
}

/** The first step of a chapter: a block, or one sublayer of it. */
export const firstStepOf = (block, sublayer = "attention") =>
  2 + PER_BLOCK * (block - 1) + (sublayer === "ffn" ? 3 : 0);

/** The add that ends a block: where the depth map's bar for it stands. */
export const lastStepOf = (block) => 1 + PER_BLOCK * block;

/** How many blocks have ended when a step is done. */
export const blocksDone = (step, depth) => Math.min(depth, Math.floor((step - 1) / PER_BLOCK));

/** The chapters of a walk: input, block 1 in two, each further block, the sum. */
export function chapters(depth) {
  const list = [{ id: "input", block: 0, step: 1 }];
  list.push({ id: "attention", block: 1, step: firstStepOf(1) });
  list.push({ id: "ffn", block: 1, step: firstStepOf(1, "ffn") });
  for (let block = 2; block <= depth; block++) list.push({ id: "block", block, step: firstStepOf(block) });
  list.push({ id: "sum", block: depth, step: stepCount(depth) });
  return list;
}

/** A valid state from a wanted one: who stands at the sum stays there, unless a step is asked for. */
export function agree(maxDepth, wanted, current, change) {
  const depth = clamp(wanted.depth, 1, maxDepth);
  const staysAtSum = !("step" in change) && current.step === stepCount(current.depth);
  const step = staysAtSum ? stepCount(depth) : clamp(wanted.step, 1, stepCount(depth));
  return { ...wanted, depth, step };
}

const clamp = (value, lowest, highest) => Math.min(highest, Math.max(lowest, value));
