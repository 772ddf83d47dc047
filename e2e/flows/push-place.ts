/**
 * The shared parts of the push flows: the pair, a person whose user agent has a token, and application
 * servers.
 */
import { readFile } from 'node:fs/promises';
import http2, { type ClientHttp2Session } from 'node:http2';
import https from 'node:https';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { IncomingMessage } from 'node:http';
import webpush from 'web-push';
import { type Subscription, type UserAgent, userAgent } from '../clients/push/user-agent.ts';
import type { PairOptions, Person } from '../pair/pair.ts';
import { CODE_FLOW } from '../pair/people-client.ts';
import { type Flow, startFlowOn, type StoreKind } from './flow.ts';
import { App, newPerson, signedIn } from './person.ts';

/** A request to a push resource, as application servers' libraries make it. */
export interface PushRequest {
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface PushAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

/** A user agent with its own connection. */
export interface OwnAgent extends UserAgent {
  readonly session: ClientHttp2Session;
}

export interface PushPlace extends AsyncDisposable {
  readonly flow: Flow;
  /** The public origin of the push service. */
  readonly origin: string;
  readonly ca: Buffer;
  /** Adds a new person, with an access token for the push service. */
  tokenOf(): Promise<{ readonly person: Person; readonly token: string }>;
  token(): Promise<string>;
  /** Opens a user agent at one of the resource servers. */
  agent(server?: number): OwnAgent;
  /** Sends a message to one of the resource servers. */
  send(request: PushRequest, server?: number): Promise<PushAnswer>;
}

export async function startPush(kind: StoreKind, options: PairOptions = {}): Promise<PushPlace> {
  await using parts = new AsyncDisposableStack();
  const flow = parts.use(await startFlowOn(kind, options));
  const { pair } = flow;
  const bell = ['--public', '--name', 'Bell', '--scope', 'openid offline_access push'];
  const { client_id } = await pair.cli('client', 'add', ...bell, ...CODE_FLOW);
  const app = new App(flow, String(client_id));
  const ca = await readFile(join(pair.data, 'tls/certificate.pem'));
  const origin = pair.resourceTls;
  const { host } = new URL(origin);
  async function tokenOf() {
    const person = await newPerson(flow);
    const browser = await signedIn(flow, person);
    const asked = { scope: 'push', resource: `${origin}/push/` };
    return { person, token: (await app.tokens(browser, asked)).access };
  }

  const owned = parts.move();
  return {
    flow,
    origin,
    ca,
    tokenOf,
    token: async () => (await tokenOf()).token,
    agent(server = 0) {
      const session = http2.connect(pair.resourcesTls[server] ?? '', { ca });
      session.on('error', () => {});
      owned.defer(() => session.destroy());
      return { ...userAgent(session, origin), session };
    },
    async send({ endpoint, headers, body }, server = 0) {
      const { pathname } = new URL(endpoint);
      const request = https.request(new URL(pathname, pair.resourcesTls[server]), {
        method: 'POST',
        headers: { ...headers, host },
        ca,
        agent: false,
      });
      request.end(body);
      const [answer] = (await once(request, 'response')) as [IncomingMessage];
      return { status: answer.statusCode ?? 0, headers: answer.headers, text: await text(answer) };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** An application server. */
export const APPLICATION = { subject: 'mailto:admin@example.com', ...webpush.generateVAPIDKeys() };

/** Returns web-push's request for a message. */
export function requestOf(
  { endpoint, keys }: Pick<Subscription, 'endpoint' | 'keys'>,
  message: string,
  options: webpush.RequestOptions = {},
): PushRequest {
  const details = webpush.generateRequestDetails({ endpoint, keys }, message, {
    vapidDetails: APPLICATION,
    TTL: 60,
    ...options,
  });
  return { endpoint, headers: details.headers, body: details.body ?? Buffer.alloc(0) };
}
