import type { Clock } from '#shared/base/clock.ts';
import type { Log } from '#shared/base/log.ts';
import type { Recorded, Stores } from '#shared/stores/stores.ts';
import { type By, textOf } from './entry.ts';
import type { AuditEvent, RefusedSignIn } from './event-kinds.ts';
import { countToken, type OwnTokenCounts, tellCounts } from './own-tokens.ts';
import type { AuditSettings } from './settings.ts';

/** Refused sign-ins of one person that are recorded in an hour; the others are only counted. */
export const MOST_REFUSALS = 10;
const HOUR = 3_600_000;
/** Stands for all names that nobody has. */
export const NOBODY = '(nobody)';

/** Records what one actor does by one door. */
export interface Recorder {
  /** Returns the same for these stores: those of changes that are made together. */
  of(stores: RecorderParts['stores']): Recorder;
  /** Returns one for another actor or door. */
  by(by: By): Recorder;
  /**
   * Returns a part of the store for one change: what is changed through it first and the event are there both or neither.
   * A change that turns out to be none records nothing.
   */
  changing<Part extends Recorded>(part: Part, ...events: readonly AuditEvent[]): Stores[Part];
  /**
   * Records what changes nothing in the store. Rejects if the log cannot be written, unless `audit.required` is false: what
   * happened must not be answered then.
   */
  record(event: AuditEvent): Promise<void>;
  /**
   * Records a refused sign-in of a person, or only counts it. For a name that nobody has (undefined) the store does as much
   * work, so that the time does not tell who exists, and keeps nothing of the name.
   */
  refused(person: string | undefined, reason: RefusedSignIn): Promise<void>;
  /**
   * Records that an application gets a token in its own name: the first in a minute of this process, which must not be
   * answered before. The others are only counted: by far most of them, so no recorder is made for the actor. Rejects as
   * `record` does.
   */
  ownToken(client: string, type: string, by: By): Promise<void>;
  /** Records how many more there were in the minutes before `end` (milliseconds since the epoch). */
  tellOwnTokens(end: number): Promise<void>;
}

export interface RecorderParts {
  readonly stores: Pick<Stores, 'audit' | 'recorded'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly config: { readonly audit: AuditSettings };
}

/** `counts`: of the recorder's own process, and of all that it makes by `by`. */
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
