import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'undici';
import { LOAD_CPU, type Server, stayOn } from './cpu.ts';
import { basic, SETTINGS } from './gate.ts';
import { newTokens, refreshing } from './grant-contenders.ts';
import { put, putting, SMALL } from './library.ts';
import type { OctetAnswer, OctetRequest } from './pool-load.ts';
import type { Findings, Table } from './report.ts';
import type { HttpRequest } from './requests.ts';
import type { Fields } from './site.ts';
import { percentile, round } from './statistics.ts';
import { type Countersign, startCountersign } from './targets/countersign.ts';
import { startServedStore, STORES } from './targets/stores.ts';
import { issuerOf } from './works/grants.ts';
import { signingIn } from './works/sign-in.ts';

/** Seconds for each row, and seconds before it, so that no burst of a limit falsifies the figures. */
const SECONDS = 2;
const BEFORE = 6;
/** Milliseconds between two requests of other accounts. */
const PAUSE = 10;
/** Milliseconds after a DELETE in which its cleanup runs. */
const AFTERWARDS = 500;

const NOTES = [
  'One account sends one request after another; somebody else one each 10 ms. "alone": without the account. A ratio is',
  'beside to alone; the goal is 2 at the median. Trees are as full as the default quota allows: 9,900 documents of one',
  'octet in 99 collections, each with a property of 1 KiB; COPY and PROPFIND have half of it. While the tree for DELETE is',
  `filled again nothing counts. Nothing counts in the first ${BEFORE} s, either: the account has used its burst then.`,
  'PUT is there to compare with: any request takes its time in the one process.',
];

const OWN_TREES = {
  ...SETTINGS,
  spaces: [{ ...SETTINGS.spaces[0], tree: 'own' }],
};

const UNAVAILABLE = 503;

/** One request, which resolves to the status, and rejects if the answer is neither right nor 503. */
type Visit = () => Promise<number>;

/** The requests that the account repeats. The callback says when other accounts' requests are measured. */
type Loop = (counts: (yes: boolean) => void) => Promise<void>;

/** Measures how long other accounts wait while one account changes whole trees. */
export async function measureNeighbours(say: (line: string) => void): Promise<Findings> {
  stayOn(`${LOAD_CPU}`);
  const tables: Table[] = [];
  for (const kind of STORES) {
    await using stack = new AsyncDisposableStack();
    const store = await startServedStore(kind, stack);
    const servers = stack.use(await startCountersign(OWN_TREES, store && { store }));
    const others = await othersOf(servers, stack);
    const rows: Table['rows'][number][] = [];
    const alone = new Map<string, Samples>();
    for (const [name, visit] of others) {
      await sampled(visit, () => true);
      alone.set(name, await sampled(visit, () => true));
    }
    for (const [name, loop] of await loopsOf(servers, stack)) {
      say(`  ${kind}: ${name}`);
      await beside(loop, async (counts) => {
        for (const [other, visit] of others) {
          rows.push(row(name, other, alone.get(other), await sampled(visit, counts)));
        }
      });
    }
    tables.push({ title: `${kind}: what others notice while one account repeats`, rows });
  }
  return { tables, errors: 0, notes: NOTES };
}

function row(loop: string, other: string, alone: Samples | undefined, now: Samples) {
  const at = (p: number) => [percentile(alone?.took ?? [], p), percentile(now.took, p)] as const;
  const [[a50, b50], [a95, b95]] = [at(0.5), at(0.95)];
  return {
    'the account': loop,
    others: other,
    'alone p50 ms': round(a50, 1),
    'p50 ms': round(b50, 1),
    ratio: round(b50 / a50, 2),
    'alone p95 ms': round(a95, 1),
    'p95 ms': round(b95, 1),
    'ratio p95': round(b95 / a95, 2),
    count: now.took.length,
    'was 503': now.refused,
  };
}

