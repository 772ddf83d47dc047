/** @needs python3 */
/**
 * The parts of the GNAP flow: both servers, each behind one address, a client in Python, and people in
 * Chromium.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { type TestKey, testKey } from '#shared/gnap/client.fixture.ts';
import type { Person } from '../pair/pair.ts';
import { complaintsOf, launchBrowser, newPerson, type PersonOptions } from '../parts/browser.ts';
import { type Callback, startCallback } from '../parts/callback.ts';
import { type Flow, startFlowOn, type StoreKind } from './flow.ts';
import { newPerson as addPerson } from './person.ts';

const CLIENT = new URL('../clients/gnap/gnap_client.py', import.meta.url).pathname;

export type Server = 0 | 1;
export const SERVERS: readonly Server[] = [0, 1];

export interface Token {
  readonly value: string;
  readonly label?: string;
  readonly access: readonly unknown[];
  readonly manage: { readonly uri: string; readonly access_token: { readonly value: string } };
}

/** An answer to the client. `json` may have all of these members, and each test knows which. */
export interface Told {
  readonly status: number;
  readonly json: {
    readonly access_token: Token;
    readonly interact: {
      readonly redirect: string;
      readonly user_code_uri: { readonly code: string; readonly uri: string };
      readonly finish: string;
    };
    readonly continue: {
      readonly uri: string;
      readonly wait: number;
      readonly access_token: { readonly value: string };
    };
    readonly error: { readonly code: string };
  };
}

/** Runs the Python client once, with an input that its docstring describes. */
export async function gnapClient<Answer>(asked: object): Promise<Answer> {
  const child = spawn('/usr/bin/python3', ['-B', CLIENT], { stdio: 'pipe' });
  child.stdin.end(JSON.stringify(asked));
  const [out, errors] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  if (child.exitCode !== 0) throw new Error(errors);
  return JSON.parse(out) as Answer;
}

/**
 * The address in front of a server's processes: a client signs for this address, whichever process answers.
 */
interface Front extends AsyncDisposable {
  readonly url: string;
  /** Sends new connections to this process from now on. */
  to(process: string): void;
}

async function startFront(): Promise<Front> {
  const sockets = new Set<Socket>();
  let port = 0;
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on('error', () => {});
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    to(process) {
      port = Number(new URL(process).port);
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** A person with a browser at the second authorization server. */
export interface Visitor {
  readonly person: Person;
  readonly page: Page;
}

export interface GnapPlace extends AsyncDisposable {
  readonly flow: Flow;
  readonly issuer: string;
  readonly photos: string;
  readonly mails: string;
  readonly callback: Callback;
  /** Sends requests to this process of each server from now on. */
  route(server: Server): void;
  /** Sends the client's request to one process of the server in its URL, one at a time. */
  send(asked: object, server: Server): Promise<Told>;
  visit(options?: PersonOptions): Promise<Visitor>;
  /** Closes all browsers; resolves to the errors of their pages. */
  close(): Promise<readonly string[]>;
}

/** Starts two processes of each server on a store of that kind. */
export async function startGnap(kind: StoreKind): Promise<GnapPlace> {
  await using parts = new AsyncDisposableStack();
  const [authz, resource] = [parts.use(await startFront()), parts.use(await startFront())];
  const space = (name: string) => ({
    url: `${resource.url}/${name}/`,
    realm: name,
    schemes: ['GNAP'],
    scopes: { safe: [`${name}:read`], unsafe: [`${name}:write`] },
  });
  const spaces = [space('photos'), space('mails')];
  const settings = {
    issuer: authz.url,
    resource: resource.url,
    spaces,
    gnap: { clients: 'anybody' },
  };
  const flow = parts.use(await startFlowOn(kind, { authz: 2, resource: 2, settings }));
  const callback = parts.use(await startCallback());
  const { pair } = flow;
  const hostOf = (url = '') => new URL(url).host;
  const browser = await launchBrowser({
    args: [`--host-resolver-rules=MAP ${hostOf(authz.url)} ${hostOf(pair.authz[1]?.url)}`],
  });
  parts.defer(() => browser.close());
  const open: Awaited<ReturnType<typeof visitIn>>[] = [];

  async function visitIn(options?: PersonOptions) {
    const [person, context] = [await addPerson(flow), await newPerson(browser, options)];
    const complaints = await complaintsOf(context);
    return { person, context, complaints, page: await context.newPage() };
  }

  function route(server: Server): void {
    authz.to(pair.authz[server]?.url ?? '');
    resource.to(pair.resources[server]?.url ?? '');
  }

  const owned = parts.move();
  return {
    flow,
    issuer: authz.url,
    photos: `${resource.url}/photos/`,
    mails: `${resource.url}/mails/`,
    callback,
    route,
    send(asked, server) {
      route(server);
      return gnapClient<Told>(asked);
    },
    async visit(options) {
      const visitor = await visitIn(options);
      open.push(visitor);
      return visitor;
    },
    async close() {
      const closing = open.splice(0);
      for (const { context } of closing) await context.close();
      return closing.flatMap(({ complaints }) => complaints);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** An unregistered client instance. */
export class Instance {
  readonly #place: GnapPlace;
  readonly key: TestKey;

  constructor(place: GnapPlace, key = testKey()) {
    this.#place = place;
    this.key = key;
  }

  /** The private key in the form that the Python client reads. */
  get jwk(): object {
    return { ...this.key.privateKey.export({ format: 'jwk' }), ...this.key.byValue.jwk };
  }

  /** Sends a request that the instance's key signs; `more` may name another key. */
  send(method: string, url: string, more: object, server: Server): Promise<Told> {
    return this.#place.send({ jwk: this.jwk, method, url, ...more }, server);
  }

  /** A grant request (RFC 9635 section 2). */
  ask(wanted: object, server: Server): Promise<Told> {
    const client = { key: this.key.byValue, display: { name: 'Prints' } };
    return this.send('POST', `${this.#place.issuer}/gnap`, { json: { client, ...wanted } }, server);
  }

  /** A continuation after the interaction (section 5.1). */
  proceed({ json }: Told, reference: string, server: Server): Promise<Told> {
    const { uri, access_token: token } = json.continue;
    const content = { token: token.value, json: { interact_ref: reference } };
    return this.send('POST', uri, content, server);
  }

  /** Polls alternately at both processes until a person has decided (section 5.2). */
  async poll({ json: asked }: Told): Promise<Told> {
    const { uri, wait, access_token: token } = asked.continue;
    for (let turn = 0; ; turn += 1) {
      await sleep(wait * 1000);
      const told = await this.send('POST', uri, { token: token.value }, turn % 2 === 0 ? 1 : 0);
      if (told.status !== 200 || 'access_token' in told.json) return told;
    }
  }

  /** Rotates the token (section 6.1), or its key with `more` (section 6.1.1). */
  rotate({ manage }: Token, server: Server, more: object = {}): Promise<Told> {
    return this.send('POST', manage.uri, { token: manage.access_token.value, ...more }, server);
  }

  /** The statuses of a request with the token at both resource servers, in their order. */
  async use({ value }: Token, url = this.#place.photos, more: object = {}): Promise<number[]> {
    const statuses = [];
    for (const server of SERVERS) {
      const asked = { token: value, ...more };
      statuses.push((await this.send('GET', url, asked, server)).status);
    }
    return statuses;
  }
}
