import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { randomId, systemRandom } from '#shared/base/random.ts';
import {
  edit,
  puts,
  someClient,
  someDocument,
  somePerson,
} from '#shared/stores/contract/samples.ts';
import type { Stores } from '#shared/stores/stores.ts';
import type { Pair, ServerProcess } from '../pair/pair.ts';
import type { HttpRequest } from './requests.ts';
import { NO_LIMIT } from './targets/countersign.ts';
import { tokenRequest } from './tokens.ts';

/** Writes under way at a time: as many as a commit takes. */
export const TOGETHER = 64;
const DOCUMENTS_OF_A_TREE = 10_000;
/** Of them in one edit of a tree. */
const AT_ONCE = 10;

/** The pair on the embedded store, and the store itself. */
export interface World {
  readonly pair: Pair;
  readonly stores: Stores;
  /** When a revocation made now may be forgotten. */
  readonly until: number;
}

/** What there may be many of. */
export interface Carried {
  readonly what: string;
  readonly count: number;
  /** The server that has to carry it, and a request whose way leads past it. */
  readonly server: 'authz' | 'resource';
  request(world: World): Promise<HttpRequest>;
  readonly status: number;
  /** Number `from` to below `to`. */
  fill?(world: World, number: number): Promise<unknown>;
  /** How many of them are made by one `fill`; default 1. */
  readonly together?: number;
  /** Members of the configuration with that many. */
  settings?(count: number): Readonly<Record<string, unknown>>;
  /** What the server holds meanwhile. */
  hold?(world: World, count: number): Promise<Disposable>;
}

export const ORIGIN = 'http://localhost:3001';
const SCOPE = 'read';
export const space = (number: number) => ({
  url: `${ORIGIN}/s${number}/`,
  realm: `s${number}`,
  schemes: ['Bearer', 'Basic', 'API-Key'],
  apiKey: { limit: NO_LIMIT },
  scopes: { safe: [SCOPE], unsafe: [SCOPE] },
  grants: { everyone: [SCOPE] },
});

const byKey =
  (number: number) =>
  async ({ pair }: World) => {
    const whose = ['--application', 'Bench', '--realm', `s${number}`, '--scope', SCOPE];
    const { key } = await pair.cli('key', 'add', ...whose);
    return { method: 'OPTIONS', path: `/s${number}/`, fields: { 'X-API-Key': String(key) } };
  };

export const CARRIED: readonly Carried[] = [
  {
    what: 'revocations',
    count: 1_000_000,
    server: 'resource',
    status: 204,
    request: byKey(0),
    fill: ({ stores, until: end }, number) =>
      stores.revocations.revoke('token', `${number}-${randomId(systemRandom)}`, end),
  },
  {
    what: 'people',
    count: 1_000_000,
    server: 'resource',
    status: 204,
    async request({ pair }) {
      const { name, password } = await pair.addPerson();
      const fields = { Authorization: `Basic ${btoa(`${name}:${password}`)}` };
      return { method: 'OPTIONS', path: '/s0/', fields };
    },
    fill: ({ stores }, number) => stores.people.add(somePerson(`p${number}`)),
  },
  {
    what: 'clients',
    count: 100_000,
    server: 'authz',
    status: 200,
    request: async ({ pair }) =>
      tokenRequest({
        client: await pair.addClient(SCOPE),
        scope: SCOPE,
        resource: `${ORIGIN}/s0/`,
      }),
    fill: ({ stores }, number) => stores.clients.add(someClient(`c${number}`)),
  },
  {
    what: 'spaces',
    count: 1000,
    server: 'resource',
    status: 204,
    request: byKey(0),
    settings: (count) => ({ spaces: Array.from({ length: count }, (_, at) => space(at)) }),
  },
  {
    what: 'documents in 100 trees',
    count: 1_000_000,
    server: 'resource',
    status: 207,
    async request(world) {
      const { fields } = await byKey(0)(world);
      return { method: 'PROPFIND', path: '/s0/', fields: { ...fields, Depth: '0' } };
    },
    together: AT_ONCE,
    fill: ({ stores }, number) => {
      const tree = `tree-${Math.floor(number / DOCUMENTS_OF_A_TREE)}`;
      const documents = Array.from({ length: AT_ONCE }, (_, at) =>
        someDocument(`d${number + at}`, { file: `f${number + at}` }),
      );
      return edit(stores, tree, puts(...documents));
    },
  },
  {
    what: 'idle connections', // with those of the load no more than half of 20,000 files
    count: 9900,
    server: 'resource',
    status: 204,
    request: byKey(0),
    hold: async ({ pair }, count) => idle(pair.resources[0], count),
  },
];

/** Connections from many addresses that have asked once and are kept. */
async function idle(server: ServerProcess | undefined, count: number): Promise<Disposable> {
  const { hostname, port } = new URL(server?.url ?? '');
  const sockets: Socket[] = [];
  const open = async (number: number) => {
    const localAddress = `127.0.1.${1 + (number % 50)}`;
    const socket = connect({ host: hostname, port: Number(port), localAddress });
    sockets.push(socket);
    socket.write('GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await once(socket, 'data');
  };
  for (let number = 0; number < count; number += TOGETHER) {
    const some = Array.from({ length: Math.min(TOGETHER, count - number) }, (_, at) => number + at);
    await Promise.all(some.map(open));
  }
  return {
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy();
    },
  };
}
