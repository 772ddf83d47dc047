import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { RequestListener } from 'node:http';
import { generateKeyPairSync } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { configSchema } from '#shared/config/schema.ts';
import { BadDocument } from './document.ts';
import { documentServer, type DocumentServer, webDocument } from './document-server.fixture.ts';
import { fetchDocument } from './fetch-document.ts';
import type { Destinations } from '#shared/client/destinations/destinations.ts';
import { documentDestinations, isTaken } from './reach.ts';

let site: DocumentServer;
let url: string;
beforeAll(async () => {
  site = await documentServer();
  url = `${site.origin}/client.json`;
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
});
beforeEach(() => {
  site.asked.length = 0;
  site.documents.clear();
});

const DEVELOPMENT = documentDestinations(configSchema.parse({}));
const PRODUCTION = documentDestinations(
  configSchema.parse({ issuer: 'https://auth.example', resource: 'https://api.example' }),
);
const at = (...addresses: string[]) => ({
  destinations: DEVELOPMENT,
  resolve: () => Promise.resolve(addresses),
});
const HERE = at('127.0.0.1');

const JSON_TYPE = { 'Content-Type': 'application/json' };
const answers =
  (status: number, fields: Record<string, string>, body: string): RequestListener =>
  (_, response) => {
    response.writeHead(status, fields).end(body);
  };

test.each([
  [{}, 30],
  [{ 'Cache-Control': 'max-age=5' }, 30],
  [{ 'Cache-Control': 'public, max-age=600' }, 600],
  [{ 'Cache-Control': 'max-age=999999999' }, 86_400],
  [{ 'Cache-Control': 'no-store' }, 30],
])('draft section 4.4: a document with %j is current for %d s', async (fields, fresh) => {
  const body = JSON.stringify(webDocument(url));
  site.documents.set('/client.json', answers(200, { ...JSON_TYPE, ...fields }, body));
  expect(await fetchDocument(url, HERE)).toMatchObject({ document: { name: 'Notes' }, fresh });
});

test("keys are fetched only from the document's own origin", async () => {
  const method = { token_endpoint_auth_method: 'private_key_jwt' };
  site.documents.set('/client.json', webDocument(url, { ...method, jwks_uri: `${site.origin}/k` }));
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const keys = [publicKey.export({ format: 'jwk' })];
  site.documents.set('/k', { keys });
  expect((await fetchDocument(url, HERE)).document.jwks).toEqual({ keys });
  site.documents.set('/k', { keys: [{ kty: 'oct', k: 'a' }] });
  await expect(fetchDocument(url, HERE)).rejects.toThrow(BadDocument);
});

describe('refused documents', () => {
  const good = () => JSON.stringify(webDocument(url));

  test.each<[string, () => RequestListener]>([
    ['a redirect', () => answers(302, { Location: '/other' }, '')],
    ['another success', () => answers(203, JSON_TYPE, good())],
    ['an error', () => answers(500, JSON_TYPE, good())],
    ['text', () => answers(200, { 'Content-Type': 'text/html' }, good())],
    ['no type', () => answers(200, {}, good())],
    ['what is no JSON', () => answers(200, JSON_TYPE, 'a')],
    ['nothing', () => answers(200, JSON_TYPE, '')],
    ['more than 5 KiB', () => answers(200, JSON_TYPE, good() + ' '.repeat(5120))],
    [
      'what nobody asked to be compressed',
      () => (_, response) =>
        response
          .writeHead(200, { ...JSON_TYPE, 'Content-Encoding': 'gzip' })
          .end(gzipSync(good() + ' '.repeat(1_000_000))),
    ],
    ['half of it', () => (_, response) => response.writeHead(200, JSON_TYPE).end(good().slice(9))],
    [
      'an end in between',
      () => (_, response) => {
        response.writeHead(200, { ...JSON_TYPE, 'Content-Length': '500' });
        response.write(good(), () => response.destroy());
      },
    ],
  ])('a document is refused: %s', async (_, answer) => {
    site.documents.set('/client.json', answer());
    site.documents.set('/other', webDocument(url));
    await expect(fetchDocument(url, HERE)).rejects.toThrow(BadDocument);
    expect(site.asked).toEqual(['/client.json']);
  });

  const dripping =
    (text: string): RequestListener =>
    (_, response) => {
      response.writeHead(200, JSON_TYPE);
      const timer = setInterval(() => response.write(text), 100);
      response.on('close', () => clearInterval(timer));
    };

  /** Publishes a document that names keys; `answer` sends these keys. */
  function withKeys(answer: RequestListener, name = 'by-key'): string {
    const byKey = `${site.origin}/${name}.json`;
    const token_endpoint_auth_method = 'private_key_jwt';
    const jwks_uri = `${site.origin}/${name}-keys`;
    const members = { token_endpoint_auth_method, jwks_uri };
    site.documents.set(`/${name}.json`, webDocument(byKey, members));
    site.documents.set(`/${name}-keys`, answer);
    return byKey;
  }

  test('an answer without an end is given up after 2.5 s, for keys, too', async () => {
    site.documents.set('/client.json', dripping(' '));
    const silent = withKeys(() => {}, 'silent');
    for (const refused of [
      fetchDocument(url, HERE),
      fetchDocument(withKeys(dripping(' ')), HERE),
      fetchDocument(silent, HERE),
    ].map((fetching) =>
      expect(fetching).rejects.toThrow(/^no answer from https:.*it took too long \(timeout\)$/),
    )) {
      await refused;
    }
  });

  test.each<[string, string, () => RequestListener]>([
    [
      'a redirect, also to the same origin',
      'answered 302 where 200 has to be',
      () => answers(302, { Location: '/moved' }, ''),
    ],
    [
      'an endless body',
      'no answer from',
      () => (_, response) => {
        response.writeHead(200, JSON_TYPE);
        const more = () => {
          while (!response.destroyed && response.write(' '.repeat(1000)));
        };
        response.on('drain', more);
        more();
      },
    ],
    [
      'a page',
      'the content type is text/html',
      () => answers(200, { 'Content-Type': 'text/html' }, '{}'),
    ],
  ])('keys are refused: %s', async (_, sentence, answer) => {
    site.documents.set('/moved', { keys: [] });
    const fetching = fetchDocument(withKeys(answer()), HERE);
    await expect(fetching).rejects.toThrow(sentence);
    await expect(fetching).rejects.toThrow(BadDocument);
    expect(site.asked).toEqual(['/by-key.json', '/by-key-keys']);
  });
});

