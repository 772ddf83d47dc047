import { setTimeout as delay } from 'node:timers/promises';
import { TestBrowser } from '../../authz-server/integration/browser.fixture.ts';
import { addressOf, type Asked, askFrom, filledIn } from '../attacks/crowd.fixture.ts';
import type { Person } from '../pair/pair.ts';
import { LOAD_CPU, stayOn } from './cpu.ts';
import { basic, SETTINGS } from './gate.ts';
import type { Findings, Table } from './report.ts';
import { percentile } from './statistics.ts';
import { type Countersign, startCountersign } from './targets/countersign.ts';

/** How many guesses run at once, and from how many addresses. */
const CROWDS = [
  { atOnce: 0, addresses: 1 },
  { atOnce: 160, addresses: 2 },
  { atOnce: 160, addresses: 3 },
  { atOnce: 600, addresses: 2 },
  { atOnce: 600, addresses: 20 },
];
/** How often a person signs in during an attack. */
const TRIES = 10;
/** Milliseconds until the attack has filled the queue. */
const GATHERED = 3000;

const NOTES = [
  'Everybody of the crowd sends one guess after another, each name once, on a connection of its own. The crowd has the same',
  'CPU as the person: what the person waits is more than the server makes of it. The goal is two seconds.',
];

/** Measures how long a sign-in takes during endless guesses. */
export async function measureCrowds(say: (line: string) => void): Promise<Findings> {
  stayOn(`${LOAD_CPU}`);
  await using stack = new AsyncDisposableStack();
  const servers = stack.use(await startCountersign(SETTINGS));
  const { pair, authz, resource } = servers;
  const person = await pair.addPerson('person');
  const known = await knownBrowser(servers, person);
  const guess = await filledIn(new TestBrowser(authz.url, pair.issuer), {
    name: 'nobody',
    password: 'a guess',
  });
  const guesses: readonly (readonly [string, string, (n: number) => Asked])[] = [
    [
      'form',
      authz.url,
      (n) => ({ ...guess, body: guess.body?.replace('nobody', `nobody-${n}`) ?? '' }),
    ],
    ['Basic', resource.url, (n) => protectedPage(`nobody-${n}`, 'a guess')],
  ];
  const visits: Readonly<Record<string, Readonly<Record<string, () => Promise<Asked>>>>> = {
    form: {
      'a known browser': () => filledIn(known, person),
      'a new browser': () => filledIn(new TestBrowser(authz.url, pair.issuer), person),
    },
    Basic: { Basic: () => Promise.resolve(protectedPage(person.name, person.password)) },
  };

  const tables: Table[] = [];
  for (const [line, origin, guessed] of guesses) {
    const rows: Table['rows'][number][] = [];
    for (const { atOnce, addresses } of CROWDS) {
      say(`  ${line}: ${atOnce} from ${addresses}`);
      const crowd = gather(origin, atOnce, addresses, guessed);
      await delay(atOnce > 0 ? GATHERED : 0);
      for (const [how, ask] of Object.entries(visits[line] ?? {})) {
        rows.push({ 'at once': atOnce, addresses, person: how, ...(await tries(origin, ask)) });
      }
      await crowd.disperse();
    }
    tables.push({ title: `A person amid guesses: ${line}`, rows });
  }
  return { tables, errors: 0, notes: NOTES };
}

async function tries(origin: string, ask: () => Promise<Asked>) {
  const took: number[] = [];
  let kept = 0;
  for (let n = 0; n < TRIES; n += 1) {
    const asked = await ask();
    const from = performance.now();
    // Each sign-in is from another address, like a person's first visit.
    const status = await askFrom(origin, `127.8.${n}.1`, asked);
    took.push(performance.now() - from);
    if (status !== 200 && status !== 303) kept += 1;
  }
  return {
    'p50 ms': Math.round(percentile(took, 0.5)),
    'longest ms': Math.round(Math.max(...took)),
    tries: TRIES,
    'kept out': kept,
  };
}

/** An attack in which each client repeats its guess after each answer. */
function gather(
  origin: string,
  atOnce: number,
  addresses: number,
  guessed: (n: number) => Asked,
): { disperse(): Promise<void> } {
  const state = { over: false };
  let next = 0;
  const each = async (_: unknown, n: number) => {
    while (!state.over) {
      next += 1;
      await askFrom(origin, addressOf(n % addresses), guessed(next));
    }
  };
  const all = Array.from({ length: atOnce }, each);
  return {
    async disperse() {
      state.over = true;
      await Promise.all(all);
    },
  };
}

const protectedPage = (name: string, password: string): Asked => ({
  method: 'GET',
  path: '/documents/',
  headers: { authorization: basic(name, password)['Authorization'] ?? '' },
});

async function knownBrowser({ pair, authz }: Countersign, person: Person): Promise<TestBrowser> {
  const first = new TestBrowser(authz.url, pair.issuer);
  const { name, password } = person;
  await first.submit(await first.open('/account'), { name, password });
  const browser = new TestBrowser(authz.url, pair.issuer);
  browser.plant(first, /known/);
  return browser;
}
