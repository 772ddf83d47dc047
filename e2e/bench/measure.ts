import type { Server } from './cpu.ts';
import type { HttpRequest, Load } from './requests.ts';
import { median } from './statistics.ts';
import { wrk } from './wrk.ts';

const ROUNDS = 5;
const SECONDS = 2;
/** Until the compiler has done its work also where a request takes long. */
const WARM_UP_SECONDS = 5;

/** One server with one load. */
export interface Contender {
  readonly name: string;
  readonly server: Server;
  readonly load: Load;
  /** What every answer is. */
  readonly answer: { readonly status: number; readonly body?: (text: string) => boolean };
  /** Has to be answered 401: nobody is to be fast by not looking. */
  readonly forged: HttpRequest;
}

/** Medians over the rounds. */
export interface Measured {
  readonly name: string;
  /** Microseconds of CPU time of the server for each request: the median, the least and the most. */
  readonly cpu: number;
  readonly least: number;
  readonly most: number;
  /** Requests a second by the clock on the wall. */
  readonly rate: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly requests: number;
  readonly errors: number;
}

/**
 * Measures A B C, A B C, ...: what disturbs the machine disturbs all of them. The first round warms
 * up and does not count, except its errors. Rejects when a contender does not answer as it has to.
 */
export async function compare(
  contenders: readonly Contender[],
  connections: number,
  say: (line: string) => void,
): Promise<readonly Measured[]> {
  for (const contender of contenders) await probe(contender);
  const runs = new Map(contenders.map((contender) => [contender, [] as Run[]]));
  for (let round = 0; round <= ROUNDS; round += 1) {
    say(round === 0 ? '  warming up' : `  round ${round} of ${ROUNDS}`);
    for (const [contender, done] of runs) {
      const seconds = round === 0 ? WARM_UP_SECONDS : SECONDS;
      done.push(await measure(contender, connections, seconds));
    }
  }
  return [...runs].map(([{ name }, done]) => summarize(name, done));
}

interface Run {
  readonly cpu: number;
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
  readonly requests: number;
  readonly errors: number;
}

async function measure(
  { server, load }: Contender,
  connections: number,
  seconds: number,
): Promise<Run> {
  const requests = await load.take(seconds);
  const before = server.cpuTime();
  const done = await wrk({ url: server.url, requests, connections, seconds });
  const used = server.cpuTime() - before;
  load.sent(done.requests + connections);
  return {
    cpu: used / done.requests,
    rate: done.requests / (done.microseconds / 1_000_000),
    p50: done.p50 / 1000,
    p99: done.p99 / 1000,
    requests: done.requests,
    errors: done.errors,
  };
}

function summarize(name: string, runs: readonly Run[]): Measured {
  const counted = runs.slice(1);
  const all = (member: keyof Run) => counted.map((run) => run[member]);
  return {
    name,
    cpu: median(all('cpu')),
    least: Math.min(...all('cpu')),
    most: Math.max(...all('cpu')),
    rate: median(all('rate')),
    p50: median(all('p50')),
    p99: median(all('p99')),
    requests: counted.reduce((sum, run) => sum + run.requests, 0),
    errors: runs.reduce((sum, run) => sum + run.errors, 0),
  };
}

async function probe({ name, server, load, answer, forged }: Contender): Promise<void> {
  const [request] = await load.take(1);
  if (request === undefined) throw new Error(`${name} has nothing to answer`);
  load.sent(1);
  const good = await ask(server.url, request);
  if (good.status !== answer.status || answer.body?.(good.text) === false) {
    throw new Error(`${name} answered ${good.status} ${good.text}`);
  }
  const bad = await ask(server.url, forged);
  if (bad.status !== 401) throw new Error(`${name} answered ${bad.status} to what is forged`);
}

async function ask(url: string, { method, path, fields, body }: HttpRequest) {
  const init = { method, headers: { ...fields }, ...(body !== undefined && { body }) };
  const response = await fetch(url + path, init);
  return { status: response.status, text: await response.text() };
}
