/**
 * So much of what `of` names, of which there may be `most` at a time.
 * @typedef {{ readonly of: string, readonly amount: number, readonly most: number }} Share
 */

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
    if (shares.some(({ of, amount, most }) => (this.#all.get(of) ?? 0) + amount > most))
      return false;
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
