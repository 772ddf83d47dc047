import type { Clock } from '#shared/base/clock.ts';
import type { Log } from '#shared/base/log.ts';
import type { Recorded, Stores } from '#shared/stores/stores.ts';
import { type By, textOf } from './entry.ts';
import type { AuditEvent, RefusedSignIn } from './event-kinds.ts';
import { countToken, type OwnTokenCounts, tellCounts } from './own-tokens.ts';
import type { AuditSettings } from './settings.ts';

/** How many refused sign-ins of one person are recorded in an hour; further ones are only counted. */
export const MOST_REFUSALS = 10;
const HOUR = 3_600_000;
/** Represents all unknown names. */
export const NOBODY = '(nobody)';

/** Records the actions of one actor through one interface. */
export interface Recorder {
  /** Returns the same recorder for other stores: those of changes that are made together. */
  of(stores: RecorderParts['stores']): Recorder;
  /** Returns a recorder for another actor or interface. */
  by(by: By): Recorder;
  /**
   * Returns a part of the store for one change: the first change through it and the event are written together. A
   * change that changes nothing records no event.
   */
  changing<Part extends Recorded>(part: Part, ...events: readonly AuditEvent[]): Stores[Part];
  /**
   * Records an event without a change of the store. Rejects if the log cannot be written, unless `audit.required` is
   * false; the caller must then refuse the request.
   */
  record(event: AuditEvent): Promise<void>;
  /**
   * Records a refused sign-in of a person, or only counts it. For an unknown name (undefined) the store does as much
   * work, so that the time does not show which people exist, and stores no part of the name.
   */
  refused(person: string | undefined, reason: RefusedSignIn): Promise<void>;
  /**
   * Records that an application gets a token on its own behalf, before the token is sent. The first token in a minute
   * of this process is recorded; all others are only counted. They are the most frequent events, so no recorder is
   * made for the actor. Rejects as `record` does.
   */
  ownToken(client: string, type: string, by: By): Promise<void>;
  /** Records how many more tokens there were in the minutes before `end` (milliseconds since the epoch). */
  tellOwnTokens(end: number): Promise<void>;
}

export interface RecorderParts {
  readonly stores: Pick<Stores, 'audit' | 'recorded'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly config: { readonly audit: AuditSettings };
}

/** `counts`: the counts of the process, shared by all recorders that `by` returns. */
export function createRecorder(
  parts: RecorderParts,
  by: By,
  counts: OwnTokenCounts = new Map(),
): Recorder {
  const { stores, clock, log, config } = parts;
  const { addresses, required } = config.audit;
  const { from, ...rest } = by;
  const actor: By = addresses && from !== undefined ? by : rest;
  const text = (event: AuditEvent) => textOf(event, actor, clock.now());

  async function unlessFailing(writing: Promise<void>): Promise<void> {
    try {
      await writing;
    } catch (error) {
      if (required) throw error;
      log.error('audit.failing', { reason: String(error) });
    }
  }

  const record = (event: AuditEvent) => unlessFailing(stores.audit.append(text(event)));

  return {
    of: (others) => createRecorder({ ...parts, stores: others }, by, counts),
    by: (another) => createRecorder(parts, another, counts),
    changing: (part, ...events) => stores.recorded(part, ...events.map(text)),
    record,
    refused: (known, reason) => {
      const person = known ?? NOBODY;
      const of = { hour: Math.floor(clock.now() / HOUR), person };
      const line = text({ kind: 'sign-in.refused', person, reason });
      const most = known === undefined ? 0 : MOST_REFUSALS;
      return unlessFailing(stores.audit.appendRefusal(of, most, line));
    },
    ownToken: (client, type, another) =>
      countToken(counts, { client, type, now: clock.now() }, () =>
        createRecorder(parts, another).record({ kind: 'client-token.issued', client, type }),
      ),
    tellOwnTokens: (end) =>
      tellCounts(counts, end, (events) => stores.audit.append(...events.map(text))),
  };
}
