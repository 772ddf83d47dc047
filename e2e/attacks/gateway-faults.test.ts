import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type Answer,
  type Client,
  connectTo,
  valueOf,
  type Version,
  VERSIONS,
} from '../interop/gateway/client.ts';
import { basic, type GatewaySite, startGatewaySite } from '../interop/gateway/gateway-site.ts';
import { CONTENT, type Fault, FAULTS, serveFaults, UNASKED } from '../parts/faulty-upstream.ts';
import { type RawRequest, type RawUpstream, startRawUpstream } from '../parts/raw-upstream.ts';

/**
 * Behind a faulty upstream a client gets a whole answer, a 502 or 504, or an answer that is visibly
 * incomplete.
 */
const TIMEOUT = 2;

/** A 502 or 504 of the gateway, an answer that breaks off, or a whole answer. */
type Outcome = 502 | 504 | 'broken' | 'whole' | 'empty';

/** The allowed outcomes of each fault. If readers may differ, all safe outcomes are allowed. */
const OUTCOMES: Readonly<Record<Fault, readonly Outcome[]>> = {
  'no HTTP at all': [502],
  'a line and nothing': [502],
  'the answer of HTTP/2': [502],
  'a version that is none': [502],
  'a status of two digits': [502],
  'a status of four digits': [502],
  'status 099': [502],
  'status 600': [502],
  'status 999': [502],
  '101 unasked': [502],
  'a line without a colon': [502],
  'a name that is empty': [502],
  'a name with a blank': [502],
  'NUL in a value': [502],
  'NUL in a name': [502],
  'a bare CR in a value': [502],
  'two lengths': [502],
  'a list of lengths': [502],
  'a negative length': [502],
  'a length with a sign': [502],
  'a length in hexadecimals': [502],
  'a length beyond numbers': [502],
  'a length beside chunks': [502],
  'a coding that nobody has': [502],
  'a coding behind chunked': [502],
  'a field of 128 KiB': [502],
  '2,000 fields': [502, 'whole'],
  '20,000 fields': [502],
  'a head without end': [502],
  'a reason without end': [502, 504],
  'interim answers without end': [502],
  '100 without end': [502],
  'no answer': [504],
  'half a head': [504],
  'interim answers and no other': [504],
  'a head drop by drop': [504],
  'closed at once': [502],
  'reset at once': [502],
  'closed in mid-content': ['broken'],
  'reset in mid-content': [502, 'broken'],
  'closed one octet early': ['broken'],
  'closed between chunks': ['broken'],
  'closed within a chunk': ['broken'],
  'closed before the last line': ['broken'],
  'closed within trailers': ['broken'],
  'reset between chunks': [502, 'broken'],
  'reset without a length': [502, 'broken'],
  'closed in mid-content, as announced': ['broken'],
  'closed between chunks, as announced': ['broken'],
  'reset in mid-content, as announced': [502, 'broken'],
  'reset between chunks, as announced': [502, 'broken'],
  'content that stops': ['broken'],
  'chunks that stop': ['broken'],
  'a chunk of x octets': [502, 'broken'],
  'a chunk of less than none': [502, 'broken'],
  'a chunk beyond numbers': [502, 'broken'],
  'a chunk that is longer than it says': [502, 'broken'],
  'an extension without end': [502, 'broken'],
  'extensions of megabytes': [502, 'broken', 'whole'],
  'trailers without end': [502, 'broken'],
  'longer than it says': [502, 'broken', 'whole'],
  'a second answer': [502, 'broken', 'whole'],
  'a second answer behind chunks': [502, 'broken', 'whole'],
  'a second answer behind 204': [502, 'empty'],
  'a second answer behind 304': [502, 'empty'],
  '204 with content': [502, 'empty'],
  'the right answer': ['whole'],
  'the end of the connection': ['whole'],
  'closed behind it': ['whole'],
  'drop by drop': ['whole'],
  'chunks of one octet': ['whole'],
  'a chunk with an extension': ['whole'],
  'the same length twice': [502, 'whole'],
  'no reason phrase': ['whole'],
  'ten interim answers': ['whole'],
  'an empty content by chunks': ['empty'],
  'HTTP/1.0': ['whole'],
  'bare line feeds': [502, 'whole'],
  'a folded line': [502, 'whole'],
  'a blank before the colon': [502, 'whole'],
};

