import { textOf } from '#shared/audit/entry.ts';
import type { AuditEvent } from '#shared/audit/event-kinds.ts';
import { closeOpen } from '#shared/audit/close.ts';
import { macKey } from '#shared/audit/mac.ts';
import { searchKeysOf } from '#shared/people/names/search-keys.ts';
import {
  someApiKey,
  someClient,
  somePerson,
  somePublicKey,
} from '#shared/stores/contract/samples.ts';
import type { Stores } from '#shared/stores/stores.ts';
import type { AuthzServer } from '../../../authz-server/base/server.ts';

export interface Sizes {
  readonly people: number;
  readonly clients: number;
  readonly events: number;
}

/** The client that has a grant of every person. */
export const POPULAR = 'client-0';
/** Milliseconds between two events. */
const APART = 1000;
/** Parallel writes. */
const AT_ONCE = 50;
/** Events per link of the log, which are written together. */
const OF_LINK = 500;
/** How often the progress of each kind is reported. */
const PARTS = 10;
/** The number of groups. Each person belongs to one. */
const GROUPS = 20;

export const personId = (n: number) => `person-${n}`;
/** The time of the nth event, in milliseconds since the epoch. */
export const timeOf = (n: number, { events }: Sizes, now: number) => now - (events - n) * APART;

/** Receives progress reports. */
export type Progress = (text: string) => void;

/**
 * Fills a store with people, clients, keys, grants and events. Few writes run at once: on a busy machine
 * the last of many would exceed the store's time limit.
 */
export async function fill(
  { stores, master, clock }: Pick<AuthzServer, 'stores' | 'master' | 'clock'>,
  sizes: Sizes,
  progress: Progress,
): Promise<void> {
  const { people, clients, events } = sizes;
  const batches = inBatches(progress);
  await batches('people', people, (n) => addPerson(stores, n));
  await batches('clients', clients, (n) => addClient(stores, n));
  const now = clock.now();
  const closing = { audit: stores.audit, key: macKey(master), clock };
  await batches(
    'links of events',
    Math.ceil(events / OF_LINK),
    async (link) => {
      const first = link * OF_LINK;
      const count = Math.min(OF_LINK, events - first);
      const texts = Array.from({ length: count }, (_, k) => eventText(first + k, sizes, now));
      await stores.audit.append(...texts);
      await closeOpen(closing);
    },
    1,
  );
}

/** `atOnce`: works that run in parallel. */
const inBatches =
  (progress: Progress) =>
  async (
    name: string,
    count: number,
    work: (n: number) => Promise<unknown>,
    atOnce = AT_ONCE,
  ): Promise<void> => {
    const step = Math.ceil(count / PARTS);
    for (let n = 0; n < count; n += atOnce) {
      const some = Math.min(atOnce, count - n);
      await Promise.all(Array.from({ length: some }, (_, k) => work(n + k)));
      const done = n + some;
      if (Math.floor(n / step) < Math.floor(done / step)) progress(`${done} of ${count} ${name}`);
    }
  };

async function addPerson({ people, artefacts }: Stores, n: number): Promise<void> {
  const id = personId(n);
  const name = `name-${String(n).padStart(6, '0')}`;
  const profile = { groups: [`group-${n % GROUPS}`], display_name: `Person ${n}` };
  const search_keys = searchKeysOf({ name, profile });
  await people.add({ ...somePerson(name), id, profile, search_keys, disabled: n % 50 === 0 }, []);
  const grantId = `grant-${n}`;
  const members = { grantId, accountId: id, clientId: POPULAR, generation: 0, clientGeneration: 0 };
  const payload = { ...members, since: n, device: { agent: 'Device' } };
  await artefacts.put({ kind: 'Access', id: grantId, payload, seconds: 80_000 + n });
}

async function addClient({ clients, apiKeys, publicKeys }: Stores, n: number): Promise<void> {
  await clients.add({ ...someClient(`client-${n}`), client_name: `Client ${n}` });
  await apiKeys.add({ ...someApiKey(`key-${n}`), application: `App ${n}` });
  const owner = { kind: 'application', id: `App ${n}` } as const;
  await publicKeys.add({ ...somePublicKey(`public-${n}`), owner }, 1);
}

/** Most events are tokens; in the middle of a million events, one person was disabled. */
function eventText(n: number, sizes: Sizes, now: number): string {
  const client = `client-${n % sizes.clients}`;
  const person = personId(n % sizes.people);
  const event: AuditEvent =
    n === Math.floor(sizes.events / 2)
      ? { kind: 'person.disabled', person }
      : n % 3 === 0
        ? { kind: 'sign-in', person, what: 'pwd', id: `${n}` }
        : n % 3 === 1
          ? { kind: 'token.issued', person, client: n % 30 === 1 ? POPULAR : client, type: 'code' }
          : { kind: 'client-token.issued', client, type: 'client_credentials' };
  return textOf(event, { who: { person }, how: 'token endpoint' }, timeOf(n, sizes, now));
}
