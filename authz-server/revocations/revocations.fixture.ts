import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { trustedProxies } from '#shared/http/forwarded.ts';
import { type Log, silentLog } from '#shared/base/log.ts';
import type { Clock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { configSchema } from '#shared/config/schema.ts';
import { revocationsSpace } from '#shared/config/token-spaces.ts';
import { GENERATE, signJws } from '#shared/jose/jws.fixture.ts';
import { ORIGIN } from '#shared/auth/scheme.ts';
import { frontDoor, openTarget } from '#shared/server/front-door/front-door.ts';
import type { AnyRequest, AnyResponse } from '#shared/server/message/message.ts';
import { createServe } from '#shared/server/endpoints/serve.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { ENDPOINTS, HANDLED } from '../base/endpoints.ts';
import { protection } from '../resources/protection.ts';
import { following } from './endpoint.ts';

export const ISSUER = 'https://as.example';
export const URL_OF_ENDPOINT = `${ISSUER}/revocations`;

export interface Call {
  readonly method?: string;
  readonly query?: string;
  readonly authorization?: string;
  readonly fields?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Starts the endpoint on a real port with these stores, in this process. */
export async function startEndpoint(
  stores: Stores,
  clock: Clock,
  settings: { readonly lease: number; readonly hold: number },
  log: Log = silentLog,
) {
  const config = configSchema.parse({ issuer: ISSUER, revocations: settings });
  const feed = await stores.revocations.feed();
  const key = GENERATE.ES256();
  const publicKey = async (kid: string) => (kid === 'k1' ? key.publicKey : undefined);
  const master = Buffer.alloc(32, 7);
  const parts = { config, stores, feed, master, clock, random: systemRandom, log, publicKey };
  const byToken = protection(parts)(revocationsSpace(config), following(parts));
  const serve = createServe<AnyRequest, AnyResponse>({
    handled: HANDLED,
    recipient: { at: ORIGIN, proxies: trustedProxies([]), local: false },
    ready: () => Promise.resolve(),
  });
  const handler = frontDoor<AnyRequest, AnyResponse>(
    ({ request, response, target }) =>
      serve(request, response, target, { ...ENDPOINTS['/revocations'], byToken }),
    { open: openTarget, refuseMisdirected: () => {}, fields: () => ({}), log: silentLog },
  );
  const server = http.createServer((request, response) => void handler(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const agent = new http.Agent({ keepAlive: true });

  let issued = 0;
  /** Returns a valid access token of a machine, except for these claims. */
  async function token(claims: object = {}): Promise<string> {
    issued += 1;
    const now = Math.floor(clock.now() / 1000);
    const good = {
      iss: ISSUER,
      aud: URL_OF_ENDPOINT,
      sub: 'follower',
      client_id: 'follower',
      jti: `of the fixture ${issued}`,
      iat: now,
      exp: now + 600,
      scope: 'revocations:follow',
      client_gen: 0,
      epoch: await stores.revocations.epoch(false),
      ...claims,
    };
    return signJws({ alg: 'ES256', typ: 'at+jwt', kid: 'k1' }, good, key.privateKey);
  }

  async function ask(call: Call = {}) {
    const { method = 'GET', query = '', fields, signal } = call;
    const { authorization = `Bearer ${await token()}` } = call;
    const request = http.request({
      host: '127.0.0.1',
      port,
      agent,
      method,
      path: `/revocations${query}`,
      headers: {
        Host: 'as.example',
        ...(authorization && { Authorization: authorization }),
        ...fields,
      },
      ...(signal && { signal }),
    });
    request.end();
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const { statusCode: status = 0, headers } = response;
    return { status, headers, text: Buffer.concat(chunks).toString() };
  }

  return {
    ask,
    token,
    key,
    async [Symbol.asyncDispose]() {
      agent.destroy();
      server.close();
      server.closeAllConnections();
      await feed[Symbol.asyncDispose]();
    },
  };
}

export type Endpoint = Awaited<ReturnType<typeof startEndpoint>>;
