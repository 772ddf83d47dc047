import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientBase, ClientConfig } from 'pg';
import { readPostgresUrl } from '../postgres-url.ts';

export interface AccessOptions {
  /** Certificate authorities of the servers in PEM: each connection is encrypted and verified. */
  readonly ca?: string | undefined;
  /** The schema with the tables. */
  readonly schema: string;
  /** Milliseconds to open a connection. */
  readonly deadline: number;
}

export function accessTo(url: string, { ca, schema, deadline }: AccessOptions): ClientConfig {
  const server = readPostgresUrl(url);
  if (typeof server === 'string') throw new Error(`the URL of PostgreSQL ${server}`);
  return {
    ssl: false,
    ...server,
    ...(ca !== undefined && { ssl: { ca } }),
    connectionTimeoutMillis: deadline,
    keepAlive: true,
    application_name: 'countersign',
    // Set on each connection, whatever the defaults of the server, the database or the role.
    options: `-c search_path=${schema} -c synchronous_commit=on -c default_transaction_isolation=read\\ committed -c client_min_messages=warning`,
  };
}

/** Returns the key of an advisory lock. Two names, or one name in two schemas, have different keys. */
export function lockOf(schema: string, name: string): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([schema, name]))
    .digest();
  return String(digest.readBigInt64BE());
}

/** The name of the lock that all connections to a store share. */
const OPEN = 'open';

/** Rejects on a standby, on a read-only server, and while `countersign restore` holds the store. */
export async function enter(client: ClientBase, schema: string): Promise<void> {
  if (await demandPrimary(client, 'pg_try_advisory_lock_shared', schema)) return;
  throw new Error('`countersign restore` is at work here: wait for it');
}

/** Attempts to get the lock, since stopped processes hold it a little longer, and milliseconds between two attempts. */
const LAST_MOMENTS = 20;
const PAUSE = 50;

/** Keeps all others from the store until the connection ends, or resolves to those that have it open. */
export async function enterAlone(client: ClientBase, schema: string): Promise<readonly string[]> {
  for (let tries = LAST_MOMENTS; tries > 0; tries -= 1) {
    if (await demandPrimary(client, 'pg_try_advisory_lock', schema)) return [];
    await sleep(PAUSE);
  }
  const { rows } = await client.query<[other: string]>({
    text: `SELECT 'processes ' || string_agg(DISTINCT pid::text, ', ') || coalesce(' of ' || host(client_addr), '')
      FROM pg_locks LEFT JOIN pg_stat_activity USING (pid)
      WHERE locktype = 'advisory' AND granted AND pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND (classid::bigint << 32) + objid::bigint = $1::bigint
      GROUP BY client_addr`,
    values: [lockOf(schema, OPEN)],
    rowMode: 'array',
  });
  return rows.length > 0 ? rows.map(([other]) => other) : ['a process that has just ended'];
}

async function demandPrimary(client: ClientBase, lock: string, schema: string): Promise<boolean> {
  const { rows } = await client.query<[isReadOnly: string, isHeld: boolean]>({
    text: `SELECT current_setting('transaction_read_only'), ${lock}($1::bigint)`,
    values: [lockOf(schema, OPEN)],
    rowMode: 'array',
  });
  const [[isReadOnly, isHeld] = []] = rows;
  if (isReadOnly !== 'off') throw new Error('this server is a standby, or read-only');
  return isHeld === true;
}
