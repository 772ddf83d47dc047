import { type CachePeerName, type CacheTargets, SPACES, type SpaceName } from './cache-targets.ts';
import { type HttpContender, overWrk } from './http-load.ts';
import { overPool, type PoolContender } from './pool-load.ts';
import { always, type HttpRequest } from './requests.ts';
import { ANSWERS, FOUND, MARKS, PLACES } from './targets/cached-files.ts';
import type { Loaded } from './work.ts';

type AnswerName = keyof typeof ANSWERS;

/** A repeated request whose answer must come from the cache. */
export interface Asking {
  readonly content: string;
  /** Sent by undici in this process, because wrk cannot send unknown methods. */
  readonly byPool?: true;
  readonly request: Omit<HttpRequest, 'fields'> & Partial<Pick<HttpRequest, 'fields'>>;
}

export const hit = (name: AnswerName): Asking => ({
  content: ANSWERS[name],
  request: { method: 'GET', path: `${PLACES.fresh}${name}` },
});

/** The request that a QUERY is compared with. */
export const SMALL_BY_POOL: Asking = { ...hit('small'), byPool: true };

/** A QUERY that the cache can answer (RFC 10008). */
export const QUERY_HIT: Asking = {
  content: FOUND,
  byPool: true,
  request: {
    method: 'QUERY',
    path: PLACES.query,
    fields: { 'Content-Type': 'application/jsonpath' },
    body: '$.store.book[?@.price < 10].title',
  },
};

export const byPeer = ({ peers }: CacheTargets, name: CachePeerName, asking: Asking) =>
  contender({ name, server: peers[name], asking });

const NAMES = { open: '', guarded: ', Bearer' } as const;

/** Our cache, in one of its spaces. */
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
  const { content } = asking;
  const make = (more: HttpRequest['fields'] = credentials): HttpRequest => {
    const { path, fields, ...rest } = asking.request;
    return { ...rest, path: `${prefix}${path}`, fields: { ...fields, ...more } };
  };

  async function probe(): Promise<void> {
    const answers = [];
    for (let asked = 0; asked < PROBES; asked += 1) answers.push(await ask(server.url, make()));
    const wrong = answers.find((answer) => answer.content !== content);
    if (wrong !== undefined) throw new Error(`${name} answered ${wrong.status} ${wrong.content}`);
    const [before, last] = answers.slice(-2);
    if (last?.condition || before?.served !== last?.served) {
      throw new Error(`${name} asked the origin`);
    }
    if (credentials['Authorization'] === undefined) return;
    const { status } = await ask(server.url, make({}));
    if (status !== 401) throw new Error(`${name} answered ${status} to a stranger`);
  }
  const asked = { name, server, load: always(make()), answer: { status: 200 } };
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

/** The first request fills the cache, and the last one is checked. */
const PROBES = 3;

interface Seen {
  readonly status: number;
  readonly content: string;
  /** The name of the request that the origin answered. */
  readonly served: string | null;
  /** The validator of that request. */
  readonly condition: string | null;
}

async function ask(origin: string, { method, path, fields, body }: HttpRequest): Promise<Seen> {
  const init = { method, headers: fields, ...(body !== undefined && { body }) };
  const answer = await fetch(`${origin}${path}`, init);
  const { status, headers } = answer;
  const [served, condition] = [headers.get(MARKS.served), headers.get(MARKS.condition)];
  return { status, content: await answer.text(), served, condition };
}
