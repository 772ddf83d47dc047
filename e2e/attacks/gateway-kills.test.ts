import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { connectTo, VERSIONS } from '../interop/gateway/client.ts';
import { basic, type GatewaySite, startGatewaySite } from '../interop/gateway/gateway-site.ts';
import { contentFor } from '../parts/applications/tags.ts';
import { freePort } from '../parts/free-port.ts';
import { NODE, type RunningProcess, startProcess } from '../parts/process.ts';

/**
 * An upstream that is killed repeatedly during requests: each client gets its own answer, complete, or an
 * error.
 */
const RIGHT = 10_000;
const BETWEEN_KILLS = 500;
const AT_ONCE = 16;

/** An upstream process that is killed with SIGKILL and starts again at the same port. */
class Mortal implements AsyncDisposable {
  readonly port: number;
  #process: RunningProcess | undefined;
  #said = '';
  kills = 0;
  /** Pending while the process is down. */
  up: Promise<void>;

  constructor(port: number) {
    this.port = port;
    this.up = this.#start();
  }

  async #start(): Promise<void> {
    const file = new URL('../parts/applications/tagged.ts', import.meta.url).pathname;
    this.#process = await startProcess(process.execPath, [file, `${this.port}`], {
      env: NODE,
      ready: (output) => output.includes('listening'),
    });
  }

  async kill(): Promise<void> {
    this.kills += 1;
    await this.#process?.kill();
    this.#said += this.#process?.output ?? '';
    this.up = this.#start();
    await this.up;
  }

  /** How often the upstream received each request, by method and path. */
  heard(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const line of `${this.#said}${this.#process?.output ?? ''}`.split('\n')) {
      counts.set(line, (counts.get(line) ?? 0) + 1);
    }
    return counts;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.up;
    await this.#process?.kill();
  }
}

const parts = new AsyncDisposableStack();
let upstream: Mortal;
let site: GatewaySite;
beforeAll(async () => {
  upstream = parts.use(new Mortal(await freePort()));
  await upstream.up;
  const url = `http://127.0.0.1:${upstream.port}/base/`;
  site = parts.use(await startGatewaySite({ app: { upstream: { url } } }));
});
afterAll(async () => parts.disposeAsync());

describe.each(VERSIONS)('%s', (version) => {
  test(`${RIGHT / 2} answers over kept connections: each belongs to its request, and no unsafe request is sent twice`, async () => {
    await using client = connectTo(site.origin, version);
    const seen = { whole: 0, refused: 0, broken: 0 };
    const wrong: string[] = [];
    let number = 0;
    let killing: Promise<void> | undefined;

    async function askOnce(): Promise<void> {
      const path = `${version.slice(5, 6)}-${(number += 1)}/`;
      const [method, content] = number % 3 === 0 ? ['POST', `<${path}>`] : ['GET', ''];
      const asked = { method, content, fields: [basic()] };
      const answer = await client.ask(`/app/${path}`, asked);
      const got = answer.content.toString('latin1');
      const expected = `${contentFor(`/base/${path}`)}${content}`;
      if (answer.complete && answer.status === 200) {
        seen.whole += 1;
        if (got !== expected) wrong.push(`${path}: ${got.slice(0, 100)}`);
      } else if (answer.complete && [502, 503, 504].includes(answer.status)) {
        seen.refused += 1;
        if (!got.includes(`"status":${answer.status}`)) wrong.push(`${path}: ${got}`);
        await upstream.up;
        await sleep(20);
      } else {
        seen.broken += 1;
        if (answer.status === 0 || !expected.startsWith(got))
          wrong.push(`${path}: ${got.slice(0, 100)}`);
      }
    }
    async function askOn(): Promise<void> {
      while (seen.whole < RIGHT / 2) {
        await askOnce();
        if (killing !== undefined || seen.whole < (upstream.kills + 1) * BETWEEN_KILLS) continue;
        killing = upstream.kill().finally(() => (killing = undefined));
      }
    }
    upstream.kills = 0;
    await Promise.all(Array.from({ length: AT_ONCE }, askOn));
    await killing;

    expect(wrong).toEqual([]);
    expect(upstream.kills).toBeGreaterThanOrEqual(RIGHT / 2 / BETWEEN_KILLS - 1);
    expect(seen.refused + seen.broken).toBeGreaterThan(0);
    // RFC 9110 section 9.2.2
    const heard = [...upstream.heard()];
    const most = (method: string) =>
      Math.max(...heard.map(([line, count]) => (line.startsWith(method) ? count : 0)));
    expect(most('POST')).toBe(1);
    expect([1, 2]).toContain(most('GET'));
  });
});
