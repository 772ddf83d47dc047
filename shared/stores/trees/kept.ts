/** Values that their owner can read again for some time. */
export interface Kept {
  /** Keeps a value for so long. Resolves to its unguessable id. Only the `most` newest values of an owner stay. */
  put(
    owner: string,
    value: string,
    room: { readonly seconds: number; readonly most: number },
  ): Promise<string>;
  /** Undefined: never stored, expired, or the value of another owner. */
  get(owner: string, id: string): Promise<string | undefined>;
}
