import { HttpError } from '#shared/http/answer.ts';
import type { Sink } from '../forwarding/sink.ts';
import type { ResourceAnswer } from '../answers/pieces.ts';
import { answerOf } from './answer.ts';
import type { Asking } from './asking.ts';
import type { AskParts } from './parts.ts';
import { Fill } from './fill.ts';
import { keyOfGet, LONGEST_TARGET } from './key-of.ts';
import { HeldAnswer } from './held-answer.ts';
import { newEntry } from './new-entry.ts';
import { changedBy, type Forgotten, invalidatedBy } from './rules/invalidating.ts';
import type { Asked, Given } from './rules/rules.ts';
import { mayStore } from './rules/storing.ts';

/** Statuses by which the gateway refuses before it sends anything to the application. */
const UNSENT: ReadonlySet<number> = new Set([400, 503, 508]);

/**
 * Passes on a request that may change a resource.
 * Before the client gets the answer, the caches of all processes know which entries they must remove (RFC 9111 section
 * 4.4). If the feed cannot be written, the request is not sent. If the gateway does not learn whether the application
 * made the change, it invalidates the entries, too. A later GET may reuse the answer (RFC 9110 section 9.3.3).
 */
export function createChange(parts: AskParts) {
  const { store, rules, bans, fills, member, clock, random } = parts;

  return async (asking: Asking): Promise<ResourceAnswer | undefined> => {
    await parts.writable();
    const { request, target } = asking;
    const { method = '', rawHeaders } = request;
    const asked: Asked = { method, rawHeaders, target, guarded: asking.whose !== undefined };
    const requested = clock.now();
    const passing = asking.passing(() => [['Cache-Status', member({ hit: false, fwd: 'method' })]]);
    let kept: Awaited<ReturnType<typeof keep>>;

    const held = new HeldAnswer(passing, async (head) => {
      const given = { status: head.status, lines: asking.linesOf(head) };
      await tell(invalidatedBy(asked, given, rules.origin));
      kept = await keep(asking, asked, given, requested, passing);
      return kept?.fill ?? passing;
    });
    try {
      await asking.forward(held);
      await held.begun;
    } catch (error) {
      const sent = !(
        error instanceof Error &&
        'status' in error &&
        UNSENT.has(Number(error.status))
      );
      if (sent) await tell(changedBy(asked, rules.origin));
      throw error;
    }
    if (kept === undefined) return undefined;
    const { fill, stored, lines } = kept;
    const source = { stored: { ...stored, lines }, pieces: fill.pieces.bind(fill) };
    return answerOf(
      source,
      { method, rawHeaders: [] },
      { member: member({ hit: false, fwd: 'method', stored: true }) },
      random,
    );
  };

  /**
   * Writes invalidations to the feed. Throws HttpError 502 on failure: the change may be done, but other servers do not
   * know of it.
   */
  async function tell(all: readonly Forgotten[]): Promise<void> {
    const forgotten = all.filter(({ value }) => value.length <= LONGEST_TARGET);
    if (forgotten.length === 0) return;
    try {
      await parts.invalidate(forgotten);
    } catch (cause) {
      for (const one of forgotten) parts.forget(one);
      const detail =
        'The application may have done this, but what the caches have of it could not be made void. Look before you try again.';
      throw Object.assign(new HttpError(502, detail), { cause, reason: String(cause) });
    }
  }

  /** Stores the answer to an unsafe request as the answer to a GET, after its invalidations. */
  async function keep(asking: Asking, asked: Asked, given: Given, requested: number, asker: Sink) {
    const times = { requested, received: clock.now() };
    const storing = mayStore(asked, given, times, rules);
    if (!storing.store) return undefined;
    // Without the newest invalidations, a later removal could miss this answer, so it is not stored.
    if (!(await parts.isUpToDate(clock.monotonic()))) return undefined;
    const mark = bans.mark;
    const key = keyOfGet(asking, rules);
    const about = { ...times, status: given.status, length: undefined };
    const stored = newEntry(key, storing, about, random);
    const writing = store.begin(stored);
    if (writing === undefined) return undefined;
    const fill: Fill = new Fill({
      asker,
      decide: () => ({ kind: 'stored', stored, writing, lines: given.lines }),
      async commit() {
        const all = (await store.find(key)).map(({ id }) => id);
        const done = await bans.admit(mark, stored, () => writing.commit(all));
        if (done === undefined) writing.abandon();
      },
      over: () => remove(),
    });
    const remove = fills.add(key, fill, undefined);
    fill.attend(asking.exchange);
    return { fill, stored, lines: given.lines };
  }
}
