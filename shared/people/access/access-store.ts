import type { AuditEvent } from '#shared/audit/event-kinds.ts';
import type { Recorder } from '#shared/audit/recorder.ts';
import type { Clock } from '#shared/base/clock.ts';
import type { Recorded, Stores } from '#shared/stores/stores.ts';

/** The stores for listing and ending a person's sign-ins and grants. Those made with a passkey end with it. */
export interface AccessStore {
  readonly stores: Pick<Stores, 'artefacts' | 'revocations' | 'passkeys'>;
  /** Records changes as the doing of somebody. Every door of the product has one; absent: nothing is recorded. */
  readonly recorder?: Recorder;
  readonly clock: Clock;
  /** Seconds: the longest life of a token. */
  readonly longestLife: number;
}

/** Returns a part of the stores for one change, which records these events if there is a recorder. */
export function changing<Part extends Recorded>(
  { stores, recorder }: { readonly stores: Pick<Stores, Part>; readonly recorder?: Recorder },
  part: Part,
  ...events: readonly AuditEvent[]
): Stores[Part] {
  if (recorder === undefined || events.length === 0) return stores[part];
  return recorder.changing(part, ...events);
}