/** The content of a whole answer, if it is not CONTENT. */
const WHOLE: Partial<Record<Fault, string>> = { 'longer than it says': CONTENT.slice(0, 4) };

const parts = new AsyncDisposableStack();
let upstream: RawUpstream;
let site: GatewaySite;
const clients = new Map<Version, Client>();

beforeAll(async () => {
  upstream = parts.use(await startRawUpstream(serveFaults));
  site = parts.use(
    await startGatewaySite({
      app: { upstream: { url: `${upstream.url}/base/`, timeout: TIMEOUT } },
    }),
  );
  for (const version of VERSIONS) clients.set(version, parts.use(connectTo(site.origin, version)));
});
afterAll(async () => parts.disposeAsync());

function ask(version: Version, name: string, method = 'GET', content = ''): Promise<Answer> {
  const client = clients.get(version);
  if (client === undefined) throw new Error(`no client of ${version}`);
  const fields = [basic()];
  return client.ask(`/app/${encodeURIComponent(name)}`, { method, fields, content });
}

/** Returns the outcome. Throws if the answer is not an allowed kind. */
function outcomeOf(name: Fault, answer: Answer): Outcome {
  const { status, complete } = answer;
  const content = answer.content.toString('latin1');
  if (!complete) return 'broken';
  if (status === 502 || status === 504) {
    expect(valueOf(answer, 'content-type')).toBe('application/problem+json');
    expect(JSON.parse(content)).toMatchObject({ status });
    return status;
  }
  expect([200, 204, 304]).toContain(status);
  if (content === '') return 'empty';
  expect(content).toBe(WHOLE[name] ?? CONTENT);
  return 'whole';
}

