/** State between the legs of an exchange of several messages (SCRAM, Mutual, Negotiate). */
export interface Sessions {
  /**
   * Keeps `value` (JSON) for `seconds` under a new unguessable id. If `id` is given, replaces the value of this id: the
   * client has named the state.
   */
  put(value: unknown, seconds: number, id?: string): Promise<string>;
  get(id: string): Promise<unknown>;
  /** Returns the value and forgets it: exactly one caller gets it. */
  take(id: string): Promise<unknown>;
}
