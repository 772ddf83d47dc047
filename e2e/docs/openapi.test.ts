import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { startPair } from '../pair/pair.ts';
import type { Pair } from '../pair/pair.ts';
import { OF_BOTH, OF_ISSUER, OF_RESOURCE } from './api/addresses.ts';
import { openApi } from './api/openapi.ts';
import { OPERATIONS, type Operation } from './api/operations.ts';
import { SCHEMAS } from './api/schemas.ts';
import { claimsPage } from './claims-page.ts';

const fromTop = (path: string) => new URL(`../../${path}`, import.meta.url);

test('openapi.json is a valid OpenAPI 3.1 document', async () => {
  const validator = new Validator();
  expect(await validator.validate(JSON.parse(openApi()))).toEqual({ valid: true });
  expect(validator.version).toBe('3.1');
});

test('each operation has its own id', () => {
  const ids = OPERATIONS.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

interface Recorded {
  readonly path: string;
  readonly methods: readonly string[];
  /** The status, and the media type of the content. */
  readonly answer: string;
}

/** The answers that a server's tests have recorded for each of its addresses (`endpoints.txt`). */
async function recorded(file: string): Promise<readonly Recorded[]> {
  const found: Recorded[] = [];
  for (const section of (await readFile(fromTop(file), 'utf8')).split('\n\n')) {
    const [own = ''] = section.split('\n  to other origins:');
    const lines = own.split('\n');
    const paths = lines.filter((line) => line.startsWith('/'));
    let methods: readonly string[] = [];
    for (const line of lines) {
      if (/^ {2}[A-Z]/.test(line)) methods = line.match(/\b[A-Z]{3,}\b/g) ?? [];
      const [, status, rest = ''] = /^ {4}(\d{3})(?:; (.*))?$/.exec(line) ?? [];
      if (status === undefined) continue;
      const answer = [status, typeIn(rest)].join(' ').trim();
      found.push(...paths.map((path) => ({ path, methods, answer })));
    }
  }
  return found;
}

function typeIn(fields: string): string {
  if (/\bproblem\b/.test(fields)) return 'application/problem+json';
  if (/\bpage\b/.test(fields)) return 'text/html';
  return /content-type: ([^;]+)/.exec(fields)?.[1] ?? '';
}

const documented = ({ answers }: Operation) =>
  Object.entries(answers).map(([status, { type = '' }]) => `${status} ${type}`.trim());

/** `{space}` matches the path of any space. */
const isAt = ({ path }: Operation, asked: string) =>
  path === asked || (path.endsWith('/{space}') && asked.startsWith(path.replace('{space}', '')));

describe.each([
  ['authz-server/endpoints.txt', ['authz', 'both']],
  ['authz-server/token-issuer/endpoints.txt', ['issuer']],
  ['resource-server/endpoints.txt', ['resource', 'both']],
])('each JSON answer in %s', (file, servers) => {
  const here = OPERATIONS.filter(({ server }) => servers.includes(server));

  test('is in openapi.json, with its media type', async () => {
    const all = await recorded(file);
    const compared = here.flatMap((operation) =>
      all
        .filter(({ path, methods }) => {
          return isAt(operation, path) && methods.includes(operation.method.toUpperCase());
        })
        .map(({ answer }) => [operation, answer] as const),
    );
    expect(compared.length).toBeGreaterThan(4);
    const missing = compared.filter(
      ([operation, answer]) => !documented(operation).includes(answer),
    );
    expect(missing.map(([{ path }, answer]) => `${path}: ${answer}`)).toEqual([]);
  });
});

describe('the addresses of the resource server and of the token issuer', () => {
  const patterns = [...OF_RESOURCE, ...OF_BOTH, ...OF_ISSUER].map(([path]) =>
    path.replace('<space>', ''),
  );

  test.each(['resource-server/endpoints.txt', 'authz-server/token-issuer/endpoints.txt'])(
    'the page has the addresses of %s',
    async (file) => {
      const elsewhere = /nowhere|^\/a%2Fb|^\/[a-z]+\//;
      const paths = (await recorded(file)).map(({ path }) => path);
      const unknown = paths.filter(
        (path) =>
          !elsewhere.test(path) &&
          !patterns.some(
            (known) =>
              known === path || (known.endsWith('/') && known !== '/' && path.startsWith(known)),
          ),
      );
      expect([...new Set(unknown)]).toEqual([]);
    },
  );
});

describe('the running pair', () => {
  let pair: Pair;
  let client: { id: string; secret: string };
  beforeAll(async () => {
    pair = await startPair();
    client = await pair.addClient();
  });
  afterAll(() => pair?.[Symbol.asyncDispose]());

  const form = (body: Record<string, string>, known = true): RequestInit => ({
    method: 'POST',
    body: new URLSearchParams(body),
    ...(known && {
      headers: {
        Authorization: `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`,
      },
    }),
  });
  const grant_type = 'client_credentials';

  test.each<[string, string, () => RequestInit, string]>([
    ['token', '/token', () => form({ grant_type }), '200 application/json'],
    ['token', '/token', () => form({ grant_type: 'x' }), '400 application/json'],
    ['token', '/token', () => form({ grant_type }, false), '401 application/json'],
    ['token', '/token', () => ({}), '405 application/problem+json'],
    ['introspect', '/token/introspection', () => form({ token: 'x' }), '200 application/json'],
    ['introspect', '/token/introspection', () => form({}), '400 application/json'],
    ['revoke', '/token/revocation', () => form({ token: 'x' }), '200 application/json'],
    ['pushRequest', '/request', () => form({}), '400 application/json'],
    ['deviceAuthorization', '/device/auth', () => form({}), '400 application/json'],
    ['getUserinfo', '/userinfo', () => ({}), '401 application/problem+json'],
    ['revocations', '/revocations', () => ({}), '401 application/problem+json'],
    ['metadata', '/.well-known/oauth-authorization-server', () => ({}), '200 application/json'],
    ['jwks', '/jwks', () => ({}), '200 application/jwk-set+json'],
    ['jwks', '/jwks', () => ({ headers: { 'If-Match': '"x"' } }), '412 application/problem+json'],
    ['ready', '/health/ready', () => ({}), '200 application/json'],
    ['verify', '/verify', () => ({}), '403 application/problem+json'],
    [
      'resourceMetadata',
      '/.well-known/oauth-protected-resource/documents/',
      () => ({}),
      '200 application/json',
    ],
    [
      'resourceMetadata',
      '/.well-known/oauth-protected-resource/nowhere',
      () => ({}),
      '404 application/problem+json',
    ],
  ])('%s at %s answers as openapi.json says', async (id, path, init, answer) => {
    const operation = OPERATIONS.find((one) => one.id === id);
    const origin = operation?.server === 'resource' ? pair.resource : pair.issuer;
    const response = await fetch(`${origin}${path}`, init());
    const content = (await response.json()) as object;
    const type = response.headers.get('Content-Type')?.replace(/;.*/, '');
    expect([`${response.status} ${type}`, content]).toEqual([answer, expect.any(Object)]);
    expect(operation && documented(operation)).toContain(answer);
  });

  test('token, introspection and metadata have only documented members', async () => {
    const { body: issued } = await pair.post('/token', { grant_type }, client);
    const { body: known } = await pair.post(
      '/token/introspection',
      { token: String(issued['access_token']) },
      client,
    );
    const url = `${pair.resource}/.well-known/oauth-protected-resource/documents/`;
    const resource = (await (await fetch(url)).json()) as object;
    const unknown = (content: object, { properties }: { readonly properties: object }) =>
      Object.keys(content).filter((name) => !(name in properties));
    expect(known).toMatchObject({ active: true });
    expect(unknown(issued, SCHEMAS.TokenAnswer)).toEqual([]);
    expect(unknown(known, SCHEMAS.Introspection)).toEqual([]);
    expect(unknown(resource, SCHEMAS.ProtectedResourceMetadata)).toEqual([]);
    const page = claimsPage();
    expect(Object.keys(known).filter((name) => !page.includes(`| \`${name}\` |`))).toEqual([]);
  });
});
