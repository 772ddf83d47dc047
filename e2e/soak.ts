/** `npm run soak`: 1,000 kill -9 of the servers while they write, half of them on each store. */
import { crash } from './flows/crashes.ts';
import { startFlowOn, STORE_KINDS } from './flows/flow.ts';

const KILLS = 1000;
/** A token of the beginning is looked at in the end. */
const SETTINGS = { tokens: { lifetime: 86_400 } };

for (const kind of STORE_KINDS) {
  const kills = KILLS / STORE_KINDS.length;
  await using flow = await startFlowOn(kind, { resource: 2, settings: SETTINGS });
  const tally = await crash(flow, kills, ({ kills: done }) => {
    if (done % 10 === 0) process.stdout.write(`${kind}: ${done} of ${kills} kills\n`);
  });
  process.stdout.write(`${kind}: nothing lost. ${JSON.stringify(tally)}\n`);
}
