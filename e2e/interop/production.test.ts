/** @needs caddy curl haproxy nginx openssl redis-cli redis-server */
/**
 * The files of docs/how-to/run-in-production.md and of each proxy's page, unchanged except for the ports.
 */
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { connect, type IncomingHttpHeaders } from 'node:http2';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { systemClock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import { randomId, systemRandom } from '#shared/base/random.ts';
import { eventually } from '#shared/stores/contract/eventually.ts';
import { someSubscription } from '#shared/stores/contract/push/samples.ts';
import { openStores } from '#shared/stores/open.ts';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { configSchema } from '#shared/config/schema.ts';
import { commandLine } from '../pair/command-line.ts';
import { examples } from '../pair/examples.ts';
import { startPair } from '../pair/pair.ts';
import { entryFile } from '../parts/entry.ts';
import { freePort } from '../parts/free-port.ts';
import { startPostgres } from '../parts/postgres.ts';
import { NODE, type RunningProcess, startProcess } from '../parts/process.ts';
import { temporaryFolder } from '../parts/temporary-folder.ts';

const run = promisify(execFile);
const PAGE = 'docs/how-to/run-in-production.md';

const parts = new AsyncDisposableStack();
let folder: string;
let port: { authz: number; resource: number };
let servers: RunningProcess;
let env: NodeJS.ProcessEnv;
let config: object;

beforeAll(async () => {
  folder = parts.use(await temporaryFolder()).path;
  port = { authz: await freePort(), resource: await freePort() };
  await makeCertificate();
  const [json = ''] = await examples(PAGE, 'json production');
  const [push = ''] = await examples('docs/how-to/push.md', 'json push');
  const page = JSON.parse(json) as { readonly spaces: readonly object[] };
  config = {
    ...page,
    spaces: [...page.spaces, JSON.parse(push)],
    listen: { authz: { port: port.authz }, resource: { port: port.resource } },
    data: join(folder, 'data'),
  };
  const [secret, file] = [join(folder, 'secret'), join(folder, 'countersign.json')];
  await writeFile(secret, randomBytes(32).toString('base64'), { mode: 0o400 });
  await writeFile(file, JSON.stringify(config));
  env = {
    ...NODE,
    COUNTERSIGN_CONFIG: file,
    COUNTERSIGN_SECRET_FILE: secret,
    COUNTERSIGN_WORKERS: '1',
    COUNTERSIGN_AUTHZ_URL: `http://127.0.0.1:${port.authz}`,
  };
  servers = parts.use(
    await startProcess(process.execPath, [entryFile('shared/start/main.js')], {
      env,
      ready: (output) => output.includes('Both are ready.'),
    }),
  );
});
afterAll(() => parts.disposeAsync());

/** Makes one certificate for both hosts, which curl trusts. */
async function makeCertificate(): Promise<void> {
  const about = ['-subj', '/CN=auth.example', '-addext', 'subjectAltName=DNS:*.example'];
  const names = about.map((text) =>
    text.replace('DNS:*.example', 'DNS:auth.example,DNS:api.example'),
  );
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  const files = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'certificate.pem')];
  await run('openssl', ['req', '-x509', ...kind, ...names, ...files]);
  const halves = ['certificate.pem', 'key.pem'].map((name) => readFile(join(folder, name)));
  await writeFile(join(folder, 'both.pem'), Buffer.concat(await Promise.all(halves)));
}

/** Makes a push subscription, and the grant of its person. */
async function subscribed() {
  const settings = configSchema.parse(config);
  const outside = { clock: systemClock, random: systemRandom, log: silentLog };
  await using stores = await openStores(settings, {
    ...outside,
  });
  const subscription = someSubscription({
    id: randomId(systemRandom),
    push: randomId(systemRandom),
  });
  const { person: accountId, maker } = subscription;
  await stores.push.subscribe(
    { ...subscription, maker: { ...maker, client_gen: 0 } },
    Number.MAX_SAFE_INTEGER,
  );
  const payload = { grantId: maker.grant_id, accountId, clientId: maker.client_id, generation: 0 };
  const access = { kind: 'Access', id: maker.grant_id, payload, seconds: 3600 };
  await stores.artefacts.put(access);
  const url = 'https://api.example/push/';
  return {
    subscription: `${url}subscription/${subscription.id}`,
    push: `${url}push/${subscription.push}`,
  };
}

