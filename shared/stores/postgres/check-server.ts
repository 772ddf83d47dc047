import type { Log } from '#shared/base/log.ts';
import type { PostgresSettings } from '../settings.ts';
import type { Database } from '../sql/sql.ts';

/** The first version with all features that we use. */
const LEAST_VERSION = 150_000;

const QUESTION = `
  SELECT current_setting('server_version_num'), current_setting('server_version'),
    current_setting('server_encoding'), current_setting('fsync'), current_setting('full_page_writes'),
    current_setting('synchronous_standby_names'),
    least(
      current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
        - coalesce(current_setting('reserved_connections', true)::int, 0),
      nullif(datconnlimit, -1), nullif(rolconnlimit, -1)
    ),
    CASE WHEN to_regnamespace(?) IS NULL THEN has_database_privilege(datname, 'CREATE')
      ELSE has_schema_privilege(?, 'CREATE') END,
    to_regnamespace(?) IS NULL, datname, rolname, current_setting('search_path'),
    (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE relnamespace = to_regnamespace(?)
      AND relname = 'schema' AND NOT has_table_privilege(oid, 'UPDATE'))
  FROM pg_database, pg_roles WHERE datname = current_database() AND rolname = current_user`;

type Answer = readonly [
  number: string,
  version: string,
  encoding: string,
  fsync: string,
  fullPageWrites: string,
  standbys: string,
  connections: number,
  mayCreate: 't' | 'f',
  isMissing: 't' | 'f',
  database: string,
  user: string,
  path: string,
  owner: string | null,
];

/** Rejects if we cannot work on the server. Warns if the server may lose acknowledged data. */
export async function checkServer(
  database: Database,
  { schema, urls, connections }: PostgresSettings,
  log: Log,
): Promise<void> {
  const [answer] = await database.read((sql) =>
    sql.all<Answer>(QUESTION, schema, schema, schema, schema),
  );
  if (answer === undefined) throw new Error('PostgreSQL does not say who we are there');
  const [number, version, encoding, fsync, fullPageWrites, standbys, most, ...rest] = answer;
  const [mayCreate, isMissing, name, user, path, owner] = rest;
  if (Number(number) < LEAST_VERSION) {
    throw new Error(`PostgreSQL ${version} is too old: use version 15 or later`);
  }
  if (path !== schema) {
    throw new Error(
      `the connection has search_path ${path}, not ${schema}: a pooler drops what connections ask for; name PostgreSQL itself in store.urls`,
    );
  }
  if (encoding !== 'UTF8') {
    throw new Error(
      `the database ${name} has the encoding ${encoding}, which lacks characters: make one with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0`,
    );
  }
  if (owner !== null) {
    throw new Error(
      `the tables in the schema ${schema} belong to the user ${owner}, and ${user} may not use them: name ${owner} in store.urls, or GRANT ${owner} TO ${user}`,
    );
  }
  if (mayCreate !== 't') {
    throw new Error(
      isMissing === 't'
        ? `the user ${user} may not make the schema ${schema} in database ${name}: GRANT CREATE ON DATABASE ${name} TO ${user}, or CREATE SCHEMA ${schema} AUTHORIZATION ${user}`
        : `the user ${user} may not make tables in the schema ${schema}: GRANT ALL ON SCHEMA ${schema} TO ${user}`,
    );
  }
  if (fsync !== 'on' || fullPageWrites !== 'on') {
    log.warn('postgres.not-durable', {
      reason: `fsync is ${fsync} and full_page_writes ${fullPageWrites}: PostgreSQL can lose what it acknowledged, and its tables, when the power fails; turn both on`,
    });
  }
  if (urls.length > 1 && standbys === '') {
    log.warn('postgres.standbys', {
      reason:
        'store.urls has standbys, and synchronous_standby_names is empty: after a failover revocations and all else that was acknowledged can be gone; name a standby there, on each server',
    });
  }
  if (2 * connections > most) {
    log.warn('postgres.connections', {
      reason: `both servers take ${2 * connections} connections (store.connections for each), and PostgreSQL has ${most} for them; lower store.connections, or raise max_connections`,
    });
  }
}
