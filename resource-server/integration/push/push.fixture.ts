import { generateKeyPairSync } from 'node:crypto';
import { vapidAuthorization, vapidKey } from '#shared/auth/schemes/vapid/prove.ts';
import { silentLog } from '#shared/base/log.ts';
import { listen } from '#shared/server/listen/listen.ts';
import type { Call, Reply } from '#shared/server/wire/ask.fixture.ts';
import { startResourceServer } from '../resource-server.fixture.ts';

/** A proxy terminates TLS. */
export const ORIGIN = 'https://push.example';

/** The origin whose scripts may call the push service. */
export const PAGE = 'https://app.example';

const SPACES = [
  {
    url: `${ORIGIN}/push/`,
    realm: 'push',
    schemes: ['Bearer'],
    scopes: { unsafe: ['push'] },
    serves: 'push',
    cors: { origins: [PAGE] },
  },
];

/** The addresses of a subscription, as paths. */
export interface Subscribed {
  readonly subscription: string;
  readonly push: string;
}

const RELATION = /<([^>]*)>; rel="urn:ietf:params:push(?::receipt)?"/;

export const linkOf = ({ headers }: Reply): string =>
  RELATION.exec(String(headers['link']))?.[1] ?? '';
export const pathOf = (url: unknown): string => new URL(String(url), ORIGIN).pathname;

/** Starts a resource server with a push service, over HTTP/1.1 and HTTP/2 in clear text, as a proxy reaches it. */
export async function startPush() {
  const server = await startResourceServer({ resource: ORIGIN, spaces: SPACES });
  const { handler, http2 } = server.server;
  if (http2 === undefined) throw new Error('it speaks HTTP/1.1 only');
  const listening = await listen({
    host: '127.0.0.1',
    port: 0,
    handler,
    http2: { handler: http2 },
    log: silentLog,
  });
  const sender = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

  /** Makes a token of a person's grant, which is in the store. */
  async function token(person = 'alice', grantId = `grant of ${person}`): Promise<string> {
    const payload = { grantId, accountId: person, clientId: 'agent', generation: 0, since: 0 };
    await server.stores.artefacts.put({ kind: 'Access', id: grantId, payload, seconds: 3600 });
    const claims = { sub: person, sub_gen: 0, client_id: 'agent', grant_id: grantId };
    return server.token('push', { ...claims, aud: `${ORIGIN}/push/` });
  }

  async function subscribe(options?: object, person?: string): Promise<Reply> {
    const headers = {
      authorization: `Bearer ${await token(person)}`,
      ...(options && { 'content-type': 'application/webpush-options+json' }),
    };
    const body = options === undefined ? {} : { body: JSON.stringify(options) };
    return server.ask('POST', '/push/subscribe', { headers, ...body });
  }

  return {
    ...server,
    /** Makes a token of a client without a person. */
    machineToken: () => server.token('push', { aud: `${ORIGIN}/push/` }),
    /** A port that also accepts HTTP/2. */
    port: listening.port,
    sender,
    key: vapidKey(sender),
    token,
    subscribe,
    async subscribed(options?: object, person?: string): Promise<Subscribed> {
      const reply = await subscribe(options, person);
      if (reply.status !== 201) throw new Error(`${reply.status} ${reply.text}`);
      return { subscription: pathOf(reply.headers.location), push: linkOf(reply) };
    },
    vapid: (changes: { key?: typeof sender; audience?: string; expires?: number } = {}) =>
      vapidAuthorization({
        key: sender,
        audience: ORIGIN,
        expires: server.now() + 3600,
        subject: 'mailto:admin@example.com',
        ...changes,
      }),
    /** Sends a message that may wait for a minute. */
    send: (push: string, { headers, body = 'sealed' }: Call = {}) =>
      server.ask('POST', push, { headers: { ttl: '60', ...headers }, body }),
    async [Symbol.asyncDispose]() {
      await listening.close(0);
      await server[Symbol.asyncDispose]();
    },
  };
}

export type TestPush = Awaited<ReturnType<typeof startPush>>;
