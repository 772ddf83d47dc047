import { hkdfSync, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createChallenges } from '#shared/auth/schemes/private-token/challenges.ts';
import { readMasterSecret } from '#shared/config/secret.ts';
import { TOKEN_TYPES } from '#shared/private-token/token-types.ts';
import type { HttpResponse } from '../clients/digest/exchange.ts';
import { offersIn } from '../clients/private-token/private-token-client.ts';
import { STORE_KINDS } from '../flows/flow.ts';
import {
  mint,
  offerOf,
  rogueKey,
  type SpaceName,
  spend,
  startTokenServers,
  tally,
  tokenFor,
  tokenForOther,
  type TokenServers,
  TYPES,
  unsound,
  WINDOW,
} from './private-token.fixture.ts';

/** The offsets of the fields in a token (RFC 9577 section 2.2.1). */
const CHALLENGE = 34;
const KEY_ID = 66;
const AUTHENTICATOR = 98;

/** Tokens that are reused, misdirected, expired or changed, at two origin processes alternately. */
describe.each(STORE_KINDS)('on %s', (kind) => {
  let servers: TokenServers;
  let name: string;
  beforeAll(async () => {
    servers = await startTokenServers(kind);
    name = new URL(servers.flow.pair.resource).host;
  });
  afterAll(async () => {
    expect(await unsound(servers)).toEqual([]);
    await servers[Symbol.asyncDispose]();
  });

  const show = (server: number, token: Uint8Array, space: SpaceName = 'tokens') =>
    spend(servers.origin(server % 2), space, token);
  const status = async (...args: Parameters<typeof show>) => (await show(...args)).status;
  /** Expects both servers to refuse the token with a fresh challenge, as without credentials. */
  async function expectRefused(token: Uint8Array, space: SpaceName = 'tokens'): Promise<void> {
    for (const server of [0, 1]) {
      const answer = await show(server, token, space);
      expect(answer.status).toBe(401);
      expect(offersIn(answer, name).length).toBeGreaterThan(0);
    }
  }

  describe.each(TYPES)('type $type, $name', ({ type }) => {
    const offer = (space: SpaceName = 'tokens') => offerOf(servers, space, type);
    const fresh = (space: SpaceName = 'tokens') => tokenFor(servers, space, type);

    describe('a token is accepted once (RFC 9577 section 2.2)', () => {
      test('if it is sent fifty times at once to two processes', async () => {
        const token = await fresh();
        const all = Array.from({ length: 50 }, (_, n) => show(n, token));
        expect(tally(await Promise.all(all))).toEqual({ 200: 1, 401: 49 });
        await expectRefused(token);
      });

      test('if it is sent at once to several spaces that accept it', async () => {
        const token = await fresh();
        const spaces = ['tokens', 'again', 'documents'] as const;
        const all = Array.from({ length: 30 }, (_, n) => show(n, token, spaces[n % 3]));
        const { 200: passed = 0, 404: missing = 0, 401: refused } = tally(await Promise.all(all));
        // `documents` answers 404 to an admitted request, because it has no document.
        expect([passed + missing, refused]).toEqual([1, 29]);
      });

      test('beside nine other tokens at once', async () => {
        const { octets } = await offer();
        const tokens: Buffer[] = [];
        for (let n = 0; n < 10; n += 1) tokens.push((await mint(servers, octets)).token);
        const all = () => Promise.all(tokens.map((token, server) => show(server, token)));
        expect(tally(await all())).toEqual({ 200: 10 });
        expect(tally(await all())).toEqual({ 401: 10 });
      });

      test('in both spellings of its octets', async () => {
        const token = await fresh();
        const spelt = (text: string, server: number) =>
          servers.origin(server)({
            method: 'GET',
            target: '/tokens/',
            fields: [['Authorization', `PrivateToken token="${text}"`]],
            content: Buffer.alloc(0),
          });
        const plain = token.toString('base64url');
        const padded = plain.padEnd(Math.ceil(plain.length / 4) * 4, '=');
        expect((await spelt(plain, 0)).status).toBe(200);
        for (const text of [padded, plain]) {
          for (const server of [0, 1]) expect((await spelt(text, server)).status).toBe(401);
        }
      });
    });

    describe('a token is valid only for its challenge (RFC 9577 section 2.2)', () => {
      test('it is refused at the same origin over TLS, and the other way round', async () => {
        const tls = servers.originTls(0);
        const [here, there] = [await fresh(), await offerOf(servers, 'tokens', type, tls)];
        expect(there.challenge.origins).not.toEqual((await offer()).challenge.origins);
        expect((await spend(tls, 'tokens', here)).status).toBe(401);
        const { token } = await mint(servers, there.octets);
        await expectRefused(token);
        expect((await spend(servers.originTls(1), 'tokens', token)).status).toBe(200);
        expect(await status(1, here)).toBe(200);
      });

      test.each([
        ['another issuer', () => ({ issuer: 'issuer.example' })],
        ['the issuer in other letters', () => ({ issuer: servers.issuerName.toUpperCase() })],
        ['another origin', () => ({ origins: ['origin.example'] })],
        ['any origin', () => ({ origins: [] })],
        ['this origin and another', () => ({ origins: [name, 'origin.example'] })],
        ['this origin twice', () => ({ origins: [name, name] })],
        ['a context, where there is none', () => ({ context: Buffer.alloc(32) })],
      ])('it is refused for a challenge of %s', async (_, changes) => {
        await expectRefused(await tokenForOther(servers, await offer(), changes()));
      });

      test('it is accepted one window before and after its own, and refused outside', async () => {
        const { config, pair, stores } = servers.flow;
        const memory = (await stores.revocations.epoch(false)) ?? '';
        const at = (now: number) => ({ now, memory });
        const master = await readMasterSecret(config, pair.env);
        const secret = Buffer.from(hkdfSync('sha256', master, '', 'private-token-window', 32));
        const url = `${pair.resource}/window/`;
        const site = { url, types: [type], window: WINDOW, origins: [] };
        const challenges = createChallenges(site, servers.issuerName, secret);
        const { octets } = await offer('window');
        expect(challenges.offered(type, at(Date.now())).bytes).toEqual(octets);
        const seen = [];
        for (const windows of [-3, -2, -1, 0, 1, 2, 3]) {
          const then = Date.now() + windows * WINDOW * 1000;
          const { token } = await mint(servers, challenges.offered(type, at(then)).bytes);
          seen.push(await status(windows + 4, token, 'window'));
        }
        expect(seen).toEqual([401, 401, 200, 200, 200, 401, 401]);
      });

      test("it is refused for another space's context, and in a space without contexts", async () => {
        const token = await fresh('window');
        await expectRefused(token, 'other-window');
        await expectRefused(token, 'tokens');
        await expectRefused(await fresh('tokens'), 'window');
        expect(await status(1, token, 'window')).toBe(200);
      });

      test('it is refused in a space of the other type only', async () => {
        const [mine, others] =
          type === 1 ? (['voprf', 'rsa'] as const) : (['rsa', 'voprf'] as const);
        const token = await fresh(mine);
        await expectRefused(token, others);
        const { octets } = await offerOf(servers, others, type === 1 ? 2 : 1);
        const forged = Buffer.from(octets);
        forged.writeUInt16BE(type);
        // Apart from its type, this challenge equals the challenge of a space that accepts the token.
        await expectRefused((await mint(servers, forged)).token, others);
        expect(await status(0, token, mine)).toBe(200);
      });

      test('it is refused as a token of the other type, with any length', async () => {
        const token = await fresh();
        const other = Buffer.from(token);
        other.writeUInt16BE(3 - type);
        const length = AUTHENTICATOR + (type === 1 ? 256 : 48);
        const fitted = Buffer.concat([other, Buffer.alloc(256)]).subarray(0, length);
        for (const forged of [other, fitted]) await expectRefused(forged);
        expect(await status(0, token)).toBe(200);
      });
    });

    describe('a token must be whole and unchanged (RFC 9577 section 2.2.1)', () => {
      test('one flipped bit in any field: the token is refused and not spent', async () => {
        const token = await fresh();
        for (const at of [0, 1, 2, CHALLENGE, KEY_ID, AUTHENTICATOR, token.length - 1]) {
          const changed = Buffer.from(token);
          changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
          const answer = await show(at, changed);
          expect([at, answer.status]).toEqual([at, 401]);
        }
        expect(await status(0, token)).toBe(200);
      });

      test('a truncated or extended token is refused and not spent', async () => {
        const token = await fresh();
        for (const length of [0, 1, AUTHENTICATOR, token.length - 1]) {
          const answer = await show(length, token.subarray(0, length));
          expect([length, answer.status]).toEqual([length, 401]);
        }
        for (const more of [Buffer.of(0), Buffer.alloc(208), token, randomBytes(4000)]) {
          expect(await status(1, Buffer.concat([token, more]))).toBe(401);
          expect(await status(0, Buffer.concat([more, token]))).toBe(401);
        }
        expect(await status(0, token)).toBe(200);
      });

      test('with a field of another valid token it is refused, and neither token is spent', async () => {
        const [one, other] = [await fresh(), await fresh()];
        for (const [from, to] of [
          [2, CHALLENGE],
          [2, AUTHENTICATOR],
          [AUTHENTICATOR, one.length],
        ] as const) {
          const mixed = Buffer.from(one);
          other.copy(mixed, from, from, to);
          await expectRefused(mixed);
        }
        expect([await status(0, one), await status(1, other)]).toEqual([200, 200]);
      });

      test("with an authenticator that is not the issuer's, it is refused", async () => {
        const token = await fresh();
        const input = token.subarray(0, AUTHENTICATOR);
        const { length } = token.subarray(AUTHENTICATOR);
        const authenticators = [0, 1, 0xff].map((octet) => Buffer.alloc(length, octet));
        for (const authenticator of [...authenticators, randomBytes(length)]) {
          await expectRefused(Buffer.concat([input, authenticator]));
        }
        expect(await status(0, token)).toBe(200);
      });
    });
  });

  test('a token of a key that is not in the directory is refused, under its own id or the id of another key', async () => {
    const { octets, key } = await offerOf(servers, 'tokens', 2);
    const token = await tokenFor(servers, 'tokens', 2);
    const rogue = await rogueKey();
    await expectRefused(rogue.token(octets));
    await expectRefused(rogue.token(octets, token.subarray(KEY_ID, AUTHENTICATOR)));
    expect(key.equals(rogue.publicKey)).toBe(false);
    expect(await status(0, token)).toBe(200);
  });

  test('RFC 9576 section 6: tokens of a compromised key are refused from the next request on', async () => {
    for (const { type } of TYPES) {
      const [early, spare] = [
        await tokenFor(servers, 'tokens', type),
        await tokenFor(servers, 'tokens', type),
      ];
      const { key } = await offerOf(servers, 'tokens', type);
      expect(await status(1, early)).toBe(200);
      const which = ['--type', TOKEN_TYPES[type].name];
      await servers.flow.pair.cli('private-token', 'rotate', ...which, '--compromised');
      for (const server of [0, 1, 0]) expect(await status(server, spare)).toBe(401);
      for (const server of [0, 1]) {
        const offer = await offerOf(servers, 'tokens', type, servers.origin(server));
        expect(offer.key.equals(key)).toBe(false);
        const { token } = await mint(servers, offer.octets);
        expect(await status(server, token)).toBe(200);
      }
    }
  });

  test('no answer to a token may be cached', async () => {
    const answers: HttpResponse[] = [];
    for (const { type } of TYPES) {
      const token = await tokenFor(servers, 'tokens', type);
      for (const server of [0, 1]) answers.push(await show(server, token));
    }
    expect(answers.map((answer) => answer.status)).toEqual([200, 401, 200, 401]);
    for (const { fields } of answers) {
      const control = fields.filter(([field]) => field.toLowerCase() === 'cache-control');
      expect(control.join()).toMatch(/no-store/);
    }
  });
});
