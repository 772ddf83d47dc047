import { temporaryFolder } from '../../parts/temporary-folder.ts';
import type { Server } from '../cpu.ts';
import { onHttp2, onWrk, startBareHttp } from '../loaded.ts';
import { inTurn } from '../requests.ts';
import { BODY, ES256, furnish, get, SETTINGS, type Site, verify } from '../site.ts';
import { startCountersign } from '../targets/countersign.ts';
import { type OnEachStore, ofEachStore, onEachStore } from '../targets/stores.ts';
import { byBearer, byProof } from '../token-contenders.ts';
import { byApache, byHaproxy, startVerdictPeers, type VerdictPeers } from '../verdict-peers.ts';
import { type Loaded, type Loads, room, times } from '../work.ts';

/** More tokens than our servers cache (20,000), so that a repeated token is not cached. */
const UNSEEN = 21_000;

interface Targets extends VerdictPeers {
  readonly http: Loaded;
  readonly stores: OnEachStore<Site>;
  /**
   * The site for HTTP/2 and TLS. V8 optimizes for the requests it sees, so each protocol has its own
   * servers.
   */
  readonly others: Site;
  readonly workers: Site;
}

async function start(stack: AsyncDisposableStack): Promise<Targets> {
  const { path: folder } = stack.use(await temporaryFolder());
  const stores = await onEachStore(stack, async (on) =>
    furnish(stack.use(await startCountersign(SETTINGS, on))),
  );
  return {
    http: await startBareHttp(stack, BODY, folder),
    stores,
    others: await furnish(stack.use(await startCountersign(SETTINGS))),
    workers: await furnish(stack.use(await startCountersign(SETTINGS, { workers: 2 }))),
    ...(await startVerdictPeers(stack, stores.SQLite)),
  };
}

/** Tokens in rotation. */
const bearers = (tokens: readonly string[], server: Server, ask: typeof get, space = ES256) =>
  byBearer({ name: 'ours', server, space, tokens, ask, load: inTurn });

async function seen(targets: Targets, ask: typeof get): Promise<Loads> {
  const { http, stores, others, workers } = targets;
  const { resource, resourceTls } = others.servers;
  // A verdict is requested under the public origin's name, as a proxy does.
  const space = ask === verify ? ES256 : { ...ES256, url: `${resourceTls.url}/documents/` };
  const one = ({ tokens }: Site, of = ES256) => tokens(of, 1);
  const known = await one(stores.SQLite);
  return {
    beside: [
      http,
      ...(ask === verify ? [byHaproxy(targets, known)] : []),
      byApache(targets, known),
    ],
    ways: {
      ...(await ofEachStore(stores, async (site) =>
        onWrk(bearers(await one(site), site.servers.resource, ask)),
      )),
      'HTTP/2': onHttp2(bearers(await one(others), resource, ask)),
      '2 workers': onWrk(bearers(await one(workers), workers.servers.resource, ask)),
      TLS: onWrk(bearers(await one(others, space), resourceTls, ask, space)),
    },
  };
}

async function unseen(targets: Targets): Promise<Loads> {
  const { http, stores } = targets;
  const known = await stores.SQLite.tokens(ES256, UNSEEN);
  return {
    beside: [http, byHaproxy(targets, known), byApache(targets, known)],
    ways: await ofEachStore(stores, async (site) =>
      onWrk(bearers(await site.tokens(ES256, UNSEEN), site.servers.resource, verify)),
    ),
  };
}

async function proofs({ http, stores }: Targets): Promise<Loads> {
  const of = async (site: Site) =>
    onWrk(await byProof('ours', site.servers.resource, site, verify));
  return { beside: [http], ways: await ofEachStore(stores, of) };
}

/** Works with access tokens. */
export const TOKENS = room(start, [
  {
    name: 'Bearer seen, /verify',
    goals: { 'node:http': times(2.1) },
    loads: (on) => seen(on, verify),
  },
  {
    name: 'Bearer seen, document',
    goals: { 'node:http': times(2.6) },
    loads: (on) => seen(on, get),
  },
  {
    name: 'Bearer unseen, ES256, /verify',
    goals: { 'node:http': times(7.5) },
    loads: unseen,
  },
  { name: 'DPoP, /verify', goals: { 'node:http': times(10.5) }, loads: proofs },
]);
