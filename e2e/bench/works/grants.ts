import { join } from 'node:path';
import { TestBrowser } from '../../../authz-server/integration/browser.fixture.ts';
import { addPeopleClient, CODE_FLOW } from '../../pair/people-client.ts';
import { temporaryFolder } from '../../parts/temporary-folder.ts';
import type { Server } from '../cpu.ts';
import {
  byClient,
  CODES,
  introspecting,
  type Issuer,
  newTokens,
  redeeming,
  refreshing,
  SCOPE,
} from '../grant-contenders.ts';
import { onPool, onWrk, startBareHttp } from '../loaded.ts';
import { WARM_UP } from '../measure.ts';
import { BODY } from '../site.ts';
import { startBareIssuer } from '../targets/bare.ts';
import { type Countersign, startCountersign } from '../targets/countersign.ts';
import { type OnEachStore, ofEachStore, onEachStore } from '../targets/stores.ts';
import { AT_ONCE, type Loaded, type Loads, room, times } from '../work.ts';

const ENGINE = 'oidc-provider';
const DURABLE = `${ENGINE}, SQLite`;

/** An authorization server, and the resource of its tokens. */
interface Target extends Issuer {
  readonly resource: string;
}

interface Targets {
  readonly http: Loaded;
  /** oidc-provider with its own memory. */
  readonly engine: Target;
  /** oidc-provider with an adapter that is as durable as our store. */
  readonly durable: Target;
  readonly stores: OnEachStore<Target>;
  readonly workers: Target;
}

async function start(stack: AsyncDisposableStack): Promise<Targets> {
  const { path: folder } = stack.use(await temporaryFolder());
  const stores = await onEachStore(stack, async (on) =>
    issuerOf(stack.use(await startCountersign({}, on))),
  );
  const workers = await issuerOf(stack.use(await startCountersign({}, { workers: 2 })));

  const { client, resource } = stores.SQLite;
  async function bare(file?: string): Promise<Target> {
    const options = { client, scope: SCOPE, audience: resource, ...CODES, ...(file && { file }) };
    const server = stack.use(await startBareIssuer(options, folder));
    return { server, client, resource, code: () => bareCode(server) };
  }
  return {
    http: await startBareHttp(stack, BODY, folder),
    workers,
    engine: await bare(),
    durable: await bare(join(folder, 'bare.db')),
    stores,
  };
}

async function bareCode({ url }: Server): Promise<string> {
  const answer = await fetch(`${url}/bench/code`, { method: 'POST' });
  if (answer.status !== 200) throw new Error(`no code: ${answer.status}`);
  return answer.text();
}

/** The issuer with a person who has signed in and allowed the client's request. */
export async function issuerOf({ pair, authz }: Countersign): Promise<Target> {
  const grants = [...CODE_FLOW, '--grant', 'client_credentials'];
  const client = await addPeopleClient(pair, ...grants);
  const person = await pair.addPerson();
  const browser = new TestBrowser(authz.url, pair.issuer);
  const { name, password } = person;
  await browser.submit(await browser.open('/account'), { name, password });
  const query = new URLSearchParams({
    client_id: client.id,
    response_type: 'code',
    redirect_uri: CODES.redirectUri,
    scope: SCOPE,
    code_challenge: CODES.challenge,
    code_challenge_method: 'S256',
  });
  const url = `/auth?${query.toString()}`;
  await browser.submit(await browser.open(url), { decision: 'allow' });
  return {
    server: authz,
    client,
    resource: pair.documents,
    async code() {
      const { status, headers, text } = await browser.request('GET', url);
      const sent = new URL(headers.get('location') ?? '', pair.issuer).searchParams.get('code');
      if (sent === null) throw new Error(`no code: ${status} ${text}`);
      return sent;
    },
  };
}

async function machines({ http, engine, stores, workers }: Targets): Promise<Loads> {
  const of = (name: string, { server, client, resource }: Target) =>
    onWrk(byClient(name, server, client, resource));
  return {
    beside: [http, of(ENGINE, engine)],
    ways: {
      ...(await ofEachStore(stores, (one) => of('ours', one))),
      '2 workers': of('ours', workers),
    },
  };
}

/** Each work is compared with oidc-provider and an adapter of the same durability. */
async function people(
  { durable, stores }: Targets,
  of: (name: string, target: Target) => Promise<Loaded>,
  besides = of,
): Promise<Loads> {
  return {
    beside: [await besides(DURABLE, durable)],
    ways: await ofEachStore(stores, (one) => of('ours', one)),
  };
}

async function refreshed(name: string, target: Target) {
  const tokens: string[] = [];
  while (tokens.length < AT_ONCE) tokens.push((await newTokens(target)).refresh);
  return onPool(refreshing(name, target, tokens));
}

const redeemed = async (name: string, target: Target) => onPool(await redeeming(name, target));

const introspected = async (name: string, target: Target) =>
  onWrk(introspecting(name, target, (await newTokens(target)).refresh));

const introspectedJwt = async (name: string, target: Target) =>
  onWrk(introspecting(name, target, (await newTokens(target)).access));

/** Making a code takes longer than redeeming it. */
const OF_CODES = { warmUp: { ...WARM_UP, count: 1000 } };

/** The works at the authorization server: each kind of grant, and introspection. */
export const GRANTS = room(start, [
  {
    name: 'client credentials, ES256 JWT',
    goals: { 'node:http': times(6), [ENGINE]: times(0.4) },
    loads: machines,
  },
  {
    // PostgreSQL gets 4.7 messages, each 35 to 60 us for the socket alone; one message per step and reader
    // would cost 3.7 times as much.
    name: 'refresh',
    goals: { [DURABLE]: times(1.7), PostgreSQL: times(2), 'PostgreSQL, Redis': times(1.6) },
    loads: (all) => people(all, refreshed),
  },
  {
    name: 'code',
    goals: { [DURABLE]: times(1.7) },
    schedule: OF_CODES,
    loads: (all) => people(all, redeemed),
  },
  {
    name: 'introspection, refresh token',
    goals: { [DURABLE]: times(1.7) },
    loads: (all) => people(all, introspected),
  },
  {
    // oidc-provider cannot introspect a JWT: here it introspects a refresh token instead.
    name: 'introspection, JWT',
    goals: { [DURABLE]: times(1.7) },
    loads: (all) => people(all, introspectedJwt, introspected),
  },
]);
