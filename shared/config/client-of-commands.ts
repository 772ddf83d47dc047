import { join } from 'node:path';
import { CLI } from '#shared/base/invocation.ts';
import { shellWord } from '#shared/base/shell-word.ts';
import { isProduction } from './production.ts';
import type { Config } from './schema.ts';

/** The client in the example commands on our pages. */
export interface ClientOfCommands {
  /** Shell lines before the commands, which set the variables in `login`; empty if `login` has none. */
  readonly before: string;
  /** Its id and its secret, as `-u` of curl takes them. */
  readonly login: string;
  /** The name under which visitors call our command line. Undefined: visitors do not have the command line. */
  readonly cli: string | undefined;
}

/** In development the commands use the machine client of the first start. A shell reads its secret from a file. */
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
