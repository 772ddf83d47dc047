import type { Pool } from 'undici';
import { startPair } from '../pair/pair.ts';
import { startRedis } from '../parts/redis.ts';
import { stayOn } from './cpu.ts';
import type { Findings, Table } from './report.ts';
import { percentile, round } from './statistics.ts';
import { UNLIMITED } from './targets/countersign.ts';
import { connect } from './witness.ts';
import type { Witness } from './witness.ts';

const REVOCATIONS = 500;
const AT_ONCE = 8;

const TITLE = 'Revocation: from the acknowledgement of POST /token/revocation to the refusal';
const NOTES = [
  `Next request: sent to both servers as soon as the acknowledgement is read; ${REVOCATIONS} revocations, one`,
  `after another, then as many, ${AT_ONCE} at a time. Delay: for ${REVOCATIONS} more the token is sent to both`,
  'without a pause; from the acknowledgement to the first refusal, both as the client reads them (below',
  '0: refused before the client was told). Accepted after: a request sent after it was accepted.',
  'Ack: milliseconds that the revocation itself takes, one after another.',
];

/** How soon a revoked token is refused by each of two resource servers, on both stores. */
export async function measureRevocation(say: (line: string) => void): Promise<Findings> {
  stayOn('0,1');
  await using redis = await startRedis({ appendonly: true });
  const stores = {
    SQLite: { kind: 'sqlite' },
    Redis: { kind: 'redis', mode: 'single', urls: [redis.url] },
  };
  const rows: Table['rows'][number][] = [];
  let errors = 0;
  for (const [name, store] of Object.entries(stores)) {
    say(`  ${name}`);
    await using pair = await startPair({ resource: 2, settings: { ...UNLIMITED, store } });
    await using witness = await connect(pair, 3 * REVOCATIONS, AT_ONCE);
    const alone = await nextRequests(witness, 1);
    const together = await nextRequests(witness, AT_ONCE);
    const hammered = await hammer(witness);
    for (const [index, { delays, acceptedAfter }] of hammered.entries()) {
      const refused = [alone.refused[index] ?? 0, together.refused[index] ?? 0] as const;
      errors += acceptedAfter + 2 * REVOCATIONS - refused[0] - refused[1];
      rows.push({
        store: name,
        'resource server': index + 1,
        'next request refused': `${refused[0]}/${REVOCATIONS}`,
        [`${AT_ONCE} at a time`]: `${refused[1]}/${REVOCATIONS}`,
        'delay p50 ms': round(percentile(delays, 0.5), 2),
        'delay p99 ms': round(percentile(delays, 0.99), 2),
        'accepted after': `${acceptedAfter}/${REVOCATIONS}`,
        'ack p50 ms': round(percentile(alone.took, 0.5), 2),
        'ack p99 ms': round(percentile(alone.took, 0.99), 2),
      });
    }
  }
  return { tables: [{ title: TITLE, rows }], notes: NOTES, errors };
}

/** How many of the requests right after an acknowledgement each server refused; ms per revocation. */
async function nextRequests({ servers, tokens, revoke, accepts }: Witness, atOnce: number) {
  const refused = servers.map(() => 0);
  const took: number[] = [];
  const left = tokens.splice(0, REVOCATIONS);
  async function work(): Promise<void> {
    for (let token = left.pop(); token !== undefined; token = left.pop()) {
      const revoked = token;
      const ask = () => Promise.all(servers.map((server) => accepts(server, revoked)));
      if ((await ask()).includes(false)) throw new Error('refused before it was revoked');
      const from = performance.now();
      await revoke(token);
      took.push(performance.now() - from);
      for (const [index, accepted] of (await ask()).entries()) {
        if (!accepted) refused[index] = (refused[index] ?? 0) + 1;
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work));
  return { refused, took };
}

interface Hammered {
  /** Milliseconds. */
  readonly delays: number[];
  acceptedAfter: number;
}

/** Sends each token to both servers without a pause, from before its revocation until it is refused. */
async function hammer(witness: Witness): Promise<readonly Hammered[]> {
  const results = witness.servers.map((server): [Pool, Hammered] => [
    server,
    { delays: [], acceptedAfter: 0 },
  ]);
  for (const token of witness.tokens.splice(0, REVOCATIONS)) {
    const streams = results.map(([server, hammered]) => ({
      hammered,
      stream: untilRefused(witness, server, token),
    }));
    await Promise.all(streams.map(({ stream }) => stream.begun));
    await witness.revoke(token);
    const acknowledged = performance.now();
    for (const { hammered, stream } of streams) {
      const { refusedAt, lastAcceptedFrom } = await stream.ended;
      hammered.delays.push(refusedAt - acknowledged);
      if (lastAcceptedFrom > acknowledged) hammered.acceptedAfter += 1;
    }
  }
  return results.map(([, hammered]) => hammered);
}

/** `begun`: the token was accepted once. Times are of the clock that `performance` reads. */
function untilRefused({ accepts }: Witness, server: Pool, token: string) {
  const { promise: begun, resolve } = Promise.withResolvers<void>();
  const run = async () => {
    let lastAcceptedFrom = -Infinity;
    for (;;) {
      const from = performance.now();
      if (!(await accepts(server, token))) break;
      lastAcceptedFrom = from;
      resolve();
    }
    return { refusedAt: performance.now(), lastAcceptedFrom };
  };
  return { begun, ended: run() };
}
