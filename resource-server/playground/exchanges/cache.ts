import type { Exchange } from '../exchange.ts';
import { addressOf, type Ask, banOf, OF_CACHE } from './cached.ts';

/** The last requests of exchanges with a mistake, by its name. */
const WRONG: Readonly<Record<string, (ask: Ask) => Promise<unknown>>> = {
  only: (ask) =>
    ask('The client asks only for a stored answer', {
      method: 'GET',
      fields: [['Cache-Control', 'only-if-cached']],
    }),
  gone: (ask) =>
    ask('The client purges an address of which the cache has no answer', {
      method: 'PURGE',
    }),
  anonymous: (ask) =>
    ask('A client without credentials purges the address', { method: 'PURGE', anonymous: true }),
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
    'The cache keeps the answer of an application, and gives it to the next client that may have it. A program that changes the data elsewhere removes answers from the cache. PURGE removes one address, BAN removes all that a rule matches.',
  standard: 'RFC 9111, RFC 9211; no standard has PURGE and BAN',
  mistakes: {
    only: 'A request for a stored answer that the cache does not have',
    gone: 'PURGE of an address without a stored answer',
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
    await ask('The client purges this address from the cache', { method: 'PURGE' });
    await get('The client asks again');
    await ask('The client bans all answers whose path begins like this', banOf(`${below}*`));
    await get('The client asks again');
  },
};
