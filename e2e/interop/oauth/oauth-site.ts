import { CALLBACK } from '../../pair/people-client.ts';
import { PersonAtPages } from './person-at-pages.ts';
import { startPair } from '../../pair/pair.ts';
import type { Pair, PairOptions } from '../../pair/pair.ts';

/** The pair with default settings, and a person at its pages, for third-party OAuth clients. */
export interface OAuthSite extends AsyncDisposable {
  readonly pair: Pair;
  readonly person: PersonAtPages;
  /** Registers a client with these options of `client add`. Its codes are sent to `CALLBACK`. */
  addClient(...options: readonly string[]): Promise<{ id: string; secret: string }>;
}

export async function startOAuthSite(pairOptions: PairOptions = {}): Promise<OAuthSite> {
  const pair = await startPair(pairOptions);
  return {
    pair,
    person: new PersonAtPages(pair, await pair.addPerson()),
    async addClient(...options) {
      const grants = ['--grant', 'authorization_code', '--grant', 'refresh_token'];
      const places = options.includes('--redirect-uri') ? [] : ['--redirect-uri', CALLBACK];
      const args = ['--name', 'Their client', ...grants, ...places, ...options];
      const { client_id, client_secret } = await pair.cli('client', 'add', ...args);
      return { id: String(client_id), secret: String(client_secret) };
    },
    [Symbol.asyncDispose]: () => pair[Symbol.asyncDispose](),
  };
}
