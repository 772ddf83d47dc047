/** @needs openssl */
/** The shared parts of the forward proxy tests: the pair with proxies, and servers behind the proxies. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import http from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import https from 'node:https';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { NODE_FLAGS } from '#shared/start/options.js';
import type { Field } from '../clients/digest/exchange.ts';
import { startStore } from '../flows/flow.ts';
import type { StoreKind } from '../flows/flow.ts';
import { entryFile } from '../parts/entry.ts';
import { freePort } from '../parts/free-port.ts';
import { startPair } from '../pair/pair.ts';
import type { Pair } from '../pair/pair.ts';
import { startProcess } from '../parts/process.ts';
import type { RunningProcess } from '../parts/process.ts';
import { temporaryFolder } from '../parts/temporary-folder.ts';
import { ALICE, JASON } from './site.ts';

const run = promisify(execFile);

/** Limits that no test reaches. */
const UNLIMITED = { burst: 1_000_000, per: 0.001 };

type Members = Readonly<Record<string, unknown>>;

/** A process with a resource server and its proxy. */
export interface ProxyProcess {
  readonly process: RunningProcess;
  /** The ports of the resource server and of the proxy. */
  readonly main: number;
  readonly port: number;
}

export interface ProxySite extends AsyncDisposable {
  /** The pair, whose first resource server has the requested proxy. */
  readonly pair: Pair;
  readonly proxy: { readonly host: string; readonly port: number };
  /** Starts another resource server on the same store; `undefined` removes a member. */
  startBeside(members: Members, host?: string): Promise<ProxyProcess>;
}

/**
 * Starts the pair on a store of that kind, with two people who have passwords. Without members for the
 * proxy, the proxy has the default configuration. `more`: further members of the configuration.
 */
export async function startProxySite(
  kind: StoreKind,
  proxy?: (origins: Pick<Pair, 'resource'>) => Members,
  more?: (origins: Pick<Pair, 'resource'>) => Members,
): Promise<ProxySite> {
  await using parts = new AsyncDisposableStack();
  const store = await startStore(kind, parts);
  const limits = { credentials: UNLIMITED, signIn: UNLIMITED };
  const pair = parts.use(
    await startPair({
      ...store,
      settings: (origins) => ({ limits, proxy: proxy?.(origins), ...more?.(origins) }),
    }),
  );
  await Promise.all([ALICE, JASON].map(({ name, password }) => pair.addPerson(name, password)));
  const { hostname, port } = new URL(pair.proxies[0] ?? '');
  const owned = parts.move();

  async function startBeside(members: Members, host = '127.0.0.1'): Promise<ProxyProcess> {
    const [main, beside] = [await freePort(), await freePort()];
    const file = join(pair.data, `config-${main}.json`);
    const config: unknown = JSON.parse(await readFile(join(pair.data, 'config-0.json'), 'utf8'));
    const listen = {
      resource: { host, port: main },
      resourceTls: { port: 0 },
      proxy: { host: '127.0.0.1', port: beside },
    };
    await writeFile(file, JSON.stringify(Object.assign({}, config, { listen }, members)));
    const env = { ...pair.env, COUNTERSIGN_CONFIG: file };
    const ready = (output: string) => output.includes('"event":"listening"');
    const started = owned.use(
      await startProcess(process.execPath, [...NODE_FLAGS, entryFile('resource-server/main.ts')], {
        env,
        ready,
      }),
    );
    return { process: started, main, port: beside };
  }

  return {
    pair,
    proxy: { host: hostname, port: Number(port) },
    startBeside,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Files in PEM. */
export interface CertificateFiles extends AsyncDisposable {
  readonly certificate: string;
  readonly key: string;
}

/** A self-signed certificate for this machine. */
export async function makeCertificate(): Promise<CertificateFiles> {
  const folder = await temporaryFolder();
  const [certificate, key] = ['certificate.pem', 'key.pem'].map((name) => join(folder.path, name));
  if (certificate === undefined || key === undefined) throw new Error('two names make two paths');
  const about = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  await run('openssl', ['req', '-x509', ...kind, ...about, '-keyout', key, '-out', certificate]);
  return { certificate, key, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

/** A server behind a proxy. */
export interface Behind extends AsyncDisposable {
  readonly port: number;
  /** Host and port. */
  readonly at: string;
  /** The open connections of the server. */
  readonly sockets: ReadonlySet<Socket>;
  /** The number of connections so far. */
  readonly connections: () => number;
}

/** Listens on a free port. */
export async function startServer(server: Server): Promise<Behind> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    at: `127.0.0.1:${port}`,
    sockets,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Starts a TCP server. */
export function startTcp(serve: (socket: Socket) => void): Promise<Behind> {
  return startServer(createServer({ allowHalfOpen: true }, serve));
}

/** A request that an origin server received. */
export interface Got {
  readonly method: string;
  readonly target: string;
  readonly fields: readonly Field[];
  readonly content: string;
}

export interface Origin extends Behind {
  /** Returns the requests since the last call. */
  take(): readonly Got[];
}

type Serve = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Starts an origin server without authentication; by default it answers `hello`. With a certificate it uses
 * TLS.
 */
export async function startOrigin(
  serve: Serve = (_request, response) => response.end('hello'),
  files?: CertificateFiles,
): Promise<Origin> {
  const got: Got[] = [];
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: target = '', rawHeaders } = request;
    const fields = rawHeaders.flatMap((name, at) =>
      at % 2 === 0 ? [[name.toLowerCase(), rawHeaders[at + 1] ?? ''] as const] : [],
    );
    got.push({ method, target, fields, content: String(await buffer(request)) });
    serve(request, response);
  }
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    answer(request, response).catch(() => response.destroy());
  };
  const server =
    files === undefined
      ? http.createServer(listener)
      : https.createServer(
          { cert: await readFile(files.certificate), key: await readFile(files.key) },
          listener,
        );
  return { ...(await startServer(server)), take: () => got.splice(0) };
}

/** The secrets of both people, which no log may contain. */
export const SECRETS: readonly string[] = [ALICE, JASON].flatMap((person) => [
  person.password,
  encodeURIComponent(person.password),
  basic(person).slice('Basic '.length),
]);

/** The Proxy-Authorization value of a person for Basic (RFC 7617). */
export function basic({ name, password } = ALICE): string {
  return `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
}
