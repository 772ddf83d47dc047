import type { ClientRecord } from '#shared/stores/oauth/clients.ts';

/**
 * Returns how people are told of a client. What one that nobody registered calls itself proves nothing: it is the host
 * that has its description (Client ID Metadata Document section 6.4).
 */
export const shownName = ({
  client_id,
  client_name,
  document,
}: Pick<ClientRecord, 'client_id' | 'client_name' | 'document'>): string =>
  document === undefined ? client_name : new URL(client_id).host;
