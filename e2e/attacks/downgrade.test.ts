import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createNonces } from '#shared/auth/credentials/nonces.ts';
import { ManualClock, systemClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { quoted, token, valueOf } from '../clients/digest/challenges.ts';
import type { Param } from '../clients/digest/challenges.ts';
import { digestClient } from '../clients/digest/digest-client.ts';
import type { DigestOptions } from '../clients/digest/digest-client.ts';
import type { HttpRequest, HttpResponse } from '../clients/digest/exchange.ts';
import { userhashOf } from '../clients/digest/response.ts';
import type { Claims } from '../clients/digest/response.ts';
import { clientProof, keysOf } from '../clients/scram/keys.ts';
import { encode, parseServerFirst } from '../clients/scram/messages.ts';
import { scramClient } from '../clients/scram/scram-client.ts';
import { ONE_STORE } from '../flows/flow.ts';
import {
  asked,
  authorization,
  challengesOf,
  get,
  lastOf,
  maskedInProduction,
  post,
  REALMS,
  startAttackedPair,
  UNLIMITED,
  converse,
  withAuthorization,
} from './attacked-pair.fixture.ts';
import type { Realm, Somebody, AttackedPair } from './attacked-pair.fixture.ts';

/** Changes a client's parameters before the client computes its proof. */
const claims =
  (changed: Partial<Claims>) =>
  (said: Claims): Claims => ({ ...said, ...changed });

/**
 * Valid secrets in credentials that the server did not ask for: of a weaker algorithm, another realm or
 * another time.
 */
describe.each(ONE_STORE)('on %s', (kind) => {
  let attacked: AttackedPair;
  let who: Somebody;
  beforeAll(async () => {
    attacked = await startAttackedPair(kind, { credentials: UNLIMITED, signIn: UNLIMITED });
    who = await attacked.newcomer();
  });
  afterAll(() => attacked[Symbol.asyncDispose]());

  const send = (request: HttpRequest, server = 1) => attacked.send(server)(request);
  const digest = (options: DigestOptions, realm: Realm) =>
    converse(digestClient(options), get(realm), attacked.send(0));
  /** Expects the same octets as the answer to a request without credentials. */
  async function expectNothing(answer: HttpResponse, realm: Realm): Promise<void> {
    expect(answer.status).toBe(401);
    expect(maskedInProduction(answer)).toBe(maskedInProduction(await send(get(realm))));
  }

  describe('Digest accepts only the algorithm and qop that it offered (RFC 7616 section 5.6)', () => {
    const without = (name: string) => (params: readonly Param[]) =>
      params.filter((param) => param.name !== name);

    test.each<[string, Realm, Omit<DigestOptions, keyof Somebody>]>([
      ['MD5', 'digest', { prepare: claims({ algorithm: 'MD5' }) }],
      [
        'MD5 by saying nothing',
        'digest',
        { prepare: claims({ algorithm: 'MD5' }), tamper: without('algorithm') },
      ],
      ['the weaker hash', 'integrity', { prepare: claims({ algorithm: 'MD5', qop: 'auth-int' }) }],
      [
        'another hash, if a stronger one',
        'digest',
        { prepare: claims({ algorithm: 'SHA-512-256' }) },
      ],
      ['-sess', 'digest', { prepare: claims({ algorithm: 'SHA-256-sess' }) }],
      ['no qop, as of RFC 2069', 'digest', { prepare: claims({ qop: undefined }) }],
      ['no qop for auth-int, as Chromium', 'integrity', { prepare: claims({ qop: undefined }) }],
      [
        'MD5 and no qop, as wget',
        'digest',
        { prepare: claims({ algorithm: 'MD5', qop: undefined }), tamper: without('algorithm') },
      ],
      ['auth for auth-int', 'integrity', { prepare: claims({ qop: 'auth' }) }],
      ['auth-int for auth', 'digest', { prepare: claims({ qop: 'auth-int' }) }],
    ])('%s is refused, even with the right response', async (_, realm, options) => {
      expect((await digest(who, realm)).answer.status).toBe(200);
      const { answer, sent } = await digest({ ...who, ...options }, realm);
      expect(sent).toHaveLength(2);
      await expectNothing(answer, realm);
    });

    test('a hashed name is refused if the challenge did not ask for it', async () => {
      const hashed = { algorithm: 'SHA-256', username: who.username, realm: 'digest' } as Claims;
      const tamper = (params: readonly Param[]) => [
        ...params.filter(({ name }) => name !== 'username'),
        quoted('username', userhashOf(hashed)),
        token('userhash', 'true'),
      ];
      const { answer } = await digest({ ...who, tamper }, 'digest');
      await expectNothing(answer, 'digest');
    });

    test.each([
      ['SHA-256', 'SHA-512-256'],
      ['SHA-512-256', 'SHA-256'],
      ['SHA-256-sess', 'SHA-256'],
      ['SHA-256', 'SHA-256-sess'],
    ] as const)('%s is refused with the nonce for %s', async (algorithm, other) => {
      expect((await digest({ ...who, algorithm }, 'hashed')).answer.status).toBe(200);
      const nonce = nonceIn(await send(get('hashed')), other);
      const options = { ...who, algorithm, prepare: claims({ nonce }) };
      await expectNothing((await digest(options, 'hashed')).answer, 'hashed');
    });
  });

  describe('credentials of one realm are refused at another (RFC 9110 section 11.5)', () => {
    test('Digest with the nonce of another realm (RFC 7616 section 3.3)', async () => {
      for (const realm of ['integrity', 'hashed', 'all'] as const) {
        const nonce = nonceIn(await send(get(realm)), 'SHA-256');
        const options = { ...who, prepare: claims({ nonce }) };
        await expectNothing((await digest(options, 'digest')).answer, 'digest');
      }
    });

    test.each(REALMS.filter((realm) => realm !== 'digest'))(
      'Digest credentials of the realm "digest" at %s',
      async (realm) => {
        const prepare = claims({ uri: `/${realm}/` });
        const client = digestClient({ ...who, prepare });
        const { sent } = await converse(client, get('digest'), (request) =>
          authorization(request) === '' ? send(request) : elsewhere(request, realm),
        );
        expect(authorization(sent[1])).toMatch(/^Digest .*realm="digest", uri="(?!\/digest\/)/);
      },
    );

    /** Expects the answer of this realm to a request without credentials: 401 or 403. */
    async function elsewhere(request: HttpRequest, realm: Realm): Promise<HttpResponse> {
      const answer = await send({ ...request, target: `/${realm}/` });
      expect(maskedInProduction(answer)).toBe(maskedInProduction(await send(get(realm))));
      expect([401, 403]).toContain(answer.status);
      return answer;
    }

    test('Digest for another target of the same realm is answered with 400 (RFC 7616 section 3.4.6)', async () => {
      for (const target of ['/digest', '/digest/?a=b', '/digest/x', '/%64igest/']) {
        const { answer } = await converse(digestClient(who), get('digest'), (request) =>
          send(authorization(request) === '' ? request : { ...request, target }),
        );
        expect([target, answer.status]).toEqual([target, 400]);
      }
    });

    test.each(['SHA-256', 'SHA-1'] as const)(
      'SCRAM-%s: the last leg, and the proof of a reauthentication',
      async (hash) => {
        const realm = hash === 'SHA-1' ? 'scram-1' : 'scram-256';
        // Both realms have the same keys, so that only the realm differs.
        const client = scramClient({ ...who, hash });
        let legs = 0;
        const first = await converse(client, get(realm), (request) => {
          legs += 1;
          return legs === 3 ? elsewhere(request, 'all') : send(request);
        });
        expect(first.sent).toHaveLength(3);
        const granted = await converse(client, get(realm), attacked.send(0));
        expect(granted.answer.status).toBe(200);
        const again = await converse(client, get(realm), (request) => elsewhere(request, 'all'));
        expect(authorization(lastOf(again))).toMatch(/^SCRAM/);
        for (const name of [realm, 'all']) {
          const request = withAuthorization(
            { ...lastOf(again), target: '/all/' },
            authorization(lastOf(again)).replace(/realm="[^"]*"/, `realm="${name}"`),
          );
          await expectNothing(await send(request), 'all');
        }
      },
    );

    test('an API key of another realm gets 403, or 401 at a realm with other schemes', async () => {
      const { key } = await attacked.newKey('keys');
      for (const [realm, status] of [
        ['keys', 200],
        ['other-keys', 403],
        ['all', 401],
        ['beside', 401],
      ] as const) {
        const answer = await send(get(realm, [['X-API-Key', key]]));
        expect([realm, answer.status]).toEqual([realm, status]);
      }
    });
  });

  describe('SCRAM: one mechanism is refused in place of another (RFC 7804 section 4)', () => {
    test('SCRAM-SHA-1 at a space that offers SCRAM-SHA-256', async () => {
      const client = scramClient({ ...who, hash: 'SHA-1', realm: 'scram-256', unprompted: true });
      const { answer, sent } = await converse(client, get('scram-256'), attacked.send(0));
      expect(sent).toHaveLength(1);
      await expectNothing(answer, 'scram-256');
    });

    test('the last leg of one mechanism under the name of the other', async () => {
      for (const hash of ['SHA-1', 'SHA-256'] as const) {
        const other = hash === 'SHA-1' ? 'SHA-256' : 'SHA-1';
        const client = scramClient({ ...who, hash, realm: 'all' });
        const { answers, sent } = await converse(client, get('all'), (request) =>
          send(
            /sid=/.test(authorization(request))
              ? withAuthorization(request, authorization(request).replace(hash, other))
              : request,
          ),
        );
        expect(sent).toHaveLength(3);
        expect(asked(answers[1] as HttpResponse, 'sid')).toBeDefined();
        await expectNothing(answers[2] as HttpResponse, 'all');
      }
    });
  });

  describe('`stale` does not reveal whether a password is right', () => {
    const old = () => new ManualClock(systemClock.now() - 600_000);
    const mallory: Somebody = { username: 'mallory', password: 'anything at all' };

    /** The last answer to Digest credentials with this nonce. */
    const withNonce = async (one: Somebody, nonce: string) => {
      const options = { ...one, prepare: claims({ nonce }) };
      return (await digest(options, 'digest')).answer;
    };

    test('Digest sends stale only for the right password with an old nonce of the server (RFC 7616 section 3.3)', async () => {
      const secret = attacked.secret('digest-nonce');
      const nonces = createNonces({ secret, clock: old(), random: systemRandom });
      const ours = nonces.issue('SHA-256 digest');
      const right = await withNonce(who, ours);
      expect([right.status, asked(right, 'stale')]).toEqual([401, 'true']);
      expect(asked(right, 'nonce')).not.toBe(ours);

      const wrong = { ...who, password: `${who.password}x` };
      for (const [guess, nonce] of [
        [wrong, ours],
        [mallory, ours],
        [await attacked.newcomer([]), ours],
        [who, ours.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))],
        [who, nonces.issue('SHA-256 all')],
        [who, nonces.issue('MD5 digest')],
        [who, ours.replace(/^\d+/, (step) => String(Number(step) - 1))],
        [who, '1.AAAAAAAAAAAAAAAA.' + 'A'.repeat(43)],
      ] as const) {
        await expectNothing(await withNonce(guess, nonce), 'digest');
      }
    });

    test('SCRAM sends stale only for the right password with an old sr of the server (RFC 7804 section 5.1)', async () => {
      const nonces = createNonces({ secret: attacked.secret('scram'), clock: old() });
      const ours = `%${nonces.issue('SCRAM-SHA-256 scram-256')}`;
      const clientNonce = 'c-nonce-of-the-test-';
      const client = scramClient({ ...who, hash: 'SHA-256', nonce: () => clientNonce });
      const { answers, answer } = await converse(client, get('scram-256'), attacked.send(0));
      expect(answer.status).toBe(200);
      const data = asked(answers[1] as HttpResponse, 'data') ?? '';
      const { salt, iterations } = parseServerFirst(data, clientNonce);

      const withSr = async (password: string, sr: string) => {
        const keys = await keysOf('SHA-256', password, salt, iterations);
        const nonce = `${clientNonce}${iterations}${sr}`;
        const parts = [
          `n=${who.username},r=${clientNonce}`,
          `r=${nonce},s=${salt.toString('base64')},i=${iterations}`,
          `c=${encode('n,,')},r=${nonce}`,
        ];
        const proof = clientProof('SHA-256', keys, parts.join(',')).toString('base64');
        const message = encode(`${parts[2]},p=${proof}`);
        const credentials = `SCRAM-SHA-256 realm="scram-256", data="${message}"`;
        return send(withAuthorization(get('scram-256'), credentials));
      };
      const right = await withSr(who.password, ours);
      expect([right.status, asked(right, 'stale')]).toEqual([401, 'true']);

      const foreign = `%${nonces.issue('SCRAM-SHA-256 all')}`;
      await expectNothing(await withSr(`${who.password}x`, ours), 'scram-256');
      await expectNothing(await withSr(who.password, foreign), 'scram-256');
      await expectNothing(await withSr(who.password, `${ours.slice(0, -1)}_`), 'scram-256');
    });

    test('a nonce that was already used is not called stale', async () => {
      const used = await digest(who, 'digest');
      expect(used.answer.status).toBe(200);
      await expectNothing(await send(lastOf(used)), 'digest');
    });
  });

  test('a request with another content or method than the hashed one is refused (RFC 7616 section 3.4.3)', async () => {
    const changes: readonly ((request: HttpRequest) => HttpRequest)[] = [
      (request) => ({ ...request, content: Buffer.from('pay 2') }),
      (request) => ({ ...request, content: Buffer.from('pay 1 ') }),
      (request) => ({ ...request, content: Buffer.alloc(0) }),
      (request) => ({ ...request, content: Buffer.alloc(3_000_000, 'pay 1') }),
      (request) => ({ ...request, method: 'GET', content: Buffer.alloc(0) }),
    ];
    for (const change of changes) {
      const { answer, sent } = await converse(
        digestClient(who),
        post('integrity', 'pay 1'),
        (one) => send(authorization(one) === '' ? one : change(one)),
      );
      expect(sent).toHaveLength(2);
      await expectNothing(answer, 'integrity');
    }
    const chunked = post('integrity', 'pay 1', [['Transfer-Encoding', 'chunked']]);
    const otherwise = await converse(digestClient(who), chunked, attacked.send(0));
    expect(otherwise.answer.status).toBe(200);
  });
});

function nonceIn(answer: HttpResponse, algorithm: string): string {
  const challenge = challengesOf(answer).find(
    ({ params }) => valueOf(params, 'algorithm') === algorithm,
  );
  return valueOf(challenge?.params ?? [], 'nonce') ?? '';
}