/** Repeats the loop during the work. */
async function beside(loop: Loop, work: (counts: () => boolean) => Promise<void>): Promise<void> {
  const state = { counts: true, over: false };
  const looping = (async () => {
    while (!state.over) await loop((yes) => void (state.counts = yes));
  })();
  const working = delay(BEFORE * 1000)
    .then(() => work(() => state.counts))
    .finally(() => void (state.over = true));
  await Promise.all([looping, working]);
}

/** The results of the visits that began during the measurement. */
interface Samples {
  /** The milliseconds of each visit. */
  readonly took: readonly number[];
  /** The number of answers 503. */
  readonly refused: number;
}

async function sampled(visit: Visit, counts: () => boolean): Promise<Samples> {
  const took: number[] = [];
  let refused = 0;
  let left = SECONDS * 1000;
  while (left > 0 || took.length === 0) {
    const counted = counts();
    const from = performance.now();
    const status = await visit();
    const visited = performance.now() - from;
    if (counted) took.push(visited);
    if (counted && status === UNAVAILABLE) refused += 1;
    await delay(PAUSE);
    if (counted) left -= performance.now() - from;
  }
  return { took, refused };
}

const send = async (pool: Pool, { method, path, fields: headers, body }: Sent) => {
  const { statusCode, body: sent } = await pool.request({
    method,
    path,
    headers,
    body: body ?? null,
  });
  return { status: statusCode, content: Buffer.from(await sent.arrayBuffer()) };
};

type Sent = HttpRequest | OctetRequest;

/** Returns the status. Throws if the answer is neither right nor 503. */
function judged(isRight: boolean, { method, path }: Sent, { status, content }: OctetAnswer) {
  if (isRight || status === UNAVAILABLE) return status;
  throw new Error(`${method} ${path} was answered ${status} ${content.toString().slice(0, 200)}`);
}

function poolOf({ url }: Server, stack: AsyncDisposableStack): Pool {
  return stack.adopt(new Pool(url, { connections: 1 }), (open) => open.close());
}

async function othersOf(
  servers: Countersign,
  stack: AsyncDisposableStack,
): Promise<ReadonlyMap<string, Visit>> {
  const { pair, authz, resource } = servers;
  const { name, password } = await pair.addPerson('neighbour');
  const right = basic(name, password);
  await put(resource, right, [SMALL]);
  const documents = poolOf(resource, stack);
  const tokens = poolOf(authz, stack);
  const visit = (pool: Pool, request: Sent, status: number) => async () => {
    const answer = await send(pool, request);
    return judged(answer.status === status, request, answer);
  };

  const issuer = await issuerOf(servers);
  const of = refreshing('refresh', issuer, [(await newTokens(issuer)).refresh]);
  // As in the preparation, the first token is used for a probe.
  for (const [request, isRight] of of.probes) {
    const answer = await send(tokens, request);
    judged(isRight(answer), request, answer);
  }
  const next = await of.prepare(0);
  const { load } = await signingIn(servers);
  const forms = await load.take(0);
  let signedIn = 0;
  /** A refresh request that got 503, to be repeated. */
  let again: OctetRequest | undefined;
  return new Map<string, Visit>([
    ['GET', visit(documents, { method: 'GET', path: SMALL.path, fields: right }, 200)],
    ['PUT', visit(documents, putting(SMALL, right), 204)],
    [
      'sign-in',
      async () => {
        const form = forms[signedIn % forms.length];
        signedIn += 1;
        if (form === undefined) throw new Error('there is no form');
        return visit(tokens, form, 303)();
      },
    ],
    [
      'refresh',
      async () => {
        const request = again ?? next();
        if (request === undefined) throw new Error('there is no refresh token');
        const answer = await send(tokens, request);
        again = answer.status === UNAVAILABLE ? request : undefined;
        return judged(again !== undefined || of.isRight(answer), request, answer);
      },
    ],
  ]);
}

