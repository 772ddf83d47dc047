import { describe, expect, test } from '@jest/globals';
import { KeysUnavailable } from '#shared/auth/tokens/issuer-keys.ts';
import { ManualClock } from '#shared/base/clock.ts';
import { DIRECTORY_PATH, DIRECTORY_TYPE } from '#shared/private-token/issuer-directory.ts';
import { VOPRF } from '#shared/private-token/token-types.ts';
import { fetchDirectory } from './fetch-directory.ts';
import {
  AGE,
  askedTimes,
  COOLDOWN,
  endOf,
  first,
  LIFE,
  openTestDirectory,
  second,
  SKEW,
  unavailable,
} from './issuer-directory.fixture.ts';
import { openDirectory } from './issuer-directory.ts';
import {
  type Answers,
  directoryOf,
  endless,
  readableLog,
  startIssuer,
  trusting,
  WRONG,
} from './issuer.fixture.ts';

describe('RFC 9578 section 4: an issuer that cannot be reached', () => {
  test('if the first fetch fails, keys are unavailable, and a fetch after a second succeeds', async () => {
    await using issuer = await openTestDirectory();
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

  test('after a failed first fetch, challenges do not wait for the fetch in the background', async () => {
    await using issuer = await openTestDirectory();
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

  test('if all known keys have ended, challenges do not wait for the fetch in the background, either', async () => {
    await using issuer = await openTestDirectory({ answers: directoryOf([]) });
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

  test('an issuer is used as soon as it listens', async () => {
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

  test.each(Object.entries(WRONG))(
    'old keys stay valid while the issuer %s',
    async (_what, answers) => {
      await using issuer = await openTestDirectory({ answers: directoryOf([first]) });
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
    },
  );

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
  ])('a directory with the content %j removes no key', async (content, reason) => {
    await using issuer = await openTestDirectory({ answers: directoryOf([first]) });
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
    ['does not end', endless(DIRECTORY_TYPE).answers],
    ['does not come', () => {}],
    [
      'redirects elsewhere',
      (response) => void response.writeHead(301, { location: 'https://localhost:1/' }).end(),
    ],
  ])('a directory that %s removes no key', async (_what, answers) => {
    await using issuer = await openTestDirectory({
      answers: directoryOf([first]),
      milliseconds: 500,
    });
    await issuer.keys(VOPRF);
    issuer.issuer.answers = answers;
    issuer.clock.advance(AGE);
    await issuer.keys(VOPRF);
    await expect(issuer.key(second)).rejects.toThrow(KeysUnavailable);
    expect(await issuer.ids()).toEqual([first.id]);
  });

  test('old keys end after a day without the issuer, even if they have no end themselves', async () => {
    await using issuer = await openTestDirectory({
      answers: directoryOf([first], 'max-age=86400'),
    });
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

  test('after a clock was set back by hours, a new key is still found', async () => {
    await using issuer = await openTestDirectory({ answers: directoryOf([first]) });
    await issuer.keys(VOPRF);
    issuer.issuer.answers = directoryOf([second]);
    issuer.clock.advance(-7200);
    expect(await issuer.key(second)).toBeDefined();
  });
});
