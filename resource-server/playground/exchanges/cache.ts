import type { Exchange } from '../exchange.ts';
import { addressOf, type Ask, banOf, OF_CACHE } from './cached.ts';

/** The last requests of exchanges with a mistake, by its name. */
const WRONG: Readonly<Record<string, (ask: Ask) => Promise<unknown>>> = {
  only: (ask) =>
    ask('The client wants what the cache has, and nothing else', {
      method: 'GET',
      fields: [['Cache-Control', 'only-if-cached']],
    }),
  gone: (ask) =>
    ask('The client makes the cache forget an address of which it has nothing', {
      method: 'PURGE',
    }),
  anonymous: (ask) =>
    ask('A client without credentials does it', { method: 'PURGE', anonymous: true }),
  rule: (ask) =>
    ask('The client bans by a rule that the cache does not understand', {
      method: 'BAN',
      fields: [['Ban', 'colour="red"']],
    }),
};

/** The exchange of the cache (RFC 9111, RFC 9211), with PURGE and BAN, which no standard defines. */
export const cacheExchange: Exchange = {
  ...OF_CACHE,
  name: 'cache',
  title: 'A cache, with PURGE and BAN',
  about:
    'The cache keeps the answer of an application, and gives it to the next client who may have it. A program that changes the data elsewhere makes the cache forget: by PURGE one address, by BAN all that a rule matches.',
  standard: 'RFC 9111, RFC 9211; no standard has PURGE and BAN',
  mistakes: {
    only: 'A request for what the cache has, of which it has nothing',
    gone: 'PURGE of an address of which nothing is kept',
    anonymous: 'PURGE without credentials',
    rule: 'BAN by an unknown rule',
  },
  async perform(performing) {
    const { mistake = '' } = performing;
    const { ask, below, begin } = addressOf(performing);
    const wrong = WRONG[mistake];
    await begin();
    if (wrong) {
      await wrong(ask);
      return;
    }
    const get = (title: string) => ask(title, { method: 'GET' });
    await get('The client asks, and the cache stores the answer');
    await get('The client asks again');
    await ask('The client makes the cache forget this address', { method: 'PURGE' });
    await get('The client asks again');
    await ask('The client bans all whose path begins like this', banOf(`${below}*`));
    await get('The client asks again');
  },
};
