import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemRandom } from '#shared/base/random.ts';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import type { SharedStore } from '#shared/stores/postgres/started.fixture.ts';
import { newData, TestShell } from '../cli.fixture.ts';
import { withStores } from '../stores/with-stores.ts';

/** Creates a new store on these database servers, and resolves to the environment that names it. */
export async function newShared({ store }: SharedStore) {
  const id = systemRandom(8).toString('hex');
  const own = {
    ...store,
    schema: `test_${id}`,
    redis: store.redis && { ...store.redis, prefix: id },
  };
  const file = join(await temporaryFolder(), 'countersign.json');
  await writeFile(file, JSON.stringify({ store: own }));
  const env = { ...(await newData()), COUNTERSIGN_CONFIG: file };
  const { clock, random } = new TestShell(env);
  await withStores({ env, clock, random, creates: true }, async () => {});
  return env;
}
