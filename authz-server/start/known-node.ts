/** A part of the console. */
export interface Warns {
  warn(...words: readonly unknown[]): void;
}

/** The pinned major version, on which all tests run. */
const KNOWN = '26.';

/**
 * Silences one warning of oidc-provider until the returned function is called: that Node is no LTS release. Node 26 is
 * in long-term support by its schedule, but 26.10 does not call itself so, and an operator could not change this.
 */
export function silenceKnownNode(console: Warns, version: string): () => void {
  const { warn } = console;
  if (version.startsWith(KNOWN)) {
    console.warn = (...words) => {
      if (!String(words[0]).includes('oidc-provider WARNING: Unsupported runtime')) warn(...words);
    };
  }
  return () => {
    console.warn = warn;
  };
}
