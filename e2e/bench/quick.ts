import { temporaryFolder } from '../parts/temporary-folder.ts';
import { LOAD_CPU, type Server, stayOn } from './cpu.ts';
import { basic, DOCUMENT, type Gate, openGate, SETTINGS as OF_GATE } from './gate.ts';
import { overWrk } from './http-load.ts';
import { compare, type Contender, WARM_UP } from './measure.ts';
import type { Findings } from './report.ts';
import { always, type HttpRequest } from './requests.ts';
import { bearer, BODY, ES256, furnish, get, SCOPE, SETTINGS, type Site, verify } from './site.ts';
import { round } from './statistics.ts';
import { startBareText } from './targets/bare.ts';
import { startCountersign } from './targets/countersign.ts';
import { tokenRequest } from './tokens.ts';

const CONNECTIONS = 32;
const SCHEDULE = { rounds: 3, seconds: 2, warmUp: { ...WARM_UP, seconds: 8 } };

interface Work {
  readonly name: string;
  readonly server: Server;
  readonly request: HttpRequest;
  readonly status: number;
  /** The highest cost as a multiple of a bare node:http server; absent: no goal. */
  readonly goal?: number;
}

/**
 * Measures the most frequent requests beside a bare node:http server, in about two minutes, to show the
 * effect of a change.
 */
export async function measureQuick(say: (line: string) => void): Promise<Findings> {
  stayOn(`${LOAD_CPU}`);
  await using stack = new AsyncDisposableStack();
  const { path: folder } = stack.use(await temporaryFolder());
  const bare = stack.use(await startBareText({ body: BODY }, folder));
  const site = await furnish(stack.use(await startCountersign(SETTINGS)));
  const gate = await openGate(stack.use(await startCountersign(OF_GATE)));
  const works = [
    { name: 'node:http', server: bare, request: at('/'), status: 200, goal: 1 },
    ...(await byToken(site)),
    ...byPassword(gate),
  ];
  const measured = await compare(works.map(contender), say, SCHEDULE);
  const unit = measured[0]?.cpu ?? Number.NaN;
  const rows = measured.map(({ name, cpu, least, most, latency, memory, errors }, at) => ({
    work: name,
    'cpu us/req': round(cpu, 1),
    'least..most': `${least.toFixed(1)}..${most.toFixed(1)}`,
    'x node:http': round(cpu / unit, 2),
    goal: works[at]?.goal ?? '',
    'p50 ms': round(latency?.p50 ?? Number.NaN, 2),
    'peak MiB': Math.round(memory / 1024 ** 2),
    errors,
  }));
  return {
    tables: [{ title: `CPU time of a request, ${CONNECTIONS} connections, SQLite`, rows }],
    notes: [
      'Microseconds depend on the machine and on what else it does; the ratio does less so. Warmed up with 20,000',
      'requests, at most 8 seconds of each: on a machine on which that is not enough, what comes last is least warm.',
    ],
    errors: measured.reduce((sum, row) => sum + row.errors, 0),
  };
}

const at = (path: string, fields = {}): HttpRequest => ({ method: 'GET', path, fields });

async function byToken({ servers, tokens }: Site): Promise<readonly Work[]> {
  const { authz, resource: server, pair } = servers;
  const [token = ''] = await tokens(ES256, 1);
  const client = await pair.addClient(SCOPE);
  const form = tokenRequest({ client, scope: SCOPE, resource: ES256.url });
  const [asked, read] = [verify(ES256, bearer(token)), get(ES256, bearer(token))];
  return [
    { name: 'health', server, request: at('/health/live'), status: 200 },
    { name: 'Bearer seen, /verify', server, request: asked, status: 204, goal: 2.1 },
    { name: 'Bearer seen, document', server, request: read, status: 200, goal: 2.6 },
    { name: 'client credentials', server: authz, request: form, status: 200, goal: 6 },
  ];
}

function byPassword({ servers, person, key }: Gate): readonly Work[] {
  const { resource: server } = servers;
  const byName = at(DOCUMENT, basic(person.name, person.password));
  const byKey = at(DOCUMENT, { 'X-API-Key': key });
  return [
    { name: 'Basic seen, document', server, request: byName, status: 200, goal: 4.2 },
    { name: 'API key, document', server, request: byKey, status: 200, goal: 4.2 },
  ];
}

function contender({ name, server, request, status }: Work): Contender {
  const load = always(request);
  const answer = { status };
  const asked = { name, server, load, answer, forged: () => request };
  return {
    ...overWrk(asked, CONNECTIONS),
    async probe() {
      const { method, path, fields, body } = request;
      const init = { method, headers: { ...fields }, ...(body !== undefined && { body }) };
      const got = await fetch(server.url + path, init);
      if (got.status !== status) throw new Error(`${name} was answered ${got.status}`);
    },
  };
}
