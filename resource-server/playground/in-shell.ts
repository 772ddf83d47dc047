import { shellWord } from '#shared/base/shell-word.ts';
import type { OfCommands } from './exchange.ts';

/** A request of curl: the name of a document, and the options. */
export type CurlRequest = readonly [name: string, ...options: readonly string[]];

/** Returns a command for requests to documents of the visitor's own. Nobody but the playground writes to those of its spaces. */
export const atDocuments =
  (...requests: readonly CurlRequest[]) =>
  (_url: string, { documents }: OfCommands): string | undefined => {
    if (documents === undefined) return undefined;
    const lines = requests.map(([name, ...options]) => {
      const words = [...options, documents + name].map(shellWord).join(' ');
      return `curl -si -H "Authorization: Bearer $TOKEN" ${words}`;
    });
    return [`# The page ${new URL('/', documents).href} says how to get a TOKEN`, ...lines].join(
      '\n',
    );
  };

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
