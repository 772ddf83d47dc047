import type { ClientRecord } from '#shared/stores/oauth/clients.ts';

/**
 * Returns the name of a client to show to people. The name that an unregistered client gives itself proves nothing, so
 * the host of its description is shown (Client ID Metadata Document section 6.4).
 */
export const shownName = ({
  client_id,
  client_name,
  document,
}: Pick<ClientRecord, 'client_id' | 'client_name' | 'document'>): string =>
  document === undefined ? client_name : new URL(client_id).host;
