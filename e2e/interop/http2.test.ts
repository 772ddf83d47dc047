/** @needs curl */
import { execFile } from 'node:child_process';
import http2 from 'node:http2';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { dpopProver } from '../setup/dpop-prover.ts';
import { startPair } from '../pair/pair.ts';
import type { Pair } from '../pair/pair.ts';
import { ALICE } from './site.ts';

/** HTTP/2 and TLS at a real process, with curl and Node's own client. */
const run = promisify(execFile);
const UNLIMITED = { burst: 1_000_000, per: 0.001 };
const USER = `${ALICE.name}:${ALICE.password}`;
const PROPFIND = ['--request', 'PROPFIND', '--header', 'Depth: 1'];
const QUERY = ['--request', 'QUERY', '--header', 'Content-Type: application/jsonpath'];

let pair: Pair;
let machine: { id: string; secret: string };
beforeAll(async () => {
  pair = await startPair({ settings: { limits: { credentials: UNLIMITED, signIn: UNLIMITED } } });
  await pair.addPerson(ALICE.name, ALICE.password);
  machine = await pair.addClient();
});
afterAll(() => pair[Symbol.asyncDispose]());

/** Returns the HTTP version, the status and the content that curl prints. */
async function curl(...args: readonly string[]): Promise<string> {
  const always = ['--silent', '--show-error', '--max-time', '20'];
  const trust = ['--cacert', join(pair.data, 'tls/certificate.pem')];
  const print = ['--write-out', '\n%{http_version} %{http_code}'];
  const { stdout } = await run('curl', [...always, ...trust, ...print, ...args], {
    env: { PATH: process.env['PATH'], HOME: '/nonexistent' },
  });
  return stdout;
}

interface Way {
  readonly version: string;
  readonly flag: string;
  origin(): string;
}

const WAYS: Readonly<Record<string, Way>> = {
  'HTTP/1.1 in clear text': { version: '1.1', flag: '--http1.1', origin: () => pair.resource },
  'HTTP/2 with prior knowledge': {
    version: '2',
    flag: '--http2-prior-knowledge',
    origin: () => pair.resource,
  },
  'HTTP/1.1 in clear text, though an upgrade to h2c was offered': {
    version: '1.1',
    flag: '--http2',
    origin: () => pair.resource,
  },
  'HTTP/1.1 over TLS': { version: '1.1', flag: '--http1.1', origin: () => pair.resourceTls },
  'HTTP/2 over TLS': { version: '2', flag: '--http2', origin: () => pair.resourceTls },
};

describe.each(Object.entries(WAYS))('curl, %s', (_, { version, flag, origin }) => {
  const ask = (path: string, ...args: readonly string[]) =>
    curl(flag, '--user', USER, ...args, `${origin()}/dav/${path}`);

  test('runs PUT, GET, QUERY, PROPFIND and DELETE of one document', async () => {
    const file = encodeURIComponent(`${version} ${flag} ${new URL(origin()).protocol}.json`);
    const json = ['--header', 'Content-Type: application/json', '--data', '{"a":[1,2]}'];
    expect(await ask(file, '--request', 'PUT', ...json)).toBe(`\n${version} 201`);
    expect(await ask(file)).toBe(`{"a":[1,2]}\n${version} 200`);
    const found = await ask(file, ...QUERY, '--data', '$.a[1]');
    expect(found).toMatch(new RegExp(`^\\[2\\]\\s*${version} 200$`));
    const listing = await ask('', ...PROPFIND);
    expect(listing).toContain(`/dav/${file}</D:href>`);
    expect(listing).toMatch(new RegExp(`\n${version} 207$`));
    expect(await ask(file, '--request', 'DELETE')).toBe(`\n${version} 204`);
    expect(await ask(file)).toMatch(new RegExp(`\n${version} 404$`));
  });

  test('uploads a large document, after it was refused once', async () => {
    const content = 'x'.repeat(100_000);
    const put = ['--request', 'PUT', '--data-binary', content];
    const stranger = await curl(flag, ...put, `${origin()}/dav/large`);
    expect(stranger).toMatch(new RegExp(`\n${version} 401$`));
    expect(await ask('large', ...put)).toMatch(new RegExp(`\n${version} 20[14]$`));
    expect(await ask('large')).toBe(`${content}\n${version} 200`);
  });

  test('gets 501 for unknown methods with content', async () => {
    for (const method of ['BAN', 'PURGE', 'FOO', 'get']) {
      const answer = await ask('', '--request', method);
      expect(answer).toMatch(/"status":501/);
      expect(answer).toMatch(new RegExp(`\n${version} 501$`));
    }
  });
});

