import assert from 'node:assert/strict';
import { once } from 'node:events';
import http2 from 'node:http2';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { type Flow, startFlowOn, type StoreKind } from '../../flows/flow.ts';
import { NODE, startProcess } from '../../parts/process.ts';
import { UNLIMITED } from '../attacked-pair.fixture.ts';
import { dice } from '../dice.ts';
import { type Asked, asked } from './asked.ts';
import { type Heard, MOMENTARY, overHttp1, RANDOM } from './over-http1.ts';
import { knownCredentials } from './credentials.ts';
import { createWriting } from './writing.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** Requests between two changes of credentials; WIDTH requests run at a time. */
const BETWEEN = 60;
const WIDTH = 6;

export interface Differential {
  readonly seed: number;
  readonly requests: number;
  readonly progress?: (requests: number) => void;
}

/** How often each status came from both servers, and how many requests had revoked credentials. */
export interface Alike {
  readonly statuses: Readonly<Record<number, number>>;
  readonly ended: number;
}

const SETTINGS = ({ resource }: { resource: string }) => ({
  trustedProxies: ['127.0.0.0/8'],
  tokens: { lifetime: 86_400 },
  limits: { credentials: UNLIMITED, signIn: UNLIMITED },
  spaces: [
    {
      url: `${resource}/documents/`,
      realm: 'documents',
      schemes: ['Bearer', 'DPoP'],
      scopes: { safe: ['documents:read'], unsafe: ['documents:write'] },
      cors: { origins: ['https://pages.example'] },
    },
    {
      url: `${resource}/hidden/`,
      realm: 'hidden',
      schemes: ['Bearer', 'DPoP'],
      scopes: { safe: ['hidden:read'], unsafe: ['hidden:write'] },
      hide: 'forbidden',
    },
    {
      url: `${resource}/dav/`,
      realm: 'dav',
      schemes: ['Digest', 'Basic', 'SCRAM-SHA-256', 'API-Key', 'Bearer'],
      apiKey: { limit: UNLIMITED },
      tree: 'own',
    },
    {
      url: `${resource}/identity/`,
      realm: 'identity',
      schemes: ['Basic', 'API-Key'],
      apiKey: { limit: UNLIMITED },
      serves: 'identity',
    },
    {
      url: `${resource}/app/`,
      realm: 'app',
      schemes: ['Bearer', 'Basic'],
      scopes: { safe: ['app:read'], unsafe: ['app:write'] },
      serves: 'verify',
    },
  ],
});

/**
 * Runs two resource servers on one store: one as usual, and one that awaits everything and caches nothing.
 * Each generated request goes to both, while a third process revokes tokens, people and keys, and a
 * document is written through either. Rejects for a difference in status, fields or content, and if revoked
 * credentials are admitted.
 */
export async function compareTwoWays(kind: StoreKind, asking: Differential): Promise<Alike> {
  await using flow = await startFlowOn(kind, { resource: 2, settings: SETTINGS });
  const [short, replaced] = flow.pair.resources;
  assert(short && replaced);
  await replaced.kill();
  await using _ = await startProcess(
    process.execPath,
    ['--import', new URL('long-way.ts', import.meta.url).href, `${ROOT}resource-server/main.ts`],
    {
      env: { ...NODE, COUNTERSIGN_CONFIG: `${flow.pair.data}/config-1.json` },
      ready: (output) => output.includes('"event":"listening"'),
    },
  );
  return await compare(flow, [short.url, replaced.url], asking);
}

async function compare(
  flow: Flow,
  urls: readonly [string, string],
  { seed, requests, progress }: Differential,
): Promise<Alike> {
  const roll = dice(seed);
  const host = new URL(flow.pair.resource).host;
  const credentials = await knownCredentials(flow, roll);
  const { write, read } = await createWriting(flow, urls, roll);
  const statuses: Record<number, number> = {};
  let ended = 0;
  const sessions = urls.map((url) => http2.connect(url));

  async function judge(request: Asked, send: (at: 0 | 1) => Promise<Heard>): Promise<void> {
    const [one, other] = await Promise.all([send(0), send(1)]);
    const context = `seed ${seed}: ${JSON.stringify(request)}`;
    assert.deepEqual(other, one, context);
    statuses[one.status] = (statuses[one.status] ?? 0) + 1;
    if (request.shown?.ended !== true || !needsCredentials(request)) return;
    ended += 1;
    assert(one.status >= 400, `entered with what has been ended: ${context}`);
  }

  async function over1(request = asked(roll, host, credentials.all)): Promise<void> {
    const bytes = messageOf(request);
    await judge(request, (at) => overHttp1(urls[at], bytes));
  }

  async function over2(): Promise<void> {
    const request = asked(roll, host, credentials.all);
    const fields = fieldsOfHttp2(request);
    if (fields === undefined) return over1();
    await judge(request, (at) => overHttp2(sessions[at] as http2.ClientHttp2Session, fields));
  }

  try {
    for (let sent = 0; sent < requests; sent += BETWEEN) {
      const numbers = Array.from({ length: BETWEEN }, (_, index) => sent + index).values();
      const lane = async () => {
        for (const number of numbers) await (number % 3 === 0 ? over2() : over1());
      };
      await Promise.all(Array.from({ length: WIDTH }, lane));
      await credentials.change();
      await write();
      await over1(read);
      progress?.(sent);
    }
  } finally {
    for (const session of sessions) session.destroy();
  }
  return { statuses, ended };
}

/** Whether this request needs credentials to succeed. Answers of other requests do not depend on them. */
function needsCredentials({ target, method }: Asked): boolean {
  return (
    /^\/(?:documents|hidden|dav|identity)\/|^\/verify$/.test(target) &&
    ['GET', 'HEAD', 'QUERY', 'PROPFIND'].includes(method)
  );
}

function messageOf({ method, target, version, fields }: Asked): Buffer {
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${target} ${version}\r\n${lines.join('')}\r\n`, 'latin1');
}

/** Undefined if Node's HTTP/2 client cannot send these fields, or changes them. */
function fieldsOfHttp2({ method, target, fields }: Asked) {
  const sent: Record<string, string | string[]> = {
    ':method': method,
    ':path': target,
    ':scheme': 'http',
  };
  for (const [name, value] of fields) {
    const lower = name.toLowerCase() === 'host' ? ':authority' : name.toLowerCase();
    if (/^(?:connection|transfer-encoding|expect|content-length)$/.test(lower)) return undefined;
    if (lower in sent) return undefined;
    sent[lower] = value.trim();
  }
  return sent;
}

async function overHttp2(
  session: http2.ClientHttp2Session,
  fields: http2.OutgoingHttpHeaders,
): Promise<Heard> {
  const stream = session.request(fields, { endStream: true });
  let reset = '';
  stream.on('error', ({ message }) => (reset = message));
  const answered = once(stream, 'response').catch(() => [{}]);
  const [{ ':status': status = 0, ...headers }] = (await answered) as [
    http2.IncomingHttpHeaders & Partial<http2.IncomingHttpStatusHeader>,
  ];
  if (status === 0) return { status, rest: [reset] };
  const lines = Object.entries(headers).filter(([name]) => !MOMENTARY.test(name));
  const rest = lines.map(([name, value]) => `${name}: ${String(value)}`.replaceAll(RANDOM, '$1'));
  return { status, rest: [...rest, await text(stream)] };
}
