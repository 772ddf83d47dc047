import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '#shared/config/schema.ts';
import { NODE_FLAGS } from '#shared/start/options.js';
import { commandLine } from './command-line.ts';
import { entryFile } from '../parts/entry.ts';
import { freePort } from '../parts/free-port.ts';
import { allStarted, NODE, startProcess } from '../parts/process.ts';
import type { RunningProcess } from '../parts/process.ts';
import { temporaryFolder } from '../parts/temporary-folder.ts';

export interface PairOptions {
  /** Default: the embedded store. */
  readonly store?: Config['store'];
  /**
   * The number of processes of each server; default: 1. All share the store, the issuer and the resource.
   */
  readonly authz?: number;
  readonly resource?: number;
  /** The host of the issuer; default: 127.0.0.1, for which browsers make no passkeys. */
  readonly issuerHost?: string;
  /** The port of the issuer; default: a free port. */
  readonly issuerPort?: number;
  /** Further members of the configuration file; a function gets the origins. */
  readonly settings?: Settings | ((origins: Origins) => Settings);
  /** Further variables of the servers and of the command line. */
  readonly env?: NodeJS.ProcessEnv;
}

/** There are no followers, so a revocation right after the first start need not wait long. */
const UNFOLLOWED = { lease: 0.2, hold: 0.05 };

type Origins = Pick<Config, 'issuer' | 'resource'> & Pick<Pair, 'tokenIssuer'>;
type Settings = Readonly<Record<string, unknown>>;

/** One of our servers as a real process on its own port. */
export class ServerProcess {
  /** The URL at which the process listens. For a second process this is not the public origin. */
  readonly url: string;
  readonly #entry: string;
  readonly #args: readonly string[];
  readonly #env: NodeJS.ProcessEnv;
  #process: RunningProcess | undefined;

  /** `entry`: the program and its arguments. */
  constructor([entry = '', ...args]: readonly string[], port: number, env: NodeJS.ProcessEnv) {
    this.url = `http://127.0.0.1:${port}`;
    this.#entry = entry;
    this.#args = args;
    this.#env = env;
  }

  /** Starts the process, also after `kill`. `bundle`: the folder of another build. */
  async start(bundle?: string): Promise<void> {
    const command = [...NODE_FLAGS, entryFile(this.#entry, bundle), ...this.#args];
    this.#process = await startProcess(process.execPath, command, {
      env: this.#env,
      ready: (output) => output.includes('"event":"listening"'),
    });
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    await this.#process?.kill(signal);
  }

  signal(signal: NodeJS.Signals): void {
    this.#process?.signal(signal);
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Null while the process runs, and if a signal ended it. */
  get exitCode(): number | null {
    return this.#process?.exitCode ?? null;
  }

  /** The log since the last start. */
  get log(): string {
    return this.#process?.output ?? '';
  }

  /** The warnings and errors in the log, and the requests that got no answer. */
  get troubles(): readonly string[] {
    const trouble = /"level":"(?:warn|error)"|"status":5/;
    return this.log.split('\n').filter((line) => trouble.test(line));
  }
}

export interface Person {
  readonly id: string;
  readonly name: string;
  readonly password: string;
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

/** The pair as operators run it: real processes, real ports, one store. */
export class Pair implements AsyncDisposable {
  readonly issuer: string;
  /** The public origin of the resource server. */
  readonly resource: string;
  readonly authz: readonly ServerProcess[];
  readonly resources: readonly ServerProcess[];
  /** The public TLS origin of the resource server, where the first process listens. */
  readonly resourceTls: string;
  /** The TLS URLs of the resource servers. */
  readonly resourcesTls: readonly string[];
  /** The origin of the token issuer, where the first authorization server listens. */
  readonly tokenIssuer: string;
  /** The URLs of the forward proxies, if the configuration has one. */
  readonly proxies: readonly string[];
  readonly data: string;
  /** The environment in which the command line uses the same store. */
  readonly env: NodeJS.ProcessEnv;
  readonly #end: () => PromiseLike<void>;

  constructor(
    ports: Readonly<Record<Exclude<keyof Config['listen'], 'host' | 'metrics'>, readonly number[]>>,
    data: string,
    { host, env: further }: { host: string; env?: NodeJS.ProcessEnv | undefined },
    end: () => PromiseLike<void>,
  ) {
    const env = (file: string) => ({
      ...NODE,
      ...further,
      COUNTERSIGN_CONFIG: join(data, file),
    });
    this.issuer = `http://${host}:${ports.authz[0]}`;
    this.resource = `http://127.0.0.1:${ports.resource[0]}`;
    this.resourcesTls = ports.resourceTls.map((port) => `https://localhost:${port}`);
    [this.resourceTls = ''] = this.resourcesTls;
    this.tokenIssuer = `https://localhost:${ports.authzTls[0]}`;
    this.authz = ports.authz.map(
      (port, index) =>
        new ServerProcess(['authz-server/main.ts'], port, env(`config-${index}.json`)),
    );
    this.resources = ports.resource.map(
      (port, index) =>
        new ServerProcess(['resource-server/main.ts'], port, env(`config-${index}.json`)),
    );
    this.proxies = ports.proxy.map((port) => `http://127.0.0.1:${port}`);
    this.data = data;
    this.env = env('config-0.json');
    this.#end = end;
  }

