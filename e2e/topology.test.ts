/** The deployment of docker-compose.yml: its rules, and the same topology as processes behind HAProxy. */
import { once } from 'node:events';
import http2 from 'node:http2';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { dpopProver } from './setup/dpop-prover.ts';
import { get } from './clients/digest/answers.fixture.ts';
import { digestClient } from './clients/digest/digest-client.ts';
import { run } from './clients/digest/exchange.ts';
import { scramClient } from './clients/scram/scram-client.ts';
import { until } from './parts/process.ts';
import { readCompose } from './pair/topology-compose.ts';
import { ISSUER, RESOURCE, startTopology, VARIABLES } from './pair/topology.ts';
import { sendThrough, serversOf } from './pair/through-topology.ts';
import type { Answer, Options, ServerName, Topology } from './pair/topology.ts';

const DOCUMENTS = `${RESOURCE}/documents/`;
const SPACES = [
  {
    url: DOCUMENTS,
    realm: 'documents',
    schemes: ['Bearer', 'DPoP'],
    scopes: { safe: ['documents:read'], unsafe: ['documents:write'] },
  },
  ...['Basic', 'Digest', 'SCRAM-SHA-256'].map((scheme) => ({
    url: `${RESOURCE}/schemes/${scheme.toLowerCase()}/`,
    realm: scheme,
    schemes: [scheme],
    serves: 'identity',
  })),
];

describe('the compose file', () => {
  test.each(Object.keys(VARIABLES))('without %s it refuses to start', async (name) => {
    await expect(readCompose({ ...VARIABLES, [name]: '' })).rejects.toThrow(
      `required variable ${name} is missing`,
    );
  });

  test('every service is an exact version, restarts, and has no privileges', async () => {
    const { services } = await readCompose(VARIABLES);
    for (const service of Object.values(services)) {
      expect(service.image).toMatch(/^(countersign|[a-z]+:\d+(\.\d+)+)$/);
      expect(service).toMatchObject({
        restart: 'unless-stopped',
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
      });
      if (service.image !== 'countersign') expect(service.healthcheck).toBeDefined();
    }
  });

  test('the load balancer alone is reachable from outside', async () => {
    const { services, networks } = await readCompose(VARIABLES);
    expect(networks['inside']).toEqual({ internal: true });
    const others = Object.entries(services).filter(([name]) => name !== 'loadbalancer');
    expect(others.map(([, { ports, networks: on }]) => [ports, on])).toEqual(
      others.map(() => [[], ['inside']]),
    );
  });

  test('PostgreSQL has its data in a volume, and Redis evicts nothing', async () => {
    const { services } = await readCompose(VARIABLES);
    expect(services['postgres']?.volumes).toEqual(['postgres:/var/lib/postgresql/data']);
    const command = services['redis']?.command.join(' ');
    expect(command).toContain(`--requirepass ${VARIABLES.COUNTERSIGN_REDIS_PASSWORD}`);
    expect(command).toContain('--maxmemory-policy noeviction');
  });
});

