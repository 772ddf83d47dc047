/** @needs python3 */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ProxyAgent, request } from 'undici';
import { valuesOf } from '../clients/digest/exchange.ts';
import { ONE_STORE } from '../flows/flow.ts';
import { curl, wget } from './programs.ts';
import { basic, makeCertificate, SECRETS, startOrigin, startProxySite } from './proxy-site.ts';
import type { CertificateFiles, Origin, ProxyProcess, ProxySite } from './proxy-site.ts';
import { ALICE, identity, JASON } from './site.ts';
import { until } from '../parts/process.ts';

/** Third-party clients at the forward proxy (RFC 9110 section 11.7). Negotiate: negotiate-proxy.test.ts. */
const WRONG = { ...ALICE, password: 'wrong' };
const NOBODY = { ...ALICE, name: 'nobody' };
type Person = typeof ALICE;

const TUNNEL = '--proxytunnel';
const QUERY = 'secret-query';

const parts = new AsyncDisposableStack();
let files: CertificateFiles;
let origin: Origin;
let secure: Origin;
beforeAll(async () => {
  files = parts.use(await makeCertificate());
  origin = parts.use(await startOrigin());
  secure = parts.use(await startOrigin(undefined, files));
});
afterAll(async () => parts.disposeAsync());
beforeEach(() => void [origin, secure].map((one) => one.take()));

/** The targets of the requests at the origin. Expects that none of them has proxy credentials. */
function arrived(): readonly string[] {
  const got = origin.take();
  expect(got.flatMap(({ fields }) => valuesOf(fields, 'proxy-authorization'))).toEqual([]);
  return got.map(({ target }) => target);
}

