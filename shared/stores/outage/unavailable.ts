/** The store could not do its work: down, hung, full, not trusted. Becomes 503 with Retry-After. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
  /** It said no: nothing of the work was done, nor will be. Else nobody knows. */
  readonly refused: boolean;

  constructor(message: string, options: ErrorOptions & { readonly refused?: boolean } = {}) {
    super(message, options);
    this.refused = options.refused ?? false;
  }
}
