/** The two servers, as their logs and `countersign start` call them. */
export const SERVERS = ['authz', 'resource'] as const;

export type ServerName = (typeof SERVERS)[number];
