/** One thing that is wrong in the configuration: where, and what to do. */
export interface Mistake {
  /** Members joined by dots, or the name of an environment variable. */
  readonly path: string;
  readonly message: string;
}

/** The configuration cannot be used; carries every mistake, not only the first. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly mistakes: readonly Mistake[];

  constructor(mistakes: readonly Mistake[]) {
    super(
      ['The configuration cannot be used:']
        .concat(mistakes.map(({ path, message }) => `  ${path}: ${message}`))
        .join('\n'),
    );
    this.mistakes = mistakes;
  }
}
