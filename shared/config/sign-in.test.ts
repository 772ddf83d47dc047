import { describe, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { configSchema, type Config } from './schema.ts';
import {
  signInClientId,
  signInRegistrations,
  signInSecret,
  signInSpaces,
} from './sign-in-clients.ts';
import { SPACE_RULES } from './space-rules.ts';
import { configWarnings } from './warnings.ts';

const NOW = Date.UTC(2026, 0, 1);

const APP = {
  url: 'https://app.example/',
  realm: 'app',
  schemes: ['Bearer'],
  serves: 'verify',
  signIn: true,
};
const parse = (...spaces: object[]) =>
  configSchema.safeParse({ resource: 'https://rs.example', spaces });
const config = (...spaces: object[]): Config =>
  configSchema.parse({ resource: 'https://rs.example', spaces });
const mistakes = (...spaces: object[]) =>
  SPACE_RULES.flatMap(({ check }) => check(config(...spaces), {})).map(
    ({ path, message }) => `${path} ${message}`,
  );

describe('a space with sign-in', () => {
  test('is allowed with a token scheme in front of an application', () => {
    expect(mistakes(APP)).toEqual([]);
    expect(mistakes({ ...APP, url: 'http://127.0.0.1:8000/' })).toEqual([]);
    const upstream = { url: 'http://127.0.0.1:9/' };
    expect(mistakes({ ...APP, url: 'https://rs.example/', serves: 'upstream', upstream })).toEqual(
      [],
    );
  });

  test.each([
    [
      'serves documents',
      { url: 'https://rs.example/a/', serves: 'documents' },
      'before an application',
    ],
    ['is at http', { url: 'http://app.example/' }, 'needs https'],
    ['takes no tokens', { schemes: ['Basic'] }, 'needs Bearer or DPoP'],
    [
      'hides who comes',
      {
        schemes: ['Bearer', 'PrivateToken'],
        privateToken: { issuer: 'i.example', types: ['blind-rsa-2048'] },
      },
      'beside PrivateToken',
    ],
    [
      'is at our own path',
      { url: 'https://app.example/.countersign/' },
      'is a path of the resource server',
    ],
  ])('%s: the space is refused', (_what, members, message) => {
    expect(mistakes({ ...APP, ...members })).toEqual([expect.stringContaining(message)]);
  });

  test("different Unicode compositions of a group are one group, as in a person's profile", () => {
    const { data } = parse({ ...APP, allow: { groups: ['Ku\u0308che'] } });
    expect(data?.spaces[0]?.allow?.groups).toEqual(['Küche']);
  });

  test("Countersign's own path belongs to the application in a space without sign-in", () => {
    const { signIn: _, ...without } = APP;
    expect(mistakes({ ...without, url: 'https://app.example/.countersign/' })).toEqual([]);
    expect(mistakes({ ...APP, url: 'https://app.example/.countersigned/' })).toEqual([]);
  });

  test.each([
    ['false', { signIn: false }],
    ['a short time', { signIn: { idle: 299 } }],
    ['longer than revocations are remembered', { signIn: { idle: 259_201 } }],
    ['an unknown member', { signIn: { idle: 600, other: 1 } }],
    ['nobody', { allow: {} }],
    ['empty lists', { allow: { groups: [], people: [], clients: [] } }],
    ['an unknown list', { allow: { names: ['alice'] } }],
  ])('%s is refused', (_what, members) => {
    expect(parse({ ...APP, ...members }).success).toBe(false);
  });

  test.each(['Basic', 'Digest', 'Negotiate'])(
    'a space with %s and sign-in gets a warning',
    (name) => {
      const [warning] = configWarnings(config({ ...APP, schemes: ['Bearer', name] }), NOW);
      expect(warning).toMatchObject({
        path: 'spaces.0.signIn',
        message: expect.stringContaining(`beside ${name}`),
      });
    },
  );

  test('scopes that no signed-in person can have get a warning', () => {
    const scopes = { safe: ['read'], unsafe: ['write'] };
    expect(configWarnings(config({ ...APP, scopes }), NOW)).toHaveLength(1);
    expect(configWarnings(config({ ...APP, scopes, grants: { everyone: ['read'] } }), NOW)).toEqual(
      [],
    );
    expect(configWarnings(config(APP), NOW)).toEqual([]);
  });
});

describe('the client for sign-in', () => {
  const master = Buffer.alloc(32, 7);

  test('is derived from the configuration', () => {
    const both = config(APP, {
      ...APP,
      url: 'https://other.example/x/',
      realm: 'x',
      signIn: { idle: 600 },
    });
    expect(signInSpaces(both)).toEqual([
      { url: APP.url, origin: 'https://app.example', realm: 'app', idle: 86_400 },
      { url: 'https://other.example/x/', origin: 'https://other.example', realm: 'x', idle: 600 },
    ]);
    const [first, second] = signInRegistrations(both, master, new ManualClock());
    expect(first).toMatchObject({
      client_id: signInClientId(APP),
      client_name: 'app',
      redirect_uris: ['https://app.example/.countersign/callback'],
      resources: [APP.url],
      scope: 'openid',
    });
    expect(first).not.toHaveProperty('pkce');
    expect(second?.client_id).not.toBe(first?.client_id);
    expect(second?.secret_hash).not.toBe(first?.secret_hash);
  });

  test('has a secret that can be derived only from the master secret', () => {
    expect(signInSecret(master, APP)).not.toBe(signInSecret(Buffer.alloc(32, 8), APP));
  });

  test("exists at each of the resource server's two origins", () => {
    const tls = { resource: 'https://rs.example:3443' };
    const upstream = { url: 'http://127.0.0.1:9/' };
    const space = { ...APP, url: 'http://localhost:3001/a/', serves: 'upstream', upstream };
    const two = configSchema.parse({ tls, spaces: [space] });
    expect(signInSpaces(two).map(({ url }) => url)).toEqual([
      'http://localhost:3001/a/',
      'https://rs.example:3443/a/',
    ]);
  });
});
