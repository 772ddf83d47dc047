/** State between the legs of an exchange of several messages (SCRAM, Mutual, Negotiate). */
export interface Sessions {
  /**
   * Keeps `value` (JSON) for `seconds` under a new unguessable id; or under `id`, in place of what is
   * there, for state that the other side names by something of its own.
   */
  put(value: unknown, seconds: number, id?: string): Promise<string>;
  get(id: string): Promise<unknown>;
  /** Returns and forgets: of any number of callers exactly one gets the value. */
  take(id: string): Promise<unknown>;
}