describe('two of each behind the load balancer', () => {
  /** Token requests that one address may send at once; no test but the one about it sends so many. */
  const BURST = 60;
  let topology: Topology;
  let authorization: string;

  beforeAll(async () => {
    topology = await startTopology({
      limits: { address: { burst: BURST, per: 60 } },
      spaces: SPACES,
    });
    const scope = 'documents:read documents:write';
    const args = ['--name', 'Test', '--grant', 'client_credentials', '--scope', scope];
    const { client_id, client_secret } = await topology.cli('client', 'add', ...args);
    authorization = `Basic ${btoa(`${String(client_id)}:${String(client_secret)}`)}`;
  });

  afterAll(async () => topology[Symbol.asyncDispose]());

  const ask = (url: string, options?: Options, from?: string) => topology.ask(url, options, from);

  const post = (path: string, form: Record<string, string>, headers = {}, from?: string) =>
    ask(
      `${ISSUER}${path}`,
      {
        method: 'POST',
        headers: {
          authorization,
          'content-type': 'application/x-www-form-urlencoded',
          ...headers,
        },
        body: new URLSearchParams(form).toString(),
      },
      from,
    );

  async function token(headers = {}): Promise<string> {
    const answer = await post('/token', { grant_type: 'client_credentials' }, headers);
    expect(answer.status).toBe(200);
    return (JSON.parse(answer.text) as { access_token: string }).access_token;
  }

  const sendTo = (origin: string) => sendThrough(topology, origin);

  const bearer = (accessToken: string) => ({ authorization: `Bearer ${accessToken}` });

  const times = (count: number, task: () => Promise<Answer>) =>
    Promise.all(Array.from({ length: count }, task));

  const answeredBy = (path: string, count: number) => serversOf(topology, path, count);

  test('a document that was stored through one resource server is read through both', async () => {
    const headers = bearer(await token());
    const url = `${DOCUMENTS}shared.txt`;
    const stored = await ask(url, {
      method: 'PUT',
      headers: { ...headers, 'content-type': 'text/plain' },
      body: 'from one to the other',
    });
    expect(stored.status).toBe(201);
    for (let turn = 0; turn < 2; turn += 1) {
      const { status, text } = await ask(`${url}?turn=${turn}`, { headers });
      expect([status, text]).toEqual([200, 'from one to the other']);
    }
    const servers = await answeredBy('/documents/shared.txt', 3);
    expect(new Set(servers.slice(1))).toEqual(new Set(['resource-1', 'resource-2']));
    expect(topology.balancerLog()).not.toContain('turn=');
  });

  test('RFC 7009: a revocation at one authorization server is seen at the next request by both resource servers', async () => {
    for (let turn = 0; turn < 4; turn += 1) {
      const revoked = await token();
      const url = `${DOCUMENTS}?revoked=${turn}`;
      const headers = bearer(revoked);
      expect((await times(2, () => ask(url, { headers }))).map(({ status }) => status)).toEqual([
        200, 200,
      ]);
      expect((await post('/token/revocation', { token: revoked })).status).toBe(200);
      const after = await times(4, () => ask(url, { headers }));
      expect(after.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
      expect((await post('/token/introspection', { token: revoked })).text).toBe(
        '{"active":false}',
      );
    }
    expect(new Set(await answeredBy('/token/revocation', 4))).toEqual(
      new Set(['authz-1', 'authz-2']),
    );
  });

  test('passwords through the balancer, which speaks TLS: each leg at another server', async () => {
    const { password } = await topology.cli('user', 'add', 'alice');
    const alice = { username: 'alice', password: String(password) };
    const send = sendTo(RESOURCE);
    for (const [client, path] of [
      [digestClient(alice), '/schemes/digest/'],
      [scramClient({ hash: 'SHA-256', ...alice }), '/schemes/scram-sha-256/'],
    ] as const) {
      for (let turn = 0; turn < 4; turn += 1) {
        const { status, content } = await run(client.exchange(get(path)), send);
        expect([status, content.toString()]).toEqual([200, expect.stringContaining('"alice"')]);
      }
      expect(new Set(await answeredBy(path, 5))).toEqual(new Set(['resource-1', 'resource-2']));
    }
    const basic = { authorization: `Basic ${btoa(`alice:${alice.password}`)}` };
    expect((await ask(`${RESOURCE}/schemes/basic/`, { headers: basic })).status).toBe(200);
    // RFC 7617 section 4: the server itself speaks clear text, and knows that somebody could read along.
    const clear = await fetch(`${topology.servers['resource-1'].url}/schemes/basic/`, {
      headers: basic,
    });
    expect([clear.status, clear.headers.get('www-authenticate')]).toEqual([403, null]);
  });

  test('RFC 9449 section 11.1: a proof is good once, whichever server gets it', async () => {
    const prover = await dpopProver();
    const atToken = await prover.proof({ method: 'POST', url: `${ISSUER}/token` });
    const bound = await token({ dpop: atToken });
    const again = await post('/token', { grant_type: 'client_credentials' }, { dpop: atToken });
    expect(again.status).toBe(400);

    const url = `${DOCUMENTS}proof/`;
    const dpop = await prover.proof({ method: 'GET', url, accessToken: bound });
    const headers = { authorization: `DPoP ${bound}`, dpop };
    const answers = await times(10, () => ask(url, { headers }));
    // Nothing is there: 404 is what an accepted proof leads to.
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(9);
    expect(new Set(await answeredBy('/documents/proof/', 10)).size).toBe(2);
    expect((await ask(url, { headers: bearer(bound) })).status).toBe(401);
  });

  const FORGED = {
    'x-forwarded-for': '203.0.113.7',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'http',
    'x-forwarded-method': 'GET',
    'x-forwarded-uri': '/documents/',
    'x-request-id': 'forged-by-the-client',
    forwarded: 'for=203.0.113.7;host=evil.example;proto=http',
  };

  test.each([
    `${ISSUER}/.well-known/oauth-authorization-server`,
    `${RESOURCE}/.well-known/oauth-protected-resource/documents/`,
    DOCUMENTS,
  ])('forged fields change nothing at %s', async (url) => {
    const honest = await ask(url);
    const forged = await ask(url, { headers: FORGED });
    expect([forged.status, forged.text]).toEqual([honest.status, honest.text]);
    expect(forged.headers['www-authenticate']).toEqual(honest.headers['www-authenticate']);
    expect(JSON.stringify(forged)).not.toContain('evil.example');
    expect(JSON.stringify(forged)).toContain(new URL(url).host);
  });

  test('a Host that is not served is 421 and reaches no server (RFC 9110 section 15.5.20)', async () => {
    const { status } = await ask(`${ISSUER}/misdirected`, { headers: { host: 'evil.example' } });
    expect(status).toBe(421);
    expect(await answeredBy('/misdirected', 1)).toEqual(['<NOSRV>']);
  });

  test('nobody outside can play the proxy that asks for a verdict', async () => {
    const headers = { ...FORGED, 'x-forwarded-host': 'api.example', ...bearer(await token()) };
    const { status, headers: fields } = await ask(`${RESOURCE}/verify`, { headers });
    expect(status).toBe(403);
    expect(fields['x-auth-client']).toBeUndefined();
    const log = () => topology.servers['resource-1'].log + topology.servers['resource-2'].log;
    await until(() => log().includes('"path":"/verify"'));
    expect(log().includes('forged-by-the-client')).toBe(false);
  });

  test('the connection of an upload that was refused before its end is given to nobody else', async () => {
    const answers: number[] = [];
    for (let round = 0; round < 10; round += 1) {
      const socket = await topology.connect(DOCUMENTS, 'h2');
      const session = http2.connect(RESOURCE, { createConnection: () => socket });
      const upload = session.request({
        ':method': 'PUT',
        ':path': '/documents/refused',
        'content-length': 20_000_000,
      });
      upload.write(Buffer.alloc(100_000));
      await once(upload, 'response');
      upload.close(http2.constants.NGHTTP2_CANCEL);
      // The balancer goes round: as many as make sure that one comes to the same server.
      const asked = [1, 2, 3].map(() => topology.ask(DOCUMENTS));
      for (const { status } of await Promise.all(asked)) answers.push(status);
      session.destroy();
    }
    expect(answers).toEqual(answers.map(() => 401));
  });

  test('the limit counts the address of the connection, not the one in the field', async () => {
    const form = { grant_type: 'client_credentials' };
    let sent = 0;
    const attack = () => {
      sent += 1;
      const headers = { authorization: 'Basic eDp5', 'x-forwarded-for': `198.51.100.${sent}` };
      return post('/token', form, headers, '127.0.0.9');
    };
    const answers = await times(BURST + 10, attack);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThanOrEqual(5);
    expect(refused.length).toBeLessThanOrEqual(10);
    expect(Number(refused[0]?.headers['retry-after'])).toBeGreaterThan(0);
    const inTheirName = { 'x-forwarded-for': '127.0.0.9' };
    expect((await post('/token', form, inTheirName)).status).toBe(200);
  });

  test('one server of each kind is killed: the service goes on', async () => {
    const headers = bearer(await token());
    const killed: readonly ServerName[] = ['authz-1', 'resource-2'];
    await Promise.all(killed.map((name) => topology.servers[name].kill('SIGKILL')));
    await until(async () => (await ask(DOCUMENTS, { headers })).status === 200);
    for (let turn = 0; turn < 5; turn += 1) {
      const fresh = await token();
      const answers = await times(4, () => ask(DOCUMENTS, { headers: bearer(fresh) }));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      expect((await post('/token/revocation', { token: fresh })).status).toBe(200);
      expect((await ask(DOCUMENTS, { headers: bearer(fresh) })).status).toBe(401);
    }
    await Promise.all(killed.map((name) => topology.servers[name].start()));
    await until(async () => {
      await times(4, () => ask(`${RESOURCE}/back`));
      await times(4, () => ask(`${ISSUER}/back`));
      const names = new Set(await answeredBy('/back', 1));
      return killed.every((name) => names.has(name));
    });
  });

  /** Sends the head and half of the content; resolves when the server reads the content (RFC 9110 section 10.1.1). */
  async function hold(url: string, head: readonly string[], content: string) {
    const { host, pathname } = new URL(url);
    const socket = await topology.connect(url);
    let received = '';
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString();
    });
    const fields = [
      `Host: ${host}`,
      `Content-Length: ${content.length}`,
      'Expect: 100-continue',
      'Connection: close',
    ];
    const [method = '', ...more] = head;
    const lines = [`${method} ${pathname} HTTP/1.1`, ...fields, ...more];
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    await until(() => received.startsWith('HTTP/1.1 100'));
    socket.write(content.slice(0, content.length / 2));
    return {
      /** Sends the rest; resolves to the status. */
      async finish(): Promise<number> {
        received = '';
        socket.write(content.slice(content.length / 2));
        await until(() => socket.readableEnded);
        return Number(/^HTTP\/1\.1 (\d+)/m.exec(received)?.[1]);
      },
    };
  }

  /** Asks again and again; `stop` resolves to every answer but the content of 200. Resolves when each client had an answer. */
  async function traffic(headers: Record<string, string>) {
    const end = new AbortController();
    const answers = new Set<string>();
    const note = ({ status, text }: { readonly status: number; readonly text: string }) =>
      answers.add(status === 200 ? '200' : `${status} ${text}`);
    const round = async () => {
      note(await ask(DOCUMENTS, { headers }));
      note(await ask(`${ISSUER}/jwks`));
      note(await post('/token/introspection', { token: 'x' }));
    };
    const client = async () => {
      while (!end.signal.aborted) await round();
    };
    await Promise.all([round(), round(), round()]);
    const clients = Promise.all([client(), client(), client()]);
    return async () => {
      end.abort();
      await clients;
      return answers;
    };
  }

  test('a rolling restart loses no request in flight', async () => {
    const headers = bearer(await token());
    const form = 'grant_type=client_credentials';
    const held = {
      authz: () =>
        hold(
          `${ISSUER}/token`,
          [
            'POST',
            `Authorization: ${authorization}`,
            'Content-Type: application/x-www-form-urlencoded',
          ],
          form,
        ),
      resource: () =>
        hold(
          `${DOCUMENTS}held.txt`,
          ['PUT', `Authorization: ${headers.authorization}`, 'Content-Type: text/plain'],
          'a document that takes its time',
        ),
    };
    for (const name of ['authz-1', 'authz-2', 'resource-1', 'resource-2'] as const) {
      const server = topology.servers[name];
      const send = held[name.startsWith('authz') ? 'authz' : 'resource'];
      // In turn, so that each of the two servers has one.
      const requests = [await send(), await send()];
      const stop = await traffic(headers);
      const ended = server.kill('SIGTERM');
      await until(() => server.log.includes('"event":"ending"'));
      const statuses = await Promise.all(requests.map((request) => request.finish()));
      for (const status of statuses) expect([200, 201, 204]).toContain(status);
      await ended;
      expect(server.log).toMatch(/"method":"(POST|PUT)".*"status":20[014]/);
      await server.start();
      expect(await stop()).toEqual(new Set(['200']));
    }
  });
});
