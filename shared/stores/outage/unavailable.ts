interface StoreUnavailableOptions extends ErrorOptions {
  readonly refused?: boolean;
  readonly full?: boolean;
}

/** The store could not do its work: down, hung, full, not trusted. Becomes 503 with Retry-After. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
  /** It said no: nothing of the work was done, nor will be. Else nobody knows. */
  readonly refused: boolean;
  /** It said no because it has no room left. */
  readonly full: boolean;

  constructor(message: string, options: StoreUnavailableOptions = {}) {
    super(message, options);
    this.refused = options.refused ?? false;
    this.full = options.full ?? false;
  }
}
