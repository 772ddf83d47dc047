import { temporaryFolder } from '../../parts/temporary-folder.ts';
import type { Server } from '../cpu.ts';
import { onWrk } from '../loaded.ts';
import { inTurn } from '../requests.ts';
import { BODY, ES256, furnish, get, SCOPE, SETTINGS } from '../site.ts';
import { type Guarded, startGuarded } from '../targets/bare.ts';
import { startCountersign } from '../targets/countersign.ts';
import { byBearer } from '../token-contenders.ts';
import { type Loads, room } from '../work.ts';

/** More than ours remember (20,000), so that each is unseen when it comes again. */
const UNSEEN = 21_000;

type Framework = Parameters<typeof startGuarded>[0];

/** By the name of each peer in the table, how it is protected; ours is no peer. */
const PEERS: Readonly<Record<Framework, Readonly<Record<string, Guarded['by']>>>> = {
  express: { 'express-oauth2-jwt-bearer': 'peer', 'Express alone': 'nobody' },
  fastify: {
    '@fastify/jwt': 'peer',
    '@fastify/jwt, cache: true': 'peer, which remembers',
    'Fastify alone': 'nobody',
  },
};

interface Api {
  readonly name: string;
  readonly by: Guarded['by'];
  readonly server: Server;
}

/** APIs in that framework: ours first. */
type Apis = Readonly<Record<Framework, readonly [Api, ...Api[]]>>;

interface Targets {
  readonly apis: Apis;
  readonly tokens: readonly string[];
}

async function start(stack: AsyncDisposableStack): Promise<Targets> {
  const { path: folder } = stack.use(await temporaryFolder());
  const servers = stack.use(await startCountersign(SETTINGS));
  const client = await servers.pair.addClient('revocations:follow');
  const { issuer } = servers.pair;
  const expected = { issuer, audience: ES256.url, scope: SCOPE, client, path: ES256.path };
  async function api(framework: Framework, name: string, by: Guarded['by']): Promise<Api> {
    const options = { ...expected, by, body: BODY };
    return { name, by, server: stack.use(await startGuarded(framework, options, folder)) };
  }
  async function all(framework: Framework): Promise<Apis[Framework]> {
    const ours = await api(framework, 'ours', 'countersign');
    const peers = Object.entries(PEERS[framework]);
    return [ours, ...(await Promise.all(peers.map(([name, by]) => api(framework, name, by))))];
  }
  const apis = { express: await all('express'), fastify: await all('fastify') };
  return { apis, tokens: await (await furnish(servers)).tokens(ES256, UNSEEN) };
}

/** Those tokens in turn. An API that nobody protects refuses none. */
function asked({ name, by, server }: Api, tokens: readonly string[]) {
  const bearers = { name, server, space: ES256, tokens, ask: get, load: inTurn };
  const { forged, ...contender } = byBearer(bearers);
  return onWrk({ ...contender, ...(by !== 'nobody' && forged && { forged }) });
}

function loads([ours, ...peers]: Apis[Framework], tokens: readonly string[]): Loads {
  return {
    beside: peers.map((peer) => asked(peer, tokens)),
    ways: { SQLite: asked(ours, tokens) },
  };
}

const seen = ({ apis, tokens }: Targets, framework: Framework) =>
  loads(apis[framework], tokens.slice(0, 1));

const unseen = ({ apis, tokens }: Targets, framework: Framework) => loads(apis[framework], tokens);

/** The package for APIs elsewhere, which alone looks at revocations, beside the packages of others. */
export const GUARD = room(start, [
  { name: 'Guard in Express, Bearer seen', loads: (on) => seen(on, 'express') },
  { name: 'Guard in Express, Bearer unseen', loads: (on) => unseen(on, 'express') },
  { name: 'Guard in Fastify, Bearer seen', loads: (on) => seen(on, 'fastify') },
  { name: 'Guard in Fastify, Bearer unseen', loads: (on) => unseen(on, 'fastify') },
]);
