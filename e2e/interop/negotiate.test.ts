/** @needs curl python3 */
import { execFile } from 'node:child_process';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  KERBEROS as KERBEROS_OID,
  negTokenInit,
  NTLM,
  NTLM_MESSAGE,
} from '#shared/auth/schemes/negotiate/token.fixture.ts';
import { startFlowOn, STORE_KINDS } from '../flows/flow.ts';
import type { Flow } from '../flows/flow.ts';
import { entryFile } from '../parts/entry.ts';
import { startKdc } from '../parts/kdc.ts';
import type { Kdc } from '../parts/kdc.ts';
import { startProcess, until } from '../parts/process.ts';
import { Initiator, KERBEROS, MUTUAL, THREE_MESSAGES, ticket } from './kerberos/initiator.ts';

/** Negotiate (RFC 4559) with a real KDC, third-party clients and a misbehaving client. */
const run = promisify(execFile);
const REQUESTS = fileURLToPath(new URL('kerberos/requests_client.py', import.meta.url));

interface Answer {
  readonly status: number;
  readonly challenges: readonly string[];
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

interface Asking {
  readonly token?: string;
  readonly agent?: Agent;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function ask(url: string, { token, agent, method = 'GET', headers }: Asking = {}): Promise<Answer> {
  const authorization = token === undefined ? {} : { authorization: `Negotiate ${token}` };
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, headers: { ...authorization, ...headers }, agent });
    asked.on('error', reject);
    asked.on('response', (response) => {
      const { statusCode = 0, headersDistinct, headers: all } = response;
      const challenges = headersDistinct['www-authenticate'] ?? [];
      text(response).then(
        (body) => resolve({ status: statusCode, challenges, headers: all, body }),
        reject,
      );
    });
    asked.end();
  });
}

/** A kept connection. */
const connection = () => new Agent({ keepAlive: true, maxSockets: 1 });

/** The token of the only Negotiate challenge. */
function tokenOf({ challenges }: Answer): string {
  const [only = '', another] = challenges;
  const token = /^Negotiate (\S+)$/.exec(only)?.[1];
  if (token === undefined || another !== undefined)
    throw new Error(`no token: ${challenges.join()}`);
  return token;
}

const ALICE = {
  scheme: 'Negotiate',
  realm: 'negotiate',
  principal: { kind: 'person', name: 'alice' },
};

