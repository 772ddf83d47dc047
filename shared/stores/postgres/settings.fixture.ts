import type { PostgresSettings } from '../settings.ts';

/** The configuration that names these PostgreSQL servers, with patience for a busy machine unless `more` says otherwise. */
export function postgresStore(
  urls: string[],
  more: Partial<PostgresSettings> = {},
): PostgresSettings {
  return { kind: 'postgres', urls, schema: 'countersign', connections: 20, deadline: 10, ...more };
}
