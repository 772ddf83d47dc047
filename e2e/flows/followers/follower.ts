/**
 * A remote server without the store: `follower.ts ISSUER AUTHZ CLIENT SECRET`. It follows the revocations
 * of ISSUER at AUTHZ, and answers `GET /?CLAIMS` (JSON) with 200, with 401 if a token with these claims is
 * revoked, or with 503 if it cannot decide.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '#shared/base/clock.ts';
import { jsonLog } from '#shared/base/log.ts';
import { leasedFeed } from '#shared/guard/leased-feed.ts';
import { parsePage, type RevocationPage } from '#shared/guard/revocation-page.ts';
import type { RevocableClaims } from '#shared/jose/access-token-claims.ts';

const [issuer = '', authz = '', client = '', secret = ''] = process.argv.slice(2);
const log = jsonLog((line) => process.stderr.write(line), systemClock, 'follower');

let token: Promise<string> | undefined;

async function newToken(): Promise<string> {
  const response = await fetch(`${authz}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${client}:${secret}`)}` },
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      resource: `${issuer}/revocations`,
      scope: 'revocations:follow',
    }),
  });
  const body = (await response.json()) as { access_token?: string };
  if (body.access_token === undefined) throw new Error(`no token: ${JSON.stringify(body)}`);
  return body.access_token;
}

async function ask(
  after: string | undefined,
  wait: number,
  signal: AbortSignal,
): Promise<RevocationPage> {
  const query = new URLSearchParams({ ...(after && { after }), wait: String(wait) });
  token ??= newToken();
  const bearer = await token.catch((error: unknown) => {
    token = undefined;
    throw error;
  });
  const response = await fetch(`${authz}/revocations?${query.toString()}`, {
    headers: { authorization: `Bearer ${bearer}` },
    signal,
  });
  const text = await response.text();
  if (response.status === 401) token = undefined;
  if (response.status !== 200) throw new Error(`${response.status} ${text}`);
  return parsePage(text);
}

const feed = leasedFeed({ ask, clock: systemClock, log });

async function verdict(claims: RevocableClaims): Promise<number> {
  try {
    return (await feed.latest()).revokedBy(claims) === undefined ? 200 : 401;
  } catch {
    return 503;
  }
}

const server = createServer((request, response) => {
  const claims = decodeURIComponent(request.url?.slice('/?'.length) ?? '');
  void verdict(JSON.parse(claims) as RevocableClaims).then((status) => {
    response.writeHead(status).end();
  });
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening at ${(server.address() as AddressInfo).port}\n`);
});
