/**
 * One run of the suite's own client, as a separate process because its modules keep their results.
 * Arguments: the folder of the suite, the URL of the cache. The last printed line is JSON.
 */
import { Agent, type Dispatcher, request as send } from 'undici';
import { importOf } from './suite.ts';

interface Init {
  readonly method?: 'GET';
  readonly headers: readonly (readonly [string, string])[];
  readonly body?: string;
  /** Later versions provide one that reports interim answers. */
  readonly dispatcher?: Dispatcher;
}

type Fetch = typeof plainFetch;

/** Milliseconds for an answer: a cache that waits forever fails one test, not the run. */
const PATIENCE = 20_000;
const agent = new Agent({ pipelining: 0, headersTimeout: PATIENCE, bodyTimeout: PATIENCE });

/**
 * The parts of `fetch` that the suite needs. The real `fetch` adds fields (Fetch section 4.5), which caches
 * would obey.
 */
async function plainFetch(
  url: string,
  { method = 'GET', headers = [], body, dispatcher = agent }: Partial<Init> = {},
) {
  const joined = new Headers(headers.map(([name, value]) => [name, value]));
  const sent = { dispatcher, method, headers: joined, ...(body !== undefined && { body }) };
  const answer = await send(url, sent);
  const content = await answer.body.text();
  const fields = new Headers();
  for (const [name, value] of Object.entries(answer.headers)) {
    for (const one of [value ?? []].flat()) fields.append(name, one);
  }
  const { statusCode: status, statusText } = answer;
  return { status, statusText, headers: fields, text: async () => content };
}

const [folder = '', base = ''] = process.argv.slice(2);
const { default: groups } = await importOf(folder, 'tests/index.mjs');
const { runTests, getResults } = (await importOf(folder, 'client/runner.mjs')) as {
  runTests(groups: unknown, fetch: Fetch, browser: boolean, base: string): Promise<void>;
  getResults(): unknown;
};
await runTests(groups, plainFetch, false, base);
process.stdout.write(`\n${JSON.stringify({ groups, results: getResults() })}\n`);
await agent.close();
