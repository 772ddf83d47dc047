/**
 * A process in the folder of a small disk: fills it, and prints a line of JSON for each thing that it tries
 * then.
 */
import { appendFileSync, rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { ManualClock } from '#shared/base/clock.ts';
import type { LogFields } from '#shared/base/log-fields.ts';
import { systemRandom } from '#shared/base/random.ts';
import {
  edit,
  putWith,
  someApiKey,
  someClient,
  somePerson,
  somePublicKey,
} from '../../contract/samples.ts';
import { StoreUnavailable } from '../../outage/unavailable.ts';
import { openSqlite } from '../open.ts';

const [folder = ''] = process.argv.slice(2);
const clock = new ManualClock();
const logged: string[] = [];
const note = (event: string, { part }: LogFields = {}) => void logged.push(`${event}: ${part}`);
const log = { info: note, warn: note, error: note };
const stores = await openSqlite({ folder, clock, random: systemRandom, log });
const other = await openSqlite({ folder, clock, random: systemRandom });
const filler = join(folder, 'filler');

const fill = (bytes: number) => {
  try {
    for (;;) appendFileSync(filler, Buffer.alloc(bytes, 1));
  } catch {
    if (bytes > 1) fill(bytes >> 4);
  }
};
const kindOf = async (work: Promise<{ readonly kind: string } | boolean>) =>
  work.then(
    (outcome) => (typeof outcome === 'boolean' ? outcome : outcome.kind),
    (error: unknown) =>
      error instanceof StoreUnavailable && error.refused ? 'refused' : String(error),
  );
const put = (path: string, through = stores) =>
  kindOf(edit(through, 'tree', [putWith(path, Buffer.alloc(16_384, 1))]));
const remove = (path: string, through = stores) =>
  kindOf(edit(through, 'tree', [{ kind: 'remove', path }]));
const say = (...what: readonly unknown[]) => process.stdout.write(`${JSON.stringify(what)}\n`);

/** Another process, which takes all that is left or made free. */
const refill = () => fill(65_536);

const documents = Array.from({ length: 200 }, (_, n) => `${n}`);
for (const path of documents) await put(path);
const alice = somePerson('alice');
const key = somePublicKey('of alice');
await stores.people.add(alice);
await stores.clients.add(someClient('batch'));
await stores.apiKeys.add(someApiKey('k1'));
await stores.publicKeys.add(key, 1);
await stores.artefacts.put({ kind: 'RefreshToken', id: 'rt', payload: { grantId: 'g' } });
const epoch = await stores.revocations.epoch(true);
refill();
say('put', await put('more'));
const [first = '', ...paths] = documents;
say('both', ...(await Promise.all([put('one more'), remove(first), put('and another')])));
const until = clock.now() + 3_600_000;
const follower = { id: 'f', confirmed: 0, lease: 1000, beat: 1 };
const { revocations, followers, artefacts, people, apiKeys, publicKeys, clients } = stores;
for (const [what, end] of Object.entries({
  revoke: () => revocations.revoke('token', 'jti', until),
  raise: () => revocations.raise('person', alice.id, until),
  follow: () => followers.put(follower, epoch ?? ''),
  settle: () => followers.settle(epoch),
  unfollow: () => followers.remove(follower),
  disable: () => people.replace({ ...alice, disabled: true, version: alice.version + 1 }),
  expire: () => apiKeys.expire('k1', 1),
  signOut: () => publicKeys.signOut(key.id, 1),
  'remove grant': () => artefacts.removeByGrant('g'),
  'remove key': () => apiKeys.remove('k1'),
  'remove client': () => clients.remove('batch'),
  'remove person': () => people.remove({ ...alice, version: alice.version + 1 }),
})) {
  refill();
  say(what, await kindOf(end().then((outcome) => outcome !== false)));
}
say('add', await kindOf(stores.clients.add(someClient('other'))));
/** As many revocations, one after the other. */
const revoked = async (count: number) => {
  for (let n = 0; n < count; n += 1) {
    refill();
    const work = revocations.revoke('token', `${n}`, until).then(() => true);
    if ((await kindOf(work)) !== true) return n;
  }
  return count;
};
say('revocations', await revoked(1000));
for (const path of paths) {
  refill();
  say('remove', await remove(path));
}
say('put', await put('once more'));
// As much as another reserve does not fit in.
truncateSync(filler, statSync(filler).size - 4 * 1024 * 1024);
clock.advance(2);
say('some room', await put('once more'), await put('once more', other));
/** As many people get in, one after the other. */
const proofs = async (from: number, count: number) => {
  for (let n = from; n < from + count; n += 1) {
    refill();
    if ((await kindOf(stores.replay.unique('proof', `${n}`, 60))) !== true) return n - from;
  }
  return count;
};
say('proofs', await proofs(0, 1000));
let last: readonly unknown[] = [true];
for (let n = 1000; n < 1e6 && last.every((proof) => proof === true); n += 640) {
  refill();
  const some = Array.from({ length: 640 }, (_, x) => stores.replay.unique('proof', `${n + x}`, 60));
  last = await Promise.all(some.map(kindOf));
}
say('too many', last.includes('refused'));
clock.advance(61);
refill();
// In a transaction with others SQLite keeps what each page was, to undo one of them alone.
const end = new AbortController();
const besides = async () => {
  let refused = 0;
  for (let n = 2e6; !end.signal.aborted; n += 1) {
    if ((await kindOf(stores.replay.unique('proof', `${n}`, 60))) !== true) refused += 1;
  }
  return refused;
};
const beside = besides();
const swept = await kindOf(stores.sweep().then((rows) => rows > 1000));
end.abort();
say('swept', swept, await beside);
say('proofs', await proofs(1e6, 1000));
rmSync(filler);
clock.advance(6);
say('room', await put('with room'));
refill();
say('remove', await remove('with room'));
say('log', ...logged.filter((line) => line.includes('state.db')));
// The disk gets full while no server runs.
rmSync(filler);
clock.advance(6);
say('room', await put('before the stop'));
for (const part of [stores, other]) await part[Symbol.asyncDispose]();
fill(65_536);
const started = await openSqlite({ folder, clock, random: systemRandom }).catch(String);
if (typeof started === 'string') say('start', started);
else {
  const proof = await kindOf(started.replay.unique('proof', 'after the start', 60));
  say('start', proof, await remove('before the stop', started));
}
