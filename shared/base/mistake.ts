/** A mistake in the configuration: its place, and what to do. */
export interface Mistake {
  /** Members joined by dots, or the name of an environment variable. */
  readonly path: string;
  readonly message: string;
}

/**
 * Thrown if the configuration cannot be used. It carries every mistake. `file`: the path of the configuration file,
 * if there is one.
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly mistakes: readonly Mistake[];
  /** The message, line by line. */
  readonly lines: readonly string[];

  constructor(mistakes: readonly Mistake[], file?: string) {
    const lines = [
      `The configuration${file ? ` of ${file}` : ''} cannot be used:`,
      ...mistakes.map(({ path, message }) => `  ${path}: ${message}`),
    ];
    super(lines.join('\n'));
    this.mistakes = mistakes;
    this.lines = lines;
  }
}
