import { join } from 'node:path';
import { CLI } from '#shared/base/invocation.ts';
import { shellWord } from '#shared/base/shell-word.ts';
import { isProduction } from './production.ts';
import type { Config } from './schema.ts';

/** A client for the commands that pages propose. */
export interface ClientOfCommands {
  /** Lines before them, which set what `login` names; empty: it names nothing. */
  readonly before: string;
  /** Its id and its secret, as `-u` of curl takes them. */
  readonly login: string;
  /** How the command line is called. Undefined: visitors do not have it. */
  readonly cli: string | undefined;
}

/** In development it is the machine of the first start, whose secret is in a file for a shell. */
export const clientOfCommands = (
  config: Pick<Config, 'data'> & Parameters<typeof isProduction>[0],
): ClientOfCommands =>
  isProduction(config)
    ? { before: '', login: 'CLIENT_ID:CLIENT_SECRET', cli: undefined }
    : {
        before: `. ${shellWord(join(config.data, 'first-start.env'))}\n`,
        login: 'demo-machine:$SECRET',
        cli: CLI,
      };
