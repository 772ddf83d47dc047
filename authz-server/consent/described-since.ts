import type { ClientRecord } from '#shared/stores/oauth/clients.ts';

/** Returns since when a client is what it is, in milliseconds since the epoch: what people allowed before is void. */
export const describedSince = ({
  created_at,
  document,
}: Pick<ClientRecord, 'created_at' | 'document'>): number =>
  Math.max(created_at, document?.changed ?? 0);

/** The part of a permission that tells which description of the client somebody read. */
interface Allowed {
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly describedSince?: number;
}

/**
 * Whether the client is still what it was when somebody allowed it. A document may change while they decide, so the
 * decision names the description; without a name its time has to do.
 */
export const isAsDescribed = (
  allowed: Allowed,
  client: Pick<ClientRecord, 'created_at' | 'document'>,
): boolean => isOfDescription(allowed, describedSince(client));

/** The same for a description that was read already. */
export const isOfDescription = (allowed: Allowed, described: number): boolean =>
  allowed.describedSince === undefined
    ? allowed.since >= described
    : allowed.describedSince === described;