const PLACE = '/documents/';
const COLLECTIONS = 99;
const MEMBERS = 100;
const PROPERTY = `<propertyupdate xmlns="DAV:"><set><prop><x xmlns="urn:x">${'x'.repeat(1024)}</x></prop></set></propertyupdate>`;

/** Fills the trees of accounts, and returns their loops by name. */
async function loopsOf(
  { pair, resource }: Countersign,
  stack: AsyncDisposableStack,
): Promise<ReadonlyMap<string, Loop>> {
  const pool = poolOf(resource, stack);

  async function account(who: string, many: number) {
    const { name, password } = await pair.addPerson(who);
    const right = basic(name, password);
    /** Repeats the request if the account has used its share, or the store does not answer. */
    async function ask(method: string, path: string, fields: Fields = {}, body?: string) {
      const request = { method, path, fields: { ...right, ...fields }, ...(body && { body }) };
      for (let tries = 0; ; tries += 1) {
        const answer = await send(pool, request);
        const { status } = answer;
        // After a 503 the change may be done all the same, and a repetition then finds nothing to change.
        const isDone = status < 300 || (tries > 0 && [404, 405, 412].includes(status));
        judged(isDone || status === 429, request, answer);
        if (isDone) return;
        await delay(1000);
      }
    }
    const to = (path: string): Fields => ({ Destination: path });
    await ask('MKCOL', `${PLACE}full/`);
    await ask('MKCOL', `${PLACE}full/c0/`);
    for (let n = 0; n < MEMBERS; n += 1) {
      const path = `${PLACE}full/c0/d${n}`;
      await ask('PUT', path, { 'Content-Type': 'text/plain' }, 'x');
      await ask('PROPPATCH', path, { 'Content-Type': 'application/xml' }, PROPERTY);
    }
    const fill = async (collections: number) => {
      for (let n = 1; n < collections; n += 1) {
        await ask('COPY', `${PLACE}full/c0/`, to(`${PLACE}full/c${n}/`));
      }
    };
    await fill(many);
    return { ask, to, fill };
  }

  const whole = await account('whole', COLLECTIONS);
  const half = await account('half', Math.floor(COLLECTIONS / 2));
  const deleting = await account('deleting', 1);
  const [full, other] = [`${PLACE}full/`, `${PLACE}other/`];
  return new Map<string, Loop>([
    ['PUT', () => half.ask('PUT', `${full}c0/d0`, { 'Content-Type': 'text/plain' }, 'x')],
    [
      'MOVE',
      async () => {
        await whole.ask('MOVE', full, whole.to(other));
        await whole.ask('MOVE', other, whole.to(full));
      },
    ],
    [
      'COPY, DELETE',
      async () => {
        await half.ask('COPY', full, half.to(other));
        await half.ask('DELETE', other);
      },
    ],
    [
      'DELETE',
      async (counts) => {
        counts(false);
        await deleting.fill(COLLECTIONS - 1);
        await deleting.ask('COPY', `${full}c0/`, deleting.to(other));
        counts(true);
        await deleting.ask('DELETE', full);
        await delay(AFTERWARDS);
        counts(false);
        await deleting.ask('MOVE', other, deleting.to(`${PLACE}c0/`));
        await deleting.ask('MKCOL', full);
        await deleting.ask('MOVE', `${PLACE}c0/`, deleting.to(`${full}c0/`));
      },
    ],
    [
      'PROPFIND, infinity',
      // The answer to a condition about the path alone would be cached: see propfind.ts.
      () =>
        half.ask(
          'PROPFIND',
          full,
          { Depth: 'infinity', 'Content-Type': 'application/xml' },
          newQuestion(),
        ),
    ],
  ]);
}

let questions = 0;
/** A different query each time, so that no answer is cached. */
function newQuestion(): string {
  questions += 1;
  return `<propfind xmlns="DAV:"><prop><getetag/><x xmlns="urn:x${questions}"/></prop></propfind>`;
}
