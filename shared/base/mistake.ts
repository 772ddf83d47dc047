/** One thing that is wrong in the configuration: where, and what to do. */
export interface Mistake {
  /** Members joined by dots, or the name of an environment variable. */
  readonly path: string;
  readonly message: string;
}

/** The configuration cannot be used. Carries every mistake; `file`: the path of the configuration file, if there is one. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly mistakes: readonly Mistake[];

  constructor(mistakes: readonly Mistake[], file?: string) {
    super(
      [`The configuration${file ? ` of ${file}` : ''} cannot be used:`]
        .concat(mistakes.map(({ path, message }) => `  ${path}: ${message}`))
        .join('\n'),
    );
    this.mistakes = mistakes;
  }
}
