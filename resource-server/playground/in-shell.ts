import { shellWord } from '#shared/base/shell-word.ts';
import type { OfCommands } from './exchange.ts';

/** A command with each part on its own line. */
export const onLines = (...parts: readonly string[]): string => parts.join(' \\\n');

/** A request of curl: the name of a document, and the options. */
export type CurlRequest = readonly [name: string, ...options: readonly string[]];

/**
 * Returns a command for requests to the visitor's own documents, since only the playground writes to those of its
 * spaces.
 */
export const atDocuments =
  (...requests: readonly CurlRequest[]) =>
  (_url: string, { documents }: OfCommands): string | undefined => {
    if (documents === undefined) return undefined;
    const lines = requests.map(([name, ...options]) => {
      const token = 'curl -si -H "Authorization: Bearer $TOKEN"';
      return onLines(token, ...inPairs(options.map(shellWord)), shellWord(documents + name));
    });
    return [`# The page ${new URL('/', documents).href} says how to get a TOKEN`, ...lines].join(
      '\n',
    );
  };

/** Joins each option with its value. */
const inPairs = (words: readonly string[]): readonly string[] =>
  words.flatMap((_word, at) => (at % 2 === 0 ? [words.slice(at, at + 2).join(' ')] : []));

/** Returns a command for the command line, which signs in by a device code and binds its token by DPoP. */
export const byCommandLine =
  (...commands: readonly string[]) =>
  (_url: string, { documents, client: { cli } }: OfCommands): string | undefined =>
    documents &&
    cli &&
    commands.map((words) => `${cli} ${words} ${shellWord(documents)}`).join('\n');

/** Options that write a document. */
export const putting = (type: string, content: string, ...more: readonly string[]) =>
  ['-X', 'PUT', ...more, '-H', `Content-Type: ${type}`, '-d', content] as const;
