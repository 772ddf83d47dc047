import { beforeAll, describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { KeysUnavailable } from '#shared/auth/issuer-keys.ts';
import { ManualClock } from '#shared/clock.ts';
import { encodePadded } from '#shared/private-token/base64url.ts';
import { generateBlindRsaKey } from '#shared/private-token/blind-rsa.ts';
import {
  type DirectoryKey,
  DIRECTORY_PATH,
  DIRECTORY_TYPE,
} from '#shared/private-token/issuer-directory.ts';
import type { TokenKeyPair } from '#shared/private-token/token-key.ts';
import { BLIND_RSA, type TokenType, VOPRF } from '#shared/private-token/token-types.ts';
import { generateVoprfKey } from '#shared/private-token/voprf.ts';
import { systemRandom } from '#shared/random.ts';
import { fetchDirectory } from './fetch-directory.ts';
import { openDirectory } from './issuer-directory.ts';
import {
  type Answers,
  directoryOf,
  endless,
  readableLog,
  startIssuer,
  type TestIssuer,
  trusting,
  WRONG,
} from './issuer.fixture.ts';

let rsa: TokenKeyPair;
const [first, second] = [generateVoprfKey(), generateVoprfKey()];
beforeAll(async () => {
  rsa = await generateBlindRsaKey();
});

/** Seconds. */
const LIFE = 3600;
const SKEW = 5;
const COOLDOWN = 30;
const AGE = 600;

const endOf = ({ notBefore }: DirectoryKey) =>
  notBefore === undefined ? undefined : notBefore + LIFE;

interface Options {
  readonly answers?: Answers;
  readonly types?: readonly TokenType[];
  readonly milliseconds?: number;
}

async function setup({ answers, types = [BLIND_RSA, VOPRF], milliseconds }: Options = {}) {
  const clock = new ManualClock();
  const now = clock.now() / 1000;
  const issuer = await startIssuer(answers ?? directoryOf([{ ...first, notBefore: now }]));
  const { log, lines } = readableLog();
  const send = trusting(milliseconds);
  const directory = openDirectory({
    url: issuer.origin + DIRECTORY_PATH,
    fetch: (url) => fetchDirectory(send, url),
    types,
    endOf,
    skew: SKEW,
    cooldown: COOLDOWN,
    clock,
    log,
  });
  /** As which keys the scheme knows them. */
  const ids = async (type: TokenType = VOPRF) => (await directory.keys(type)).map(({ id }) => id);
  const key = async (pair: TokenKeyPair) => directory.key(pair.type, pair.id);
  return { ...directory, key, ids, clock, now, issuer, lines, [Symbol.asyncDispose]: end(issuer) };
}

const end = (issuer: TestIssuer) => () => issuer[Symbol.asyncDispose]();

/** Resolves when the issuer has been asked so often, by a fetch in the background. */
async function askedTimes({ asked }: TestIssuer, times: number): Promise<void> {
  while (asked.length < times) await new Promise((resolve) => setImmediate(resolve));
}

const unavailable = (retryAfter: number) => ({ name: 'KeysUnavailable', retryAfter });

describe('RFC 9578 section 4: the keys of an issuer', () => {
  test('of each type, in the order of the directory', async () => {
    const answers = directoryOf([second, rsa, first]);
    await using issuer = await setup({ answers });
    expect(await issuer.ids()).toEqual([second.id, first.id]);
    expect(await issuer.ids(BLIND_RSA)).toEqual([rsa.id]);
    expect(await issuer.key(rsa)).toMatchObject({ publicKey: rsa.publicKey, until: undefined });
  });

  test('are fetched when first needed, once for fifty who ask at the same time', async () => {
    await using issuer = await setup();
    expect(issuer.issuer.asked).toEqual([]);
    const found = await Promise.all(Array.from({ length: 50 }, () => issuer.key(first)));
    expect(found.every((key) => key?.id.equals(first.id))).toBe(true);
    expect(issuer.issuer.asked).toHaveLength(1);
  });

  test('a type that is not taken of it has none, and that costs no fetch', async () => {
    await using issuer = await setup({ types: [BLIND_RSA] });
    expect(await issuer.ids()).toEqual([]);
    expect(await issuer.key(first)).toBeUndefined();
    expect(issuer.issuer.asked).toEqual([]);
  });

  test('a key is not that of another type with the same id', async () => {
    await using issuer = await setup();
    await issuer.keys(VOPRF);
    expect(await issuer.key({ ...first, type: BLIND_RSA })).toBeUndefined();
  });

  test.each([0, 1, 31, 33])('an id of %i octets is of no key', async (length) => {
    await using issuer = await setup();
    const id = Buffer.concat([first.id, first.id]).subarray(0, length);
    expect(await issuer.key({ ...first, id })).toBeUndefined();
  });
});

describe('RFC 9578 section 4: not-before', () => {
  test('a key is offered from then on, and taken a little earlier, for clocks differ', async () => {
    await using issuer = await setup();
    const { now, clock } = issuer;
    issuer.issuer.answers = directoryOf([
      { ...second, notBefore: now + 60 },
      { ...first, notBefore: now },
    ]);
    clock.advance(60 - SKEW - 0.001);
    expect(await issuer.ids()).toEqual([first.id]);
    expect(await issuer.key(second)).toBeUndefined();
    clock.advance(0.001);
    expect(await issuer.ids()).toEqual([first.id]);
    expect(await issuer.key(second)).toMatchObject({ until: (now + 60 + LIFE) * 1000 });
    clock.advance(SKEW);
    expect(await issuer.ids()).toEqual([second.id, first.id]);
    expect(issuer.issuer.asked).toHaveLength(1);
  });

  test('an issuer that has just begun, by a clock that is ahead, has a key to offer', async () => {
    await using issuer = await setup();
    const { now, clock } = issuer;
    issuer.issuer.answers = directoryOf([{ ...first, notBefore: now + SKEW + 1 }]);
    expect(await issuer.ids()).toEqual([]);
    clock.advance(1);
    expect(await issuer.ids()).toEqual([first.id]);
  });

  test('a key ends by itself, to the millisecond, also while the issuer is away', async () => {
    await using issuer = await setup({ answers: directoryOf([]) });
    const { now, clock } = issuer;
    issuer.issuer.answers = directoryOf([{ ...first, notBefore: now }], `max-age=${LIFE * 2}`);
    expect(await issuer.ids()).toEqual([first.id]);
    issuer.issuer.answers = WRONG['says 500'];
    clock.advance(LIFE - 0.001);
    expect(await issuer.ids()).toEqual([first.id]);
    expect(await issuer.key(first)).toMatchObject({ until: (now + LIFE) * 1000 });
    clock.advance(0.001);
    expect(await issuer.key(first)).toBeUndefined();
    await expect(issuer.keys(VOPRF)).rejects.toMatchObject(unavailable(COOLDOWN));
  });

  test('when all keys have ended the directory is fetched for newer ones', async () => {
    await using issuer = await setup({ answers: directoryOf([]) });
    const { now, clock } = issuer;
    issuer.issuer.answers = directoryOf([{ ...first, notBefore: now }], 'max-age=86400');
    await issuer.keys(VOPRF);
    issuer.issuer.answers = directoryOf([{ ...second, notBefore: now + LIFE }]);
    clock.advance(LIFE);
    expect(await issuer.ids()).toEqual([second.id]);
  });
});

describe('rotation', () => {
  test('a new key is found at the first token of it, as soon as the cooldown allows', async () => {
    await using issuer = await setup();
    await issuer.keys(VOPRF);
    issuer.issuer.answers = directoryOf([second, first]);
    expect(await issuer.key(second)).toBeUndefined();
    issuer.clock.advance(COOLDOWN);
    expect(await issuer.key(second)).toBeDefined();
    expect(await issuer.ids()).toEqual([second.id, first.id]);
    expect(issuer.issuer.asked).toHaveLength(2);
  });

  test('fifty unknown ids at once cost one fetch for each cooldown', async () => {
    await using issuer = await setup();
    await issuer.keys(VOPRF);
    for (let round = 1; round <= 3; round += 1) {
      issuer.clock.advance(COOLDOWN);
      const unknown = Array.from({ length: 50 }, () =>
        issuer.key({ ...first, id: systemRandom(32) }),
      );
      expect((await Promise.all(unknown)).every((key) => key === undefined)).toBe(true);
      for (let n = 0; n < 50; n += 1) await issuer.key({ ...first, id: systemRandom(32) });
      expect(issuer.issuer.asked).toHaveLength(1 + round);
    }
  });

  test('when it is old it is fetched in the background, while the old keys are offered', async () => {
    await using issuer = await setup();
    await issuer.keys(VOPRF);
    issuer.issuer.answers = directoryOf([second]);
    issuer.clock.advance(AGE - 1);
    expect(await issuer.ids()).toEqual([first.id]);
    expect(issuer.issuer.asked).toHaveLength(1);
    issuer.clock.advance(1);
    for (let n = 0; n < 20; n += 1) expect(await issuer.ids()).toEqual([first.id]);
    expect(await issuer.key(second)).toBeDefined();
    expect(issuer.issuer.asked).toHaveLength(2);
  });

  test('a key that was dropped from the directory, or swapped for another, is gone', async () => {
    await using issuer = await setup();
    await issuer.keys(VOPRF);
    issuer.issuer.answers = directoryOf([second]);
    issuer.clock.advance(AGE);
    expect(await issuer.key(second)).toBeDefined();
    expect(await issuer.key(first)).toBeUndefined();
    expect(await issuer.ids()).toEqual([second.id]);
  });

  test('an empty directory is one: no key is good any more', async () => {
    await using issuer = await setup();
    await issuer.keys(VOPRF);
    issuer.issuer.answers = directoryOf([]);
    issuer.clock.advance(AGE);
    expect(await issuer.key(second)).toBeUndefined();
    await askedTimes(issuer.issuer, 2);
    expect(await issuer.key(first)).toBeUndefined();
    expect(await issuer.ids()).toEqual([]);
  });

  test('max-age below the cooldown is kept to', async () => {
    await using issuer = await setup({ answers: directoryOf([first], 'max-age=1') });
    await issuer.keys(VOPRF);
    issuer.issuer.answers = directoryOf([second], 'max-age=1');
    issuer.clock.advance(1);
    await issuer.keys(VOPRF);
    expect(await issuer.key(second)).toBeDefined();
  });

  test('in a directory that is old an unknown key is looked for, whatever the cooldown says', async () => {
    await using issuer = await setup({ answers: directoryOf([first], 'max-age=2') });
    await issuer.keys(VOPRF);
    issuer.issuer.answers = directoryOf([second, first], 'max-age=2');
    issuer.clock.advance(1.999);
    expect(await issuer.key(second)).toBeUndefined();
    expect(issuer.issuer.asked).toHaveLength(1);
    issuer.clock.advance(0.001);
    expect(await issuer.key(second)).toBeDefined();
    expect(await issuer.key(rsa)).toBeUndefined();
    expect(issuer.issuer.asked).toHaveLength(2);
  });
});

describe('the issuer is away', () => {
  test('at the very first: unavailable, tried again after a second and then well', async () => {
    await using issuer = await setup();
    const { answers } = issuer.issuer;
    issuer.issuer.answers = WRONG['ends the connection'];
    await expect(issuer.keys(VOPRF)).rejects.toMatchObject(unavailable(1));
    const more = [issuer.key(first), issuer.key(second), issuer.ids()];
    const outcomes = await Promise.allSettled(more);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(issuer.issuer.asked).toHaveLength(1);
    issuer.issuer.answers = answers;
    issuer.clock.advance(1);
    expect(await issuer.key(first)).toBeDefined();
    expect(await issuer.ids()).toEqual([first.id]);
  });

  test('at the very first: challenges do not wait for what is fetched in the background', async () => {
    await using issuer = await setup();
    const { answers } = issuer.issuer;
    issuer.issuer.answers = WRONG['says 500'];
    await expect(issuer.keys(VOPRF)).rejects.toMatchObject(unavailable(1));
    const { promise: late, resolve: answer } = Promise.withResolvers<void>();
    issuer.issuer.answers = (response, asked) => void late.then(() => answers(response, asked));
    issuer.clock.advance(0.999);
    await expect(issuer.keys(VOPRF)).rejects.toMatchObject(unavailable(1));
    expect(issuer.issuer.asked).toHaveLength(1);
    issuer.clock.advance(0.001);
    for (let n = 0; n < 10; n += 1) {
      await expect(issuer.keys(VOPRF)).rejects.toMatchObject(unavailable(1));
      issuer.clock.advance(1);
    }
    await askedTimes(issuer.issuer, 2);
    const redeeming = issuer.key(first);
    answer();
    expect(await redeeming).toBeDefined();
    expect(await issuer.ids()).toEqual([first.id]);
    expect(issuer.issuer.asked).toHaveLength(2);
  });

  test('nor when all keys that are known have ended', async () => {
    await using issuer = await setup({ answers: directoryOf([]) });
    const { now, clock } = issuer;
    issuer.issuer.answers = directoryOf([{ ...first, notBefore: now }], 'max-age=86400');
    await issuer.keys(VOPRF);
    issuer.issuer.answers = WRONG['says 500'];
    clock.advance(LIFE);
    await expect(issuer.keys(VOPRF)).rejects.toMatchObject(unavailable(COOLDOWN));
    issuer.issuer.answers = () => {};
    clock.advance(COOLDOWN);
    await expect(issuer.keys(VOPRF)).rejects.toMatchObject(unavailable(COOLDOWN));
    await askedTimes(issuer.issuer, 3);
  });

  test('not yet listening, then there', async () => {
    const closed = await startIssuer(directoryOf([first]));
    await closed[Symbol.asyncDispose]();
    const clock = new ManualClock();
    const { log } = readableLog();
    const directory = openDirectory({
      url: closed.origin + DIRECTORY_PATH,
      fetch: (url) => fetchDirectory(trusting(), url),
      types: [VOPRF],
      endOf,
      skew: SKEW,
      cooldown: COOLDOWN,
      clock,
      log,
    });
    await expect(directory.keys(VOPRF)).rejects.toThrow(KeysUnavailable);
    await using _ = await startIssuer(directoryOf([first]), Number(new URL(closed.origin).port));
    clock.advance(1);
    await expect(directory.keys(VOPRF)).rejects.toThrow(KeysUnavailable);
    expect(await directory.key(VOPRF, first.id)).toBeDefined();
    expect(await directory.keys(VOPRF)).toHaveLength(1);
  });

  test.each(Object.entries(WRONG))('it %s: old keys go on', async (_what, answers) => {
    await using issuer = await setup({ answers: directoryOf([first]) });
    await issuer.keys(VOPRF);
    issuer.issuer.answers = answers;
    issuer.clock.advance(AGE);
    for (let n = 0; n < 10; n += 1) expect(await issuer.ids()).toEqual([first.id]);
    await expect(issuer.key(second)).rejects.toMatchObject(unavailable(COOLDOWN));
    expect(await issuer.ids()).toEqual([first.id]);
    expect(issuer.issuer.asked).toHaveLength(2);
    issuer.clock.advance(COOLDOWN);
    await issuer.keys(VOPRF);
    await expect(issuer.key(second)).rejects.toThrow(KeysUnavailable);
    expect(issuer.issuer.asked).toHaveLength(3);
  });

  const answering =
    (content: string): Answers =>
    (response) =>
      void response.setHeader('Content-Type', DIRECTORY_TYPE).end(content);

  test.each([
    ['', 'not a JSON object'],
    ['{"token-keys": [', 'not a JSON object'],
    ['[]', 'not a JSON object'],
    ['{}', 'no list of keys'],
    ['{"token-keys": []}', 'request URL'],
    ['{"token-keys": [], "issuer-request-uri": "https://elsewhere.example/"}', 'request URL'],
    ['{"token-keys": [], "issuer-request-uri": "http://localhost/"}', 'request URL'],
  ])('a directory that says %j takes no key away', async (content, reason) => {
    await using issuer = await setup({ answers: directoryOf([first]) });
    await issuer.keys(VOPRF);
    issuer.issuer.answers = answering(content);
    issuer.clock.advance(AGE);
    await issuer.keys(VOPRF);
    await expect(issuer.key(second)).rejects.toThrow(KeysUnavailable);
    expect(await issuer.ids()).toEqual([first.id]);
    expect(issuer.lines).toMatchObject([{ event: 'private-token.directory' }]);
    expect(JSON.stringify(issuer.lines)).toContain(reason);
  });

  test.each<[string, Answers]>([
    ['has no end', endless(DIRECTORY_TYPE).answers],
    ['does not come', () => {}],
    [
      'is elsewhere',
      (response) => void response.writeHead(301, { location: 'https://localhost:1/' }).end(),
    ],
  ])('a directory that %s takes no key away', async (_what, answers) => {
    await using issuer = await setup({ answers: directoryOf([first]), milliseconds: 500 });
    await issuer.keys(VOPRF);
    issuer.issuer.answers = answers;
    issuer.clock.advance(AGE);
    await issuer.keys(VOPRF);
    await expect(issuer.key(second)).rejects.toThrow(KeysUnavailable);
    expect(await issuer.ids()).toEqual([first.id]);
  });

  test('old keys end after a day, though they have no end of their own', async () => {
    await using issuer = await setup({ answers: directoryOf([first], 'max-age=86400') });
    await issuer.keys(VOPRF);
    issuer.issuer.answers = WRONG['says 500'];
    issuer.clock.advance(86_399);
    expect(await issuer.ids()).toEqual([first.id]);
    issuer.clock.advance(1);
    await expect(issuer.keys(VOPRF)).rejects.toThrow(KeysUnavailable);
    await expect(issuer.key(first)).rejects.toThrow(KeysUnavailable);
    issuer.issuer.answers = directoryOf([first]);
    issuer.clock.advance(COOLDOWN);
    expect(await issuer.key(first)).toBeDefined();
    expect(await issuer.ids()).toEqual([first.id]);
  });

  test('a clock set back by hours does not keep a new key out', async () => {
    await using issuer = await setup({ answers: directoryOf([first]) });
    await issuer.keys(VOPRF);
    issuer.issuer.answers = directoryOf([second]);
    issuer.clock.advance(-7200);
    expect(await issuer.key(second)).toBeDefined();
  });
});

describe('any directory ends in keys or in unavailability', () => {
  const entry = fc.record(
    {
      'token-type': fc.oneof(fc.constantFrom(1, 2, 0xda7a, '2'), fc.jsonValue()),
      'token-key': fc.oneof(
        fc.constantFrom(encodePadded(first.publicKey), encodePadded(second.publicKey)),
        fc.base64String(),
        fc.jsonValue(),
      ),
      'not-before': fc.oneof(fc.constantFrom(0, 1_800_000_000), fc.double(), fc.jsonValue()),
    },
    { requiredKeys: [] },
  );
  const document = fc.oneof(
    fc.jsonValue(),
    fc.record({ 'issuer-request-uri': fc.constant('/r'), 'token-keys': fc.array(entry) }),
    fc.record({ 'issuer-request-uri': fc.webUrl(), 'token-keys': fc.jsonValue() }),
  );

  test('and no key is offered that is not in it, or whose time is not now', async () => {
    await fc.assert(
      fc.asyncProperty(document, fc.integer({ min: 1, max: 86_400 }), async (value, maxAge) => {
        const clock = new ManualClock();
        const { log } = readableLog();
        const { keys, key } = openDirectory({
          url: 'https://issuer.example/',
          fetch: async () => ({ document: value, maxAge }),
          types: [BLIND_RSA, VOPRF],
          endOf,
          skew: SKEW,
          cooldown: COOLDOWN,
          clock,
          log,
        });
        const outcomes = await Promise.allSettled([keys(VOPRF), key(VOPRF, first.id)]);
        for (const outcome of outcomes) {
          if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(KeysUnavailable);
          else if (outcome.value !== undefined) {
            for (const one of [outcome.value].flat()) {
              expect(JSON.stringify(value)).toContain(encodePadded(one.publicKey));
              expect(one.until ?? Infinity).toBeGreaterThan(clock.now());
            }
          }
        }
      }),
    );
  });
});
