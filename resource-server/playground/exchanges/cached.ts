import { basicCredentials } from '#shared/auth/schemes/basic/client.ts';
import { BASIC_NOTES } from '#shared/explain/notes/basic.ts';
import { cacheChecks } from '../checks/cache.ts';
import type { Exchange, Performing } from '../exchange.ts';
import { fieldOf, type FieldLine, type ReadAnswer } from '../http1-message.ts';
import { PASSWORD, PERSON } from '../person.ts';
import { userPassInClear } from './basic.ts';

/** The members that exchanges with a cache share. Nobody else reaches their spaces, or strangers could fill the cache. */
export const OF_CACHE = {
  document: 'how-to/cache.md',
  inside: true,
  ofApplication: true,
  space: {
    schemes: ['Basic'],
    serves: 'upstream',
    cache: { purge: {} },
    scopes: { PURGE: [], BAN: [] },
  },
  parameters: BASIC_NOTES,
  decoded: userPassInClear,
  checks: cacheChecks,
} as const satisfies Partial<Exchange>;

const AUTHORIZATION: FieldLine = ['Authorization', basicCredentials(PERSON.name, PASSWORD)];

interface Asked {
  readonly method: string;
  readonly fields?: readonly FieldLine[];
  readonly content?: string;
  readonly anonymous?: boolean;
}

export type Ask = (title: string, asked: Asked) => Promise<ReadAnswer>;

/** How many addresses there are: nobody fills the cache. */
const ADDRESSES = 256;

/**
 * Returns a function that asks for one address, and remarks on the part of the cache in the answer (RFC 9211); and one by
 * which the cache forgets what earlier visitors have left there.
 */
export function addressOf({ send, remark, target, random }: Performing): {
  readonly ask: Ask;
  /** The path below the space, as a ban has it. */
  readonly below: string;
  begin(): Promise<unknown>;
} {
  const name = `people-${(random(1)[0] ?? 0) % ADDRESSES}`;
  const path = target + name;
  const below = `/${name}`;
  const ask: Ask = async (title, { fields = [], anonymous, ...asked }) => {
    const credentials = anonymous ? [] : [AUTHORIZATION];
    const answer = await send(title, {
      target: path,
      ...asked,
      fields: [...credentials, ...fields],
    });
    const status = fieldOf(answer, 'Cache-Status');
    if (/; ?hit\b/.test(status)) remark('The cache has answered: the application was not asked.');
    if (/; ?fwd\b/.test(status) && answer.status === 200)
      remark('The application was asked. It counts in “asked” how often.');
    return answer;
  };
  return {
    ask,
    below,
    begin: () =>
      ask('The client bans what earlier visitors have left at this address', banOf(below)),
  };
}

/** A request that bans all paths below the space that a pattern meets. */
export const banOf = (pattern: string): Asked => ({
  method: 'BAN',
  fields: [['Ban', `path="${pattern}"`]],
});
