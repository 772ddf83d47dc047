import type { ClientRecord } from '#shared/stores/oauth/clients.ts';

/** Returns since when a client is what it is, in milliseconds since the epoch: what people allowed before is void. */
export const describedSince = ({
  created_at,
  document,
}: Pick<ClientRecord, 'created_at' | 'document'>): number =>
  Math.max(created_at, document?.changed ?? 0);
