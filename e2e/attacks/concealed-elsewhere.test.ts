import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Field } from '../clients/digest/exchange.ts';
import { type Pair, startPair } from '../pair/pair.ts';
import { connectTo, PROTOCOLS, requestFor } from './concealed.fixture.ts';

/** Two servers that differ in one hidden space. This space has settings that no other space has. */
let pairs: readonly Pair[];

const open = (resource: string) => ({
  url: `${resource}/open/`,
  realm: 'open',
  schemes: ['Bearer'],
  scopes: { safe: ['open:read'], unsafe: ['open:write'] },
});
const hidden = (resource: string) => ({
  url: `${resource}/open/vault/`,
  realm: 'vault',
  schemes: ['Concealed'],
  hide: 'everything',
  concealed: { frontend: true },
  trace: {},
  scopes: { safe: ['vault:read'], unsafe: ['vault:write'] },
  cors: { origins: ['https://pages.example'] },
});

beforeAll(async () => {
  const start = (spacesAt: (resource: string) => readonly object[]) =>
    startPair({
      settings: ({ resource }) => ({
        trustedProxies: ['127.0.0.1/32'],
        spaces: spacesAt(resource),
      }),
    });
  pairs = await Promise.all([
    start((resource) => [open(resource), hidden(resource)]),
    start((resource) => [open(resource)]),
  ]);
});

afterAll(async () => {
  for (const pair of pairs) await pair[Symbol.asyncDispose]();
});

/** Replaces ports, data folders, random values and times. */
const neutral = (text: string) =>
  text
    .replaceAll(/(?:localhost|127\.0\.0\.1):\d+/g, 'host')
    .replaceAll(/\S+\/countersign-\w{6}\//g, 'data/')
    .replaceAll(/"(?:kid|x|y|n)":"[^"]*"/g, '"key"')
    .replaceAll(/[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} [\d:]{8} GMT/g, 'date');

/** Returns the answers of both servers without the values that differ between any two servers. */
async function bothTell(
  protocol: (typeof PROTOCOLS)[number],
  method: string,
  path: string,
  fields: readonly Field[] = [],
) {
  const told = [];
  for (const pair of pairs) {
    const origin = pair.resourceTls;
    await using connection = await connectTo(protocol, origin);
    const request = requestFor(protocol, origin, method, path);
    const target = path === '*' ? path : request.target;
    const answer = await connection.send({ ...request, target, fields });
    const own = new Set(['date', 'x-request-id', 'etag', 'content-length']);
    told.push({
      status: answer.status,
      fields: answer.fields
        .filter(([name]) => name !== ':status')
        .map(([name, value]) =>
          own.has(name.toLowerCase()) ? name : `${name}: ${neutral(value)}`,
        ),
      content: neutral(answer.content.toString('latin1')),
    });
  }
  return told;
}

const PAGES: readonly Field[] = [['Origin', 'https://pages.example']];

test.each([
  ['OPTIONS', '*', []],
  ['GET', '/', []],
  ['HEAD', '/', []],
  ['GET', '/health/ready', []],
  ['GET', '/.well-known/oauth-protected-resource', []],
  ['GET', '/.well-known/oauth-protected-resource/open/', []],
  ['GET', '/.well-known/oauth-protected-resource/open/vault/', []],
  ['GET', '/open/', []],
  ['PROPFIND', '/open/', [['Depth', '1']]],
  ['OPTIONS', '/open/', []],
  ['OPTIONS', '/open/vault/a', []],
  ['OPTIONS', '/open/vault/a', [...PAGES, ['Access-Control-Request-Method', 'PUT']]],
  ['TRACE', '/open/vault/a', []],
  ['BAN', '/open/vault/a', PAGES],
  ['POST', '/open/vault/a', PAGES],
  ['GET', '/open/vault', []],
  ['GET', '/open/vault/%2e%2e/', []],
  ['GET', '/open//vault/', []],
  ['GET', '/open/vault/a%0db', []],
] as readonly (readonly [string, string, readonly Field[]])[])(
  'RFC 9729 section 6.4: %s %s %j is answered as if the space were not configured',
  async (method, path, fields) => {
    const ways = path === '*' ? (['HTTP/1.1'] as const) : PROTOCOLS;
    for (const protocol of ways) {
      const [there, absent] = await bothTell(protocol, method, path, fields);
      expect(there).toEqual(absent);
    }
  },
);

test.each(['GET', 'TRACE', 'OPTIONS'])(
  'RFC 9729 section 6.4: forward authentication answers %s as if the hidden space were not configured',
  async (method) => {
    const answers = [];
    for (const pair of pairs) {
      const headers = {
        'X-Forwarded-Method': method,
        'X-Forwarded-Proto': new URL(pair.resourceTls).protocol.slice(0, -1),
        'X-Forwarded-Host': new URL(pair.resourceTls).host,
        'X-Forwarded-Uri': '/open/vault/a',
      };
      const answer = await fetch(`${pair.resource}/verify`, { headers });
      const fields = [...answer.headers].filter(([name]) => !/^(date|x-request-id)$/.test(name));
      answers.push([answer.status, neutral(JSON.stringify(fields)), neutral(await answer.text())]);
    }
    expect(answers[0]).toEqual(answers[1]);
  },
);

test('RFC 9729 section 6.4: the authorization server does not show the scopes of a hidden space, and issues no tokens for it', async () => {
  const answers = [];
  for (const pair of pairs) {
    const metadata = await fetch(`${pair.issuer}/.well-known/oauth-authorization-server`);
    const client = await pair.addClient('open:read');
    const asked = await fetch(`${pair.issuer}/token`, {
      method: 'POST',
      headers: {
        Authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}`,
        'Content-Type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        resource: `${pair.resource}/open/vault/`,
      }),
    });
    answers.push([neutral(await metadata.text()), asked.status, neutral(await asked.text())]);
  }
  expect(answers[0]).toEqual(answers[1]);
  expect(String(answers[0])).not.toContain('vault:read');
});
