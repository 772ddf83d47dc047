import { basicCredentials } from '#shared/auth/schemes/basic/client.ts';
import { BASIC_NOTES } from '#shared/explain/notes/basic.ts';
import { answered, by, CREDENTIALS_STEP, told, type ToldStep } from '../checks/told.ts';
import type { Exchange, Performing } from '../exchange.ts';
import { fieldOf, type FieldLine, type ReadAnswer } from '../http1-message.ts';
import { PASSWORD, PERSON } from '../person.ts';
import type { Recorded } from '../recorded.ts';
import { userPassInClear } from './basic.ts';

/** The reason why the cache asked the application (RFC 9211 section 2.2). Undefined: it answered from the store. */
const forwarded = ({ answer }: Recorded): string | undefined =>
  /;\s*fwd=([a-z-]+)/.exec(answer.lines('cache-status').join())?.[1];

const isRead = by('GET', 'HEAD', 'QUERY');
const isAsked = (recorded: Recorded) => by('QUERY')(recorded) && forwarded(recorded) !== undefined;
const wantsNew = (recorded: Recorded) => forwarded(recorded) === 'request';

/** The checks of a request to an application behind a cache. */
const STEPS: readonly ToldStep[] = [
  {
    ...CREDENTIALS_STEP,
    check: 'The credentials are right. The server checks them even if the cache answers.',
  },
  {
    check: 'The rule of the ban is known.',
    section: 'no standard',
    applies: by('BAN'),
    refuses: answered('400'),
  },
  {
    check: 'The cache has an answer of this address.',
    section: 'no standard',
    applies: by('PURGE'),
    refuses: answered('404'),
  },
  {
    check: 'The client accepts a stored answer.',
    section: 'RFC 9111 section 5.2.1.4',
    applies: isRead,
    passesOver: (recorded) =>
      wantsNew(recorded)
        ? 'the client wants a new answer, so the cache asks the application'
        : undefined,
  },
  {
    check: 'An answer to this request is stored.',
    section: 'RFC 9111 section 4',
    applies: (recorded) => isRead(recorded) && !wantsNew(recorded),
    refuses: answered('504'),
    passesOver: (recorded) =>
      [undefined, 'stale'].includes(forwarded(recorded))
        ? undefined
        : 'no answer is stored, so the cache asks the application',
  },
  {
    check: 'The stored answer is fresh: younger than its max-age.',
    section: 'RFC 9111 section 4.2',
    applies: (recorded) => isRead(recorded) && [undefined, 'stale'].includes(forwarded(recorded)),
    passesOver: (recorded) =>
      forwarded(recorded) && 'the stored answer is too old, so the cache asks the application',
  },
  {
    check: 'The application knows the media type of the question.',
    section: 'RFC 10008 section 2',
    applies: isAsked,
    refuses: answered('415'),
  },
  {
    check: 'The application understands the question.',
    section: 'RFC 10008 section 2',
    applies: isAsked,
    refuses: answered('422'),
  },
];

/**
 * The members that exchanges with a cache share. Only the playground reaches their spaces, since strangers could fill
 * the cache.
 */
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
  checks: told(STEPS),
} as const satisfies Partial<Exchange>;

const AUTHORIZATION: FieldLine = ['Authorization', basicCredentials(PERSON.name, PASSWORD)];

interface Asked {
  readonly method: string;
  readonly fields?: readonly FieldLine[];
  readonly content?: string;
  readonly anonymous?: boolean;
}

export type Ask = (title: string, asked: Asked) => Promise<ReadAnswer>;

/** The number of addresses that visitors can ask for, so that they cannot fill the cache. */
const ADDRESSES = 256;

/**
 * Returns a function that asks for one address and remarks on the cache's part in the answer (RFC 9211). Also returns a
 * function that removes what earlier visitors have left in the cache.
 */
export function addressOf({ send, remark, target, random }: Performing): {
  readonly ask: Ask;
  /** The path below the space, as bans use it. */
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
    if (/; ?hit\b/.test(status))
      remark('The cache has answered by itself, without the application.');
    if (/; ?fwd\b/.test(status) && answer.status === 200)
      remark('The application has answered. “asked” counts the requests that reached it.');
    return answer;
  };
  return {
    ask,
    below,
    begin: () =>
      ask('The client bans answers that earlier visitors have left at this address', banOf(below)),
  };
}

/** A request that bans all paths below the space that match a pattern. */
export const banOf = (pattern: string): Asked => ({
  method: 'BAN',
  fields: [['Ban', `path="${pattern}"`]],
});
