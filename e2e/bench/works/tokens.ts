import { temporaryFolder } from '../../parts/temporary-folder.ts';
import type { Server } from '../cpu.ts';
import { onHttp2, onWrk, startBareHttp } from '../loaded.ts';
import { inTurn } from '../requests.ts';
import { BODY, ES256, furnish, get, SETTINGS, type Site, verify } from '../site.ts';
import { startCountersign } from '../targets/countersign.ts';
import { startRedisStore } from '../targets/redis.ts';
import { byBearer, byProof } from '../token-contenders.ts';
import { type Loaded, type Loads, room, times } from '../work.ts';

/** More than our servers remember (20,000), so that each is unseen when it comes again. */
const UNSEEN = 21_000;

interface Targets {
  readonly http: Loaded;
  readonly sqlite: Site;
  readonly redis: Site;
  /** For HTTP/2 and TLS: V8 compiles for what it sees, and each of them is seen by servers of its own. */
  readonly others: Site;
  readonly workers: Site;
}

async function start(stack: AsyncDisposableStack): Promise<Targets> {
  const { path: folder } = stack.use(await temporaryFolder());
  const store = await startRedisStore(stack);
  return {
    http: await startBareHttp(stack, BODY, folder),
    sqlite: await furnish(stack.use(await startCountersign(SETTINGS))),
    redis: await furnish(stack.use(await startCountersign(SETTINGS, { store }))),
    others: await furnish(stack.use(await startCountersign(SETTINGS))),
    workers: await furnish(stack.use(await startCountersign(SETTINGS, { workers: 2 }))),
  };
}

/** That many tokens in turn. */
async function bearers(
  { tokens }: Site,
  server: Server,
  ask: typeof get,
  { space = ES256, count = 1 } = {},
) {
  const some = await tokens(space, count);
  return byBearer({ name: 'ours', server, space, tokens: some, ask, load: inTurn });
}

async function seen(targets: Targets, ask: typeof get): Promise<Loads> {
  const { http, sqlite, redis, others, workers } = targets;
  const { resource, resourceTls } = others.servers;
  // A verdict is asked for by the name of the origin that a proxy was asked for.
  const space = ask === verify ? ES256 : { ...ES256, url: `${resourceTls.url}/documents/` };
  return {
    beside: http,
    ways: {
      SQLite: onWrk(await bearers(sqlite, sqlite.servers.resource, ask)),
      Redis: onWrk(await bearers(redis, redis.servers.resource, ask)),
      'HTTP/2': onHttp2(await bearers(others, resource, ask)),
      '2 workers': onWrk(await bearers(workers, workers.servers.resource, ask)),
      TLS: onWrk(await bearers(others, resourceTls, ask, { space })),
    },
  };
}

async function unseen({ http, sqlite, redis }: Targets): Promise<Loads> {
  const of = async (site: Site) =>
    onWrk(await bearers(site, site.servers.resource, verify, { count: UNSEEN }));
  return { beside: http, ways: { SQLite: await of(sqlite), Redis: await of(redis) } };
}

async function proofs({ http, sqlite, redis }: Targets): Promise<Loads> {
  const of = async (site: Site) =>
    onWrk(await byProof('ours', site.servers.resource, site, verify));
  return { beside: http, ways: { SQLite: await of(sqlite), Redis: await of(redis) } };
}

/** The works with tokens of the authorization server. */
export const TOKENS = room(start, [
  { name: 'Bearer seen, /verify', goal: times(2.1), loads: (on) => seen(on, verify) },
  { name: 'Bearer seen, document', goal: times(2.6), loads: (on) => seen(on, get) },
  { name: 'Bearer unseen, ES256, /verify', goal: times(7.5), loads: unseen },
  { name: 'DPoP, /verify', goal: times(10.5), loads: proofs },
]);
