/** Values that their owner can ask for again for a while. */
export interface Kept {
  /**
   * Keeps a value for so many seconds and resolves to its id, which nobody can guess. Of the owner's
   * values only the `most` that are newest stay.
   */
  put(
    owner: string,
    value: string,
    room: { readonly seconds: number; readonly most: number },
  ): Promise<string>;
  /** Undefined: it was never there, is gone, or belongs to somebody else. */
  get(owner: string, id: string): Promise<string | undefined>;
}
