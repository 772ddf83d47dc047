import { afterAll, beforeAll } from '@jest/globals';
import { EXCHANGES } from '../../playground/exchanges.ts';
import type { Call } from '#shared/server/wire/ask.fixture.ts';
import { RESOURCE, startResourceServer } from '../resource-server.fixture.ts';

/** The exchanges without an authorization server. The others are tested with one in `e2e/flows/start.test.ts`. */
export const ALONE = EXCHANGES.filter(({ ofPair }) => !ofPair);

/** Development mode, in which an answer has its reason. */
export const LOCAL = {
  issuer: 'http://localhost:3000',
  resource: 'http://localhost:3001',
  tls: { resource: 'https://localhost:3443' },
  trustedProxies: [],
  spaces: [],
};

/** The fields that a browser sends with a form of a page at this origin. */
export const OF_PAGE = {
  Accept: 'text/html',
  'Content-Type': 'application/x-www-form-urlencoded',
  Origin: RESOURCE,
  'Sec-Fetch-Site': 'same-origin',
};

/** The server of a suite, which all its tests use. */
export function onePlayground(): { readonly rs: Awaited<ReturnType<typeof startPlayground>> } {
  let started: Awaited<ReturnType<typeof startPlayground>> | undefined;
  beforeAll(async () => {
    started = await startPlayground();
  });
  afterAll(() => started?.[Symbol.asyncDispose]());
  return {
    get rs() {
      if (started === undefined) throw new Error('the suite has not begun');
      return started;
    },
  };
}

/** Starts a server with the playground, and a client that performs each exchange as a new visitor. */
export async function startPlayground(changes: object = {}) {
  const rs = await startResourceServer({ playground: true, ...changes });
  let visitors = 0;
  const perform = (name: string, form = '', headers: Call['headers'] = {}) => {
    visitors += 1;
    const from = { 'X-Forwarded-For': `198.51.${visitors >> 8}.${visitors & 255}` };
    return rs.ask('POST', `/playground/${name}`, {
      headers: { ...OF_PAGE, ...from, ...headers },
      body: form,
    });
  };
  return Object.assign(rs, { perform });
}

const readable = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

/** Returns the messages on a page in order: each request with its answer. */
export function messagesOf(page: string): readonly string[] {
  const texts = [...page.matchAll(/<pre>(.*?)<\/pre>/gs)].map(([, text = '']) => readable(text));
  return texts.filter((text) => /^(?:[A-Z]+ \S+ HTTP|HTTP|:[a-z]+: )\/?/.test(text));
}

/** Returns the status codes of the answers on a page. */
export const statusesOf = (page: string): readonly number[] =>
  messagesOf(page).flatMap((text) => {
    const [, status] = /^(?:HTTP\/1\.1|:status:) (\d{3})/.exec(text) ?? [];
    return status === undefined ? [] : Number(status);
  });

/** Returns the lists of checks on a page, in the order of the exchange. */
export const checksOf = (page: string) =>
  [...page.matchAll(/<ol class="checks">(.*?)<\/ol>/gs)].map(([, list = '']) =>
    [...list.matchAll(/<span class="tag[^"]*">([^<]*)<\/span>(.*?)<\/li>/gs)].map(
      ([, result = '', rest = '']) => ({
        result,
        reason: readable(/<strong>([^<]*)</.exec(rest)?.[1] ?? ''),
      }),
    ),
  );