describe.each(ONE_STORE)('on %s', (kind) => {
  let site: ProxySite;
  let tls: ProxyProcess;
  let token: string;
  let key: string;
  beforeAll(async () => {
    const proxy = { destinations: ['self', origin.at, secure.at] };
    site = await startProxySite(kind, () => proxy);
    const { certificate, key: secret } = files;
    tls = await site.startBeside({ proxy: { ...proxy, tls: { certificate, key: secret } } });
    const { pair } = site;
    const client = await pair.addClient('schemes');
    const form = { grant_type: 'client_credentials', resource: space('all') };
    token = String((await pair.post('/token', form, client)).body['access_token']);
    const args = ['--application', 'meter', '--realm', 'api-key', '--scope', 'schemes'];
    key = String((await pair.cli('key', 'add', ...args))['key']);
  });
  afterAll(async () => site[Symbol.asyncDispose]());

  const proxyUrl = ({ name, password }: Person = { name: '', password: '' }) => {
    const url = new URL(site.pair.proxies[0] ?? '');
    [url.username, url.password] = [name, password];
    return url.href;
  };
  const space = (name: string) => `${site.pair.resource}/schemes/${name}/`;
  const http = () => `http://${origin.at}/a?${QUERY}`;
  const https = () => `https://${secure.at}/`;

  describe('curl', () => {
    const at = (...args: readonly string[]) => curl('--proxy', proxyUrl(), ...args);
    const as = ({ name, password }: Person) => ['--proxy-user', `${name}:${password}`];

    describe.each([ALICE, JASON])('$name', (person) => {
      test.each([
        ['--proxy-basic', []],
        ['--proxy-digest', [407]],
        ['--proxy-anyauth', [407]],
      ])('%s admits a request and a tunnel', async (how, asked) => {
        const direct = await at(how, ...as(person), http());
        expect(direct).toMatchObject({ statuses: [...asked, 200], body: 'hello' });
        const tunnelled = await at(TUNNEL, how, ...as(person), http());
        expect(tunnelled).toMatchObject({ statuses: [...asked, 200, 200], body: 'hello' });
        expect(arrived()).toEqual([`/a?${QUERY}`, `/a?${QUERY}`]);
      });
    });

    describe.each([WRONG, NOBODY])('$name, $password', (person) => {
      test.each([
        ['--proxy-basic', [407]],
        ['--proxy-digest', [407, 407]],
      ])(
        '%s gets 407 with all challenges, and the origin gets no request',
        async (how, statuses) => {
          const { fields, ...direct } = await at(how, ...as(person), http());
          expect(direct).toMatchObject({ statuses });
          const challenges = fields.get('proxy-authenticate') ?? [];
          expect(challenges.map((line) => line.split(' ')[0])).toEqual(['Digest', 'Basic']);
          await expect(at(TUNNEL, how, ...as(person), http())).rejects.toMatchObject({
            stderr: expect.stringContaining('407'),
          });
          expect(origin.take()).toEqual([]);
        },
      );
    });

    test('content reaches the origin once', async () => {
      const told = await at('--proxy-digest', ...as(ALICE), '--data', 'content', http());
      expect(told).toMatchObject({ statuses: [407, 200] });
      expect(origin.take()).toMatchObject([{ method: 'POST', content: 'content' }]);
    });

    test('after a 407 the connection serves the next attempt, also for a tunnel', async () => {
      const count = ['--write-out', '\n%{num_connects}', '--proxy-digest', ...as(ALICE), http()];
      expect((await at(...count)).body).toBe('hello\n1');
      expect((await at(TUNNEL, ...count)).body).toBe('hello\n1');
    });

    test('RFC 9110 section 9.3.6: TLS passes through a tunnel unchanged', async () => {
      const told = await at('--proxy-digest', ...as(ALICE), '--cacert', files.certificate, https());
      expect(told).toMatchObject({ statuses: [407, 200, 200], body: 'hello' });
      const [got] = secure.take();
      expect(got?.fields.map(([name]) => name)).toEqual(['host', 'user-agent', 'accept']);
    });

    test('the proxy accepts TLS from the client', async () => {
      const there = ['--proxy', `https://localhost:${tls.port}`];
      const args = [...there, '--proxy-cacert', files.certificate, '--proxy-digest', ...as(ALICE)];
      expect(await curl(...args, http())).toMatchObject({ statuses: [407, 200], body: 'hello' });
      const tunnelled = await curl(TUNNEL, ...args, http());
      expect(tunnelled).toMatchObject({ statuses: [407, 200, 200], body: 'hello' });
    });

    describe('RFC 9110 section 11: credentials for the proxy and for the origin', () => {
      const user = ({ name, password }: Person) => ['--user', `${name}:${password}`];

      test.each([
        ['--proxy-basic', '--basic', [], []],
        ['--proxy-basic', '--digest', [], [401]],
        ['--proxy-digest', '--basic', [407], []],
        ['--proxy-digest', '--digest', [407], [401]],
      ])(
        '%s for the proxy and %s for the origin are admitted',
        async (atProxy, atOrigin, asked, askedAgain) => {
          const [name, scheme] = atOrigin === '--basic' ? ['basic', 'Basic'] : ['digest', 'Digest'];
          const args = [atProxy, ...as(ALICE), atOrigin, ...user(JASON), space(name)];
          const body = identity(scheme, name, JASON);
          const direct = await at(...args);
          expect(direct).toMatchObject({ statuses: [...asked, ...askedAgain, 200], body });
          const tunnelled = await at(TUNNEL, ...args);
          expect(tunnelled).toMatchObject({ statuses: [...asked, 200, ...askedAgain, 200], body });
        },
      );

      test.each([
        ['Bearer', 'all', () => ['--oauth2-bearer', token]],
        ['API-Key', 'api-key', () => ['--header', `X-API-Key: ${key}`]],
      ])('--proxy-digest and %s are admitted', async (scheme, name, credentials) => {
        const args = ['--proxy-digest', ...as(ALICE), ...credentials(), space(name)];
        const direct = await at(...args);
        expect(direct.statuses).toEqual([407, 200]);
        expect(JSON.parse(direct.body)).toMatchObject({ scheme, realm: name });
        expect(await at(TUNNEL, ...args)).toMatchObject({ statuses: [407, 200, 200] });
      });

      test.each([
        ['the proxy', WRONG, ALICE, [407, 407]],
        ['the origin', ALICE, WRONG, [407, 401, 401]],
      ])(
        'a wrong password at %s alone is refused there',
        async (_where, atProxy, atOrigin, statuses) => {
          const args = ['--proxy-digest', ...as(atProxy), '--digest', ...user(atOrigin)];
          expect(await at(...args, space('digest'))).toMatchObject({ statuses });
        },
      );
    });
  });

  describe('wget, which sends Basic unasked', () => {
    const ask = ({ name, password }: Person, ...args: readonly string[]) => {
      const proxies = ['http', 'https'].flatMap((scheme) => [
        '-e',
        `${scheme}_proxy=${proxyUrl()}`,
      ]);
      const who = [`--proxy-user=${name}`, `--proxy-password=${password}`];
      return wget(...proxies, ...who, `--ca-certificate=${files.certificate}`, ...args);
    };

    test('a request and a tunnel are admitted', async () => {
      expect(await ask(ALICE, http())).toEqual({ statuses: [200], body: 'hello' });
      expect(arrived()).toHaveLength(1);
      expect(await ask(ALICE, https())).toMatchObject({ body: 'hello' });
    });

    test('credentials for the proxy and for the origin are admitted', async () => {
      const user = ['--user', ALICE.name, '--password', ALICE.password];
      const told = await ask(ALICE, ...user, space('basic'));
      expect(told).toEqual({ statuses: [401, 200], body: identity('Basic', 'basic') });
    });

    test('a wrong password gets 407', async () => {
      for (const url of [http(), https()]) {
        await expect(ask(WRONG, url)).rejects.toMatchObject({
          stderr: expect.stringContaining('Proxy Authentication Required'),
        });
      }
      expect([...origin.take(), ...secure.take()]).toEqual([]);
    });
  });

  describe('python: requests, which sends Basic unasked', () => {
    async function ask(person: Person, urls: readonly string[]): Promise<unknown> {
      const file = new URL('proxy_client.py', import.meta.url).pathname;
      const child = spawn('/usr/bin/python3', ['-B', file], { stdio: ['pipe', 'pipe', 'inherit'] });
      const { certificate } = files;
      child.stdin.end(JSON.stringify({ proxy: proxyUrl(person), certificate, urls }));
      return JSON.parse(await text(child.stdout));
    }

    test('requests and tunnels on kept connections are admitted', async () => {
      const good = { status: 200, body: 'hello' };
      const answers = await ask(ALICE, [http(), https(), http(), https()]);
      expect(answers).toEqual([good, good, good, good]);
      expect(arrived()).toHaveLength(2);
    });

    test('a wrong password gets 407', async () => {
      const answers = await ask(WRONG, [http(), https()]);
      const error = expect.stringContaining('407 Proxy Authentication Required');
      expect(answers).toMatchObject([{ status: 407 }, { error }]);
    });
  });

  describe.each([
    ['absolute-form', false],
    ['a tunnel', true],
  ])('undici: %s', (_how, proxyTunnel) => {
    async function ask(person: Person, url: string) {
      const requestTls = { ca: await readFile(files.certificate) };
      const to = { uri: proxyUrl(), token: basic(person), proxyTunnel, requestTls };
      await using agents = new AsyncDisposableStack();
      const dispatcher = agents.adopt(new ProxyAgent(to), (agent) => agent.close());
      const answers = [];
      for (let time = 0; time < 2; time += 1) {
        const { statusCode, body } = await request(url, { dispatcher });
        answers.push([statusCode, await body.text()]);
      }
      return answers;
    }

    test('Basic is admitted twice', async () => {
      const good = [200, 'hello'];
      expect(await ask(ALICE, http())).toEqual([good, good]);
      expect(arrived()).toHaveLength(2);
      expect(await ask(ALICE, https())).toEqual([good, good]);
    });

    test('a wrong password gets 407', async () => {
      await expect(ask(WRONG, https())).rejects.toThrow('407');
      expect(secure.take()).toEqual([]);
    });
  });

  test('the log has no credentials and no query', async () => {
    for (const read of [() => site.pair.resources[0]?.log ?? '', () => tls.process.output]) {
      await until(() => /"event":"proxy.request"/.test(read()));
      await until(() => /"event":"proxy.tunnel"/.test(read()));
      const log = read();
      const secrets = [...SECRETS, token, key, QUERY, 'response=', 'nonce=', 'Basic '];
      expect(secrets.filter((secret) => log.includes(secret))).toEqual([]);
      expect(log).not.toContain('"level":"error"');
    }
  });
});
