/** @needs haproxy openssl redis-cli redis-server */
/** The topology of `docker-compose.yml` as plain processes, from that same file. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { Agent, buildConnector, request } from 'undici';
import type { Dispatcher } from 'undici';
import { isObject } from '#shared/jose/compact-jws.ts';
import { commandLine } from './command-line.ts';
import { freePort } from '../parts/free-port.ts';
import { ServerProcess } from './pair.ts';
import { type Postgres, startPostgres } from '../parts/postgres.ts';
import { NODE, startProcess } from '../parts/process.ts';
import type { RunningProcess } from '../parts/process.ts';
import { temporaryFolder } from '../parts/temporary-folder.ts';
import { readCompose } from './topology-compose.ts';
import type { Compose } from './topology-compose.ts';

const run = promisify(execFile);
const SERVERS = ['authz-1', 'authz-2', 'resource-1', 'resource-2'] as const;

export const ISSUER = 'https://auth.example';
export const RESOURCE = 'https://api.example';

/** The variables that the operator writes into `.env`. */
export const VARIABLES = {
  COUNTERSIGN_AUTHZ_HOST: new URL(ISSUER).host,
  COUNTERSIGN_RESOURCE_HOST: new URL(RESOURCE).host,
  COUNTERSIGN_CERTIFICATE: './certificate.pem',
  COUNTERSIGN_SECRET: randomBytes(32).toString('base64'),
  COUNTERSIGN_POSTGRES_PASSWORD: randomBytes(32).toString('hex'),
  COUNTERSIGN_REDIS_PASSWORD: randomBytes(32).toString('hex'),
};

export type ServerName = (typeof SERVERS)[number];
export type Options = Partial<Omit<Dispatcher.RequestOptions, 'path' | 'origin'>>;

type Members = Readonly<Record<string, unknown>>;

/** Seconds for an answer of PostgreSQL: on a busy machine one second passes while a command is loaded. */
const PATIENT: Members = { store: { deadline: 10 } };

export interface Answer {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  readonly content: Buffer;
  readonly text: string;
}

export interface Topology extends AsyncDisposable {
  readonly servers: Readonly<Record<ServerName, ServerProcess>>;
  /** Returns the log of the load balancer. */
  readonly balancerLog: () => string;
  /** Sends a request to the load balancer over TLS; `from` is the client's loopback address. */
  ask(url: string, options?: Options, from?: string): Promise<Answer>;
  /** A TLS connection to the load balancer, for requests that have to be sent piece by piece. */
  connect(url: string, protocol?: 'h2'): Promise<TLSSocket>;
  /** Runs a command of the command line as in the container of an authorization server. */
  cli(...args: readonly string[]): Promise<Record<string, unknown>>;
}

/**
 * Starts the topology. Resolves when the load balancer reports every server as up. `settings` are merged into the
 * servers' configuration.
 */
