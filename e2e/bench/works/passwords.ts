import { temporaryFolder } from '../../parts/temporary-folder.ts';
import { type Gate, openGate, SETTINGS } from '../gate.ts';
import { byDigest, byKey, byPassword, type Responses } from '../gate-contenders.ts';
import { onHttp2, onWrk, startBareHttp } from '../loaded.ts';
import { BODY } from '../site.ts';
import { startCountersign } from '../targets/countersign.ts';
import { startRedisStore } from '../targets/redis.ts';
import { AT_ONCE, type Loaded, type Loads, room, times } from '../work.ts';

/** A second of them is more than ours checks in one. */
const RESPONSES: Responses = { algorithm: 'SHA-256', clients: AT_ONCE, perSecond: 20_000 };

interface Targets {
  readonly http: Loaded;
  readonly sqlite: Gate;
  readonly redis: Gate;
  /** For HTTP/2 and TLS. */
  readonly others: Gate;
}

async function start(stack: AsyncDisposableStack): Promise<Targets> {
  const { path: folder } = stack.use(await temporaryFolder());
  const store = await startRedisStore(stack);
  return {
    http: await startBareHttp(stack, BODY, folder),
    sqlite: await openGate(stack.use(await startCountersign(SETTINGS))),
    redis: await openGate(stack.use(await startCountersign(SETTINGS, { store }))),
    others: await openGate(stack.use(await startCountersign(SETTINGS))),
  };
}

function repeated({ http, sqlite, redis, others }: Targets, by: typeof byKey): Loads {
  const { resource, resourceTls } = others.servers;
  return {
    beside: [http],
    ways: {
      SQLite: onWrk(by('ours', sqlite.servers.resource, sqlite)),
      Redis: onWrk(by('ours', redis.servers.resource, redis)),
      'HTTP/2': onHttp2(by('ours', resource, others)),
      TLS: onWrk(by('ours', resourceTls, others)),
    },
  };
}

function responses({ http, sqlite, redis }: Targets): Loads {
  const of = (gate: Gate) => onWrk(byDigest('ours', gate.servers.resource, gate, RESPONSES));
  return { beside: [http], ways: { SQLite: of(sqlite), Redis: of(redis) } };
}

/** The works with passwords and keys. */
export const PASSWORDS = room(start, [
  {
    name: 'Basic seen, document',
    goals: { 'node:http': times(4.2) },
    loads: (on) => repeated(on, byPassword),
  },
  {
    name: 'API key, document',
    goals: { 'node:http': times(4.2) },
    loads: (on) => repeated(on, byKey),
  },
  { name: 'Digest SHA-256, nc checked', goals: { 'node:http': times(6.3) }, loads: responses },
]);
