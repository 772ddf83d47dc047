import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ONE_STORE } from '../../flows/flow.ts';
import { startSite } from '../../interop/site.ts';
import type { Site } from '../../interop/site.ts';
import { get } from '../digest/answers.fixture.ts';
import { parseChallenges, valueOf } from '../digest/challenges.ts';
import { valuesOf } from '../digest/exchange.ts';
import type { Field, HttpRequest, Send } from '../digest/exchange.ts';
import { DIRECTORY_PATH, preferredKey } from './directory.ts';
import { beginIssuance } from './issuance.ts';
import { issuerOf } from './issuer-of.ts';
import { directoryOf, obtain, offersIn, redeem, tokenRequest } from './private-token-client.ts';
import type { Issuer, Offer } from './private-token-client.ts';
import { encodeChallenge } from './token-challenge.ts';

/**
 * PrivateToken (RFC 9577, RFC 9578) with a client written only from the RFCs, which sends alternately to
 * two resource servers.
 */
const TYPES = [
  { type: 1, name: 'VOPRF (P-384, SHA-384)' },
  { type: 2, name: 'Blind RSA (2048-bit)' },
] as const;

const SPACES = {
  origin: { schemes: ['PrivateToken'] },
  'same-origin': { schemes: ['PrivateToken'] },
  window: { schemes: ['PrivateToken'], privateToken: { window: 86_400 } },
  'other-window': { schemes: ['PrivateToken'], privateToken: { window: 86_400 } },
  bearer: { schemes: ['Bearer'], scopes: { safe: ['documents:read'], unsafe: [] } },
};
type Space = keyof typeof SPACES;

/** The offsets of a token's fields (RFC 9577 section 2.2.1). */
const FIELDS = { nonce: 2, challenge_digest: 34, token_key_id: 66, authenticator: 98 };

const now = () => Math.floor(Date.now() / 1000);

