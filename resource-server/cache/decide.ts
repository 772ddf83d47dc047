import { lines as valuesIn } from '#shared/http/fields.ts';
import type { AnswerHead } from '../forwarding/sink.ts';
import type { AskParts, Look } from './parts.ts';
import type { Begun, Told } from './fill.ts';
import { newEntry } from './new-entry.ts';
import type { Asked, Given, Times } from './rules/rules.ts';
import { ERRORS } from './rules/statuses.ts';
import { mayStore } from './rules/storing.ts';
import { freshened, validatedBy, verdictOfHead } from './rules/validation.ts';
import type { Stored } from './rules/stored.ts';

/** The request that the cache sent to the application. */
interface Sent {
  /** True if the request validated a stored answer. */
  readonly validates: boolean;
  /** When the request was sent, in milliseconds since the epoch. */
  readonly requested: number;
  /** Whether an invalidation came after the request was sent. */
  readonly doomed: boolean;
  /** Whether a recent answer of the same key could not be kept. Storing another would only evict other answers. */
  readonly tooLong: boolean;
}

/**
 * Decides by the head of an answer whether to store it, share it or pass it on. Throws HttpError 502 for an answer that
 * must not be passed on.
 */
export function createDecide({
  store,
  rules,
  clock,
  random,
}: Pick<AskParts, 'store' | 'rules' | 'clock' | 'random'>) {
  return (look: Look, { validates, requested, doomed, tooLong }: Sent, head: AnswerHead): Begun => {
    const { asking, key, stored, onError } = look;
    const { method = '', rawHeaders } = asking.request;
    const given: Given = { status: head.status, lines: asking.linesOf(head) };
    const times: Times = { requested, received: clock.now() };
    const guarded = asking.whose !== undefined;
    const asked: Asked = { method, rawHeaders, target: asking.target, guarded };
    const known = doomed ? () => {} : (current: Stored) => void store.replace(current);
    if (validates && head.status === 304) {
      return validated(look, given, forGet(asked), times, known);
    }
    if (stored && onError > 0 && ERRORS.has(head.status))
      return { kind: 'instead', stored, why: 'error', keep: 'kept' };
    const [told] = valuesIn(head.rawHeaders, 'content-length');
    const length = told === undefined ? undefined : Number(told);
    if (method === 'HEAD') heed(look, { ...given, length }, forGet(asked), times, known);
    const storing = mayStore(asked, given, times, rules);
    if (!storing.store) return { kind: 'passed', why: storing.reason };
    const entry = newEntry(key, storing, { ...times, status: head.status, length }, random);
    const writing = tooLong ? undefined : store.begin(entry);
    if (writing === undefined) return { kind: 'passed', why: 'room' };
    return { kind: 'stored', stored: entry, writing, lines: given.lines };
  };

  /** Freshens the stored answers that a 304 confirms (RFC 9111 section 4.3.4). */
  function validated(
    { variants, stored }: Look,
    given: Given,
    asked: Asked,
    times: Times,
    known: (current: Stored) => void,
  ): Begun {
    const current = validatedBy(given.lines, variants).map((one) => {
      const told = toldOf(one, given, asked, times);
      if (told.keep === 'kept') known(told.stored);
      return told;
    });
    const chosen = current.find((told) => told.stored.id === stored?.id) ?? current[0];
    return chosen ? { kind: 'instead', why: 'validated', ...chosen } : { kind: 'again' };
  }

  /** Updates a stored answer from the answer to a validation, and decides whether the result may be kept. */
  function toldOf(one: Stored, given: Given, asked: Asked, times: Times): Told {
    const stored = freshened(one, given, asked, times, rules);
    const storing = mayStore(asked, { status: one.status, lines: stored.lines }, times, rules);
    if (storing.store) return { stored, keep: 'kept' };
    return { stored, keep: storing.reason === 'request-no-store' ? 'before' : 'ended' };
  }

  /** Freshens or outdates a stored answer by an answer to HEAD (RFC 9111 section 4.3.5). */
  function heed(
    { stored }: Look,
    given: Given & { readonly length: number | undefined },
    asked: Asked,
    times: Times,
    known: (current: Stored) => void,
  ): void {
    const verdict = stored ? verdictOfHead(stored, given) : 'nothing';
    if (!stored || verdict === 'nothing') return;
    const told = verdict === 'freshened' ? toldOf(stored, given, asked, times) : undefined;
    if (told?.keep === 'before') return;
    known(told?.keep === 'kept' ? told.stored : { ...stored, outdated: true });
  }
}

/** Replaces HEAD by GET, since the stored answer is one to GET, whichever method validated it. */
function forGet(asked: Asked): Asked {
  return asked.method === 'HEAD' ? { ...asked, method: 'GET' } : asked;
}
