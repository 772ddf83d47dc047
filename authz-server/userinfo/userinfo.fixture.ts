import type { KeyObject } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { recordAccess } from '#shared/people/access/grants.ts';
import { prover } from '#shared/auth/judge/auth.fixture.ts';
import { ManualClock } from '#shared/base/clock.ts';
import { configSchema } from '#shared/config/schema.ts';
import { localDirectory } from '#shared/people/local.ts';
import { GENERATE, signJws } from '#shared/jose/jws.fixture.ts';
import { rememberUntil } from '#shared/stores/revocation/lifetime.ts';
import { systemRandom } from '#shared/base/random.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import type { PersonRecord } from '#shared/stores/people/people.ts';
import { storeFolder } from '#shared/stores/sqlite/folder.fixture.ts';
import { openSqlite } from '#shared/stores/sqlite/open.ts';
import { ORIGIN } from '#shared/auth/scheme.ts';
import { silentLog } from '#shared/base/log.ts';
import { trustedProxies } from '#shared/http/forwarded.ts';
import { frontDoor, openTarget } from '#shared/server/front-door/front-door.ts';
import type { AnyRequest, AnyResponse } from '#shared/server/message/message.ts';
import { createServe } from '#shared/server/endpoints/serve.ts';
import { ENDPOINTS, HANDLED } from '../base/endpoints.ts';
import { userinfo, type UserinfoServer } from './userinfo.ts';

export const ISSUER = 'https://as.example';
export const USERINFO = `${ISSUER}/userinfo`;
export const DOCUMENTS = 'https://rs.example/documents/';
export const APP_ORIGIN = 'https://app.example';
export const FOREIGN = 'https://evil.example';
export const LIFE = 605;

export const ALICE: PersonRecord = {
  id: 'alice-id',
  name: 'alice',
  password_hash: 'never asked for here',
  created_at: 0,
  version: 0,
};
export const APP: ClientRecord = {
  client_id: 'app',
  client_name: 'App',
  grant_types: ['authorization_code'],
  token_endpoint_auth_method: 'none',
  scope: 'openid profile email groups documents:read',
  redirect_uris: [`${APP_ORIGIN}/callback`],
  origins: ['https://admin.example'],
  created_at: 0,
};

interface Call {
  readonly method?: string;
  readonly target?: string;
  readonly host?: string;
  /** Alternating names and values, so that a field can occur twice. */
  readonly fields?: readonly string[];
  readonly body?: string;
}

/** Starts the endpoint on a real port, with a real store that has alice, her app and its grant `g1`. */
export async function startUserinfo(settings: object = {}) {
  const clock = new ManualClock();
  const now = () => Math.floor(clock.now() / 1000);
  const data = await storeFolder();
  const stores = await openSqlite({ folder: data, clock, random: systemRandom });
  const epoch = await stores.revocations.epoch(true);
  const feed = await stores.revocations.feed();
  const config = configSchema.parse({
    issuer: ISSUER,
    data,
    spaces: [
      { url: DOCUMENTS, realm: 'documents', schemes: ['Bearer', 'DPoP'] },
      { url: 'https://rs.example/', realm: 'root', schemes: ['Bearer'] },
    ],
    ...settings,
  });
  const access = { stores, clock, longestLife: LIFE };
  const key = GENERATE.ES256();
  const published = new Map<string, KeyObject>([['k1', key.publicKey]]);
  const directory = localDirectory({
    people: stores.people,
    revocations: stores.revocations,
    passwords: { verify: () => Promise.reject(new Error('no password is asked for here')) },
    admitted: { demo: false, sources: new Set() },
  });
  const server: UserinfoServer = {
    config,
    feed,
    directory,
    master: Buffer.alloc(32, 7),
    ...access,
  };
  const byToken = userinfo(server, async (kid) => published.get(kid));
  const serve = createServe<AnyRequest, AnyResponse>({
    handled: HANDLED,
    recipient: { at: ORIGIN, proxies: trustedProxies([]), local: false },
    ready: () => Promise.resolve(),
  });
  const handler = frontDoor<AnyRequest, AnyResponse>(
    ({ request, response, target }) => {
      const endpoint = { ...ENDPOINTS['/userinfo'], byToken };
      return serve(request, response, target, target.path === '/userinfo' ? endpoint : undefined);
    },
    { open: openTarget, refuseMisdirected: () => {}, fields: () => ({}), log: silentLog },
  );
  const listening = http.createServer((request, response) => void handler(request, response));
  listening.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const { port } = listening.address() as AddressInfo;

  async function ask(call: Call = {}) {
    const { method = 'GET', target = '/userinfo', host = 'as.example', fields = [], body } = call;
    const headers = ['Host', host, ...fields];
    if (body !== undefined) headers.push('Content-Length', String(Buffer.byteLength(body)));
    const request = http.request({ host: '127.0.0.1', port, method, path: target, headers });
    request.end(body);
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    const { statusCode: status = 0, headers: received } = response;
    return { status, headers: received, text: await text(response) };
  }

  /** Writes alice's grant to the app as the engine and its consent do. */
  async function grant(grantId: string, scope: string, generation = 0): Promise<void> {
    const member = { accountId: ALICE.id, clientId: 'app', openid: { scope } };
    const payload = { ...member, resources: { [DOCUMENTS]: 'documents:read' } };
    await stores.artefacts.put({ kind: 'Grant', id: grantId, payload, seconds: 3600 });
    const since = clock.now();
    const whose = { accountId: ALICE.id, clientId: 'app' };
    const record = { grantId, ...whose, generation, clientGeneration: 0, since };
    await recordAccess(access, record, 3600);
  }

  let issued = 0;
  const token = (claims: object = {}, header: object = {}, signer = key.privateKey) => {
    issued += 1;
    return signJws(
      { alg: 'ES256', typ: 'at+jwt', kid: 'k1', ...header },
      {
        iss: ISSUER,
        aud: DOCUMENTS,
        sub: ALICE.id,
        client_id: 'app',
        jti: `j${issued}`,
        iat: now(),
        exp: now() + 600,
        scope: 'documents:read',
        openid_scope: 'openid profile',
        grant_id: 'g1',
        sub_gen: 0,
        client_gen: 0,
        epoch,
        ...claims,
      },
      signer,
    );
  };

  await stores.people.add(ALICE);
  await stores.clients.add(APP);
  await grant('g1', 'openid profile');
  const dpopClient = prover(now);
  const bound = token({ cnf: { jkt: dpopClient.jkt } });
  return {
    clock,
    now,
    stores,
    server,
    access,
    grant,
    token,
    ask,
    bearer: (value: string, call: Call = {}) =>
      ask({ ...call, fields: ['Authorization', `Bearer ${value}`, ...(call.fields ?? [])] }),
    bound,
    proof: (claims: object = {}) => dpopClient.proof(bound, { htu: USERINFO, ...claims }),
    dpop: (proofs: readonly string[], call: Call = {}) =>
      ask({
        ...call,
        fields: [
          'Authorization',
          `DPoP ${bound}`,
          ...(call.fields ?? []),
          ...proofs.flatMap((proof) => ['DPoP', proof]),
        ],
      }),
    until: () => rememberUntil(clock.now(), LIFE),
    async [Symbol.asyncDispose]() {
      listening.close();
      listening.closeAllConnections();
      await feed[Symbol.asyncDispose]();
      await stores[Symbol.asyncDispose]();
    },
  };
}

export type TestUserinfo = Awaited<ReturnType<typeof startUserinfo>>;
export type UserinfoAnswer = Awaited<ReturnType<TestUserinfo['ask']>>;