/** The example of a proxy's page with the places of this test. */
async function fileOf(proxy: string, language: string, at: number): Promise<string> {
  const page = `docs/how-to/production-${proxy}.md`;
  const [text = ''] = await examples(page, `${language} production`);
  return text
    .replaceAll('127.0.0.1:3000', `127.0.0.1:${port.authz}`)
    .replaceAll('127.0.0.1:3001', `127.0.0.1:${port.resource}`)
    .replace(/(bind|listen) :?443/, `$1 127.0.0.1:${at}`)
    .replace('/etc/haproxy/certificate.pem', join(folder, 'both.pem'))
    .replace('/etc/ssl/countersign/certificate.pem', join(folder, 'certificate.pem'))
    .replace('/etc/ssl/countersign/key.pem', join(folder, 'key.pem'));
}

const PROXIES = {
  caddy: async (at: number, own: string) => {
    const text = await fileOf('caddy', 'caddyfile', at);
    const tls = `tls ${join(folder, 'certificate.pem')} ${join(folder, 'key.pem')}`;
    const sites = text.replaceAll(
      /^(\w+\.example) \{$/gm,
      `$1:${at} {\n\tbind 127.0.0.1\n\t${tls}`,
    );
    await writeFile(join(own, 'Caddyfile'), `{\n\tadmin off\n\tauto_https off\n}\n${sites}`);
    const args = ['run', '--config', join(own, 'Caddyfile'), '--adapter', 'caddyfile'];
    return ['caddy', args] as const;
  },
  nginx: async (at: number, own: string) => {
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      .map((name) => `${name}_temp_path ${own}/${name};`)
      .join('\n');
    const text = await fileOf('nginx', 'nginx', at);
    const settings = `daemon off;\nmaster_process off;\npid ${own}/nginx.pid;\nerror_log stderr;\nevents {}`;
    await writeFile(
      join(own, 'nginx.conf'),
      `${settings}\nhttp {\naccess_log off;\n${temporary}\n${text}}\n`,
    );
    return ['/usr/sbin/nginx', ['-p', own, '-c', join(own, 'nginx.conf')]] as const;
  },
  haproxy: async (at: number, own: string) => {
    await writeFile(join(own, 'haproxy.cfg'), await fileOf('haproxy', 'haproxy', at));
    return ['/usr/sbin/haproxy', ['-db', '-f', join(own, 'haproxy.cfg')]] as const;
  },
};

test('docs/how-to/redis.md: the server accepts the settings', async () => {
  for (const info of ['json redis', 'json redis-sentinel', 'json redis-cluster']) {
    for (const block of await examples('docs/how-to/redis.md', info)) {
      const { error } = configSchema.safeParse(JSON.parse(block));
      expect([info, error?.issues ?? []]).toEqual([info, []]);
    }
  }
});

test('docs/how-to/redis.md: with two pairs on its Redis, a token revoked at one is refused by the other', async () => {
  await using own = new AsyncDisposableStack();
  const place = own.use(await temporaryFolder()).path;
  const at = await freePort();
  const [conf = ''] = await examples('docs/how-to/redis.md', 'conf redis');
  await writeFile(join(place, 'redis.conf'), `${conf}bind 127.0.0.1\nport ${at}\ndir ${place}\n`);
  const ready = (output: string) => output.includes('Ready to accept connections');
  own.use(await startProcess('redis-server', [join(place, 'redis.conf')], { ready }));
  const [json = ''] = await examples('docs/how-to/redis.md', 'json redis');
  const postgres = own.use(await startPostgres());
  await postgres.sql('CREATE ROLE countersign LOGIN');
  await postgres.sql('CREATE DATABASE countersign OWNER countersign');
  const settings = JSON.parse(
    json
      .replace(':PASSWORD@127.0.0.1:6379', `127.0.0.1:${at}`)
      .replace(':PASSWORD@127.0.0.1:5432', `@127.0.0.1:${postgres.port}`),
  ) as Record<string, unknown>;
  await using pair = await startPair({ settings, authz: 2, resource: 2 });
  const machine = await pair.addClient();
  const token = await pair.token(machine);
  const ask = () => Promise.all([pair.get(token, 0), pair.get(token, 1)]);
  expect(await ask()).toEqual([200, 200]);
  await pair.post('/token/revocation', { token }, machine);
  expect(await ask()).toEqual([401, 401]);
});

test('docs/how-to/redis.md: a Redis without its replicas accepts no write', async () => {
  await using own = new AsyncDisposableStack();
  const place = own.use(await temporaryFolder()).path;
  const at = await freePort();
  const [conf = ''] = await examples('docs/how-to/redis.md', 'conf redis-replicas');
  await writeFile(join(place, 'redis.conf'), `${conf}bind 127.0.0.1\nport ${at}\ndir ${place}\n`);
  const ready = (output: string) => output.includes('Ready to accept connections');
  own.use(await startProcess('redis-server', [join(place, 'redis.conf')], { ready }));
  const { stdout } = await run('redis-cli', ['-p', `${at}`, 'set', 'a', 'b']);
  expect(stdout).toContain('NOREPLICAS');
});

test('docs/how-to/production-haproxy.md: one of two machines is enough, and without both HAProxy answers with Retry-After', async () => {
  await using own = new AsyncDisposableStack();
  const place = own.use(await temporaryFolder()).path;
  const [at, away] = [await freePort(), await freePort()];
  const page = 'docs/how-to/production-haproxy.md';
  const [json = ''] = await examples(page, 'json several');
  expect(configSchema.safeParse({ ...config, ...JSON.parse(json) }).error).toBeUndefined();
  const [several = ''] = await examples(page, 'haproxy several');
  const [frontend = ''] = (await fileOf('haproxy', 'haproxy', at)).split('\nbackend auth');
  const text = several
    .replace('10.0.0.1:3000', `127.0.0.1:${port.authz}`)
    .replaceAll(/10\.0\.0\.\d:300\d/g, `127.0.0.1:${away}`);
  await writeFile(join(place, 'haproxy.cfg'), `${frontend}\n${text}`);
  const reach = ['-s', '--connect-to', `::127.0.0.1:${at}`, '--insecure', '-D', '-'];
  const status = async (host: string) => {
    const { stdout } = await run('curl', [...reach, `https://${host}/health/ready`]);
    return stdout;
  };
  const ready = async () => (await status('auth.example')).startsWith('HTTP/2 200');
  const args = ['-db', '-f', join(place, 'haproxy.cfg')];
  own.use(await startProcess('/usr/sbin/haproxy', args, { ready }));
  for (let n = 0; n < 6; n += 1) expect(await ready()).toBe(true);
  await eventually(async () =>
    expect(await status('api.example')).toMatch(/^HTTP\/2 503 [^]*^retry-after: 1\r$/m),
  );
});

describe.each(Object.entries(PROXIES))('behind %s', (name, configure) => {
  /** The proxy's port. */
  let at: number;
  /** The arguments with which curl reaches the proxy by its public names. */
  let reach: readonly string[];
  const own = new AsyncDisposableStack();
  const curl = async (...args: readonly string[]) =>
    (await run('curl', ['--silent', '--show-error', '--max-time', '20', ...reach, ...args])).stdout;

  beforeAll(async () => {
    at = await freePort();
    const place = join(folder, name);
    await mkdir(place);
    reach = ['--connect-to', `::127.0.0.1:${at}`, '--cacert', join(folder, 'certificate.pem')];
    const [program, args] = await configure(at, place);
    const ready = async () => (await curl('https://auth.example/health/live')).length > 0;
    const environment = { PATH: process.env['PATH'], HOME: place };
    own.use(await startProcess(program, args, { env: environment, ready }));
  });
  afterAll(() => own.disposeAsync());

  test('the checks of the page succeed: metadata, a challenge, health', async () => {
    const [, checks = ''] = await examples(PAGE, 'sh production');
    const [metadata = '', refused = '', ...health] = await Promise.all(
      checks
        .trim()
        .split('\n')
        .map((line) => curl(...line.split(' ').slice(1))),
    );
    expect(JSON.parse(metadata)).toMatchObject({
      issuer: 'https://auth.example',
      token_endpoint: 'https://auth.example/token',
    });
    expect(refused).toMatch(/^HTTP\/[\d.]+ 401/);
    expect(refused).toContain(
      'https://api.example/.well-known/oauth-protected-resource/documents/',
    );
    expect(health).toEqual(['{"status":"ok"}', '{"status":"ok"}']);
  });

  test('a client of the page gets a token, uploads 2 MiB with it, and is refused after its revocation', async () => {
    const [commands = ''] = await examples(PAGE, 'sh production');
    const [, words = ''] = /client add (.*)$/m.exec(commands) ?? [];
    const args = [...words.matchAll(/"([^"]*)"|(\S+)/g)].map(
      ([, quoted, word = '']) => quoted ?? word,
    );
    const client = await commandLine(
      ['client', 'add', ...args.filter((arg) => arg !== '--json')],
      env,
    );
    const user = `${String(client['client_id'])}:${String(client['client_secret'])}`;
    const answer = await curl(
      '-u',
      user,
      '-d',
      'grant_type=client_credentials',
      'https://auth.example/token',
    );
    const { access_token: token } = JSON.parse(answer) as { access_token: string };
    const large = join(folder, `${name}-large`);
    await writeFile(large, randomBytes(2 * 1024 * 1024));
    const url = `https://api.example/documents/${name}`;
    const status = (...more: readonly string[]) =>
      curl('-o', '/dev/null', '-w', '%{http_code}', '--oauth2-bearer', token, ...more, url);
    expect(await status('-T', large)).toBe('201');
    expect(await status()).toBe('200');
    await curl('-u', user, '-d', `token=${token}`, 'https://auth.example/token/revocation');
    expect(await status()).toBe('401');
  });

  test('push messages arrive as events when they are sent, and the proxy carries no server push', async () => {
    const { subscription, push } = await subscribed();
    const events = ['-sN', ...reach, '-H', 'accept: text/event-stream', subscription];
    const waiting = spawn('curl', events, { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(waiting, 'exit');
    let came = '';
    waiting.stdout.setEncoding('utf8').on('data', (piece: string) => (came += piece));
    for (const body of ['first', 'second']) {
      const sent = await curl('-i', '-H', 'ttl: 60', '--data-binary', body, push);
      expect(sent).toMatch(/^HTTP\/[\d.]+ 201/);
      expect(sent).toMatch(/^location: https:\/\/api\.example\/push\/message\//im);
      const encoded = Buffer.from(body).toString('base64url');
      await eventually(() => expect(came).toContain(`"body":"${encoded}"`));
    }
    const session = connect(`https://127.0.0.1:${at}`, {
      servername: 'api.example',
      ca: await readFile(join(folder, 'certificate.pem')),
    });
    const { pathname } = new URL(subscription);
    const pushed = session.request({ ':authority': 'api.example', ':path': pathname });
    const [answer] = (await once(pushed, 'response')) as [IncomingHttpHeaders];
    session.destroy();
    expect(answer[':status']).toBe(406);

    await curl('-X', 'DELETE', subscription);
    expect(await ended).toEqual([0, null]);
  });

  test("the sign-in page works, and a client's own forwarding fields are not trusted", async () => {
    const lies = [
      'X-Forwarded-For: 192.0.2.9',
      'X-Forwarded-Host: evil.example',
      'Forwarded: for=192.0.2.9;host=evil.example',
    ];
    const page = await curl(
      ...lies.flatMap((field) => ['-H', field]),
      '-L',
      '-c',
      '-',
      'https://auth.example/account',
    );
    expect(page).toContain('type="password"');
    expect(page).not.toContain('evil.example');
    expect(servers.output).not.toContain('192.0.2.9');
  });
});
