import { Pool } from 'undici';
import type { Pair } from '../pair/pair.ts';
import { mintTokens } from './tokens.ts';

const SCOPE = 'documents:read';

/** A client that revokes its own tokens and sees what becomes of them, on connections that stay open. */
export interface Witness extends AsyncDisposable {
  readonly servers: readonly Pool[];
  /** Not yet revoked; whoever takes one removes it. */
  readonly tokens: string[];
  /** Resolves when the answer is read (RFC 7009 section 2.2). */
  revoke(token: string): Promise<void>;
  /** Rejects when the answer is neither 200 nor 401. */
  accepts(server: Pool, token: string): Promise<boolean>;
}

/** Registers the client, mints its tokens and opens up to that many connections to each server. */
export async function connect(pair: Pair, tokens: number, connections: number): Promise<Witness> {
  const stack = new AsyncDisposableStack();
  const open = (url: string) => stack.adopt(new Pool(url, { connections }), (pool) => pool.close());
  const issuer = open(pair.issuer);
  const client = await pair.addClient(SCOPE);
  const grant = { issuer: pair.issuer, client, scope: SCOPE, resource: pair.documents };
  const form = {
    authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}`,
    'content-type': 'application/x-www-form-urlencoded',
  };

  return {
    servers: pair.resources.map(({ url }) => open(url)),
    tokens: [...(await mintTokens(grant, tokens))],

    async revoke(token) {
      const body = new URLSearchParams({ token }).toString();
      const path = '/token/revocation';
      const answer = await issuer.request({ method: 'POST', path, headers: form, body });
      await answer.body.dump();
      if (answer.statusCode !== 200) throw new Error(`revocation answered ${answer.statusCode}`);
    },

    async accepts(server, token) {
      const headers = { authorization: `Bearer ${token}` };
      const answer = await server.request({ method: 'GET', path: '/documents/', headers });
      await answer.body.dump();
      if (answer.statusCode === 200) return true;
      if (answer.statusCode === 401) return false;
      throw new Error(`answered ${answer.statusCode}`);
    },

    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