describe.each(STORE_KINDS)('on %s', (kind) => {
  const parts = new AsyncDisposableStack();
  let kdc: Kdc;
  let flow: Flow;
  let alice: NodeJS.ProcessEnv;

  beforeAll(async () => {
    const services = ['HTTP/localhost', 'HTTP/127.0.0.1', 'host/localhost'];
    kdc = parts.use(await startKdc({ realms: ['EXAMPLE.COM', 'OTHER.EXAMPLE'], services }));
    const settings = { negotiate: { keytab: kdc.keytab } };
    flow = parts.use(await startFlowOn(kind, { resource: 2, settings }));
    await flow.pair.addPerson('alice');
    await flow.pair.cli('user', 'kerberos', 'alice', 'alice@EXAMPLE.COM');
    alice = await kdc.signIn('alice@EXAMPLE.COM');
  });
  afterAll(() => parts.disposeAsync());

  const url = (server = 0) => `${flow.pair.resources[server]?.url}/schemes/negotiate/`;
  /** The log line is written a moment after the answer. */
  const logged = (words: string) =>
    until(() => (flow.pair.resources[0]?.log ?? '').includes(words));

  describe('third-party clients', () => {
    test('curl sends one ticket per request of a connection, without a 401 in between', async () => {
      const args = ['--silent', '--max-time', '10', '--negotiate', '--user', ':'];
      const told = ['--write-out', String.raw` %{http_code} %{num_connects}\n`];
      const { stdout } = await run('curl', [...args, ...told, url(), url()], { env: alice });
      const body = JSON.stringify(ALICE);
      expect(stdout).toBe(`${body} 200 1\n${body} 200 0\n`);
    });

    test('curl finds Negotiate among all schemes', async () => {
      const args = ['--silent', '--max-time', '10', '--anyauth', '--user', ':'];
      const all = url().replace('/negotiate/', '/all/');
      const { stdout } = await run('curl', [...args, all], { env: alice });
      expect(JSON.parse(stdout)).toEqual({ ...ALICE, realm: 'all' });
    });

    test('curl gets 401 without a ticket', async () => {
      const env = { ...alice, KRB5CCNAME: '/nonexistent' };
      const args = [
        '--silent',
        '--max-time',
        '10',
        '--negotiate',
        '--user',
        ':',
        '--output',
        '/dev/null',
      ];
      const told = ['--write-out', '%{http_code}'];
      const { stdout } = await run('curl', [...args, ...told, url()], { env });
      expect(stdout).toBe('401');
    });

    test("requests-kerberos verifies the server's proof of each request", async () => {
      const { stdout } = await run('/usr/bin/python3', ['-B', REQUESTS, url()], { env: alice });
      expect(JSON.parse(stdout)).toEqual(
        Array.from({ length: 3 }, () => [200, JSON.stringify(ALICE)]),
      );
    });
  });

  describe('RFC 4559 sections 4 and 5', () => {
    test('the first challenge carries no token', async () => {
      const { status, challenges } = await ask(url());
      expect({ status, challenges }).toEqual({ status: 401, challenges: ['Negotiate'] });
    });

    test.each([
      ['SPNEGO', {}],
      ['Kerberos alone', { mechanism: KERBEROS }],
    ])('%s: the client verifies the token of a success', async (_what, options) => {
      await using client = new Initiator(alice, options);
      const answer = await ask(url(), { token: (await client.step()).token });
      expect(answer.status).toBe(200);
      expect(await client.step(tokenOf(answer))).toMatchObject({ complete: true });
    });

    test('the token of a success proves the server to one client only', async () => {
      const mine = await ask(url(), { token: await ticket(alice) });
      await using other = new Initiator(alice);
      await other.step();
      await expect(other.step(tokenOf(mine))).rejects.toThrow();
    });

    test('authentication is per request: the next request on the connection gets 401', async () => {
      const agent = connection();
      expect((await ask(url(), { agent, token: await ticket(alice) })).status).toBe(200);
      expect((await ask(url(), { agent })).status).toBe(401);
      agent.destroy();
    });
  });

  describe('an exchange of three messages', () => {
    const options = { flags: MUTUAL | THREE_MESSAGES };

    test('succeeds on one connection, once', async () => {
      const agent = connection();
      await using client = new Initiator(alice, options);
      const first = await ask(url(), { agent, token: (await client.step()).token });
      expect(first.status).toBe(401);
      const { token } = await client.step(tokenOf(first));
      const last = await ask(url(), { agent, token });
      expect(last).toMatchObject({ status: 200, body: JSON.stringify(ALICE) });
      expect(await ask(url(), { agent, token })).toMatchObject({ status: 401 });
      agent.destroy();
    });

    test.each([
      ['on another connection', 0],
      ['at another server', 1],
    ])('is refused if the last message comes %s', async (_what, server) => {
      const [agent, another] = [connection(), connection()];
      await using client = new Initiator(alice, options);
      const first = await ask(url(), { agent, token: (await client.step()).token });
      const { token } = await client.step(tokenOf(first));
      const last = await ask(url(server), { agent: another, token });
      expect(last).toMatchObject({ status: 401, challenges: ['Negotiate'] });
      agent.destroy();
      another.destroy();
    });

    test('admits no request after the first message alone', async () => {
      const agent = connection();
      const first = await ask(url(), { agent, token: await ticket(alice, options) });
      expect(first.status).toBe(401);
      expect((await ask(url(), { agent })).status).toBe(401);
      agent.destroy();
    });
  });

  describe('a replayed ticket', () => {
    test('is refused at the same server and at another', async () => {
      const token = await ticket(alice);
      const statuses = [];
      for (const server of [0, 0, 1]) statuses.push((await ask(url(server), { token })).status);
      expect(statuses).toEqual([200, 401, 401]);
    });

    test('ten times at once at two servers is admitted once', async () => {
      const token = await ticket(alice);
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, index) => ask(url(index % 2), { token })),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    });

    test('is refused at a server on another machine, whose Kerberos library has not seen it', async () => {
      await flow.pair.resources[1]?.kill();
      const env = {
        ...flow.pair.env,
        COUNTERSIGN_CONFIG: join(flow.pair.data, 'config-1.json'),
        KRB5RCACHENAME: 'none:',
      };
      await using other = await startProcess(
        process.execPath,
        [entryFile('resource-server/main.ts')],
        {
          env,
          ready: (output) => output.includes('"event":"listening"'),
        },
      );
      const token = await ticket(alice, { mechanism: KERBEROS });
      const wrapped = negTokenInit([KERBEROS_OID], Buffer.from(token, 'base64'));
      expect((await ask(url(0), { token })).status).toBe(200);
      expect((await ask(url(1), { token })).status).toBe(401);
      expect((await ask(url(1), { token: wrapped.toString('base64') })).status).toBe(401);
      expect((await ask(url(1), { token: await ticket(alice) })).status).toBe(200);
      await until(() => other.output.includes('"reason":"a replay"'));
      await other.kill();
      await flow.pair.resources[1]?.start();
    });
  });

  describe('the server refuses', () => {
    const refused = { status: 401, challenges: ['Negotiate'] };
    const base64 = (bytes: Buffer) => bytes.toString('base64');

    test.each([
      ['NTLM', () => base64(NTLM_MESSAGE), 'NTLM'],
      ['NTLM in SPNEGO', () => base64(negTokenInit([NTLM], NTLM_MESSAGE)), 'NTLM'],
      ['not base64', () => 'abc-_', 'no base64'],
      ['nonsense', () => base64(Buffer.from('hello')), 'neither'],
    ])('the log has the reason of the refusal: %s', async (_what, token, reason) => {
      expect(await ask(url(), { token: token() })).toMatchObject(refused);
      await logged(`"reason":"${reason}`);
    });

    test('a token that is cut off at any place', async () => {
      const whole = Buffer.from(await ticket(alice), 'base64');
      for (let length = 1; length < whole.length; length += 37) {
        const token = base64(whole.subarray(0, length));
        expect(await ask(url(), { token })).toMatchObject(refused);
      }
    });

    test('a token with one changed bit in the ticket or in the authenticator', async () => {
      for (const fromEnd of [20, 100, 300, 500]) {
        const bytes = Buffer.from(await ticket(alice), 'base64');
        const at = bytes.length - fromEnd;
        bytes[at] = (bytes[at] ?? 0) ^ 1;
        expect(await ask(url(), { token: base64(bytes) })).toMatchObject(refused);
      }
    });

    test('a ticket for another service, even if the keytab has the key', async () => {
      const token = await ticket(alice, { service: 'host@localhost' });
      expect(await ask(url(), { token })).toMatchObject(refused);
      await logged('a ticket for host/localhost@EXAMPLE.COM');
    });

    test('a ticket for another service that was renamed in transit', async () => {
      const token = Buffer.from(await ticket(alice, { service: 'host@localhost' }), 'base64');
      token.write('HTTP', token.indexOf('host'));
      expect(await ask(url(), { token: base64(token) })).toMatchObject(refused);
    });

    test('a ticket of an impostor KDC with the same realm name', async () => {
      await using impostor = await startKdc();
      const token = await ticket(await impostor.signIn('alice@EXAMPLE.COM'));
      expect(await ask(url(), { token })).toMatchObject(refused);
    });

    test('alice of another realm that the KDC trusts', async () => {
      const token = await ticket(await kdc.signIn('alice@OTHER.EXAMPLE'));
      expect(await ask(url(), { token })).toMatchObject(refused);
      await logged('no person has the principal alice@OTHER.EXAMPLE');
    });

    test('an unknown principal, with the same answer as a malformed token', async () => {
      const unknown = await ask(url(), {
        token: await ticket(await kdc.signIn('bob@EXAMPLE.COM')),
      });
      const nonsense = await ask(url(), { token: base64(Buffer.from('hello')) });
      const seen = ({ status, challenges, headers, body }: Answer) => ({
        status,
        challenges,
        names: Object.keys(headers),
        body,
      });
      expect(seen(unknown)).toEqual(seen(nonsense));
    });

    test('section 6: a ticket with an unsafe request of another origin', async () => {
      const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
      const token = await ticket(alice);
      expect((await ask(url(), { method: 'POST', token, headers })).status).toBe(403);
      expect((await ask(url(), { method: 'POST', token })).status).toBe(200);
    });

    test('a token field of 64 KiB with 401, and a longer field with 431', async () => {
      const token = base64(Buffer.alloc(48 * 1024, 1));
      expect(await ask(url(), { token })).toMatchObject(refused);
      expect((await ask(url(), { token: 'A'.repeat(100_000) })).status).toBe(431);
    });
  });

  test('a disabled person, and a person without the principal name, are refused from the next request on', async () => {
    const { pair } = flow;
    const statuses = async () => [
      (await ask(url(0), { token: await ticket(alice) })).status,
      (await ask(url(1), { token: await ticket(alice) })).status,
    ];
    expect(await statuses()).toEqual([200, 200]);
    await pair.cli('user', 'disable', 'alice');
    expect(await statuses()).toEqual([401, 401]);
    await pair.cli('user', 'disable', 'alice', '--undo');
    expect(await statuses()).toEqual([200, 200]);
    await pair.cli('user', 'kerberos', 'alice');
    expect(await statuses()).toEqual([401, 401]);
    await pair.cli('user', 'kerberos', 'alice', 'alice@EXAMPLE.COM');
    expect(await statuses()).toEqual([200, 200]);
  });
});
