import type { AuditEvent } from '#shared/audit/event-kinds.ts';
import type { Recorder } from '#shared/audit/recorder.ts';
import type { Clock } from '#shared/base/clock.ts';
import type { Recorded, Stores } from '#shared/stores/stores.ts';

/**
 * The stores for listing and ending a person's sign-ins and grants. `passkeys` and `people`: a sign-in
 * or grant made with a passkey or an account elsewhere ends when the passkey or the link is removed.
 */
export interface AccessStore {
  readonly stores: Pick<Stores, 'artefacts' | 'revocations' | 'passkeys' | 'people'>;
  /**
   * Records events with their actor. Every interface of the product has a recorder; without it no event is recorded.
   */
  readonly recorder?: Recorder;
  readonly clock: Clock;
  /** Seconds: the longest life of a token. */
  readonly longestLife: number;
}

/** Returns the part of the stores for one change, which records these events if there is a recorder. */
export function changing<Part extends Recorded>(
  { stores, recorder }: { readonly stores: Pick<Stores, Part>; readonly recorder?: Recorder },
  part: Part,
  ...events: readonly AuditEvent[]
): Stores[Part] {
  if (recorder === undefined || events.length === 0) return stores[part];
  return recorder.changing(part, ...events);
}