describe('draft section 6.5: addresses to which the server connects', () => {
  test.each(['10.0.0.1', '169.254.169.254', '::ffff:127.0.0.1', 'fd00::1', '0.0.0.0', '1.1.1.1'])(
    'the server never connects to %s for a document',
    async (address) => {
      await expect(fetchDocument(url, at(address))).rejects.toThrow('does not permit');
      expect(site.asked).toEqual([]);
    },
  );

  test('a name is looked up once', async () => {
    site.documents.set('/client.json', webDocument(url));
    const found = [['127.0.0.1'], ['10.0.0.1']];
    const resolve = () => Promise.resolve(found.shift() ?? []);
    await fetchDocument(url, { destinations: DEVELOPMENT, resolve });
    expect(found).toHaveLength(1);
  });

  test.each([
    [443, '127.0.0.1', false],
    [443, '1.1.1.1', true],
    [443, '2606:4700::1111', true],
    [443, '::1', false],
    [443, '10.0.0.1', false],
    [8443, '1.1.1.1', false],
    [22, '1.1.1.1', false],
  ])('in production a connection to port %d of %s is allowed: %j', (port, address, may) => {
    const permits = PRODUCTION.concerning({ host: 'app.example', port });
    expect(permits?.(address) ?? false).toBe(may);
  });

  test.each<[mode: string, destinations: Destinations]>([
    ['production', PRODUCTION],
    [
      'development at 0.0.0.0',
      documentDestinations(configSchema.parse({ listen: { host: '0.0.0.0' } })),
    ],
  ])(
    'in %s this machine is no destination, and a port other than 443 costs no look-up',
    (_, to) => {
      expect(to.concerning({ host: 'localhost', port: 443 })?.('127.0.0.1')).toBe(false);
      expect(to.concerning({ host: 'app.example', port: 22 })).toBeUndefined();
    },
  );
});

test.each([
  ['claude.ai', true],
  ['a.claude.ai', false],
  ['app.example', true],
  ['a.b.example', true],
  ['example', false],
  ['badexample', false],
  ['claude.ai.evil.test', false],
])('with the hosts claude.ai and *.example, %s is accepted: %j', (host, taken) => {
  const documents = { hosts: ['claude.ai', '*.example'] };
  const config = configSchema.parse({ clients: { documents } });
  expect(isTaken(config, `https://${host}/client`)).toBe(taken);
});

test.each([
  'app.example.',
  'APP.example',
  'b\u00fccher.example',
  'app.example:443',
  'alice@app.example',
  'https://app.example',
  'app.example/client',
  'a.*.example',
  '*',
  '*.',
  '.example',
  '10.0.0.1',
  '[::1]',
  ' app.example',
  '',
])('in clients.documents.hosts %j is a mistake, since no address can have it', (host) => {
  expect(configSchema.safeParse({ clients: { documents: { hosts: [host] } } }).success).toBe(false);
});

test('by default no document is accepted in production, and every document in development', () => {
  const elsewhere = { issuer: 'https://auth.example', resource: 'https://api.example' };
  expect(isTaken(configSchema.parse(elsewhere), 'https://app.example/client')).toBe(false);
  expect(isTaken(configSchema.parse({}), 'https://app.example/client')).toBe(true);
});
