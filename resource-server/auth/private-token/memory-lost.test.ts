import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { KeysUnavailable } from '#shared/auth/tokens/issuer-keys.ts';
import { generateBlindRsaKey } from '#shared/private-token/blind-rsa.ts';
import { DIRECTORY_PATH } from '#shared/private-token/issuer-directory.ts';
import { BLIND_RSA } from '#shared/private-token/token-types.ts';
import { type Answers, directoryOf, startIssuer, trusting, WRONG } from './issuer.fixture.ts';
import { rsaKey, setup } from './open-issuers.fixture.ts';
import { openIssuers } from './open-issuers.ts';

/** A cache that keeps each answer under its URL permanently, ignoring its freshness. */
function caching(origin: string): Answers {
  const kept = new Map<string, ReturnType<typeof ask>>();
  const send = trusting();
  const ask = (url: string) => send({ method: 'GET', url: origin + url });
  return (response, { url = '' }) => {
    const answer = kept.get(url) ?? ask(url);
    kept.set(url, answer);
    void answer.then(({ status, fields, body }) =>
      response.writeHead(status, { 'Content-Type': fields['content-type'] ?? '' }).end(body),
    );
  };
}

describe('RFC 9577 section 2.2: a store that has lost its memory of spent tokens', () => {
  test('after the loss, a key that was fetched before is no longer accepted', async () => {
    await using parties = await setup();
    const issuer = parties.issuers(undefined);
    expect(await issuer.key(BLIND_RSA, rsaKey.id)).toBeDefined();
    parties.memory.epoch = undefined;
    await expect(issuer.key(BLIND_RSA, rsaKey.id)).rejects.toThrow(KeysUnavailable);
    await expect(issuer.keys(BLIND_RSA)).rejects.toThrow(KeysUnavailable);
    parties.memory.epoch = 'second';
    parties.paths[DIRECTORY_PATH] = directoryOf([]);
    expect(await issuer.key(BLIND_RSA, rsaKey.id)).toBeUndefined();
    expect(parties.asked()).toEqual([DIRECTORY_PATH, DIRECTORY_PATH]);
  });

  test('after a recall, keys from caches are not accepted, and without the issuer there are no keys', async () => {
    await using parties = await setup();
    const cache = parties.use(await startIssuer(caching(parties.pair.origin)));
    const options = { ...parties.options, sendToPair: trusting(undefined, cache.origin) };
    const issuer = openIssuers(options)(undefined);
    expect(await issuer.key(BLIND_RSA, rsaKey.id)).toBeDefined();
    const next = await generateBlindRsaKey();
    parties.paths[DIRECTORY_PATH] = directoryOf([next]);
    await parties.options.stores.tokenKeys.recall();
    expect(await issuer.key(BLIND_RSA, rsaKey.id)).toBeUndefined();
    expect((await issuer.keys(BLIND_RSA)).map(({ id }) => id)).toEqual([next.id]);
    parties.paths[DIRECTORY_PATH] = WRONG['says 500'];
    await parties.options.stores.tokenKeys.recall();
    for (const { id } of [rsaKey, next]) {
      await expect(issuer.key(BLIND_RSA, id)).rejects.toThrow(KeysUnavailable);
    }
  });

  test('after the loss, a key whose fetch was running is not accepted', async () => {
    await using parties = await setup();
    const issuer = parties.issuers(undefined);
    const old = parties.paths[DIRECTORY_PATH];
    const late = Promise.withResolvers<void>();
    parties.paths[DIRECTORY_PATH] = (response, asked) =>
      void late.promise.then(() => old(response, asked));
    const asking = issuer.key(BLIND_RSA, rsaKey.id);
    while (parties.asked().length === 0) await setImmediate();
    parties.memory.epoch = 'second';
    parties.paths[DIRECTORY_PATH] = directoryOf([]);
    const again = issuer.key(BLIND_RSA, rsaKey.id);
    late.resolve();
    const answers = await Promise.allSettled([asking, again]);
    expect(answers.every((one) => one.status === 'rejected' || one.value === undefined)).toBe(true);
  });

  test('after the loss, a key from an HTTP cache is not accepted, by a running server or a new one', async () => {
    await using parties = await setup();
    const cache = parties.use(await startIssuer(caching(parties.pair.origin)));
    const options = { ...parties.options, sendToPair: trusting(undefined, cache.origin) };
    const running = openIssuers(options)(undefined);
    const known = async (issuer = openIssuers(options)(undefined)) =>
      (await issuer.key(BLIND_RSA, rsaKey.id)) !== undefined;
    expect([await known(running), await known()]).toEqual([true, true]);
    expect(parties.asked()).toEqual([DIRECTORY_PATH]);
    parties.memory.epoch = 'second';
    parties.paths[DIRECTORY_PATH] = directoryOf([]);
    expect([await known(running), await known()]).toEqual([false, false]);
    expect(parties.pair.asked.map(({ url }) => url)).toEqual([
      `${DIRECTORY_PATH}?memory=first.0`,
      `${DIRECTORY_PATH}?memory=second.0`,
    ]);
    // Without the new URL, the cache would have returned the old directory.
    parties.memory.epoch = 'first';
    expect(await known()).toBe(true);
    expect(parties.asked()).toHaveLength(2);
  });
});
