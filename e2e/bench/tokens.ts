import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { dpopProver } from '../setup/dpop-prover.ts';
import type { HttpRequest } from './requests.ts';

export interface Grant {
  /** The origin of the authorization server. */
  readonly issuer: string;
  readonly client: { readonly id: string; readonly secret: string };
  readonly scope: string;
  /** The resource of the tokens (RFC 8707). */
  readonly resource: string;
}

const AT_ONCE = 16;

/** A form with the client's secret (RFC 6749 section 2.3.1). */
export function clientForm(
  { id, secret }: Grant['client'],
  path: string,
  form: Readonly<Record<string, string>>,
): HttpRequest & { readonly body: string } {
  return {
    method: 'POST',
    path,
    fields: {
      Authorization: `Basic ${btoa(`${id}:${secret}`)}`,
      'Content-Type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams(form).toString(),
  };
}

/** The client credentials request (RFC 6749 section 4.4.2). */
export const tokenRequest = ({ client, scope, resource }: Omit<Grant, 'issuer'>) =>
  clientForm(client, '/token', { grant_type: 'client_credentials', scope, resource });

/** How often a request with the answer 503 is repeated, and after how many milliseconds. */
const AGAIN = { times: 10, after: 500 };

/** Gets this many different tokens. Rejects if one is refused. */
export async function mintTokens(grant: Grant, count: number): Promise<readonly string[]> {
  await using stack = new AsyncDisposableStack();
  const pool = stack.adopt(new Pool(grant.issuer, { connections: AT_ONCE }), (open) =>
    open.close(),
  );
  const { method, path, fields, body } = tokenRequest(grant);
  const tokens: string[] = [];
  let left = count;
  async function mint(): Promise<void> {
    while (left > 0) {
      left -= 1;
      tokens.push(await send(fields));
    }
  }
  async function send(headers: Record<string, string>, again = AGAIN.times): Promise<string> {
    const answer = await pool.request({ method, path, headers, body });
    if (answer.statusCode === 503 && again > 0) {
      await answer.body.dump();
      await sleep(AGAIN.after);
      return send(headers, again - 1);
    }
    const json = (await answer.body.json()) as { access_token?: string };
    if (json.access_token === undefined) throw new Error(`no token: ${JSON.stringify(json)}`);
    return json.access_token;
  }
  await Promise.all(Array.from({ length: AT_ONCE }, mint));
  return tokens;
}

/** A DPoP-bound token (RFC 9449 section 5), and the fields of a request with a new proof. */
export interface BoundToken {
  fields(method: string, url: string): Promise<Readonly<Record<string, string>>>;
}

export async function mintBoundToken(grant: Grant): Promise<BoundToken> {
  const prover = await dpopProver();
  const { method, path, fields, body } = tokenRequest(grant);
  const url = `${grant.issuer}${path}`;
  const DPoP = await prover.proof({ method, url });
  const answer = await fetch(url, { method, headers: { ...fields, DPoP }, body });
  const { access_token, token_type } = (await answer.json()) as Record<string, string>;
  if (access_token === undefined || token_type !== 'DPoP') throw new Error('no bound token');
  return {
    fields: async (of, at) => ({
      Authorization: `DPoP ${access_token}`,
      DPoP: await prover.proof({ method: of, url: at, accessToken: access_token }),
    }),
  };
}
