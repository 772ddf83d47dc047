/** Collects all traces of people's actions in stores, files and logs, and searches them for secrets. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createClient, RESP_TYPES } from 'redis';
import type { SharedStore } from '#shared/stores/postgres/started.fixture.ts';
import type { TokenServers } from './private-token.fixture.ts';

/** The content of each place that could have a trace. */
export type Traces = ReadonlyMap<string, Buffer>;

/** A row of the store: a table's row, or a Redis key with its content. */
export interface Row {
  readonly place: string;
  readonly values: readonly (readonly [name: string, value: Buffer])[];
}

/** Collects the logs of all processes, the files of data and store, and each row. */
export async function tracesOf(servers: TokenServers): Promise<Traces> {
  const { pair } = servers.flow;
  const traces = new Map<string, Buffer>();
  for (const [kind, processes] of Object.entries({ authz: pair.authz, resource: pair.resources })) {
    processes.forEach(({ log }, index) => traces.set(`log ${kind} ${index}`, Buffer.from(log)));
  }
  for (const file of await filesBelow(pair.data)) traces.set(file, await readFile(file));
  const { shared } = servers;
  if (shared !== undefined) {
    const [, ofRedis = ''] = (await shared.redis.cli('CONFIG', 'GET', 'dir')).split('\n');
    const ofPostgres = await filesBelow(await shared.postgres.sql('SHOW data_directory'));
    const files = [...(await filesBelow(ofRedis)), ...ofPostgres.filter((file) => OURS.test(file))];
    for (const file of files) traces.set(file, await readFile(file));
  }
  for (const { place, values } of await rowsOf(servers)) {
    const all = values.flatMap(([name, value]) => [Buffer.from(name), value, BETWEEN]);
    traces.set(`row ${place} ${traces.size}`, Buffer.concat(all));
  }
  return traces;
}

/** PostgreSQL's files of non-system tables, and of its write-ahead log. */
const OURS = /\/(?:base\/\d+\/(?:1[6-9]|[2-9]\d)\d{3}\b[^/]*|pg_wal\/[0-9A-F]+)$/;

/** A separator, so that no match spans two values. */
const BETWEEN = Buffer.from('\n');

async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
}

/** All rows, in the order of the store. */
export async function rowsOf({ shared, flow: { pair } }: TokenServers): Promise<readonly Row[]> {
  if (shared !== undefined) {
    return [...(await postgresRows(shared)), ...(await redisRows(shared.redis.url))];
  }
  return ['state.db', 'transient.db'].flatMap((file) => sqliteRows(join(pair.data, file)));
}

function sqliteRows(path: string): readonly Row[] {
  using database = new DatabaseSync(path, { readOnly: true });
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  return tables.flatMap(({ name }) =>
    database
      .prepare(`SELECT * FROM "${String(name)}"`)
      .all()
      .map((row) => ({
        place: String(name),
        values: Object.entries(row).map(
          ([column, value]) =>
            [
              column,
              value instanceof Uint8Array ? Buffer.from(value) : Buffer.from(String(value)),
            ] as const,
        ),
      })),
  );
}

async function postgresRows({ postgres, store }: SharedStore): Promise<readonly Row[]> {
  const { schema } = store;
  const tables = await postgres.sql(
    `SELECT tablename FROM pg_tables WHERE schemaname = '${schema}'`,
  );
  const rows: Row[] = [];
  for (const table of tables.split('\n')) {
    const text = await postgres.sql(`SELECT row_to_json(t) FROM ${schema}.${table} t`);
    for (const line of text.split('\n').filter(Boolean)) {
      const columns = Object.entries(JSON.parse(line) as Record<string, unknown>);
      rows.push({ place: table, values: columns.map(([name, value]) => [name, octetsOf(value)]) });
    }
  }
  return rows;
}

/** Returns the octets of a value from PostgreSQL's JSON. */
function octetsOf(value: unknown): Buffer {
  const text = String(value);
  return text.startsWith('\\x') ? Buffer.from(text.slice(2), 'hex') : Buffer.from(text);
}

