import { TestBrowser } from '../../../authz-server/integration/browser.fixture.ts';
import { addPeopleClient, CODE_FLOW } from '../../pair/people-client.ts';
import type { Server } from '../cpu.ts';
import { addCrowd } from '../gate.ts';
import { CODES } from '../grant-contenders.ts';
import { putting } from '../library.ts';
import type { HttpRequest } from '../requests.ts';
import { bearer, ES256, furnish, get, verify } from '../site.ts';
import type { Countersign } from '../targets/countersign.ts';
import { clientForm, mintTokens, tokenRequest } from '../tokens.ts';

/** A frequent request of people and clients, by different people and clients if possible. */
export interface Operation {
  readonly name: string;
  readonly server: Server;
  readonly status: number;
  /** The nth request. Each is sent once. */
  request(n: number): HttpRequest | Promise<HttpRequest>;
  /** Reads from the answer what a later request needs. */
  answered?(text: string): void;
}

const SCOPE = 'documents:read';
const CLIENTS = 4;

/** `most`: the number of requests per operation. */
export async function operationsOf(
  servers: Countersign,
  most: number,
): Promise<readonly Operation[]> {
  const { pair, authz, resource } = servers;
  const { bound, tokens } = await furnish(servers);
  const clients: { id: string; secret: string }[] = [];
  while (clients.length < CLIENTS)
    clients.push(await pair.addClient('documents:read documents:write'));
  const client = (n: number) => clients[n % CLIENTS] ?? { id: '', secret: '' };
  const asked = (n: number) =>
    tokenRequest({ client: client(n), scope: SCOPE, resource: ES256.url });
  const [unseen, [seen = '']] = [await tokens(ES256, most), await tokens(ES256, 1)];
  const revoked = await mintTokens(
    { issuer: authz.url, client: client(0), scope: SCOPE, resource: ES256.url },
    most,
  );
  const grant = { issuer: authz.url, client: client(0), resource: ES256.url };
  const [writer = ''] = await mintTokens({ ...grant, scope: 'documents:write' }, 1);
  const people = await addCrowd(pair, most);
  const { redemption, refresh, keep } = await codes(servers, people.slice(0, PEOPLE), most);
  const form = await signInForm(servers);

  const document = (n: number) => ({
    path: `/documents/scale-${n}`,
    type: 'text/plain',
    content: 'x',
  });
  const { origin, pathname } = new URL(ES256.url);
  const of = (server: Server, status: number, operations: Record<string, Operation['request']>) =>
    Object.entries(operations).map(([name, request]) => ({ name, server, status, request }));
  return [
    ...of(authz, 200, { 'client credentials': asked }),
    { name: 'code', server: authz, status: 200, request: redemption, answered: keep },
    ...of(authz, 200, {
      refresh,
      revocation: (n) => clientForm(client(0), '/token/revocation', { token: revoked[n] ?? '' }),
    }),
    ...of(authz, 303, { 'sign-in': (n) => form(people[n]?.name ?? '', people[n]?.password ?? '') }),
    ...of(resource, 204, {
      'verdict, token seen': () => verify(ES256, bearer(seen)),
      'verdict, token unseen': (n) => verify(ES256, bearer(unseen[n] ?? '')),
      'verdict, DPoP': async () =>
        verify(ES256, await bound.fields('GET', `${origin}${pathname}small`)),
    }),
    ...of(resource, 201, { 'PUT document': (n) => putting(document(n), bearer(writer)) }),
    ...of(resource, 200, { 'GET document': () => get(ES256, bearer(seen)) }),
  ];
}

/** People whose codes are redeemed. Writes about one person wait for each other. */
const PEOPLE = 24;

/** Codes of people who have allowed everything, and refresh tokens for such codes. */
async function codes(
  { pair, authz }: Countersign,
  people: Awaited<ReturnType<typeof addCrowd>>,
  most: number,
) {
  const client = await addPeopleClient(pair, ...CODE_FLOW);
  const query = new URLSearchParams({
    client_id: client.id,
    response_type: 'code',
    redirect_uri: CODES.redirectUri,
    scope: 'openid offline_access documents:read',
    code_challenge: CODES.challenge,
    code_challenge_method: 'S256',
  });
  const url = `/auth?${query.toString()}`;
  const browsers: TestBrowser[] = [];
  for (const { name, password } of people) {
    const browser = new TestBrowser(authz.url, pair.issuer);
    await browser.submit(await browser.open('/account'), { name, password });
    await browser.submit(await browser.open(url), { decision: 'allow' });
    browsers.push(browser);
  }
  const made: string[] = [];
  while (made.length < most) {
    const answer = await browsers[made.length % browsers.length]?.request('GET', url);
    made.push(
      new URL(answer?.headers.get('location') ?? '', pair.issuer).searchParams.get('code') ?? '',
    );
  }
  const refreshTokens: string[] = [];
  return {
    redemption: (n: number) =>
      clientForm(client, '/token', {
        grant_type: 'authorization_code',
        code: made[n] ?? '',
        redirect_uri: CODES.redirectUri,
        code_verifier: 'v'.repeat(43),
      }),
    keep(text: string): void {
      const { refresh_token: token } = JSON.parse(text) as { refresh_token?: string };
      if (token !== undefined) refreshTokens.push(token);
    },
    refresh: (n: number) =>
      clientForm(client, '/token', {
        grant_type: 'refresh_token',
        refresh_token: refreshTokens[n] ?? '',
      }),
  };
}

async function signInForm({ pair, authz }: Countersign) {
  const browser = new TestBrowser(authz.url, pair.issuer);
  const [form] = (await browser.open('/account')).forms;
  if (form === undefined) throw new Error('there is no form');
  const { action: path, fields } = form;
  const cookie = browser.cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  return (name: string, password: string): HttpRequest => ({
    method: 'POST',
    path,
    fields: {
      Origin: pair.issuer,
      Cookie: cookie,
      'Content-Type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams({ ...Object.fromEntries(fields), name, password }).toString(),
  });
}