/** Expects valid field names and values, and no injected cookie. */
function expectClean({ fields }: Answer): void {
  for (const [name, value] of fields) {
    expect(name).toMatch(/^[!#$%&'*+.^_`|~\w-]+$/);
    expect(value).toMatch(/^[\t -~\x80-\xFF]*$/);
    expect([name, value]).not.toEqual(['set-cookie', 'stolen=1']);
  }
}

const NAMES = Object.keys(FAULTS) as readonly Fault[];
const METHODS = ['GET', 'POST', 'HEAD'] as const;
type Method = (typeof METHODS)[number];
/** The content that each method sends. */
const SENT: Readonly<Record<Method, string>> = { GET: '', POST: 'once', HEAD: '' };
/** Faults with slow answers: the gateway waits for its timeout, or the answer is very long. */
const SLOW = NAMES.filter(
  (name) =>
    OUTCOMES[name].includes(504) ||
    / that stops?$|drop by drop$|^an extension without end/.test(name),
);

describe.each(VERSIONS)('%s', (version) => {
  const heard: RawRequest[] = [];
  /** The slow answers, all requested at once before the tests. */
  const begun = new Map<string, Promise<Answer>>();
  beforeAll(() => {
    upstream.take();
    for (const name of SLOW) {
      for (const method of METHODS) {
        const answer = ask(version, name, method, SENT[method]);
        answer.catch(() => {}); // the test that awaits this answer reports its error
        begun.set(`${method} ${name}`, answer);
      }
    }
  });

  const answerTo = (name: Fault, method: Method = 'GET') =>
    begun.get(`${method} ${name}`) ?? ask(version, name, method, SENT[method]);

  /** Returns the requests that the application received for a fault and a method. */
  function heardOf(name: Fault, method: Method): readonly RawRequest[] {
    heard.push(...upstream.take());
    const path = `/base/${encodeURIComponent(name)}`;
    return heard.filter((one) => one.method === method && one.target === path);
  }

  test.each(NAMES)(
    'after a GET the client gets an allowed outcome, and then a right answer: %s',
    async (name) => {
      const answer = await answerTo(name);
      expect(OUTCOMES[name]).toContain(outcomeOf(name, answer));
      expectClean(answer);
      const next = await ask(version, 'the right answer');
      expect([next.status, next.content.toString()]).toEqual([200, CONTENT]);
    },
  );

  test.each(NAMES)('%s: the application receives a POST once', async (name) => {
    const answer = await answerTo(name, 'POST');
    expect(OUTCOMES[name]).toContain(outcomeOf(name, answer));
    expect(heardOf(name, 'POST').map(({ read }) => read)).toEqual(['once']);
  });

  test.each(NAMES)(
    '%s: the answer to HEAD has no content, and the next request gets its own answer',
    async (name) => {
      const { status, content } = await answerTo(name, 'HEAD');
      expect(content.toString()).toBe('');
      expect([0, 200, 204, 304, 502, 504]).toContain(status);
      const next = await ask(version, 'the right answer');
      expect([next.status, next.content.toString()]).toEqual([200, CONTENT]);
    },
  );

  test('RFC 9110 section 9.2.2: the application receives an idempotent request twice at most', async () => {
    const before = heardOf('closed at once', 'GET').length;
    expect(outcomeOf('closed at once', await ask(version, 'closed at once'))).toBe(502);
    expect([1, 2]).toContain(heardOf('closed at once', 'GET').length - before);
  });

  test('many requests at once with all faults: each gets its own answer', async () => {
    const quick = NAMES.filter((name) => !OUTCOMES[name].includes(504));
    const asked = quick.flatMap((name) => [name, 'the right answer'] as const);
    const answers = await Promise.all(asked.map((name) => ask(version, name)));
    for (const [index, name] of asked.entries()) {
      const answer = answers[index];
      if (answer === undefined) throw new Error('as many answers as requests');
      expect([name, OUTCOMES[name].includes(outcomeOf(name, answer))]).toEqual([name, true]);
      expect(answer.content.toString()).not.toContain(UNASKED);
    }
  });
});

/** Returns the octets until the connection is over, and whether it was reset. */
async function untilClosed(name: string): Promise<{ received: string; reset: boolean }> {
  const { hostname, port } = new URL(site.origin);
  const socket = connect({ host: hostname, port: Number(port) });
  const asked = [`GET /app/${encodeURIComponent(name)} HTTP/1.0`, basic().join(': '), '', ''];
  socket.write(asked.join('\r\n'));
  let received = '';
  let reset = false;
  socket.on('data', (piece) => (received += piece.toString('latin1')));
  socket.on('error', () => (reset = true));
  await new Promise((resolve) => socket.once('close', resolve));
  return { received, reset };
}

test('an HTTP/1.0 client sees an incomplete answer: the gateway resets the connection or has sent Content-Length', async () => {
  const right = await untilClosed('the end of the connection');
  expect(right).toEqual({ received: expect.stringContaining(CONTENT), reset: false });
  for (const name of ['closed between chunks', 'closed in mid-content', 'chunks that stop']) {
    const { received, reset } = await untilClosed(name);
    const [, length] = /^content-length: (\d+)$/im.exec(received) ?? [];
    const content = received.slice(received.indexOf('\r\n\r\n') + 4);
    expect([name, reset || Number(length) > content.length]).toEqual([name, true]);
  }
});

test('after these tests, no logged error is a defect, and the application received no ambiguous request', async () => {
  const log = site.pair.resources[0]?.log ?? '';
  expect(log.split('\n').filter((one) => one.includes('"level":"error"'))).toEqual([]);
  expect(upstream.unreadable).toEqual([]);
});