/** The Redis command that reads a whole value, by type. */
const READ: Readonly<Record<string, (key: Buffer) => (Buffer | string)[]>> = {
  string: (key) => ['GET', key],
  list: (key) => ['LRANGE', key, '0', '-1'],
  hash: (key) => ['HGETALL', key],
  set: (key) => ['SMEMBERS', key],
  zset: (key) => ['ZRANGE', key, '0', '-1', 'WITHSCORES'],
  stream: (key) => ['XRANGE', key, '-', '+'],
};

async function redisRows(url: string): Promise<readonly Row[]> {
  const client = createClient({ url }).withTypeMapping({
    [RESP_TYPES.BLOB_STRING]: Buffer,
    [RESP_TYPES.SIMPLE_STRING]: Buffer,
  });
  await client.connect();
  try {
    const rows: Row[] = [];
    for (const key of parts(await client.sendCommand(['KEYS', '*']))) {
      const [type = key] = parts(await client.sendCommand(['TYPE', key]));
      if (type.toString() === 'none') continue; // the key expired after KEYS
      const read = READ[type.toString()];
      if (read === undefined) throw new Error(`${key.toString()} is a ${type.toString()}`);
      const values = parts(await client.sendCommand(read(key)));
      const dump = parts(await client.sendCommand(['DUMP', key]));
      rows.push({
        place: key.toString(),
        values: [
          ...values.map((value) => ['value', value] as const),
          ...dump.map((value) => ['dump', value] as const),
        ],
      });
    }
    return rows;
  } finally {
    client.destroy();
  }
}

/** All strings of a reply, including nested strings. */
function parts(reply: unknown): readonly Buffer[] {
  if (Array.isArray(reply)) return reply.flatMap(parts);
  if (typeof reply === 'object' && reply !== null && !Buffer.isBuffer(reply)) {
    return Object.entries(reply).flatMap(parts);
  }
  return [Buffer.isBuffer(reply) ? reply : Buffer.from(String(reply))];
}

export const sha256 = (...bytes: readonly Uint8Array[]) =>
  createHash('sha256').update(Buffer.concat(bytes)).digest();

/** The search looks for this many octets at the start or end of a secret: too many for a chance match. */
const ENOUGH = 12;

/** The forms in which a secret of at least 24 octets, its hash, or 12 octets of either may appear. */
function spellings(secret: Buffer): readonly Buffer[] {
  return [secret, sha256(secret)].flatMap((bytes) => {
    const hex = bytes.toString('hex');
    const texts = [
      hex,
      hex.toUpperCase(),
      bytes.toString('base64').replace(/=+$/, ''),
      bytes.toString('base64url'),
      bytes.join(','),
      bytes.join(', '),
    ];
    const whole = [bytes, ...texts.map((text) => Buffer.from(text))];
    return whole.flatMap((one) => [one.subarray(0, ENOUGH), one.subarray(-ENOUGH)]);
  });
}

/** The secrets that appear in the traces, each as `name in place`, once. */
export function placesOf(
  traces: Traces,
  secrets: Readonly<Record<string, Buffer>>,
): readonly string[] {
  // For a single pass over the traces: spellings by their first four octets.
  const wanted = new Map<number, { readonly name: string; readonly spelling: Buffer }[]>();
  for (const [name, secret] of Object.entries(secrets)) {
    for (const spelling of spellings(secret)) {
      const start = spelling.readUInt32BE();
      wanted.set(start, [...(wanted.get(start) ?? []), { name, spelling }]);
    }
  }
  const found = new Set<string>();
  for (const [place, content] of traces) {
    for (let at = 0; at + ENOUGH <= content.length; at += 1) {
      for (const { name, spelling } of wanted.get(content.readUInt32BE(at)) ?? []) {
        if (spelling.equals(content.subarray(at, at + spelling.length))) {
          found.add(`${name} in ${place}`);
        }
      }
    }
  }
  return [...found];
}
