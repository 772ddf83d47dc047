import type { ClientRecord } from '#shared/stores/oauth/clients.ts';

/**
 * Returns the time since when the client has its present description, in milliseconds since the epoch. Earlier
 * permissions are void.
 */
export const describedSince = ({
  created_at,
  document,
}: Pick<ClientRecord, 'created_at' | 'document'>): number =>
  Math.max(created_at, document?.changed ?? 0);

/** The part of a permission that says which description of the client the person read. */
interface Allowed {
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly describedSince?: number;
}

/**
 * Whether the client's description is still the one that the person allowed. A document may change while the person
 * decides, so the decision names the description; if it names none, the time of the decision is compared.
 */
export const isAsDescribed = (
  allowed: Allowed,
  client: Pick<ClientRecord, 'created_at' | 'document'>,
): boolean => isOfDescription(allowed, describedSince(client));

/** As `isAsDescribed`, for a description that was already read. */
export const isOfDescription = (allowed: Allowed, described: number): boolean =>
  allowed.describedSince === undefined
    ? allowed.since >= described
    : allowed.describedSince === described;
