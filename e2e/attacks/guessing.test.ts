import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newApiKey } from '#shared/people/api-key.ts';
import { addPerson, disablePerson } from '#shared/people/people.ts';
import { randomId, systemRandom } from '#shared/base/random.ts';
import { sentBy } from '../clients/digest/answers.fixture.ts';
import type { Field, HttpResponse } from '../clients/digest/exchange.ts';
import { parseServerFirst } from '../clients/scram/messages.ts';
import { scramClient } from '../clients/scram/scram-client.ts';
import { STORE_KINDS } from '../flows/flow.ts';
import { ATTEMPTS, BASIC, DIGEST, SCRAM } from './attempts.fixture.ts';
import type { Attempt } from './attempts.fixture.ts';
import {
  asked,
  field,
  get,
  inTurn,
  masked,
  maskedInProduction,
  startAttackedPair,
  withAuthorization,
} from './attacked-pair.fixture.ts';
import type { Realm, Somebody, AttackedPair } from './attacked-pair.fixture.ts';

/** A well-formed API key with an existing id and a wrong secret. */
const forged = (id: string) =>
  newApiKey((bytes) => (bytes === 8 ? Buffer.from(id, 'hex') : systemRandom(bytes))).key;

/** The limit per account, for all addresses together. No attempt returns during a test. */
const ACCOUNT = { burst: 5, per: 3600 };
/** The limit per address. One attempt returns each second. */
const ADDRESS = { burst: 40, per: 1 };

