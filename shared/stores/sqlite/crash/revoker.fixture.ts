/**
 * A process that adds a client and revokes a token in turns, each in a transaction of its own, and prints what was
 * acknowledged; then it waits to be killed, or ends well where standard input ends.
 */
import { once } from 'node:events';
import { ManualClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { someClient } from '../../contract/samples.ts';
import { openSqlite } from '../open.ts';

const [folder = '', rounds = ''] = process.argv.slice(2);
const clock = new ManualClock();
const log = {
  info: () => {},
  warn: () => {},
  error: (event: string) => void process.stdout.write(`${event}\n`),
};
const stores = await openSqlite({ folder, clock, random: systemRandom, log });
await stores.revocations.epoch(true);
for (let n = 0; n < Number(rounds); n += 1) {
  await stores.clients.add(someClient(`client ${n}`));
  await stores.revocations.revoke('token', `token ${n}`, clock.now() + 3_600_000);
}
process.stdout.write('ready\n');
process.stdin.resume();
await once(process.stdin, 'end');
await stores[Symbol.asyncDispose]();