describe.each(ONE_STORE)('on %s', (kind) => {
  let site: Site;
  let send: Send;
  let issuer: Issuer;
  let origin: string;
  beforeAll(async () => {
    site = await startSite(kind, { spaces: SPACES, resource: 2 });
    send = site.inTurn();
    origin = new URL(site.pair.resource).host;
    issuer = await issuerOf(site.pair);
  });
  afterAll(async () => site[Symbol.asyncDispose]());

  const ask = (space: Space) => send(get(site.path(space)));
  const offers = async (space: Space) => offersIn(await ask(space), origin);
  async function offer(space: Space, type: number): Promise<Offer> {
    const found = (await offers(space)).find(({ challenge }) => challenge.type === type);
    if (found === undefined) throw new Error(`no challenge of type ${type}`);
    return found;
  }
  const tokenFor = (asked: Offer) => obtain(asked, issuer, now(), randomBytes);
  const spend = (space: Space, token: Uint8Array) => send(redeem(get(site.path(space)), token));
  /** The status of a redemption. A refusal must have a fresh challenge. */
  async function statusOf(space: Space, token: Uint8Array): Promise<number> {
    const response = await spend(space, token);
    if (response.status !== 200) expect(offersIn(response, origin)).toHaveLength(TYPES.length);
    return response.status;
  }

  describe('challenges (RFC 9577 section 2.1)', () => {
    test("each type has a challenge that the client may answer, with the issuer's current key", async () => {
      const response = await ask('origin');
      expect(response.status).toBe(401);
      const challenges = parseChallenges(valuesOf(response.fields, 'WWW-Authenticate'));
      const found = offersIn(response, origin);
      expect(found).toHaveLength(challenges.length);
      const types = TYPES.map(({ type }) => type);
      expect(new Set(found.map(({ challenge }) => challenge.type))).toEqual(new Set(types));
      const directory = await directoryOf(issuer);
      for (const { challenge, key, maxAge } of found) {
        expect(challenge.issuer).toBe(issuer.name);
        expect(challenge.context).toHaveLength(0);
        expect(key).toEqual(preferredKey(directory, challenge.type, now()));
        expect(maxAge).toBeGreaterThan(0);
      }
    });

    test('all parameters of a challenge are quoted', async () => {
      const { fields } = await ask('origin');
      for (const { params } of parseChallenges(valuesOf(fields, 'WWW-Authenticate'))) {
        const encoded = params.filter(({ name }) => name === 'challenge' || name === 'token-key');
        expect(encoded.map(({ quoted }) => quoted)).toEqual([true, true]);
      }
    });

    test('section 2.1.1.2: the context of a window is the same for every client and at every server', async () => {
      const [one, other] = [await offers('window'), await offers('window')];
      expect(one.map(({ octets }) => octets)).toEqual(other.map(({ octets }) => octets));
      for (const { challenge } of one) expect(challenge.context).toHaveLength(32);
    });
  });

  describe.each(TYPES)('type $type, $name', ({ type }) => {
    test('a token is accepted once at all servers together', async () => {
      const token = await tokenFor(await offer('origin', type));
      const granted = await spend('origin', token);
      expect(granted.status).toBe(200);
      expect(JSON.parse(String(granted.content))).toMatchObject({
        scheme: 'PrivateToken',
        principal: { kind: 'anonymous' },
      });
      const again = site.pair.resources.map(() => statusOf('origin', token));
      expect(await Promise.all(again)).toEqual([401, 401]);
    });

    test('section 2.1.4: tokens of one challenge are valid later, at the whole origin', async () => {
      const asked = await offer('origin', type);
      const [one, other] = [await tokenFor(asked), await tokenFor(asked)];
      expect(await statusOf('same-origin', one)).toBe(200);
      expect(await statusOf('origin', one)).toBe(401);
      expect(await statusOf('origin', other)).toBe(200);
    });

    test('section 2.1.1.2: a token with a context is valid in its own space only', async () => {
      const token = await tokenFor(await offer('window', type));
      expect(await statusOf('other-window', token)).toBe(401);
      expect(await statusOf('origin', token)).toBe(401);
      expect(await statusOf('window', token)).toBe(200);
      expect(await statusOf('window', token)).toBe(401);
    });

    test('if ten requests with one token run at once, one is admitted', async () => {
      const token = await tokenFor(await offer('origin', type));
      const all = Array.from({ length: 10 }, () => statusOf('origin', token));
      expect((await Promise.all(all)).filter((status) => status === 200)).toHaveLength(1);
    });

    test('section 2.2.1: a changed, truncated or extended token is refused, and not spent', async () => {
      const token = await tokenFor(await offer('origin', type));
      const flipped = [1, ...Object.values(FIELDS).flatMap((at) => [at - 1, at])];
      for (const at of [...flipped, token.length - 1]) {
        const changed = Buffer.from(token);
        changed[at] = (changed[at] ?? 0) ^ 1;
        expect([at, await statusOf('origin', changed)]).toEqual([at, 401]);
      }
      const half = token.subarray(0, FIELDS.authenticator);
      const longer = Buffer.concat([token, Buffer.of(0)]);
      for (const changed of [longer, token.subarray(0, -1), half, Buffer.alloc(0)]) {
        expect([changed.length, await statusOf('origin', changed)]).toEqual([changed.length, 401]);
      }
      expect(await statusOf('origin', token)).toBe(200);
    });

    test('a token under the other type is refused', async () => {
      const token = await tokenFor(await offer('origin', type));
      token.writeUInt16BE(3 - type);
      expect(await statusOf('origin', token)).toBe(401);
    });

    test.each([
      ['another origin', { origins: ['origin.example'] }],
      ['any origin', { origins: [] }],
      ['a context of their own', { context: randomBytes(32) }],
    ])('section 2.1.3: tokens for %s are refused', async (_what, changes) => {
      const { challenge, key } = await offer('origin', type);
      const octets = encodeChallenge({ ...challenge, ...changes });
      const token = await tokenFor({ challenge, octets, key, maxAge: undefined });
      expect(await statusOf('origin', token)).toBe(401);
    });

    test('two tokens in one request are refused', async () => {
      const asked = await offer('origin', type);
      const [one, other] = [await tokenFor(asked), await tokenFor(asked)];
      const both = redeem(redeem(get(site.path('origin')), one), other);
      expect((await send(both)).status).toBe(400);
      expect(await statusOf('origin', one)).toBe(200);
    });
  });

  describe('the issuer (RFC 9578)', () => {
    test('section 4: its directory has the same octets for every client, and may be cached', async () => {
      const known = await issuer.send({ ...get(DIRECTORY_PATH), fields: [...issuer.fields] });
      const unknown = await issuer.send(get(DIRECTORY_PATH));
      expect(known.content.equals(unknown.content)).toBe(true);
      expect(valuesOf(unknown.fields, 'Cache-Control').join()).toMatch(/max-age=[1-9]/);
    });

    test('a client without a token learns where to get one (RFC 9728 section 5.1)', async () => {
      const { requestUrl } = await directoryOf(issuer);
      const refused = await issuer.send(await goodRequest(2, []));
      expect(refused.status).toBe(401);
      const [challenge] = parseChallenges(valuesOf(refused.fields, 'WWW-Authenticate'));
      const url = new URL(valueOf(challenge?.params ?? [], 'resource_metadata') ?? '');
      expect(url.host).toBe(issuer.name);
      const { status, content } = await issuer.send(get(url.pathname));
      expect([status, JSON.parse(String(content))]).toMatchObject([
        200,
        { resource: requestUrl.href, authorization_servers: [site.pair.issuer] },
      ]);
    });

    test('an access token for the resource server is refused', async () => {
      const client = await site.pair.addClient('documents:read');
      const fields = [['Authorization', `Bearer ${await site.pair.token(client)}`]] as const;
      expect(await issuer.send(await goodRequest(2, fields))).toMatchObject({ status: 401 });
    });

    test.each(TYPES)(
      'sections 5.2 and 6.2: malformed requests of type $type are refused',
      async ({ type }) => {
        const request = await goodRequest(type);
        const { content } = request;
        const status = async (changed: Buffer) =>
          (await issuer.send({ ...request, content: changed })).status;
        const withAt = (at: number, octets: Buffer) => {
          const changed = Buffer.from(content);
          octets.copy(changed, at);
          return changed;
        };
        expect(await status(content)).toBe(200);
        for (const [what, changed] of [
          ['longer', Buffer.concat([content, Buffer.of(0)])],
          ['cut', content.subarray(0, -1)],
          ['a type alone', content.subarray(0, 2)],
          ['nothing', Buffer.alloc(0)],
          ['an unknown type', withAt(0, Buffer.of(0xda, 0x7a))],
          ['the other type', withAt(0, Buffer.of(0, 3 - type))],
          ['an unknown key', withAt(2, Buffer.of((content[2] ?? 0) ^ 0x5a))],
          ['no element of the group', withAt(3, Buffer.alloc(content.length - 3, 0xff))],
        ] as const) {
          expect([what, await status(changed)]).toEqual([what, 422]);
        }
      },
    );

    test('other media types get 415, other methods 405, and oversize content 413', async () => {
      const request = await goodRequest(2);
      const fields = request.fields.filter(([name]) => name !== 'Content-Type');
      const other: Field = ['Content-Type', 'application/octet-stream'];
      expect(await issuer.send({ ...request, fields })).toMatchObject({ status: 415 });
      const mistyped = { ...request, fields: [...fields, other] };
      expect(await issuer.send(mistyped)).toMatchObject({ status: 415 });
      const asked = { ...get(request.target), fields };
      expect(await issuer.send(asked)).toMatchObject({ status: 405 });
      const longer = { ...request, content: Buffer.alloc(64 * 1024) };
      expect(await issuer.send(longer)).toMatchObject({ status: 413 });
    });

    async function goodRequest(type: number, fields = issuer.fields): Promise<HttpRequest> {
      const directory = await directoryOf(issuer);
      const { octets } = await offer('origin', type);
      const key = preferredKey(directory, type, now());
      return tokenRequest(directory, beginIssuance(octets, key, randomBytes).request, fields);
    }
  });
});
