import { readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { LOAD_CPU, type Server, stayOn } from './cpu.ts';
import { family } from './processes.ts';
import type { Findings, Table } from './report.ts';
import type { HttpRequest } from './requests.ts';
import { bearer, ES256, furnish, get, SCOPE, SETTINGS, type Site, verify } from './site.ts';
import { startCountersign } from './targets/countersign.ts';
import { tokenRequest } from './tokens.ts';
import { wrk } from './wrk.ts';

const CONNECTIONS = 1000;
/** Different tokens, so that none is remembered alone. */
const TOKENS = 2000;
const SECONDS = 20;

/** What the server is asked, and how often in all: as many as take a quarter of an hour or two. */
interface Work {
  readonly what: string;
  readonly server: Server;
  readonly log: string;
  readonly requests: readonly HttpRequest[];
  readonly total: number;
}

/**
 * Whether memory stays what it is: what the processes of `start` hold after so many requests on a thousand
 * connections.
 */
export async function measureFlat(say: (line: string) => void): Promise<Findings> {
  stayOn(`${LOAD_CPU}`);
  await using servers = await startCountersign(
    { ...SETTINGS, server: { connections: { address: 2000, total: 4000 } } },
    { workers: 1 },
  );
  const works = await worksOf(await furnish(servers));
  const tables: Table[] = [];
  let errors = 0;
  for (const work of works) {
    say(`  ${work.what}`);
    const [table, failed] = await watch(work, say);
    tables.push(table);
    errors += failed;
  }
  return {
    tables,
    notes: ['Resident memory (VmRSS); as many connections as that, all the time.'],
    errors,
  };
}

async function worksOf({ servers, tokens }: Site): Promise<readonly Work[]> {
  const { authz, resource, pair } = servers;
  const client = await pair.addClient(SCOPE);
  const shown = (await tokens(ES256, TOKENS)).map((token) => bearer(token));
  return [
    {
      what: `resource server: ${TOKENS} tokens, /verify and a document in turn`,
      server: resource,
      log: join(pair.data, 'resource.log'),
      requests: shown.map((token, at) => (at % 2 === 0 ? verify : get)(ES256, token)),
      total: 10_000_000,
    },
    {
      what: 'authorization server: client credentials',
      server: authz,
      log: join(pair.data, 'authz.log'),
      requests: [tokenRequest({ client, scope: SCOPE, resource: ES256.url })],
      total: 1_000_000,
    },
  ];
}

async function watch(work: Work, say: (line: string) => void): Promise<[Table, number]> {
  const { what, server, log, requests, total } = work;
  const rows: Table['rows'][number][] = [];
  let [done, errors, told] = [0, 0, 0];
  const tell = () => {
    const [parent = 0, ...workers] = family(server.pids[0] ?? 0).map(resident);
    rows.push({ requests: done, 'parent MiB': parent, 'worker MiB': workers.join(' ') });
    say(`    ${done} requests: ${parent} and ${workers.join(' ')} MiB, ${errors} errors`);
  };
  const { url } = server;
  for (; done < total; truncateSync(log)) {
    if (done >= told) {
      tell();
      told += total / 10;
    }
    const slice = await wrk({ url, requests, connections: CONNECTIONS, seconds: SECONDS });
    done += slice.requests;
    errors += slice.errors;
  }
  tell();
  return [{ title: `${what}, ${CONNECTIONS} connections`, rows }, errors];
}

/** MiB. */
function resident(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024);
}
