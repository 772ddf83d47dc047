import { systemClock } from '#shared/base/clock.ts';
import { perform } from '#shared/operations/operation.ts';
import { OPERATIONS } from '#shared/operations/operations.ts';
import { setUser } from '#shared/operations/people/user-set.ts';
import { houseOf } from '../../../authz-server/base/house.ts';
import { ALICE } from '../../../authz-server/integration/pages/at-consent.fixture.ts';
import { testSite, type TestSite } from '../../../authz-server/integration/site.fixture.ts';
import type { Findings } from '../report.ts';
import { cpuTime } from '../cpu.ts';
import { round } from '../statistics.ts';
import { startServedStore, type StoreName, STORES } from '../targets/stores.ts';
import { fill, personId, type Progress, POPULAR, type Sizes, timeOf } from './fill.ts';

const WARM = 3;
const COUNTED = 10;
/** The goal: milliseconds of CPU time per page or list, at most. */
const GOAL = 50;

type Query = Readonly<Record<string, string>>;
type Row = Findings['tables'][number]['rows'][number];

/** Measures the CPU time of each reading operation, and of its admin page, in a store of this size. */
export async function measureLists(sizes: Sizes, progress: Progress): Promise<Findings> {
  const rows: Row[] = [];
  for (const name of STORES) {
    await using stack = new AsyncDisposableStack();
    const store = await startServedStore(name, stack);
    const often = { burst: 1_000_000, per: 1 };
    const site = stack.use(
      await testSite({
        limits: { address: often, signIn: often },
        privateTokens: {},
        ...store?.settings,
      }),
    );
    await fill(site.server, sizes, (text) => progress(`${name}: ${text}`));
    rows.push(...(await measure(name, site, store?.pids, sizes)));
  }
  const slow = rows.filter((row) => [row['operation ms'], row['page ms']].some(isAbove));
  return {
    tables: [{ title: 'Lists of operators: CPU of a read', rows }],
    notes: [
      `CPU of the whole process, the client's part of it included, and of PostgreSQL and Redis. Goal: below ${GOAL} ms; above it: ${slow.length}.`,
    ],
    errors: 0,
  };
}

const isAbove = (time: unknown) => typeof time === 'number' && time >= GOAL;

async function measure(
  store: StoreName,
  site: TestSite,
  pids: readonly number[] | undefined,
  sizes: Sizes,
): Promise<Row[]> {
  const house = houseOf(site.server);
  await perform(setUser, { name: 'alice', admin: true }, house);
  const browser = site.browser();
  await browser.submit(await browser.open('/account'), ALICE);
  const rows: Row[] = [];
  for (const [name, queries] of Object.entries(queriesOf(sizes))) {
    const operation = OPERATIONS.find((one) => one.name === name);
    if (operation === undefined) throw new Error(`there is no operation ${name}`);
    for (const query of queries) {
      const page = `/admin/${name.replaceAll(' ', '-')}?${new URLSearchParams(query).toString()}`;
      const bare = await costOf(pids, () => perform(operation, query, house));
      const shown = await costOf(pids, async () => {
        const { status } = await browser.open(page);
        if (status !== 200) throw new Error(`${page} answers ${status}`);
      });
      rows.push({
        store,
        read: `${name} ${Object.entries(query).flat().join(' ')}`,
        'operation ms': bare.own,
        'page ms': shown.own,
        ...(pids && { 'store ms': shown.store }),
      });
    }
  }
  return rows;
}

/** The CPU time of one call in milliseconds. */
async function costOf(pids: readonly number[] = [], work: () => Promise<unknown>) {
  for (let n = 0; n < WARM; n += 1) await work();
  const ofStore = cpuTime(...pids);
  const before = process.cpuUsage();
  for (let n = 0; n < COUNTED; n += 1) await work();
  const { user, system } = process.cpuUsage(before);
  const each = (microseconds: number) => round(microseconds / 1000 / COUNTED, 1);
  return { own: each(user + system), store: each(cpuTime(...pids) - ofStore) };
}

/** The queries of each reading operation. */
export function queriesOf(sizes: Sizes): Readonly<Record<string, readonly Query[]>> {
  const at = (part: number) =>
    new Date(timeOf(Math.floor(sizes.events * part), sizes, systemClock.now())).toISOString();
  const person = personId(7);
  const name = 'name-000007';
  return {
    'user list': [{}, { prefix: 'name-001' }, { group: 'group-3' }, { state: 'disabled' }],
    'user show': [{ name }],
    'user access': [{ name }],
    'user second-factor': [{ name }],
    'user key list': [{}, { name }],
    'user passkey list': [{}, { name }],
    'client list': [{}, { prefix: 'client-9' }],
    'client show': [{ client_id: POPULAR }, { client_id: 'client-7' }],
    'client access': [{ client_id: POPULAR }, { client_id: 'client-7' }],
    'key list': [{}],
    'signing-keys list': [{}],
    'private-token keys': [{}],
    'revocation status': [{}],
    'realm list': [{}],
    'cache stats': [{}],
    'cache bans': [{}],
    'server status': [{}],
    'audit list': [
      {},
      { until: at(0.01) },
      { since: at(0.5), until: at(0.5001) },
      { person },
      { person, until: at(0.01) },
      { client: POPULAR },
      { client: POPULAR, kind: 'token.issued' },
      { client: POPULAR, kind: 'person.disabled' },
      { client: 'client-7', kind: 'token.issued', until: at(0.5) },
      { kind: 'person.disabled' },
      { kind: 'token.issued', until: at(0.01) },
    ],
  };
}
