import { once } from 'node:events';
import http from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { until } from '../../../e2e/parts/process.ts';
import { type Application, startApplication, startGateway } from '../gateway.fixture.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const TRACEPARENT = `00-${TRACE}-${PARENT}-01`;
const TRACESTATE = 'congo=t61rcWkgMzE';
const [PROXY, STRANGER] = ['127.0.0.2', '127.0.0.1'];

let application: Application;
let gateway: Awaited<ReturnType<typeof startGateway>>;
beforeAll(async () => {
  application = await startApplication();
  gateway = await startGateway(
    { open: { upstream: { url: application.url }, schemes: [], scopes: {} } },
    { trustedProxies: [PROXY] },
  );
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await application[Symbol.asyncDispose]();
});
beforeEach(() => void application.asked.splice(0));

let requests = 0;

/** Sends fields from an address. Resolves to the trace fields that the application got, and to the log line. */
async function traced(localAddress: string, fields: readonly string[]) {
  requests += 1;
  const path = `/open/r${requests}`;
  const { port } = gateway.listening;
  const headers = ['Host', '127.0.0.1', ...fields];
  const asking = http.request({
    port,
    host: '127.0.0.1',
    localAddress,
    path,
    headers,
    agent: false,
  });
  const [answer] = (await once(asking.end(), 'response')) as [http.IncomingMessage];
  answer.resume();
  const { raw = [] } = application.asked.at(-1) ?? {};
  const told = raw.flatMap((name, index) =>
    index % 2 === 0 && /^trace(?:parent|state)$/i.test(name) ? [raw[index + 1] ?? ''] : [],
  );
  const lineOf = () =>
    gateway.lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .find((line) => line['path'] === path);
  await until(async () => lineOf() !== undefined);
  return { told, trace: lineOf()?.['trace'], status: answer.statusCode };
}

test('W3C Trace Context section 4.2: the trace of a trusted proxy is passed on with a parent-id of the gateway', async () => {
  const { told, trace } = await traced(PROXY, [
    'traceparent',
    TRACEPARENT,
    'tracestate',
    TRACESTATE,
  ]);
  expect(trace).toBe(TRACE);
  expect(told).toEqual([expect.stringMatching(`^00-${TRACE}-[0-9a-f]{16}-01$`), TRACESTATE]);
  expect(told[0]).not.toContain(PARENT);
});

test('each request to an application has its own parent-id', async () => {
  const parents = new Set<string | undefined>();
  for (let count = 0; count < 3; count += 1) {
    parents.add((await traced(PROXY, ['Traceparent', TRACEPARENT])).told[0]);
  }
  expect(parents.size).toBe(3);
});

test('section 3.3.1: several lines of tracestate are joined into one list', async () => {
  const fields = ['traceparent', TRACEPARENT, 'tracestate', 'a=1', 'tracestate', 'b=2'];
  const { told } = await traced(PROXY, fields);
  expect(told[1]?.replaceAll(' ', '')).toBe('a=1,b=2');
});

test.each<[string, string, readonly string[]]>([
  ['of a stranger', STRANGER, ['traceparent', TRACEPARENT, 'tracestate', TRACESTATE]],
  [
    'of a stranger in other spellings',
    STRANGER,
    ['Trace_Parent', TRACEPARENT, 'TRACEPARENT', TRACEPARENT],
  ],
  ['that comes twice', PROXY, ['traceparent', TRACEPARENT, 'traceparent', TRACEPARENT]],
  ['of version ff', PROXY, ['traceparent', TRACEPARENT.replace('00', 'ff')]],
  ['in upper case', PROXY, ['traceparent', TRACEPARENT.toUpperCase()]],
  ['all zeros', PROXY, ['traceparent', `00-${'0'.repeat(32)}-${PARENT}-01`]],
  ['with a line of the log in it', PROXY, ['traceparent', `${TRACEPARENT}","level":"error`]],
  ['with its state alone', PROXY, ['tracestate', TRACESTATE]],
  [
    'that Connection names, so that it is for one hop',
    STRANGER,
    ['traceparent', TRACEPARENT, 'Connection', 'traceparent'],
  ],
])('a trace %s is not logged, and reaches no application', async (_what, from, fields) => {
  expect(await traced(from, fields)).toEqual({ told: [], trace: undefined, status: 200 });
});

test('RFC 9576 section 3.3: a request with PrivateToken is passed on without a trace', async () => {
  const fields = ['traceparent', TRACEPARENT, 'Authorization', 'PrivateToken token="eA=="'];
  expect(await traced(PROXY, fields)).toMatchObject({ told: [], trace: undefined });
});
