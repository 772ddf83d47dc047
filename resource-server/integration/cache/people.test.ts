import { beforeAll, describe, expect, test } from '@jest/globals';
import type { IncomingMessage } from 'node:http';
import http2 from 'node:http2';
import { text } from 'node:stream/consumers';
import { prover, requestOf } from '#shared/auth/judge/auth.fixture.ts';
import { answer as digestAnswer } from '#shared/auth/schemes/digest/digest.fixture.ts';
import { digestVerifier } from '#shared/auth/schemes/digest/verifier.ts';
import { systemRandom } from '#shared/base/random.ts';
import { newApiKey } from '#shared/people/api-key.ts';
import { argon2Once } from '#shared/people/argon2.fixture.ts';
import { createPasswords } from '#shared/people/password.ts';
import { addPerson } from '#shared/people/people.ts';
import { attacked } from './attacks.fixture.ts';
import { keyOf } from '../../cache/key-of.ts';

const SCHEMES = {
  schemes: ['Bearer', 'DPoP', 'Basic', 'Digest', 'API-Key'],
  digest: { qop: ['auth-int'], algorithms: ['SHA-256'] },
  apiKey: { query: 'key' },
};
const of = (name: string, cache: object) => ({
  ...SCHEMES,
  scopes: { safe: [`${name}:read`], unsafe: [`${name}:write`] },
  grants: { everyone: [`${name}:read`] },
  realm: name,
  cache,
});
const at = attacked({
  shared: of('shared', {}),
  mine: of('mine', { kind: 'private' }),
  named: { ...of('named', {}), identity: { fields: { 'X-Remote-User': 'subject' } } },
});
const { told, does, ask, get } = at;

const PASSWORD = 'correct horse: battery staple';
const keys = new Map<string, string>();
let client: ReturnType<typeof prover>;

beforeAll(async () => {
  const { stores, clock, now } = at.gateway;
  client = prover(now);
  for (const realm of ['shared', 'mine']) {
    for (const name of ['a', 'b']) {
      const { id, key, secret_hash } = newApiKey(systemRandom);
      const scopes = [`${realm}:read`];
      const application = `application-${name}`;
      await stores.apiKeys.add({
        id,
        secret_hash,
        application,
        realm,
        scopes,
        created_at: clock.now(),
      });
      keys.set(`${realm} ${name}`, key);
    }
  }
  const realms = ['shared', 'mine'].map((realm) => ({ realm, kinds: digestVerifier.kinds }));
  const passwords = createPasswords(argon2Once);
  const people = { stores, clock, longestLife: 605, passwords, random: systemRandom, realms };
  for (const name of ['a', 'b']) await addPerson(people, { name, password: PASSWORD });
});

interface Sent {
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
}
type Way = (who: string, path: string) => Sent | Promise<Sent>;

const spaceOf = (path: string) => path.split('/')[1] ?? '';
const tokenOf = (who: string, path: string, claims = {}) =>
  at.gateway.token(`${spaceOf(path)}:read`, { sub: who, sub_gen: 0, client_id: 'app', ...claims });

const WAYS: Readonly<Record<string, Way>> = {
  Bearer: (who, path) => ({
    target: path,
    headers: { Authorization: `Bearer ${tokenOf(who, path)}` },
  }),
  DPoP(who, path) {
    const token = tokenOf(who, path, { cnf: { jkt: client.jkt } });
    const DPoP = client.proof(token, { htu: `https://rs.example${path}` });
    return { target: path, headers: { Authorization: `DPoP ${token}`, DPoP } };
  },
  Basic: (who, path) => ({
    target: path,
    headers: { Authorization: `Basic ${Buffer.from(`${who}:${PASSWORD}`).toString('base64')}` },
  }),
  async Digest(who, path) {
    const { headers } = await get(path, { 'X-Forwarded-Proto': 'https' });
    const challenge =
      /Digest ([^]*?qop="[^"]*"[^]*?)(?:, [A-Za-z-]+ |$)/.exec(
        String(headers['www-authenticate']),
      )?.[1] ?? '';
    const params = Object.fromEntries(
      [...challenge.matchAll(/([a-z]+)=(?:"([^"]*)"|([^,\s]+))/gi)].map(
        ([, name, quoted, plain]) => [name, quoted ?? plain],
      ),
    ) as Record<string, string>;
    const asked = requestOf([], { method: 'GET', target: path });
    const given = digestAnswer(params, asked, { name: who, password: PASSWORD, qop: 'auth-int' });
    const list = Object.entries(given).map(([name, value]) =>
      ['nc', 'algorithm', 'qop'].includes(name) ? `${name}=${value}` : `${name}="${value}"`,
    );
    return { target: path, headers: { Authorization: `Digest ${list.join(', ')}` } };
  },
  'API key in a field': (who, path) => ({
    target: path,
    headers: { 'X-API-Key': keys.get(`${spaceOf(path)} ${who}`) ?? '' },
  }),
  'API key in the query': (who, path) => ({
    target: `${path}?key=${keys.get(`${spaceOf(path)} ${who}`) ?? ''}`,
    headers: {},
  }),
};
const NAMES = Object.keys(WAYS);

