import { temporaryFolder } from '../../parts/temporary-folder.ts';
import type { Server } from '../cpu.ts';
import { onWrk } from '../loaded.ts';
import { inTurn } from '../requests.ts';
import { BODY, ES256, furnish, get, SCOPE, SETTINGS } from '../site.ts';
import { type Guarded, startGuarded } from '../targets/bare.ts';
import { startCountersign } from '../targets/countersign.ts';
import { byBearer } from '../token-contenders.ts';
import { type Loads, room } from '../work.ts';

/** More tokens than our guard caches (20,000), so that a repeated token is not cached. */
const UNSEEN = 21_000;

/**
 * Seconds. On a busy machine the authorization server, on the same CPU, may answer later than the default
 * of 2 s.
 */
const LEASE = 20;

type Framework = Parameters<typeof startGuarded>[0];

/** How the API is protected, by the name of each peer in the table. */
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

interface Apis {
  readonly ours: Api;
  readonly peers: readonly Api[];
}

interface Targets extends Readonly<Record<Framework, Apis>> {
  readonly tokens: readonly string[];
}

async function start(stack: AsyncDisposableStack): Promise<Targets> {
  const { path: folder } = stack.use(await temporaryFolder());
  const servers = stack.use(await startCountersign({ ...SETTINGS, revocations: { lease: LEASE } }));
  const client = await servers.pair.addClient('revocations:follow');
  const { issuer } = servers.pair;
  const expected = { issuer, audience: ES256.url, scope: SCOPE, client, path: ES256.path };
  const site = await furnish(servers);
  async function apis(framework: Framework): Promise<Apis> {
    const api = async (name: string, by: Guarded['by']): Promise<Api> => {
      const options = { ...expected, by, body: BODY };
      return { name, by, server: stack.use(await startGuarded(framework, options, folder)) };
    };
    const peers = Object.entries(PEERS[framework]).map(([name, by]) => api(name, by));
    return { ours: await api('ours', 'countersign'), peers: await Promise.all(peers) };
  }
  return {
    express: await apis('express'),
    fastify: await apis('fastify'),
    tokens: await site.tokens(ES256, UNSEEN),
  };
}

/** Uses these tokens in rotation. An unprotected API refuses no token. */
function asked({ name, by, server }: Api, tokens: readonly string[]) {
  const bearers = { name, server, space: ES256, tokens, ask: get, load: inTurn };
  const { forged, ...contender } = byBearer(bearers);
  return onWrk({ ...contender, ...(by !== 'nobody' && forged && { forged }) });
}

const loads = ({ ours, peers }: Apis, tokens: readonly string[]): Loads => ({
  beside: peers.map((peer) => asked(peer, tokens)),
  ways: { SQLite: asked(ours, tokens) },
});

const seen = (apis: Apis, tokens: readonly string[]) => loads(apis, tokens.slice(0, 1));

/** Compared with the first peer only: a cache does not help here, and an unprotected API reads no token. */
const unseen = ({ ours, peers }: Apis, tokens: readonly string[]) =>
  loads({ ours, peers: peers.slice(0, 1) }, tokens);

/** The package for APIs elsewhere, which is the only one that checks revocations, beside other packages. */
export const GUARD = room(start, [
  { name: 'Guard in Express, Bearer seen', loads: (on) => seen(on.express, on.tokens) },
  { name: 'Guard in Express, Bearer unseen', loads: (on) => unseen(on.express, on.tokens) },
  { name: 'Guard in Fastify, Bearer seen', loads: (on) => seen(on.fastify, on.tokens) },
  { name: 'Guard in Fastify, Bearer unseen', loads: (on) => unseen(on.fastify, on.tokens) },
]);
