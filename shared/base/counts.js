/**
 * So much of what `of` names, of which there may be `most` at a time. With `within`, `of` is one of those who share
 * what that names: then `most` is for one alone, and less the more the others hold (`fairShare`).
 * @typedef {{
 *   readonly of: string,
 *   readonly amount: number,
 *   readonly most: number,
 *   readonly within?: { readonly of: string, readonly most: number }
 * }} Share
 */

/**
 * Returns how much one may hold of something that several share (dynamic thresholds). Of what the others leave, it is
 * the same part that `alone` is of all. So however many take all that they can get, each leaves most of the rest to
 * the next.
 * @param {number} alone @param {number} all @param {number} others the amount that the others hold
 */
export function fairShare(alone, all, others) {
  return Math.ceil((alone * (all - others)) / all);
}

/** How much of each thing is under way, by who holds it: a holder may be gone without giving back. */
export class Counts {
  /** @type {Map<string, number>} */
  #all = new Map();
  /** @type {Map<number, Map<string, number>>} */
  #held = new Map();

  /**
   * True: all of the shares are counted now. Else none is.
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
   * Gives back all that a holder has who is gone.
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
