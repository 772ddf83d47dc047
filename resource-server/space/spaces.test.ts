import { describe, expect, test } from '@jest/globals';
import { systemClock } from '#shared/base/clock.ts';
import type { Scheme } from '#shared/auth/scheme.ts';
import { configSchema } from '#shared/config/schema.ts';
import type { SchemeSpace } from '#shared/auth/schemes/parts/scheme-entry.ts';
import { everyScheme, NO_SIGN_IN } from './spaces.fixture.ts';
import { createSpaces } from './spaces.ts';

const named = (name: string) => (): Scheme => ({
  name,
  challenge: () => [],
  authenticate: () => ({ kind: 'refused', refusal: 'other-scheme', reason: 'test' }),
});

/** Makes spaces with these members, and with default realms and schemes. */
function spacesOf(...members: object[]) {
  const config = configSchema.parse({
    resource: 'https://rs.example',
    spaces: members.map((space, index) =>
      Object.assign({ realm: `r${index}`, schemes: ['Bearer'] }, space),
    ),
  });
  return createSpaces(config, everyScheme(named), NO_SIGN_IN, systemClock);
}

const find = (spaces: ReturnType<typeof spacesOf>, path: string, origin = 'https://rs.example') =>
  spaces.find(origin, path.split('/').filter(Boolean))?.url;

describe('finding the space', () => {
  const spaces = spacesOf(
    { url: 'https://rs.example/a/' },
    { url: 'https://rs.example/a/b/c/' },
    { url: 'https://rs.example/a/b' },
    { url: 'https://other.example/a/' },
    { url: 'https://rs.example/gr%C3%BC%C3%9Fe/' },
  );

  test('the space with the longest path is found, in any order of configuration', () => {
    expect(find(spaces, '/a/x')).toBe('https://rs.example/a/');
    expect(find(spaces, '/a/b/x')).toBe('https://rs.example/a/b');
    expect(find(spaces, '/a/b/c/x/y')).toBe('https://rs.example/a/b/c/');
  });

  test('a space has whole segments: a name that only begins alike is outside', () => {
    expect(find(spaces, '/ab')).toBeUndefined();
    expect(find(spaces, '/a/bc')).toBe('https://rs.example/a/');
    expect(find(spaces, '/')).toBeUndefined();
  });

  test('a space has its own path, with and without the slash', () => {
    expect(find(spaces, '/a')).toBe('https://rs.example/a/');
    expect(find(spaces, '/a/b/')).toBe('https://rs.example/a/b');
  });

  test('segments are compared after decoding, and case-sensitively', () => {
    expect(find(spaces, '/grüße/x')).toBe('https://rs.example/gr%C3%BC%C3%9Fe/');
    expect(find(spaces, '/A/x')).toBeUndefined();
  });

  test('an origin has only its own spaces', () => {
    expect(find(spaces, '/a/x', 'https://other.example')).toBe('https://other.example/a/');
    expect(find(spaces, '/a/x', 'https://elsewhere.example')).toBeUndefined();
  });

  test('a space at the root has every path', () => {
    expect(find(spacesOf({ url: 'https://rs.example/' }), '/any/thing')).toBe(
      'https://rs.example/',
    );
  });
});

test('RFC 5198 section 3: names of spaces are compared in NFC, like names of resources', () => {
  const spaces = spacesOf(
    { url: 'https://rs.example/e%CC%81/' },
    { url: 'https://rs.example/%C3%BC/' },
  );
  for (const name of ['/é/x', '/e\u0301/x']) expect(find(spaces, name)).toContain('/e%CC%81/');
  for (const name of ['/ü', '/u\u0308']) expect(find(spaces, name)).toContain('/%C3%BC/');
});

describe('paths of the server itself are of no space', () => {
  const { resource, tls } = { resource: 'https://rs.example', tls: 'https://rs.example:8443' };
  const config = configSchema.parse({
    resource,
    tls: { resource: tls },
    spaces: [
      { url: 'https://rs.example/', realm: 'root', schemes: ['Bearer'] },
      { url: 'https://app.example/', realm: 'app', schemes: ['Bearer'], serves: 'verify' },
    ],
  });
  const spaces = createSpaces(config, everyScheme(named), NO_SIGN_IN, systemClock);

  test.each(['/verify', '/verify/x', '/health', '/health/live', '/.well-known', '/.well-known/a'])(
    "the server's own path %s is in no space",
    (path) => {
      for (const origin of [resource, tls]) expect(find(spaces, path, origin)).toBeUndefined();
      expect(find(spaces, path, 'https://app.example')).toBe('https://app.example/');
    },
  );

  test.each(['/', '/verified', '/x/verify', '/healthy/live', '/Verify', '/.well-known-x'])(
    '%s is not a path of the server itself',
    (path) => {
      for (const origin of [resource, tls]) expect(find(spaces, path, origin)).toBe(`${origin}/`);
    },
  );
});

describe('the resources within a space', () => {
  const spaces = spacesOf(
    { url: 'https://rs.example/a/' },
    { url: 'https://rs.example/a/b/c' },
    { url: 'https://other.example/a/d/e' },
  );
  const [space] = spaces.all;
  const segments = (path: string) => path.split('/').filter(Boolean);

  test.each([
    ['/a', true],
    ['/a/b', true],
    ['/a/b/cd', true],
    ['/a/d/e', true],
    ['/a/b/c', false],
    ['/a/b/c/d', false],
    ['/ab', false],
    ['/', false],
  ])('the path %s is in the space: %p', (path, has) => {
    expect(space?.has(segments(path))).toBe(has);
  });

  test.each([
    ['/a', true],
    ['/a/b', true],
    ['/a/b/c', false],
    ['/a/d', false],
    ['/a/bc', false],
  ])('a space begins below %s: %p', (path, encloses) => {
    expect(space?.encloses(segments(path))).toBe(encloses);
  });
});