  /** The audience of the tour's documents. */
  get documents(): string {
    return `${this.resource}/documents/`;
  }

  /** Runs a command on the pair's store; resolves to the output of `--json`. */
  async cli(...args: readonly string[]): Promise<Record<string, unknown>> {
    return commandLine(args, this.env);
  }

  /** Adds a person who can sign in. */
  async addPerson(name = 'alice', password = 'correct horse battery'): Promise<Person> {
    const { id } = await commandLine(['user', 'add', name, '--password-stdin'], this.env, password);
    return { id: String(id), name, password };
  }

  async setPassword(name: string, password: string): Promise<void> {
    await commandLine(['user', 'passwd', name, '--password-stdin'], this.env, password);
  }

  /** Registers a client for client credentials. */
  async addClient(
    scope = 'documents:read documents:write',
  ): Promise<{ id: string; secret: string }> {
    const args = ['--name', 'Test', '--grant', 'client_credentials', '--scope', scope];
    const { client_id, client_secret } = await this.cli('client', 'add', ...args);
    return { id: String(client_id), secret: String(client_secret) };
  }

  /** Sends a form to one of the authorization servers, as this client. */
  async post(
    path: string,
    form: Readonly<Record<string, string>>,
    client: { id: string; secret: string },
    server = 0,
  ): Promise<Answered> {
    const response = await fetch(`${this.authz[server]?.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}` },
      body: new URLSearchParams(form),
    });
    const text = await response.text();
    const body = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
    return { status: response.status, headers: response.headers, body };
  }

  /** Gets a Bearer token with the client's default scopes. Rejects if the server refuses. */
  async token(client: { id: string; secret: string }, server = 0): Promise<string> {
    const form = { grant_type: 'client_credentials' };
    const { status, body } = await this.post('/token', form, client, server);
    if (status !== 200) {
      const troubles = this.authz[server]?.troubles.join('\n');
      throw new Error(`no token: ${status} ${JSON.stringify(body)}\n${troubles}`);
    }
    return String(body['access_token']);
  }

  /** The status of a request for a document, sent to one of the resource servers. */
  async get(token: string, server = 0, path = '/documents/'): Promise<number> {
    const response = await fetch(`${this.resources[server]?.url}${path}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    await response.arrayBuffer();
    return response.status;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.authz, ...this.resources].map((server) => server.kill()));
    await this.#end();
  }
}

/** Starts the pair and resolves when all its processes listen. */
export async function startPair(options: PairOptions = {}): Promise<Pair> {
  const folder = await temporaryFolder();
  const ports = async (count = 1) => Promise.all(Array.from({ length: count }, freePort));
  const [authz, resource] = [await ports(options.authz), await ports(options.resource)];
  if (options.issuerPort !== undefined) authz[0] = options.issuerPort;
  const [resourceTls, proxy] = [await ports(options.resource), await ports(options.resource)];
  const authzTls = await ports(options.authz);
  const all = { authz, authzTls, resource, resourceTls, proxy };
  const { settings, issuerHost = '127.0.0.1', env } = options;
  const outside = { host: issuerHost, env };
  const pair = new Pair(all, folder.path, outside, () => folder[Symbol.asyncDispose]());
  const further = typeof settings === 'function' ? settings(pair) : settings;
  try {
    for (let index = 0; index < Math.max(authz.length, resource.length); index += 1) {
      const listen = {
        authz: { host: '127.0.0.1', port: authz[index] ?? 0 },
        authzTls: { host: '127.0.0.1', port: authzTls[index] ?? 0 },
        resource: { host: '127.0.0.1', port: resource[index] ?? 0 },
        resourceTls: { host: '127.0.0.1', port: resourceTls[index] ?? 0 },
        proxy: { host: '127.0.0.1', port: proxy[index] ?? 0 },
      };
      const config = {
        issuer: pair.issuer,
        resource: pair.resource,
        tls: { resource: pair.resourceTls },
        privateTokens: { issuer: pair.tokenIssuer },
        data: folder.path,
        listen,
        revocations: UNFOLLOWED,
        ...(options.store && { store: options.store }),
        ...further,
      };
      await writeFile(join(folder.path, `config-${index}.json`), JSON.stringify(config));
    }
    const [first, ...others] = [...pair.authz, ...pair.resources];
    await first?.start();
    await allStarted(others.map((server) => server.start()));
    return pair;
  } catch (error) {
    await pair[Symbol.asyncDispose]();
    throw error;
  }
}
