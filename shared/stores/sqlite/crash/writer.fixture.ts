/**
 * A process that writes until it is killed or refused, several things at once, and prints a line for each
 * acknowledged write.
 */
import { ManualClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import {
  edit,
  putWith,
  someApiKey,
  someClient,
  someInvalidation,
  somePerson,
  somePasskey,
  somePublicKey,
  someOutboxMessage,
  someSecondFactor,
} from '../../contract/samples.ts';
import { StoreUnavailable } from '../../outage/unavailable.ts';
import { openSqlite } from '../open.ts';

const [folder = '', run = ''] = process.argv.slice(2);
const clock = new ManualClock();
const stores = await openSqlite({ folder, clock, random: systemRandom });

const WRITES: Readonly<Record<string, (id: string) => Promise<unknown>>> = {
  raise: () => stores.revocations.raise('person', 'alice', clock.now() + 60_000),
  revoke: (id) => stores.revocations.revoke('token', id, clock.now() + 60_000),
  put: (id) => stores.artefacts.put({ kind: 'RefreshToken', id, payload: { id }, seconds: 60 }),
  consume: (id) =>
    stores.artefacts.consume('RefreshToken', id, {
      attempt: 'a',
      successor: { kind: 'RefreshToken', id: `after ${id}`, payload: { id }, seconds: 60 },
    }),
  code: (id) => stores.artefacts.put({ kind: 'DeviceCode', id, payload: { id }, seconds: 60 }),
  replace: (id) =>
    stores.artefacts.replace(
      { kind: 'DeviceCode', id, payload: { id, approved: true }, seconds: 60 },
      { id },
    ),
  person: (id) =>
    stores.people.add({ ...somePerson(id), id, aliases: [`kept ${id}`, `left ${id}`] }),
  disable: (id) =>
    stores.people.replace({
      ...somePerson(id),
      id,
      aliases: [`kept ${id}`, `got ${id}`],
      disabled: true,
      version: 1,
    }),
  apiKey: (id) => stores.apiKeys.add(someApiKey(id)),
  expire: (id) => stores.apiKeys.expire(id, clock.now()),
  publicKey: (id) => stores.publicKeys.add(somePublicKey(id), 1),
  passkey: (id) => stores.passkeys.add(somePasskey(id), 1),
  mail: (id) => stores.outbox.add(someOutboxMessage(id)),
  secondFactor: (id) => stores.secondFactors.add(someSecondFactor(id)),
  spend: (id) => stores.spentTokens.spend(Buffer.from(id), clock.now() + 60_000),
  invalidate: (id) => stores.invalidations.add([someInvalidation(id)]),
  client: (id) => stores.clients.add(someClient(id)),
  document: (id) =>
    edit(stores, 'a', [putWith(id, Buffer.from(id.repeat(200)))], { [id]: undefined }),
  again: (id) => edit(stores, 'a', [putWith('again', Buffer.from(id.repeat(1000)))]),
};

try {
  for (let n = 0; ; n++) {
    const id = `${run}-${n}`;
    const writing = Object.entries(WRITES).map(async ([verb, write]) => {
      const result = await write(id);
      process.stdout.write(`${JSON.stringify([verb, id, result])}\n`);
    });
    await Promise.all(writing);
  }
} catch (error) {
  const name = error instanceof StoreUnavailable ? 'unavailable' : 'another error';
  process.stdout.write(`${JSON.stringify([name, String(error), null])}\n`);
}