describe('scopes of a method', () => {
  const { all } = spacesOf({
    url: 'https://rs.example/a/',
    scopes: { safe: ['r'], unsafe: ['w'], DELETE: ['r', 'd'], GET: ['g'] },
  });
  const scopes = (method: string) => all[0]?.scopes(method);

  test('a method needs its own scopes, else those of safe or unsafe (RFC 9110 section 9.2.1)', () => {
    expect(scopes('DELETE')).toEqual(['r', 'd']);
    expect(scopes('OPTIONS')).toEqual(['r']);
    expect(scopes('PUT')).toEqual(['w']);
  });

  test('HEAD needs the scopes of GET', () => {
    expect(scopes('HEAD')).toEqual(['g']);
  });

  test('a WebSocket needs the scopes of GET and unsafe methods, unless WEBSOCKET is configured', () => {
    expect(scopes('WEBSOCKET')).toEqual(['g', 'w']);
    const scopesOf = (configured: object) =>
      spacesOf({ url: 'https://rs.example/a/', scopes: configured }).all[0]?.scopes('WEBSOCKET');
    expect(scopesOf({ safe: ['a'], unsafe: ['a'] })).toEqual(['a']);
    expect(scopesOf({ safe: ['r'], unsafe: ['w'], WEBSOCKET: ['talk'] })).toEqual(['talk']);
    expect(scopesOf({ GET: ['r'], POST: ['w'] })).toEqual(['r']);
    expect(scopesOf({ unsafe: ['w'], WEBSOCKET: [] })).toEqual([]);
  });

  test('an unknown method needs the scopes of unsafe methods', () => {
    expect(scopes('FROBNICATE')).toEqual(['w']);
    expect(scopes('constructor')).toEqual(['w']);
  });

  test('allScopes has all scopes without duplicates', () => {
    expect(all[0]?.allScopes.toSorted()).toEqual(['d', 'g', 'r', 'w']);
  });
});

test('schemes are in the configured order and get the data of their space', () => {
  const sites: SchemeSpace[] = [];
  const config = configSchema.parse({
    spaces: [
      {
        url: 'https://rs.example/a/',
        realm: 'r',
        schemes: ['DPoP', 'Bearer'],
        scopes: { safe: ['s'] },
        nonce: true,
      },
    ],
  });
  const note = (name: string) => (site: SchemeSpace) => {
    sites.push(site);
    return named(name)();
  };
  const { all } = createSpaces(config, everyScheme(note), NO_SIGN_IN, systemClock);
  expect(all[0]?.schemes.map(({ name }) => name)).toEqual(['DPoP', 'Bearer']);
  expect(sites[0]).toMatchObject({ url: 'https://rs.example/a/', realm: 'r', nonce: true });
  expect(sites[0]?.scopes('GET')).toEqual(['s']);
});

test("RFC 9110 section 11.4: if a scheme has no scopes, people get their own and everyone's, and applications none", () => {
  const [space] = spacesOf({
    url: 'https://rs.example/a/',
    grants: { everyone: ['read'], people: { alice: ['write'] } },
  }).all;
  const person = (name: string) => ({ kind: 'person', realm: 'r0', name }) as const;
  expect(space?.granted?.(person('alice'))).toEqual(new Set(['read', 'write']));
  expect(space?.granted?.(person('bob'))).toEqual(new Set(['read']));
  expect(space?.granted?.(person('constructor'))).toEqual(new Set(['read']));
  expect(space?.granted?.({ kind: 'application', id: 'alice' })).toEqual(new Set());
  expect(space?.granted?.({ kind: 'anonymous' })).toEqual(new Set());
});

test('a space may require an API key beside the credentials of a person', () => {
  const [without, beside] = spacesOf(
    { url: 'https://rs.example/a/' },
    { url: 'https://rs.example/b/', apiKey: { beside: true } },
  ).all;
  expect(without?.application).toBeUndefined();
  expect(beside?.application?.name).toBe('API-Key');
  expect(beside?.schemes.map(({ name }) => name)).toEqual(['Bearer']);
});

describe('spaces that a reading of a path may belong to', () => {
  const having = (path: string, ...urls: readonly string[]) =>
    spacesOf(...urls.map((url) => ({ url: `https://rs.example${url}` })))
      .all.filter((space) => space.mayHave(path))
      .map(({ url }) => new URL(url).pathname);

  test.each(['/Admin/', '/admin./', '/%C3%A4dmin', '/admin;x/', '/index.php/admin/'])(
    '%s may belong to the space with the longest matching path, in the form of readings',
    (url) => {
      expect(having('/admin/x/', '/', url)).toEqual([url]);
      expect(having('/administrator/', '/', url)).toEqual(['/']);
    },
  );

  test('a reading may belong to several spaces that differ only in spelling', () => {
    expect(having('/admin/x/', '/', '/Admin/', '/admin/')).toEqual(['/Admin/', '/admin/']);
  });

  test('paths of the server itself are of no space', () => {
    expect(having('/verify/', '/')).toEqual([]);
  });

  test('RFC 9729 section 6.4: visible spaces do not see hidden spaces as neighbours', () => {
    const [seen, hidden] = spacesOf(
      { url: 'https://rs.example/' },
      { url: 'https://rs.example/vault/', schemes: ['Concealed'], hide: 'everything' },
    ).all;
    expect([seen?.mayHave('/vault/'), hidden?.mayHave('/vault/')]).toEqual([true, true]);
    expect(hidden?.mayHave('/vaults/')).toBe(false);
  });
});