/** Attackers who guess names and passwords: the answers reveal nothing, and attempts are limited. */
describe.each(STORE_KINDS)('on %s', (kind) => {
  let attacked: AttackedPair;
  beforeAll(async () => {
    attacked = await startAttackedPair(kind, { credentials: ACCOUNT, signIn: ADDRESS });
  });
  afterAll(() => attacked[Symbol.asyncDispose]());

  let hosts = 0;
  /** An address that no earlier attempt used. */
  const address = () => `127.1.${Math.floor((hosts += 1) / 250)}.${1 + (hosts % 250)}`;

  const tryWith = ({ make }: Attempt, who: Somebody, server = 0, from = address()) =>
    make(who, attacked.send(server, from));

  const wrong = (who: Somebody): Somebody => ({ ...who, password: 'a wrong one' });
  const stranger = (): Somebody => ({
    username: `q${randomId(systemRandom).toLowerCase()}`,
    password: 'a wrong one',
  });

  /** Adds an invited person who has no password yet. */
  async function invited(): Promise<Somebody> {
    const who = stranger();
    await addPerson(attacked.people, { name: who.username });
    return who;
  }

  describe('answers do not show which people exist (RFC 7616 section 5.11, RFC 7804 section 8)', () => {
    test.each(ATTEMPTS)('$name: every refused answer is the same', async (attempt) => {
      const disabled = await attacked.newcomer([attempt.realm]);
      await disablePerson(attacked.people, disabled.username);
      const right = await attacked.newcomer([attempt.realm]);
      expect((await tryWith(attempt, right)).answer.status).toBe(200);
      const refused = [
        wrong(await attacked.newcomer([attempt.realm])),
        stranger(),
        wrong(disabled),
        disabled,
        wrong(await attacked.newcomer([])),
        await invited(),
        // Without a verifier Basic can still check the password hash, and would admit this person.
        ...(attempt === BASIC ? [] : [await attacked.newcomer([])]),
      ];
      const seen = await inTurn(refused, async (who, server) =>
        (await tryWith(attempt, who, server)).answers.map(masked),
      );
      expect(seen[0]?.at(-1)).toMatch(/^401\n/);
      for (const answers of seen) expect(answers).toEqual(seen[0]);
    });

    test.each(['SHA-256', 'SHA-1'] as const)(
      'SCRAM-%s: a name that does not exist has a salt of its own, too, always the same',
      async (hash) => {
        const realm = hash === 'SHA-1' ? 'scram-1' : 'scram-256';
        const saltOf = async ([username, at]: readonly [string, Realm], server: number) => {
          const nonce = () => 'c-nonce';
          const client = scramClient({ username, password: 'x', hash, nonce, unprompted: true });
          const send = attacked.send(server, address());
          const answer = await send(await sentBy(client.exchange(get(at))));
          const { salt, iterations } = parseServerFirst(asked(answer, 'data') ?? '', nonce());
          return { salt: salt.toString('base64'), iterations };
        };
        const salts: string[] = [];
        const costs: number[] = [];
        for (const { username } of [
          await attacked.newcomer([realm]),
          stranger(),
          await attacked.newcomer([]),
        ]) {
          const forms = [
            [username, realm],
            [username, realm],
            [username.toUpperCase(), realm],
            // A person has one salt in every realm. A name that does not exist must have one, too.
            [username, 'all'],
          ] as const;
          const [first, ...others] = await inTurn(forms, saltOf);
          for (const other of others) expect(other).toEqual(first);
          salts.push(first?.salt ?? '');
          costs.push(first?.iterations ?? 0);
        }
        expect(new Set(salts).size).toBe(3);
        expect(new Set(salts.map((salt) => Buffer.from(salt, 'base64').length)).size).toBe(1);
        expect(new Set(costs).size).toBe(1);
      },
    );

    test('an API key: the server gives one answer to an unknown, wrong, expired, foreign and missing key', async () => {
      const [here, ended, other] = [
        await attacked.newKey('keys'),
        await attacked.newKey('keys'),
        await attacked.newKey('other-keys'),
      ];
      await attacked.stores.apiKeys.expire(ended.id, Date.now());
      const shown = [
        undefined,
        '',
        here.key.slice(0, -1),
        here.key.replace(/.{8}$/, '00000000'),
        forged(here.id),
        forged('0123456789abcdef'),
        ended.key,
        other.key,
        here.key.toUpperCase(),
        `${here.key},${here.key}`,
      ];
      const answers = await inTurn(shown, (key, server) =>
        attacked.send(
          server,
          address(),
        )(get('keys', key === undefined ? [] : [['X-API-Key', key]])),
      );
      expect(answers[0]?.status).toBe(403);
      expect(new Set(answers.map(maskedInProduction)).size).toBe(1);
      // Even in development the answer to a wrong secret does not show whether the key id exists.
      expect(new Set(answers.slice(4, 6).map(masked)).size).toBe(1);
    });
  });

  describe('attempts per account are limited, from all addresses together (RFC 7616 section 5.7)', () => {
    const attempts = Array.from({ length: ACCOUNT.burst + 3 }, (_, index) => index);
    const statuses = (refused: readonly HttpResponse[]) => refused.map(({ status }) => status);
    const SPENT = [401, 401, 401, 401, 401, 429, 429, 429];

    test.each(ATTEMPTS)(
      '$name: beyond the limit each name gets 429 with Retry-After, even an unknown name',
      async (attempt) => {
        const seen = [];
        for (const who of [wrong(await attacked.newcomer([attempt.realm])), stranger()]) {
          const answers = [];
          for (const index of attempts) {
            answers.push((await tryWith(attempt, who, index % 2)).answer);
          }
          expect(statuses(answers)).toEqual(SPENT);
          const last = answers.at(-1) as HttpResponse;
          expect(Number(field(last, 'Retry-After'))).toBeGreaterThan(0);
          expect(Number(field(last, 'Retry-After'))).toBeLessThanOrEqual(ACCOUNT.per);
          seen.push(answers.map(masked));
        }
        expect(seen[1]).toEqual(seen[0]);
      },
    );

    test('fifty guesses at once at two servers: only as many are checked as the limit allows', async () => {
      const who = wrong(await attacked.newcomer([]));
      const all = Array.from({ length: 50 }, () => who);
      const answers = await inTurn(all, (one, server) => tryWith(BASIC, one, server));
      const found = statuses(answers.map(({ answer }) => answer)).toSorted((a, b) => a - b);
      expect(found).toEqual([...SPENT.slice(0, 5), ...Array.from({ length: 45 }, () => 429)]);
    });

    test('all schemes and all spellings of a name share the limit of the account', async () => {
      const who = await attacked.newcomer([DIGEST.realm, SCRAM.realm]);
      const shouted = { ...wrong(who), username: who.username.toUpperCase() };
      const wide = { ...wrong(who), username: who.username.replace('p', 'ｐ') };
      const answers = [];
      const tries: readonly (readonly [Attempt, Somebody])[] = [
        [BASIC, wrong(who)],
        [DIGEST, wrong(who)],
        [SCRAM, shouted],
        [BASIC, wide],
        [SCRAM, wide],
        [BASIC, who],
        [DIGEST, who],
        [SCRAM, who],
      ];
      for (const [index, [attempt, one]] of tries.entries()) {
        answers.push((await tryWith(attempt, one, index % 2)).answer);
      }
      expect(statuses(answers)).toEqual(SPENT);
    });

    test.each(ATTEMPTS)(
      '$name: a person who signed in from an address before is still admitted from there',
      async (attempt) => {
        const who = await attacked.newcomer([attempt.realm]);
        const home = address();
        for (const server of [0, 1]) {
          expect((await tryWith(attempt, who, server, home)).answer.status).toBe(200);
        }
        const last = [];
        for (const index of attempts) {
          last.push((await tryWith(attempt, wrong(who), index % 2)).answer.status);
        }
        expect(last.at(-1)).toBe(429);
        for (const server of [0, 1, 0, 1]) {
          expect((await tryWith(attempt, who, server, home)).answer.status).toBe(200);
        }
        // At another address even the right password gets 429: otherwise guessing could go on.
        expect((await tryWith(attempt, who)).answer.status).toBe(429);
      },
    );

    test('an API key: attempts per key id are limited, and its holder is still admitted', async () => {
      const { id, key } = await attacked.newKey('other-keys');
      const show = (shown: string, server: number, from = address()) =>
        attacked.send(server, from)(get('other-keys', [['X-API-Key', shown]]));
      const home = address();
      for (const server of [0, 1]) expect((await show(key, server, home)).status).toBe(200);
      const forgeries = Array.from({ length: 20 }, () => forged(id));
      const answers = await inTurn(forgeries, (shown, server) => show(shown, server));
      expect(statuses(answers)).toContain(429);
      expect(statuses(answers).filter((status) => status === 403).length).toBeLessThan(6);
      for (const server of [0, 1]) expect((await show(key, server, home)).status).toBe(200);
    });
  });

  describe('attempts per address are limited, with all names together', () => {
    /**
     * Begins exchanges with new names until the server answers with another status than 401; resolves to
     * that answer.
     */
    async function exhaust(from: string, fields: () => readonly Field[] = () => []) {
      for (let index = 0; index < 200; index += 1) {
        const send = attacked.send(index % 2, from);
        const client = scramClient({
          username: `somebody-${from}-${index}`,
          password: 'x',
          hash: 'SHA-256',
          unprompted: true,
        });
        const answer = await send(await sentBy(client.exchange(get('scram-256', fields()))));
        if (answer.status !== 401) return { answer, count: index };
        expect(asked(answer, 'sid')).toBeDefined();
      }
      throw new Error('nothing is ever too much');
    }

    test('an address with too many first messages gets 429 with Retry-After; other addresses, and later this address, are served', async () => {
      const from = address();
      const waiting = scramClient({ ...(await attacked.newcomer([SCRAM.realm])), hash: 'SHA-256' });
      const exchange = waiting.exchange(get('scram-256'));
      const begun = await attacked.send(0, address())(await sentBy(exchange));
      const first = await sentBy(exchange, begun);
      const final = await sentBy(exchange, await attacked.send(0, address())(first));

      const { answer, count } = await exhaust(from);
      expect(answer.status).toBe(429);
      expect(count).toBeGreaterThanOrEqual(ADDRESS.burst);
      expect(asked(answer, 'sid')).toBeUndefined();
      const retryAfter = Number(field(answer, 'Retry-After'));
      expect(retryAfter).toBeGreaterThan(0);

      // An exchange that was waiting can still finish, at the other process.
      expect((await attacked.send(1, address())(final)).status).toBe(200);
      const who = await attacked.newcomer([SCRAM.realm]);
      for (const server of [0, 1]) {
        expect((await tryWith(SCRAM, who, server)).answer.status).toBe(200);
      }
      await sleep(retryAfter * 1000 + 100);
      expect((await tryWith(BASIC, who, 1, from)).answer.status).toBe(200);
    });

    test("X-Forwarded-For from an untrusted address neither resets the sender's limit nor counts against another address", async () => {
      const [from, victim] = [address(), address()];
      let claimed = 0;
      await exhaust(from, () => [
        ['X-Forwarded-For', (claimed += 1) % 2 === 0 ? victim : `198.51.100.${claimed % 250}`],
        ['Forwarded', `for=198.51.100.${claimed % 250}`],
        ['X-Real-IP', `198.51.100.${claimed % 250}`],
      ]);
      const spared = await exhaust(victim);
      expect(spared.count).toBeGreaterThanOrEqual(ADDRESS.burst);
    });
  });

  test('a sid cannot be guessed, and guesses do not end the exchange of its client (RFC 7804 section 5)', async () => {
    const who = await attacked.newcomer([SCRAM.realm]);
    const client = scramClient({ ...who, hash: 'SHA-256', unprompted: true });
    const exchange = client.exchange(get('scram-256'));
    const first = await sentBy(exchange);
    const challenge = await attacked.send(0, address())(first);
    const final = await sentBy(exchange, challenge);
    const sid = asked(challenge, 'sid') ?? '';
    expect(sid.length).toBeGreaterThanOrEqual(22); // a sid has 128 bits in base64url
    const guesses = [
      '',
      sid.slice(0, -1),
      `${sid}=`,
      sid.toUpperCase(),
      `${sid.slice(0, -1)}${sid.endsWith('A') ? 'B' : 'A'}`,
      'A'.repeat(sid.length),
      'A'.repeat(65),
      '__proto__',
      'constructor',
      '*',
      '%',
      "' OR 1=1 --",
      '../../transient.db',
      'scram:x',
      `cs:session:0:${sid}`,
      'é',
    ];
    const none = await attacked.send(1, address())(get('scram-256'));
    const answers = await inTurn(guesses, (guess, server) => {
      const value = final.fields[0]?.[1].replace(/(?<=sid=)[^,]*/, `"${guess}"`) ?? '';
      return attacked.send(server, address())(withAuthorization(get('scram-256'), value));
    });
    for (const answer of answers) {
      expect(maskedInProduction(answer)).toBe(maskedInProduction(none));
    }
    expect((await attacked.send(1, address())(final)).status).toBe(200);
  });
});
