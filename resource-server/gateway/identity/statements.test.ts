import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { personPrincipal } from '#shared/auth/person.ts';
import type { Principal } from '#shared/auth/scheme.ts';
import { ManualClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { configSchema } from '#shared/config/schema.ts';
import {
  endCompromisedKey,
  type KeyLifecycle,
  keyLifecycle,
  rotateKey,
} from '#shared/keys/signing-key-lifecycle.ts';
import { type KeyRing, openKeyRing } from '#shared/keys/signing-key-ring.ts';
import type { RevocationFeed } from '#shared/stores/revocation/revocations.ts';
import { storeFolder } from '#shared/stores/sqlite/folder.fixture.ts';
import { openSqlite } from '#shared/stores/sqlite/open.ts';
import { createStatements, type Statements } from './statements.ts';

const ISSUER = 'https://rs.example';
const AUDIENCE = 'inventory';

let parts: AsyncDisposableStack;
let clock: ManualClock;
let life: KeyLifecycle;
let ring: KeyRing;
let feed: RevocationFeed;
let statements: Statements;

beforeEach(async () => {
  parts = new AsyncDisposableStack();
  clock = new ManualClock();
  const random = systemRandom;
  const stores = parts.use(await openSqlite({ folder: await storeFolder(), clock, random }));
  const config = configSchema.parse({});
  life = keyLifecycle('gatewayKeys', {
    stores,
    master: Buffer.alloc(32, 7),
    clock,
    random,
    config,
  });
  ring = await openKeyRing(life, ['ES256']);
  await stores.revocations.epoch(true);
  feed = parts.use(await stores.revocations.feed());
  statements = createStatements({ issuer: ISSUER, ring, feed, clock });
});
afterEach(() => parts.disposeAsync());

const machine: Principal = {
  kind: 'application',
  id: 'machine',
  scopes: new Set(['read', 'write']),
  claims: { sub: 'machine', client_id: 'machine', jti: 't1' },
};
const alice: Principal = { ...personPrincipal('app', { id: 'a1', name: 'älice' }) };

async function statement(
  principal: Principal = machine,
  scheme = 'Bearer',
  audience = AUDIENCE,
): Promise<string> {
  return (await statements.of({ scheme, principal }, audience)) ?? 'none';
}

describe('its claims', () => {
  test('RFC 7519: a statement has issuer, audience, the machine and its scopes, for 60 seconds', async () => {
    const iat = clock.now() / 1000;
    expect(decodeJwt(await statement())).toEqual({
      iss: ISSUER,
      aud: AUDIENCE,
      sub: 'machine',
      kind: 'application',
      scheme: 'Bearer',
      scope: 'read write',
      client_id: 'machine',
      iat,
      exp: iat + 60,
    });
  });

  test('RFC 8725 section 3.11: the header of a statement has its own type, the algorithm and the key', async () => {
    expect(decodeProtectedHeader(await statement())).toEqual({
      alg: 'ES256',
      typ: 'gateway-identity+jwt',
      kid: ring.current.signingKid('ES256'),
    });
  });

  test('a statement about a person with a password has id and name, and no client or scopes', async () => {
    const claims = decodeJwt(await statement(alice, 'Basic'));
    expect(claims).toMatchObject({ sub: 'a1', kind: 'person', name: 'älice', scheme: 'Basic' });
    expect(Object.keys(claims)).not.toContain('scope');
    expect(Object.keys(claims)).not.toContain('client_id');
  });

  test('a statement about a person with a token has the same id and the client, and no name', async () => {
    const claims = { sub: 'a1', client_id: 'c1' };
    const byToken: Principal = { kind: 'person', realm: 'https://as.example', name: 'a1', claims };
    const said = decodeJwt(await statement(byToken));
    expect(said).toMatchObject({ sub: 'a1', kind: 'person', client_id: 'c1' });
    expect(said).not.toHaveProperty('name');
  });

  test('statements about a person in two realms are equal', async () => {
    const elsewhere = { ...personPrincipal('other', { id: 'a1', name: 'älice' }) };
    expect(await statement(elsewhere, 'Digest')).toBe(await statement(alice, 'Digest'));
  });

  test('RFC 9577: a PrivateToken gives no statement', async () => {
    const principal: Principal = { kind: 'anonymous', scopes: new Set(['read']) };
    expect(await statements.of({ scheme: 'PrivateToken', principal }, AUDIENCE)).toBeUndefined();
  });

  test('RFC 7515 section 3.1: a statement is a valid field value for any name', async () => {
    for (const name of ['a\r\nX: y', '"', '\u0000', '😀', ' ']) {
      const odd = { ...personPrincipal('app', { id: name, name: `${name} of old` }) };
      const said = await statement(odd, 'Basic', name);
      expect(said).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
      const { sub, aud } = decodeJwt(said);
      expect([sub, aud]).toEqual([name, name]);
    }
  });
});

describe('its signature', () => {
  const verify = (said: string) =>
    jwtVerify(said, createLocalJWKSet({ keys: [...ring.current.publicJwks] as never[] }), {
      currentDate: new Date(clock.now()),
    });

  test('RFC 7518 section 3.4: a statement is signed by the published key', async () => {
    await expect(verify(await statement())).resolves.toBeDefined();
    const [header, , signature] = (await statement()).split('.');
    const [, payload] = (await statement(alice)).split('.');
    await expect(verify(`${header}.${payload}.${signature}`)).rejects.toThrow(/signature/);
  });

  test('after a rotation the new key signs from the end of the overlap, and older statements stay valid', async () => {
    const old = ring.current.signingKid('ES256');
    const { kid } = await rotateKey(life, 'ES256');
    clock.advance(359.999);
    await ring.refresh();
    const last = await statement();
    expect(decodeProtectedHeader(last).kid).toBe(old);
    clock.advance(0.001);
    await ring.refresh();
    expect(decodeProtectedHeader(await statement()).kid).toBe(kid);
    clock.advance(58);
    await ring.refresh();
    await expect(verify(last)).resolves.toBeDefined();
    clock.advance(10);
    await ring.refresh();
    expect(ring.current.publicJwks.map((key) => key['kid'])).toEqual([kid]);
  });

  test('statements of a compromised key are not reused once the feed has its revocation', async () => {
    const old = await statement();
    const key = await endCompromisedKey(life, ring.current.signingKid('ES256') ?? '');
    await feed.latest();
    const next = await statement();
    expect(next).not.toBe(old);
    expect(decodeProtectedHeader(next).kid).toBe(key?.kid);
    await expect(verify(old)).rejects.toThrow(/no applicable key/);
    await expect(verify(next)).resolves.toBeDefined();
  });

  test('a key from a clock that is ahead signs if there is no other key', async () => {
    clock.set(-3600);
    await ring.refresh();
    expect(ring.current.signingKid('ES256')).toBeUndefined();
    await expect(verify(await statement())).resolves.toBeDefined();
  });
});

describe('how long it is given', () => {
  test('a statement is reused for less than 30 seconds', async () => {
    const first = await statement();
    clock.advance(29.999);
    expect(await statement()).toBe(first);
    clock.advance(0.001);
    expect(await statement()).not.toBe(first);
  });

  test('a statement is not reused longer after the clock is set back', async () => {
    const first = await statement();
    clock.advance(25);
    clock.set(-20);
    expect(await statement()).toBe(first);
    clock.advance(5);
    expect(await statement()).not.toBe(first);
  });

  test.each<[string, { principal?: Partial<Principal>; scheme?: string; audience?: string }]>([
    ['another principal', { principal: { id: 'other' } }],
    ['another scope', { principal: { scopes: new Set(['read']) } }],
    ['no scope', { principal: { scopes: new Set() } }],
    ['another client', { principal: { claims: { client_id: 'other' } } }],
    ['a person', { principal: { kind: 'person', realm: 'x', name: 'machine' } }],
    ['another scheme', { scheme: 'DPoP' }],
    ['another upstream', { audience: 'orders' }],
  ])('a request with %s gets another statement', async (_, { principal, scheme, audience }) => {
    const first = await statement();
    const other = await statement({ ...machine, ...principal } as Principal, scheme, audience);
    expect(decodeJwt(other)).not.toEqual(decodeJwt(first));
    expect(await statement()).toBe(first);
  });

  test('another token of the same client gets the same statement, since statements do not describe tokens', async () => {
    const first = await statement();
    expect(await statement({ ...machine, claims: { ...machine.claims, jti: 't2' } })).toBe(first);
  });

  test('however the clock is set, no statement is from the future, older than 30 seconds, or valid for more than 60', async () => {
    const step = fc.oneof(
      fc.record({ advance: fc.integer({ min: 0, max: 40_000 }) }),
      fc.record({ set: fc.integer({ min: -90_000, max: 90_000 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 20 }), async (steps) => {
        statements = createStatements({ issuer: ISSUER, ring, feed, clock });
        const signed = new Map<string, number>();
        for (const each of steps) {
          if ('set' in each) clock.set(each.set / 1000);
          else clock.advance(each.advance / 1000);
          const said = await statement();
          const { iat = NaN, exp = NaN } = decodeJwt(said);
          const now = clock.now() / 1000;
          expect(iat).toBeLessThanOrEqual(now);
          expect(exp).toBe(iat + 60);
          expect(exp - now).toBeGreaterThan(29);
          const since = signed.get(said) ?? clock.monotonic();
          signed.set(said, since);
          expect(clock.monotonic() - since).toBeLessThan(30_000);
        }
      }),
    );
  });
});
