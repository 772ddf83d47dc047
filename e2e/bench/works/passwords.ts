import { temporaryFolder } from '../../parts/temporary-folder.ts';
import { type Gate, openGate, SETTINGS } from '../gate.ts';
import { byDigest, byKey, byPassword, type Responses } from '../gate-contenders.ts';
import { onHttp2, onWrk, startBareHttp } from '../loaded.ts';
import { BODY } from '../site.ts';
import { startCountersign } from '../targets/countersign.ts';
import { type OnEachStore, ofEachStore, onEachStore } from '../targets/stores.ts';
import { AT_ONCE, type Loaded, type Loads, room, times } from '../work.ts';

/** More responses per second than our server checks. */
const RESPONSES: Responses = { algorithm: 'SHA-256', clients: AT_ONCE, perSecond: 20_000 };

interface Targets {
  readonly http: Loaded;
  readonly stores: OnEachStore<Gate>;
  /** The server for HTTP/2 and TLS. */
  readonly others: Gate;
}

async function start(stack: AsyncDisposableStack): Promise<Targets> {
  const { path: folder } = stack.use(await temporaryFolder());
  return {
    http: await startBareHttp(stack, BODY, folder),
    stores: await onEachStore(stack, async (on) =>
      openGate(stack.use(await startCountersign(SETTINGS, on))),
    ),
    others: await openGate(stack.use(await startCountersign(SETTINGS))),
  };
}

async function repeated({ http, stores, others }: Targets, by: typeof byKey): Promise<Loads> {
  const { resource, resourceTls } = others.servers;
  return {
    beside: [http],
    ways: {
      ...(await ofEachStore(stores, (gate) => onWrk(by('ours', gate.servers.resource, gate)))),
      'HTTP/2': onHttp2(by('ours', resource, others)),
      TLS: onWrk(by('ours', resourceTls, others)),
    },
  };
}

async function responses({ http, stores }: Targets): Promise<Loads> {
  const of = (gate: Gate) => onWrk(byDigest('ours', gate.servers.resource, gate, RESPONSES));
  return { beside: [http], ways: await ofEachStore(stores, of) };
}

/** Works with passwords and keys. */
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