async function as(way: string, who: string, path: string, headers = {}) {
  const sent = (await WAYS[way]?.(who, path)) as Sent;
  return get(sent.target, { 'X-Forwarded-Proto': 'https', ...sent.headers, ...headers });
}

let paths = 0;
const fresh = (space: string) => `/${space}/${(paths += 1)}`;

/** Answers with a page for the requesting person, with this Cache-Control. */
const pages = (control: string) =>
  does(({ headers }, response) => {
    response.setHeader('Cache-Control', control);
    response.setHeader('ETag', '"all have this one"');
    response.end(String(headers['x-auth-subject']));
  });

describe.each(NAMES)('%s', (way) => {
  test("RFC 9111 section 3.5: a shared cache gives no person's page to another", async () => {
    pages('max-age=60');
    const path = fresh('shared');
    const first = await as(way, 'a', path);
    expect(first).toMatchObject({ status: 200 });
    for (const other of NAMES) {
      expect((await as(other, 'b', path)).text).not.toBe(first.text);
    }
    expect(told).toHaveLength(NAMES.length + 1);
  });

  test('a private cache stores a separate page for each person', async () => {
    pages('max-age=60');
    const path = fresh('mine');
    const one = await as(way, 'a', path);
    const other = await as(way, 'b', path);
    expect([one.status, other.status]).toEqual([200, 200]);
    expect(one.text).not.toBe(other.text);
    expect((await as(way, 'b', path)).text).toBe(other.text);
    expect((await as(way, 'a', path)).text).toBe(one.text);
    expect(told).toHaveLength(2);
  });

  test('each cache hit is authorized again, and has no fields from an earlier decision', async () => {
    pages('public, max-age=60');
    const path = fresh('shared');
    const replies = [await as(way, 'a', path), await as(way, 'b', path), await as(way, 'a', path)];
    expect(told).toHaveLength(1);
    const [first, ...hits] = replies.map(({ headers }) => headers);
    const id = first?.['x-request-id'];
    expect(id).toEqual(expect.any(String));
    expect(hits.map((headers) => headers['x-request-id'])).not.toContain(id);
    const [one, other] = hits.map((headers) => headers['authentication-info']);
    expect(typeof one).toBe(way === 'Digest' ? 'string' : 'undefined');
    if (way === 'Digest') expect(other).not.toBe(one);
    expect((await get(path)).status).toBe(401);
  });
});

test('fields about the caller, such as client and scopes, are part of the cache key', async () => {
  does(({ headers }, response) => {
    response.setHeader('Cache-Control', 'max-age=60');
    response.end([headers['x-auth-client'], headers['x-auth-scope']].join(' '));
  });
  const path = fresh('mine');
  const by = async (claims: object) => {
    const Authorization = `Bearer ${tokenOf('a', path, claims)}`;
    return (await get(path, { Authorization })).text;
  };
  expect(await by({ client_id: 'wide', scope: 'mine:read secrets' })).toContain('secrets');
  expect(await by({ client_id: 'wide', scope: 'mine:read' })).not.toContain('secrets');
  expect(await by({ client_id: 'narrow', scope: 'mine:read secrets' })).toMatch(/^narrow/);
});

test('people who share an HTTP/2 connection share no stored page', async () => {
  pages('max-age=60');
  const path = fresh('mine');
  const session = http2.connect(`http://127.0.0.1:${at.gateway.listening.port}`);
  const asOne = (who: string) =>
    text(
      session.request({
        ':path': path,
        ':authority': 'rs.example',
        authorization: `Bearer ${tokenOf(who, path)}`,
      }),
    );
  expect(await Promise.all(['a', 'b', 'a'].map(asOne))).toEqual(['a', 'b', 'a']);
  session.destroy();
});

