import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { type Flow, startFlow } from '../flows/flow.ts';
import { App, tokensIn } from '../flows/person.ts';
import { PersonAtPages } from '../interop/oauth/person-at-pages.ts';
import { CALLBACK_PATH } from '../interop/oauth/people-apps/app.ts';
import { LOGOUT_PATH, startLogoutApp } from '../interop/oauth/people-apps/logout-app.ts';
import type { Person } from '../pair/pair.ts';
import { entryFile } from '../parts/entry.ts';
import { freePort } from '../parts/free-port.ts';
import type { Findings, Table } from './report.ts';
import { percentile, round } from './statistics.ts';
import { UNLIMITED } from './targets/countersign.ts';
import { startServedStore } from './targets/stores.ts';

const TRIES = 100;
/** Milliseconds between two requests that find out whether the person is out. */
const PAUSE = 2;
const PLACES = [
  { store: 'SQLite', servers: 1 },
  { store: 'PostgreSQL, Redis', servers: 2 },
] as const;

const NOTES = [
  'Times from the request or from the start of the command. "token": until all resource servers have refused the access',
  'token; "out": until the application sends the browser away. It runs on openid-client, with a cookie of its own and the',
  'handler of docs/how-to/applications.md. The servers, the stores and the requests share the CPUs.',
];

/** Measures how soon a person who is disabled is out of an application that keeps a session of its own. */
export async function measureEnds(say: (line: string) => void): Promise<Findings> {
  const rows: Table['rows'][number][] = [];
  for (const { store, servers } of PLACES) {
    await using stack = new AsyncDisposableStack();
    const served = await startServedStore(store, stack);
    const settings = { ...UNLIMITED, ...served?.settings };
    const flow = stack.use(await startFlow({ authz: servers, resource: servers, settings }));
    const site = await furnish(flow, stack);
    for (const [way, disable] of Object.entries(await waysOf(flow))) {
      say(`  ${store}: ${way}`);
      const took = [];
      for (let n = 0; n < TRIES; n += 1) took.push(await site.timesOf(n, disable));
      const token = took.map((one) => one.token);
      const out = took.map((one) => one.out);
      rows.push({
        store,
        servers,
        'user disable': way,
        'token p50 ms': round(percentile(token, 0.5), 1),
        'token p99 ms': round(percentile(token, 0.99), 1),
        'out p50 ms': Math.round(percentile(out, 0.5)),
        'out p99 ms': Math.round(percentile(out, 0.99)),
        'longest ms': Math.round(Math.max(...out)),
        count: TRIES,
      });
    }
  }
  return { tables: [{ title: 'From `user disable` to the end', rows }], notes: NOTES, errors: 0 };
}

type Disable = (name: string, server: number) => Promise<unknown>;

/** The ways in which an operator disables a person. */
async function waysOf({ pair }: Flow): Promise<Readonly<Record<string, Disable>>> {
  const change = await administrator(pair);
  return {
    API: (name, server) => change('user-disable', name, server),
    async command(name) {
      const args = [entryFile('shared/cli/main.ts'), 'user', 'disable', name];
      const command = spawn(process.execPath, args, { env: pair.env, stdio: 'ignore' });
      const [code] = await once(command, 'close');
      if (code !== 0) throw new Error(`user disable ended with ${code}`);
    },
  };
}

/** An administrator's program, which changes a person over HTTP. */
async function administrator(pair: Flow['pair']) {
  const machine = ['--name', 'Robot', '--grant', 'client_credentials', '--admin'];
  const made = await pair.cli('client', 'add', ...machine, '--scope', 'admin');
  const client = { id: String(made['client_id']), secret: String(made['client_secret']) };
  const resource = `${pair.issuer}/admin/api`;
  const form = { grant_type: 'client_credentials', scope: 'admin', resource };
  const { body } = await pair.post('/token', form, client);
  return async (operation: string, name: string, server: number): Promise<void> => {
    const answer = await fetch(`${pair.authz[server]?.url}/admin/api/${operation}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${String(body['access_token'])}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ name }),
    });
    if (!answer.ok) throw new Error(`${operation} answers ${answer.status}`);
    await answer.arrayBuffer();
  };
}

/** Starts the application, and adds the person and a client whose token is for the resource servers. */
async function furnish(flow: Flow, stack: AsyncDisposableStack) {
  const { pair } = flow;
  const origin = `http://localhost:${await freePort()}`;
  const [scope, logout] = ['openid profile email groups', origin + LOGOUT_PATH];
  const kind = ['--name', 'Application', '--grant', 'authorization_code', '--scope', scope];
  const urls = ['--redirect-uri', origin + CALLBACK_PATH, '--logout-url', logout];
  const added = await pair.cli('client', 'add', ...kind, ...urls);
  const client = { id: String(added['client_id']), secret: String(added['client_secret']) };
  stack.use(await startLogoutApp(pair, { ...client, origin }));
  const api = await App.add(flow);
  const person = await pair.addPerson('person');
  const enable = await administrator(pair);

  /** Signs the person in at the application; resolves to its cookie. */
  async function enter(visitor: PersonAtPages): Promise<string> {
    const asked = await fetch(origin, { redirect: 'manual' });
    const back = await visitor.answer(asked.headers.get('location') ?? '');
    const [cookie = ''] = (await fetch(back, { redirect: 'manual' })).headers.getSetCookie();
    return cookie.split(';')[0] ?? '';
  }

  return {
    /** The milliseconds until the token is refused, and until the application's session has ended. */
    async timesOf(n: number, disable: Disable) {
      const server = n % pair.authz.length;
      const visitor = atPages(flow, person, server);
      const cookie = await enter(visitor);
      const code = (await visitor.answer(pair.issuer + api.url())).searchParams.get('code');
      const { access } = tokensIn(await api.redeem(code ?? ''));
      const tokenIs = async (status: number) => {
        const all = await Promise.all(pair.resources.map((_, at) => pair.get(access, at)));
        return all.every((one) => one === status);
      };
      const isAnswered = async (status: number) => {
        const answer = await fetch(origin, { redirect: 'manual', headers: { cookie } });
        await answer.arrayBuffer();
        return answer.status === status;
      };
      if (!(await tokenIs(200)) || !(await isAnswered(200))) throw new Error('nobody is in');
      const from = performance.now();
      const [token, out] = await Promise.all([
        untilTrue(() => tokenIs(401)),
        untilTrue(() => isAnswered(302)),
        disable(person.name, server),
      ]);
      await enable('user-enable', person.name, server);
      return { token: token - from, out: out - from };
    },
  };
}

const atPages = ({ pair }: Flow, person: Person, server: number) =>
  new PersonAtPages({ issuer: pair.issuer, base: pair.authz[server]?.url ?? '' }, person);

/** Resolves to the time at which it was true. */
async function untilTrue(isTrue: () => Promise<boolean>): Promise<number> {
  while (!(await isTrue())) await delay(PAUSE);
  return performance.now();
}