describe("Node's own client", () => {
  const authorization = `Basic ${Buffer.from(USER).toString('base64')}`;

  test.each([
    ['in clear text', () => pair.resource],
    ['over TLS', () => pair.resourceTls],
  ])('sends many requests at a time on one connection, %s', async (_, origin) => {
    const client = http2.connect(origin(), { rejectUnauthorized: false });
    const ask = async (method: string, path: string, content = '') => {
      const head = { ':method': method, ':path': `/dav/${path}`, authorization };
      const fields = { ...head, 'content-type': 'text/plain' };
      const stream = client.request(fields, { endStream: content === '' });
      const status = new Promise((resolve) => {
        stream.on('response', (received) => resolve(received[':status']));
      });
      if (content !== '') stream.end(content);
      return [await status, await text(stream)];
    };
    const names = Array.from({ length: 50 }, (_name, index) => `node-${index}`);
    const puts = await Promise.all(names.map((name) => ask('PUT', name, name)));
    for (const [status] of puts) expect([201, 204]).toContain(status);
    const gets = await Promise.all(names.map((name) => ask('GET', name)));
    expect(gets).toEqual(names.map((name) => [200, name]));
    client.destroy();
  });
});

describe('two origins with the same documents', () => {
  const origins = () => [pair.resource, pair.resourceTls];

  test('RFC 9728 section 3.3: the metadata of each origin names that origin', async () => {
    for (const origin of origins()) {
      const path = '/.well-known/oauth-protected-resource/documents';
      for (const flag of ['--http1.1', '--http2']) {
        const [document = ''] = (await curl(flag, `${origin}${path}`)).split('\n');
        expect(JSON.parse(document)).toMatchObject({ resource: `${origin}/documents/` });
      }
    }
  });

  test('RFC 9728 section 5.1: the challenge of each origin names its own metadata', async () => {
    for (const origin of origins()) {
      const answer = await curl('--head', `${origin}/documents/`);
      expect(answer).toContain(
        `resource_metadata="${origin}/.well-known/oauth-protected-resource/documents/"`,
      );
    }
  });

  async function tokenFor(origin: string, headers: Record<string, string> = {}): Promise<string> {
    const response = await fetch(`${pair.issuer}/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${machine.id}:${machine.secret}`)}`, ...headers },
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        resource: `${origin}/documents/`,
      }),
    });
    const { access_token: token } = (await response.json()) as { access_token?: string };
    if (token === undefined) throw new Error(`no token: ${response.status}`);
    return token;
  }

  test('RFC 8707 section 2: a token for one origin is refused at the other', async () => {
    for (const origin of origins()) {
      const token = await tokenFor(origin);
      for (const target of origins()) {
        const answer = await curl(
          '--header',
          `Authorization: Bearer ${token}`,
          `${target}/documents/`,
        );
        expect(answer).toMatch(target === origin ? / 200$/ : / 401$/);
      }
    }
  });

  test('RFC 9449 section 4.3: htu must have the origin of the request', async () => {
    const prover = await dpopProver();
    const proof = await prover.proof({ method: 'POST', url: `${pair.issuer}/token` });
    const token = await tokenFor(pair.resourceTls, { DPoP: proof });
    for (const flag of ['--http1.1', '--http2']) {
      for (const named of origins()) {
        const dpop = await prover.proof({
          method: 'GET',
          url: `${named}/documents/`,
          accessToken: token,
        });
        const fields = ['--header', `Authorization: DPoP ${token}`, '--header', `DPoP: ${dpop}`];
        const answer = await curl(flag, ...fields, `${pair.resourceTls}/documents/`);
        expect(answer).toMatch(named === pair.resourceTls ? / 200$/ : / 401$/);
      }
    }
  });
});
