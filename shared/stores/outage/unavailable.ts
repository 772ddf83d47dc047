/** The store could not work: down, hung, full or not trusted. Becomes 503 with Retry-After. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
  /** The store refused: nothing of the work was done or will be. Otherwise the work may have been done. */
  readonly refused: boolean;
  /** The store refused because it has no room. */
  readonly full: boolean;

  constructor(
    message: string,
    {
      refused = false,
      full = false,
      ...options
    }: ErrorOptions & { refused?: boolean; full?: boolean } = {},
  ) {
    super(message, options);
    this.refused = refused;
    this.full = full;
  }
}
