import { parseDirectives } from '../../cache/rules/directives.ts';
import { parseBan } from '#shared/http/ban-rule.ts';
import type { Checks, Recorded, RecordedMessage } from '../recorded.ts';
import { refusalOfBasic } from './basic.ts';
import { type CheckStep, checksInOrder } from './in-order.ts';

interface Known extends Recorded {
  readonly method: string;
  /** The answer that the cache has for this request, by the messages before. */
  readonly stored: RecordedMessage | undefined;
}

/** The key of an answer: the address, and for QUERY the question (RFC 10008 section 2.7). */
const keyOf = ({ words: [method = '', target = ''], content, lines }: RecordedMessage): string =>
  [method, target, lines('content-type').join(), content.toString('base64')].join('\n');

const FORGETS: ReadonlySet<string> = new Set(['PURGE', 'BAN']);

/** The exchange has one address, so all that PURGE and BAN make the cache forget is of it. */
function storedFor({ asked, earlier }: Recorded): RecordedMessage | undefined {
  let stored: RecordedMessage | undefined;
  for (const { asked: before, answer } of earlier) {
    const isDone = answer.words[1]?.startsWith('2');
    if (isDone && FORGETS.has(before.words[0] ?? '')) stored = undefined;
    const isKept = /; ?stored\b/.test(answer.lines('cache-status').join());
    if (isKept && (FORGETS.has(asked.words[0] ?? '') || keyOf(before) === keyOf(asked))) {
      stored = answer;
    }
  }
  return stored;
}

const demandsOf = ({ asked }: Known) => parseDirectives(asked.lines('cache-control')).flags;
const isRead = ({ method }: Known) => !FORGETS.has(method);
const wantsNew = (known: Known) => demandsOf(known).has('no-cache');
const isForwarded = (known: Known) => isRead(known) && (wantsNew(known) || !known.stored);

const STEPS: readonly CheckStep<Known>[] = [
  {
    check: 'The credentials are right, also where the cache answers.',
    section: 'RFC 7617 section 2',
    finds: ({ asked }) =>
      asked.lines('authorization').length > 0 ? refusalOfBasic(asked)?.reason : 'no credentials',
  },
  {
    check: 'The rule of the ban is known.',
    section: 'no standard',
    applies: ({ method }) => method === 'BAN',
    finds({ asked }) {
      parseBan(asked.lines('ban'));
      return undefined;
    },
  },
  {
    check: 'The cache has something of this address.',
    section: 'no standard',
    applies: ({ method }) => method === 'PURGE',
    finds: ({ stored }) => (stored ? undefined : 'This server had nothing of this address'),
  },
  {
    check: 'The client takes an answer that is stored.',
    section: 'RFC 9111 section 5.2.1.4',
    applies: isRead,
    finds: (known) =>
      wantsNew(known) ? { no: 'it wants a new one, so the application is asked' } : undefined,
  },
  {
    check: 'An answer to this request is stored.',
    section: 'RFC 9111 section 4',
    applies: (known) => isRead(known) && !wantsNew(known),
    finds(known) {
      if (known.stored) return undefined;
      return demandsOf(known).has('only-if-cached')
        ? 'Nothing is stored that could answer this, and the request wants nothing else'
        : { no: 'nothing is stored, so the application is asked' };
    },
  },
  {
    check: 'It is fresh: younger than its max-age.',
    section: 'RFC 9111 section 4.2',
    applies: (known) => isRead(known) && !isForwarded(known),
    finds({ stored, clock }) {
      const lifetime = /max-age=(\d+)/.exec(stored?.lines('cache-control').join() ?? '')?.[1];
      const end = Date.parse(stored?.lines('date')[0] ?? '') + Number(lifetime) * 1000;
      return clock.now() < end ? undefined : { no: 'it is too old, so the application is asked' };
    },
  },
  {
    check: 'The application knows the media type of the question.',
    section: 'RFC 10008 section 2',
    applies: (known) => known.method === 'QUERY' && isForwarded(known),
    finds: ({ asked }) =>
      asked.lines('content-type').join() === 'application/x-www-form-urlencoded'
        ? undefined
        : 'A question is a form: application/x-www-form-urlencoded',
  },
  {
    check: 'The application understands the question.',
    section: 'RFC 10008 section 2',
    applies: (known) => known.method === 'QUERY' && isForwarded(known),
    finds: ({ asked }) =>
      /^over=\d{1,3}$/.test(asked.content.toString())
        ? undefined
        : 'A question is over= with a number of years',
  },
];

/** A request to an application behind a cache. */
export const cacheChecks: Checks = (recorded) =>
  checksInOrder(STEPS, {
    ...recorded,
    method: recorded.asked.words[0] ?? '',
    stored: storedFor(recorded),
  });
