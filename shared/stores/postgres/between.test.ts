import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, test } from '@jest/globals';
import { silentLog } from '#shared/base/log.ts';
import { startPostgres } from '../../../e2e/parts/postgres.ts';
import { Outage } from '../outage/outage.ts';
import { PostgresDatabase } from './database.ts';

/** Octets before the content of a message: its type, and its length without the type. */
const HEAD = 5;

function message(type: string, ...texts: readonly string[]): Buffer {
  const content = Buffer.from(texts.map((text) => `${text}\0`).join(''));
  const head = Buffer.alloc(HEAD, type);
  head.writeInt32BE(HEAD - 1 + content.length, 1);
  return Buffer.concat([head, content]);
}

/** Messages that a server may send at any time (PostgreSQL, "Asynchronous Operations" of the protocol). */
const ANYTIME = [
  message('N', 'SNOTICE', 'VNOTICE', 'C00000', 'Msomething was done', ''),
  message('S', 'application_name', 'another'),
  message('A', '\0\0\0channel', 'payload'),
];
const WARNING = message('N', 'SWARNING', 'VWARNING', 'C01000', 'Msomething is odd', '');

/** Whether a statement warns before it; a commit would before its own answer, or behind those of all statements. */
const isOfStatement = (type: string, content: string) =>
  'DCE'.includes(type) && content !== 'COMMIT\0';

/**
 * Starts a relay to a server. Once a connection is ready, the relay puts these messages before each message of the
 * server.
 */
async function startBetween(port: number) {
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    client.pipe(upstream);
    let isReady = false;
    let rest = Buffer.alloc(0);
    upstream.on('data', (octets: Buffer) => {
      rest = Buffer.concat([rest, octets]);
      for (;;) {
        const end = rest.length < HEAD ? Infinity : 1 + rest.readInt32BE(1);
        if (rest.length < end) return;
        const whole = rest.subarray(0, end);
        const type = String.fromCharCode(whole[0] ?? 0);
        const warns = isOfStatement(type, whole.toString('latin1', HEAD)) ? [WARNING] : [];
        client.write(Buffer.concat(isReady ? [...ANYTIME, ...warns, whole] : [whole]));
        isReady ||= type === 'Z';
        rest = rest.subarray(end);
      }
    });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on('error', () => {});
      from.on('close', () => to.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: own } = server.address() as AddressInfo;
  return {
    url: `postgres://postgres@127.0.0.1:${own}/postgres`,
    [Symbol.dispose]: () => void server.close(),
  };
}

test('notices, parameters and notifications between any two messages change no answer', async () => {
  await using postgres = await startPostgres();
  using between = await startBetween(postgres.port);
  await using database = new PostgresDatabase({
    urls: [between.url],
    schema: 'countersign',
    connections: 4,
    deadline: 10_000,
    monotonic: () => performance.now(),
    chance: Math.random,
    outage: new Outage('PostgreSQL', silentLog, () => performance.now()),
  });
  await database.migrate({ migrations: ['CREATE TABLE done (id TEXT PRIMARY KEY) STRICT;'] });
  const INSERT = 'INSERT INTO done (id) VALUES (?)';
  await database.write((sql) => sql.last.run(INSERT, 'alone'));
  await database.write(async (sql) => {
    await sql.lockNames(['a', 'b']);
    await sql.later(INSERT, 'later');
    await sql.run(INSERT, 'next');
    await sql.later(INSERT, 'again');
    await sql.last.run(INSERT, 'last');
  });
  const joined = ['x', 'y'].map((id) =>
    database.write((sql) => sql.later(INSERT, id), { joins: true }),
  );
  await Promise.all([...joined, database.passing.write((sql) => sql.last.run(INSERT, 'passing'))]);
  await database.together((held) => held.write((sql) => sql.run(INSERT, 'part')));
  const twice = database.write((sql) => sql.last.run(INSERT, 'alone'));
  await expect(twice).rejects.toMatchObject({ refused: true });
  const asked = ['alone', 'later', 'next', 'again', 'last', 'x', 'y', 'passing', 'part', 'none'];
  const found = await Promise.all(
    asked.map((id) => database.read((sql) => sql.all('SELECT id FROM done WHERE id = ?', id))),
  );
  expect(found).toEqual([...asked.slice(0, -1).map((id) => [[id]]), []]);
  await database.confirm();
});
