import { type CacheTargets, type PeerName, SPACES, type SpaceName } from './cache-targets.ts';
import { type HttpContender, overWrk } from './http-load.ts';
import { overPool, type PoolContender } from './pool-load.ts';
import { always, fresh, type HttpRequest } from './requests.ts';
import { ANSWERS, FOUND, MARKS, PLACES } from './targets/cached-files.ts';
import type { Loaded } from './work.ts';

export type AnswerName = keyof typeof ANSWERS;

/** What is asked again and again, and where the answers have to come from. */
export interface Asking {
  readonly comes: 'from the cache' | 'from the origin' | 'validated';
  readonly content: string;
  /** By undici in this process, and not by wrk, which sends no method that it does not know. */
  readonly byPool?: true;
  request(): Omit<HttpRequest, 'fields'> & Partial<Pick<HttpRequest, 'fields'>>;
}

/** Of misses: more than any cache answers in a second, each at a target of its own. */
const MISSES = 30_000;
let misses = 0;

const get = (path: string) => ({ method: 'GET', path });

export const hit = (name: AnswerName): Asking => ({
  comes: 'from the cache',
  content: ANSWERS[name],
  request: () => get(`${PLACES.fresh}${name}`),
});

/** What stands beside a QUERY. */
export const SMALL_BY_POOL: Asking = { ...hit('small'), byPool: true };

export const MISS: Asking = {
  comes: 'from the origin',
  content: ANSWERS.small,
  request: () => get(`${PLACES.fresh}small?${(misses += 1)}`),
};

export const VALIDATION: Asking = {
  comes: 'validated',
  content: ANSWERS.small,
  request: () => get(`${PLACES.validated}small`),
};

/** RFC 10008 */
export const QUERY_HIT: Asking = {
  comes: 'from the cache',
  content: FOUND,
  byPool: true,
  request: () => ({
    method: 'QUERY',
    path: PLACES.query,
    fields: { 'Content-Type': 'application/jsonpath' },
    body: '$.store.book[?@.price < 10].title',
  }),
};

export const byPeer = ({ peers }: CacheTargets, name: PeerName, asking: Asking) =>
  contender({ name, server: peers[name], asking });

const NAMES = { open: '', guarded: ', Bearer', disk: ', with a disk' } as const;

/** By ours, in one of its spaces. */
export function byOurs({ ours, credentials }: CacheTargets, space: SpaceName, asking: Asking) {
  const name = `ours${NAMES[space]}${asking === QUERY_HIT ? ', QUERY' : ''}`;
  const own = { name, server: ours, prefix: SPACES[space], asking };
  return contender(space === 'guarded' ? { ...own, credentials } : own);
}

interface Asked extends Pick<HttpContender, 'name' | 'server'> {
  readonly asking: Asking;
  readonly prefix?: string;
  readonly credentials?: HttpRequest['fields'];
}

function contender({ name, server, asking, prefix = '', credentials = {} }: Asked): Loaded {
  const { comes, content } = asking;
  const make = (more: HttpRequest['fields'] = credentials): HttpRequest => {
    const { path, fields, ...rest } = asking.request();
    return { ...rest, path: `${prefix}${path}`, fields: { ...fields, ...more } };
  };
  const once = comes === 'from the origin';
  const load = once ? fresh(async () => make(), MISSES) : always(make());

  async function probe(): Promise<void> {
    const answers = [];
    for (let asked = 0; asked < PROBES; asked += 1) answers.push(await ask(server.url, make()));
    const wrong = answers.find((answer) => answer.content !== content);
    if (wrong !== undefined) throw new Error(`${name} answered ${wrong.status} ${wrong.content}`);
    const came = originOf(answers);
    if (came !== comes) throw new Error(`${name} has an answer ${came}, not ${comes}`);
    if (credentials['Authorization'] === undefined) return;
    const { status } = await ask(server.url, make({}));
    if (status !== 401) throw new Error(`${name} answered ${status} to a stranger`);
  }
  const asked = { name, server, load, answer: { status: 200 } };
  const generator = (atOnce: number) =>
    asking.byPool ? overPool(pooled(), atOnce) : overWrk(asked, atOnce);

  function pooled(): PoolContender {
    const { body, ...rest } = make();
    const request = { ...rest, ...(body !== undefined && { body: Buffer.from(body) }) };
    const isRight: PoolContender['isRight'] = ({ status }) => status === 200;
    return { name, server, probes: [], prepare: () => () => request, isRight };
  }
  return (atOnce) => ({ ...generator(atOnce), probe });
}

/** The first fills, the last tells. */
const PROBES = 3;

interface Seen {
  readonly status: number;
  readonly content: string;
  readonly served: string | null;
  readonly condition: string | null;
}

/** Where the last of several answers to the same came from, by the marks of the origin. */
function originOf(answers: readonly Omit<Seen, 'status' | 'content'>[]): Asking['comes'] {
  const [before, last] = answers.slice(-2);
  if (last?.condition) return 'validated';
  return before?.served === last?.served ? 'from the cache' : 'from the origin';
}

async function ask(origin: string, { method, path, fields, body }: HttpRequest): Promise<Seen> {
  const init = { method, headers: fields, ...(body !== undefined && { body }) };
  const answer = await fetch(`${origin}${path}`, init);
  const { status, headers } = answer;
  const [served, condition] = [headers.get(MARKS.served), headers.get(MARKS.condition)];
  return { status, content: await answer.text(), served, condition };
}
