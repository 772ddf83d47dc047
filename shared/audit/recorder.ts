import type { Clock } from '#shared/base/clock.ts';
import type { Log } from '#shared/base/log.ts';
import type { Recorded, Stores } from '#shared/stores/stores.ts';
import { type By, textOf } from './entry.ts';
import type { AuditEvent } from './event-kinds.ts';
import type { AuditSettings } from './settings.ts';

/** Refused sign-ins of one person that are recorded in an hour; the others are only counted. */
export const MOST_REFUSALS = 10;
const HOUR = 3_600_000;

/** Records what one actor does by one door. */
export interface Recorder {
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
  /** Records a refused sign-in of a person, or only counts it. */
  refused(event: AuditEvent & { readonly kind: 'sign-in.refused' }): Promise<void>;
}

export interface RecorderParts {
  readonly stores: Pick<Stores, 'audit' | 'recorded'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly config: { readonly audit: AuditSettings };
}

export function createRecorder({ stores, clock, log, config }: RecorderParts, by: By): Recorder {
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

  return {
    changing: (part, ...events) => stores.recorded(part, ...events.map(text)),
    record: (event) => unlessFailing(stores.audit.append(text(event))),
    refused: (event) => {
      const hour = Math.floor(clock.now() / HOUR);
      const of = { hour, person: event.person };
      return unlessFailing(stores.audit.appendRefusal(of, MOST_REFUSALS, text(event)));
    },
  };
}
