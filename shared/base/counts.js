/**
 * An amount of the resource `of`, of which there may be `most` at a time. With `within`, `of` is a holder who shares the
 * resource that `within` names: `most` is then for a single holder, and less the more other holders have (`fairShare`).
 * @typedef {{
 *   readonly of: string,
 *   readonly amount: number,
 *   readonly most: number,
 *   readonly within?: { readonly of: string, readonly most: number }
 * }} Share
 */

/**
 * Returns how much a holder may have of a shared resource (dynamic thresholds). It is the same part of the free amount
 * as `alone` is of all. So each holder leaves most of the remainder to the next, however many take all that they can.
 * @param {number} alone @param {number} all @param {number} others the amount that the others hold
 */
export function fairShare(alone, all, others) {
  return Math.ceil((alone * (all - others)) / all);
}

/** How much of each resource is in use, by holder: a holder may end without giving back. */
export class Counts {
  /** @type {Map<string, number>} */
  #all = new Map();
  /** @type {Map<number, Map<string, number>>} */
  #held = new Map();

  /**
   * True: all of the shares are counted now. False: none of them is.
   * @param {number} holder
   * @param {readonly Share[]} shares
   */
  take(holder, shares) {
    if (!shares.every((share) => this.#isFree(share))) return false;
    for (const { of, amount } of shares) this.#add(holder, of, amount);
    return true;
  }

  /**
   * @param {number} holder
   * @param {readonly Pick<Share, 'of' | 'amount'>[]} shares
   */
  give(holder, shares) {
    for (const { of, amount } of shares) this.#add(holder, of, -amount);
  }

  /**
   * Gives back everything of a holder that has ended.
   * @param {number} holder
   */
  forget(holder) {
    for (const [of, amount] of this.#held.get(holder) ?? []) this.#add(holder, of, -amount);
  }

  /** @param {Share} share */
  #isFree({ of, amount, most, within }) {
    const held = this.#all.get(of) ?? 0;
    if (within === undefined) return held + amount <= most;
    const others = (this.#all.get(within.of) ?? 0) - held;
    return held + amount <= fairShare(most, within.most, others);
  }

  /** @param {number} holder @param {string} of @param {number} amount */
  #add(holder, of, amount) {
    const held = this.#held.get(holder) ?? new Map();
    add(this.#all, of, amount);
    add(held, of, amount);
    if (held.size > 0) this.#held.set(holder, held);
    else this.#held.delete(holder);
  }
}

/** @param {Map<string, number>} counts @param {string} of @param {number} amount */
function add(counts, of, amount) {
  const sum = (counts.get(of) ?? 0) + amount;
  if (sum === 0) counts.delete(of);
  else counts.set(of, sum);
}