export async function startTopology(settings: Members): Promise<Topology> {
  await using parts = new AsyncDisposableStack();
  const folder = parts.use(await temporaryFolder());
  const file = (name: string) => join(folder.path, name);
  const ports = Object.fromEntries(
    await Promise.all(
      ['redis', 'outside', 'inside', ...SERVERS].map(async (name) => [name, await freePort()]),
    ),
  ) as Record<'redis' | 'outside' | 'inside' | ServerName, number>;
  const certificate = file('certificate.pem');
  await makeCertificate(certificate);
  const compose = await readCompose(VARIABLES);

  const postgres = parts.use(await startDatabase(compose));
  const here = substitution([
    ['postgres:5432', `127.0.0.1:${postgres.port}`],
    ['redis:6379', `127.0.0.1:${ports.redis}`],
    ['loadbalancer:8080', `127.0.0.1:${ports.inside}`],
    ['10.203.0.2/32', '127.0.0.1/32'],
    ['"/data"', JSON.stringify(folder.path)],
    ['bind :8443', `bind 127.0.0.1:${ports.outside}`],
    ['bind :8080', `bind 127.0.0.1:${ports.inside}`],
    ['/run/secrets/certificate.pem', certificate],
    ['authz-1:3000', `127.0.0.1:${ports['authz-1']}`],
    ['authz-2:3000', `127.0.0.1:${ports['authz-2']}`],
    ['resource-1:3001', `127.0.0.1:${ports['resource-1']}`],
    ['resource-2:3001', `127.0.0.1:${ports['resource-2']}`],
  ]);

  parts.use(await startRedis(compose, ports.redis, folder.path));
  const shared = JSON.parse(here.in(content(compose, 'countersign'))) as Members;
  const listen = (port: number) => ({ host: '127.0.0.1', port });
  const servers: Record<string, ServerProcess> = {};
  const env: Record<string, NodeJS.ProcessEnv> = {};
  for (const name of SERVERS) {
    const { command, environment, configs } = of(compose, name);
    const [start, ...which] = command;
    if (start !== 'start') throw new Error(`${name} runs ${start}`);
    const main = ['shared/start/main.js', ...which];
    const port = ports[name];
    const [authz, resource] = main.includes('authz') ? [port, 0] : [0, port];
    const config = {
      ...merge(merge(shared, PATIENT), settings),
      listen: { authz: listen(authz), resource: listen(resource) },
    };
    await writeFile(file(`${name}.json`), JSON.stringify(config));
    env[name] = Object.fromEntries(
      Object.entries(environment).map(([key, value]) => [
        key,
        value === configs[0]?.target ? file(`${name}.json`) : here.in(value),
      ]),
    );
    const workers = { COUNTERSIGN_WORKERS: '1' }; // the topology has two instances of each server
    servers[name] = new ServerProcess(main, port, { ...env[name], ...workers, ...NODE });
    parts.defer(() => servers[name]?.kill());
    await servers[name].start();
  }

  const balancer = parts.use(
    await startBalancer(here.in(content(compose, 'haproxy')), file('haproxy.cfg'), ports.inside),
  );
  here.check();

  const ca = await readFile(certificate, 'utf8');
  const agents = new Map<string, Agent>();
  parts.defer(() =>
    Promise.all([...agents.values()].map((agent) => agent.destroy())).then(() => {}),
  );
  const agentOf = (from: string) => {
    const agent = agents.get(from) ?? clientFrom(from, ports.outside, ca);
    agents.set(from, agent);
    return agent;
  };
  const owned = parts.move();
  return {
    servers: servers as Record<ServerName, ServerProcess>,
    balancerLog: () => balancer.output,
    async ask(url, options, from = '127.0.0.1') {
      const { statusCode, headers, body } = await request(url, {
        ...options,
        dispatcher: agentOf(from),
      });
      const bytes = Buffer.from(await body.arrayBuffer());
      return { status: statusCode, headers, content: bytes, text: bytes.toString() };
    },
    async connect(url, protocol) {
      const socket = connect({
        host: '127.0.0.1',
        port: ports.outside,
        servername: new URL(url).hostname,
        ca,
        ...(protocol && { ALPNProtocols: [protocol] }),
      });
      await once(socket, 'secureConnect');
      return socket;
    },
    cli: (...args) => commandLine(args, { ...env['authz-1'] }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function merge(shared: Members, settings: Members): Members {
  const merged = Object.entries(settings).map(([name, value]) => {
    const known = shared[name];
    return [name, isObject(known) && isObject(value) ? { ...known, ...value } : value];
  });
  return { ...shared, ...Object.fromEntries(merged) };
}

/** Connects to the load balancer's port, whatever the host of the URL is. TLS (SNI) still has the host of the URL. */
function clientFrom(localAddress: string, port: number, ca: string): Agent {
  const connector = buildConnector({ ca, allowH2: false });
  return new Agent({
    connect: (options, callback) =>
      connector(
        {
          ...options,
          hostname: '127.0.0.1',
          port: String(port),
          servername: options.hostname,
          localAddress,
        },
        callback,
      ),
  });
}

/** Starts PostgreSQL as the service has it, with the database that its image makes. */
async function startDatabase(compose: Compose): Promise<Postgres> {
  const { command, environment } = of(compose, 'postgres');
  const settings = command.filter((word) => word.includes('='));
  const postgres = await startPostgres({ settings, password: randomBytes(16).toString('hex') });
  const { POSTGRES_USER: user, POSTGRES_DB: name, POSTGRES_PASSWORD: password } = environment;
  await postgres.sql(`CREATE ROLE ${user} SUPERUSER LOGIN PASSWORD '${password}'`);
  await postgres.sql(`CREATE DATABASE ${name} OWNER ${user}`);
  return postgres;
}

function startRedis(compose: Compose, port: number, cwd: string): Promise<RunningProcess> {
  const { command, environment } = of(compose, 'redis');
  const [server = '', ...args] = command;
  const loopback = ['--bind', '127.0.0.1', '--port', String(port)];
  const password = { ...environment, ...NODE };
  return startProcess(server, [...args, ...loopback], {
    cwd,
    ready: async () =>
      (await run('redis-cli', ['-p', String(port), 'PING'], { env: password })).stdout === 'PONG\n',
  });
}

async function startBalancer(text: string, file: string, inside: number): Promise<RunningProcess> {
  await writeFile(file, text);
  const env = { PATH: `${process.env['PATH']}:/usr/sbin` };
  const { stdout, stderr } = await run('haproxy', ['-c', '-f', file], { env });
  if (/WARNING/.test(stdout + stderr)) throw new Error(stdout + stderr);
  return startProcess('haproxy', ['-db', '-f', file], {
    env,
    ready: async () => (await fetch(`http://127.0.0.1:${inside}/jwks`)).ok,
  });
}

/** Makes a certificate for both hosts, with its private key in the same file. */
async function makeCertificate(file: string): Promise<void> {
  const names = [ISSUER, RESOURCE].map((url) => `DNS:${new URL(url).host}`).join(',');
  const key = [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-noenc',
    '-keyout',
    `${file}.key`,
  ];
  const about = ['-days', '2', '-subj', '/CN=auth.example', '-addext', `subjectAltName=${names}`];
  await run('openssl', ['req', '-x509', ...key, ...about, '-out', `${file}.crt`]);
  const halves = await Promise.all(['crt', 'key'].map((half) => readFile(`${file}.${half}`)));
  await writeFile(file, Buffer.concat(halves), { mode: 0o600 });
}

/**
 * Returns a function that replaces the texts which differ between containers and processes. `check` throws if an entry
 * was never used.
 */
function substitution(table: readonly (readonly [string, string])[]) {
  const unused = new Set(table.map(([from]) => from));
  return {
    in: (text: string) =>
      table.reduce((result, [from, to]) => {
        if (result.includes(from)) unused.delete(from);
        return result.replaceAll(from, to);
      }, text),
    check() {
      if (unused.size > 0) throw new Error(`not in docker-compose.yml: ${[...unused].join(', ')}`);
    },
  };
}

function of(compose: Compose, name: string) {
  const service = compose.services[name];
  if (service === undefined) throw new Error(`docker-compose.yml has no service ${name}`);
  return service;
}

function content(compose: Compose, name: string): string {
  const config = compose.configs[name];
  if (config === undefined) throw new Error(`docker-compose.yml has no config ${name}`);
  return config.content;
}
