/**
 * `npm run soak`: 1,000 kill -9 of the servers while they write, half of them on each store, and 400 amid
 * changes of whole trees.
 */
import { crashTrees } from './attacks/tree-crashes.ts';
import { startTreeServers } from './attacks/trees.fixture.ts';
import { crash } from './flows/crashes.ts';
import { startFlowOn, STORE_KINDS } from './flows/flow.ts';

const KILLS = 1000;
const TREE_KILLS = 400;
/** A token of the beginning is looked at in the end. */
const SETTINGS = { tokens: { lifetime: 86_400 } };

for (const kind of STORE_KINDS) {
  const kills = KILLS / STORE_KINDS.length;
  await using flow = await startFlowOn(kind, { resource: 2, settings: SETTINGS });
  const tally = await crash(flow, kills, ({ kills: done }) => {
    if (done % 10 === 0) process.stdout.write(`${kind}: ${done} of ${kills} kills\n`);
  });
  process.stdout.write(`${kind}: nothing lost. ${JSON.stringify(tally)}\n`);

  await using servers = await startTreeServers(kind);
  const most = TREE_KILLS / STORE_KINDS.length;
  const crashes = await crashTrees(servers, most, ({ kills: done }) => {
    if (done % 10 === 0) process.stdout.write(`${kind}: ${done} of ${most} kills amid trees\n`);
  });
  process.stdout.write(`${kind}: nothing done by half. ${JSON.stringify(crashes)}\n`);
}