test.each(['X-Remote-User', 'x_remote_user'])(
  'an answer that varies by %s, which the gateway writes, is not given to other callers',
  async (Vary) => {
    const name = ({ headers }: IncomingMessage) => String(headers['x-remote-user']);
    at.answers({ 'Cache-Control': 'public, max-age=60', Vary }, name);
    const path = `/named/${Vary}`;
    const asOne = async (who: string, forged: Readonly<Record<string, string>> = {}) =>
      (await get(path, { Authorization: `Bearer ${tokenOf(who, path)}`, ...forged })).text;
    expect(await asOne('a')).toBe('a');
    expect(await asOne('b', { 'X-Remote-User': 'a', X_Remote_User: 'a' })).toBe('b');
    expect(await asOne('b')).toBe('b');
    expect(await asOne('a', { 'X-Remote-User': 'b' })).toBe('a');
  },
);

test('anonymous clients share their answers in a private cache', () => {
  const request = { method: 'GET', rawHeaders: [], headers: {} };
  const rules = {
    shared: false,
    heuristic: false,
    targeted: [],
    made: new Set<string>(),
    origin: 'https://rs.example',
  };
  const asking = { request, target: '/x', scheme: 'https', whose: '' };
  expect(keyOf(asking as unknown as Parameters<typeof keyOf>[0], rules)).toBe('nobody');
});

describe('an answer to one person', () => {
  const say = (status: number, fields: Readonly<Record<string, string>>) =>
    does(({ headers }, response) => {
      const asks = headers['if-none-match'] !== undefined;
      const common = { ETag: '"x"', 'Cache-Control': 'public, max-age=1' };
      response.writeHead(asks ? status : 200, asks ? { ...common, ...fields } : common);
      response.end(asks && status === 304 ? undefined : 'all');
    });
  const OWN = { 'Cache-Control': 'private, max-age=60', 'Set-Cookie': 'own=1', 'X-Own': 'b' };

  test.each([
    ['HEAD', 200],
    ['HEAD', 304],
    ['GET', 304],
  ])(
    'an answer by %s, %s, reaches no other people by updating a stored answer (RFC 9111 sections 4.3.4 and 4.3.5)',
    async (method, status) => {
      const path = fresh('shared');
      say(status, OWN);
      const headers = { Authorization: `Bearer ${tokenOf('a', path)}` };
      await ask('GET', path, { headers });
      at.gateway.clock.advance(5);
      await ask(method, path, { headers: { Authorization: `Bearer ${tokenOf('b', path)}` } });
      say(304, {});
      const later = await ask('GET', path, {
        headers: { Authorization: `Bearer ${tokenOf('a', path)}` },
      });
      expect([later.headers['set-cookie'], later.headers['x-own']]).toEqual([undefined, undefined]);
    },
  );

  test.each([
    ['', {}],
    [', who wants it not to be stored', { 'Cache-Control': 'no-store' }],
  ])(
    'an answer to one person does not reach clients that waited for the same answer%s',
    async (_, headers) => {
      const path = fresh('shared');
      say(304, OWN);
      await as('Bearer', 'a', path);
      at.gateway.clock.advance(5);
      const waiting = Promise.withResolvers<void>();
      let count = 0;
      does((request, response) => {
        count += 1;
        const one = { ETag: '"x"', ...OWN, 'X-Own': String(count) };
        const status = request.headers['if-none-match'] === undefined ? 200 : 304;
        void waiting.promise.then(() => response.writeHead(status, one).end());
      });
      const asked = ['a', 'b'].map((who) => as('Bearer', who, path, headers));
      setTimeout(() => waiting.resolve(), 300);
      const [one, other] = await Promise.all(asked);
      expect([one?.status, other?.status]).toEqual([200, 200]);
      expect(one?.headers['x-own']).not.toBe(other?.headers['x-own']);
    },
  );

  test('RFC 5861 section 4: a stale answer in place of an error reaches only its own person', async () => {
    const path = fresh('shared');
    say(200, {});
    await as('Bearer', 'a', path);
    at.gateway.clock.advance(5);
    const bothAsk = Promise.withResolvers<void>();
    does((_request, response) => {
      void bothAsk.promise.then(() => response.writeHead(503).end());
    });
    const takes = { 'Cache-Control': 'stale-if-error=6000' };
    const asked = [takes, {}].map((headers) => as('Bearer', 'a', path, headers));
    setTimeout(() => bothAsk.resolve(), 300);
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 503]);
  });
});
