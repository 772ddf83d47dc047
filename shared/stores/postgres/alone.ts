import { readFile } from 'node:fs/promises';
import { Client, type ClientBase } from 'pg';
import type { PostgresSettings } from '../settings.ts';
import { accessTo, enterAlone } from './access.ts';
import { COMMIT, commit, InDoubt, PATIENTLY } from './commit.ts';
import { NoConnection } from './no-connection.ts';
import { Timelines } from './timelines.ts';

/** Another process has the store open. */
export class OpenElsewhere extends Error {
  constructor(others: readonly string[]) {
    super(
      `the store is open elsewhere (in PostgreSQL: ${others.join(', ')}): stop all servers first. If such a machine is gone, end what it left with pg_terminate_backend`,
    );
  }
}

/** Copying may take long, even between two statements. */
const BEGIN =
  'BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0';

/**
 * Runs a transaction on the primary while no other process has or can open the store. It uses one connection, so
 * nothing is done if the connection ends before the commit. Rejects with `OpenElsewhere`, `NoConnection`, an error of
 * `pg`, or `InDoubt` if the commit may have been done.
 */
export async function alone<T>(
  settings: PostgresSettings,
  work: (client: ClientBase) => Promise<T>,
): Promise<T> {
  const client = await connectAlone(settings);
  let lost: Error | undefined;
  client.on('error', (error) => (lost ??= error));
  try {
    await client.query(BEGIN);
    const result = await work(client);
    await commit(client, [COMMIT], PATIENTLY);
    return result;
  } catch (error) {
    throw lost === undefined || error instanceof InDoubt ? error : NoConnection.to(client, lost);
  } finally {
    await client.end();
  }
}

/** Resolves to a connection to the primary: of all writable servers the one that was promoted last. */
async function connectAlone({
  urls,
  schema,
  deadline,
  ca: file,
}: PostgresSettings): Promise<Client> {
  const ca = file === undefined ? undefined : await readFile(file, 'utf8');
  const timelines = new Timelines();
  const failures: NoConnection[] = [];
  let primary: Client | undefined;
  for (const url of urls) {
    const client = new Client(accessTo(url, { ca, schema, deadline: deadline * 1000 }));
    // A running statement fails, too. Without a listener the process would end.
    client.on('error', () => {});
    try {
      await client.connect();
      const others = await enterAlone(client, schema);
      if (others.length > 0) throw new OpenElsewhere(others);
      await timelines.note(client);
      if (primary !== undefined && !timelines.isFormer(primary)) {
        await client.end();
        continue;
      }
      await primary?.end();
      primary = client;
    } catch (error) {
      await client.end();
      if (error instanceof OpenElsewhere) {
        await primary?.end();
        throw error;
      }
      failures.push(NoConnection.to(client, error));
    }
  }
  if (primary === undefined) throw NoConnection.toAny(failures);
  return primary;
}
