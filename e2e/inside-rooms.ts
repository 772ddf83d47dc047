import { type Imports, isTest } from './imports.ts';

/** The order inside a room, or inside a folder of one. */
interface Order {
  /**
   * The folders from the bottom up. `.` means the files at the top: the entry if it is above the folders,
   * common files if it is below. A file at the top may have its own floor, by name. Folders of one floor do
   * not import each other.
   */
  readonly floors: readonly (readonly string[])[];
  /** Folders that the tests of every floor may also import. */
  readonly forTests?: readonly string[];
}

export type Orders = Readonly<Record<string, Order>>;

/** The subjects of the stores, beside `cache`. The interfaces, sql/ and contract/ have the same folders. */
const SUBJECTS = [
  'audit',
  'authentication',
  'credentials',
  'keys',
  'last-backup',
  'limits',
  'logout',
  'mail',
  'declared',
  'oauth',
  'people',
  'push',
  'revocation',
  'trees',
] as const;

/** Subjects that may raise a generation within their own change. */
const OTHER_SUBJECTS = SUBJECTS.filter((subject) => !['revocation', 'logout'].includes(subject));

/** The HTTP authentication schemes. None imports another. */
const SCHEMES = [
  'api-key',
  'basic',
  'bearer',
  'concealed',
  'digest',
  'dpop',
  'gnap',
  'hoba',
  'mutual',
  'negotiate',
  'private-token',
  'scram',
  'session',
  'vapid',
] as const;

export const INSIDE: Orders = {
  'shared/http': { floors: [['.'], ['auth']] },
  'shared/pages': { floors: [['style'], ['.']] },
  'shared/stores': {
    floors: [
      ['outage'],
      SUBJECTS,
      ['cache'],
      ['postgres-url.ts', 'redis-url.ts'],
      ['stores.ts', 'settings.ts'],
      ['sql'],
      ['sqlite', 'redis'],
      ['postgres'],
      ['backup'],
      ['.'],
      ['contract'],
    ],
    forTests: ['contract'],
  },
  'shared/stores/sql': {
    floors: [
      ['sql.ts', 'digest.ts', 'moments.ts'],
      ['rows.ts'],
      // Applications are told of each end in its transaction.
      ['logout'],
      ['revocation'],
      OTHER_SUBJECTS.filter((subject) => subject !== 'people'),
      ['people', 'cache'],
      ['.'],
    ],
  },
  'shared/stores/sqlite': {
    floors: [['file'], ['schema'], ['backup'], ['trees'], ['.'], ['crash']],
    forTests: ['schema', '.'],
  },
  'shared/stores/redis': {
    floors: [['connection'], ['told'], ['authentication', 'cache', 'limits', 'trees'], ['.']],
    forTests: ['.'],
  },
  'shared/stores/contract': {
    floors: [
      ['eventually.ts', 'samples.ts', 'store-under-test.ts'],
      ['racing'],
      [...SUBJECTS, 'cache'],
      ['.'],
    ],
  },
  'shared/people': { floors: [['names'], ['access'], ['.'], ['second-factor'], ['file']] },
  'shared/auth': {
    // The interface of schemes, and their principals.
    floors: [['.'], ['tokens', 'credentials'], ['judge', 'schemes', 'standing']],
    forTests: ['judge', 'schemes'],
  },
  'shared/auth/schemes': { floors: [['parts'], SCHEMES, ['.']] },
  'shared/explain': {
    floors: [
      ['json-depth.ts', 'note.ts', 'own.ts', 'unreadable.ts'],
      ['checks.ts'],
      ['explained.ts'],
      ['noted-part.ts'],
      ['notes'],
      ['schemes'],
      ['.'],
    ],
  },
  'shared/server': {
    floors: [
      ['message'],
      ['client-errors'],
      ['limits'],
      ['tunnels'],
      ['content', 'http1', 'http2', 'front-door'],
      ['endpoints', 'listen'],
      ['metrics'],
      ['.'],
      ['wire'],
    ],
    // Most behaviour of a server can be tested only at a listening server.
    forTests: ['listen', 'wire', 'content'],
  },
  'shared/cli': {
    floors: [
      ['arguments', 'lines', 'ready'],
      ['files', 'stores'],
      ['clients', 'oauth', 'signatures'],
      ['private-token', 'gnap', 'push', 'declared'],
      ['commands'],
      ['.'],
    ],
    forTests: ['.'],
  },
  'authz-server': {
    floors: [
      ['sources'],
      ['base'],
      ['resources'],
      ['consent'],
      ['mail', 'gnap', 'logout'],
      ['pages'],
      ['engine'],
      ['userinfo', 'revocations', 'token-issuer', 'admin', 'start'],
      ['.'],
      ['integration'],
    ],
  },
  'authz-server/pages': {
    floors: [
      ['texts'],
      ['frame'],
      ['views'],
      ['sign-in'],
      ['passkeys'],
      ['addresses', 'admin'],
      ['interaction', 'password', 'registration', 'second-factor'],
      ['sources'],
      ['device'],
      ['gnap'],
      ['account'],
      ['activity', 'own-data'],
      ['.'],
    ],
  },
  'authz-server/engine': {
    floors: [
      ['storage'],
      ['sessions', 'clients', 'refresh', 'grants', 'answers'],
      ['codes'],
      ['token'],
      ['.'],
    ],
  },
  'authz-server/integration': {
    floors: [['.'], ['authorization', 'token', 'device', 'sources'], ['pages', 'gnap'], ['admin']],
  },
  'resource-server': {
    floors: [
      ['answers'],
      ['forwarding'],
      ['sign-in'],
      ['space'],
      ['pages'],
      ['exchange'],
      ['resources', 'cache', 'proxy', 'push'],
      ['gateway'],
      ['auth'],
      ['playground'],
      ['endpoints'],
      ['steps'],
      ['.'],
      ['integration'],
    ],
  },
  'resource-server/integration': {
    floors: [
      ['.'],
      [
        'answers',
        'auth',
        'cache',
        'endpoints',
        'gateway',
        'pages',
        'playground',
        'push',
        'resources',
        'space',
      ],
    ],
  },
  'resource-server/resources': {
    floors: [
      ['resource'],
      ['webdav'],
      ['content'],
      ['place'],
      ['representation', 'json'],
      ['query'],
      ['methods'],
      ['.'],
    ],
  },
  'resource-server/cache': { floors: [['rules'], ['store'], ['purge'], ['.']] },
  'resource-server/gateway': { floors: [['identity', 'websocket'], ['.']] },
  'resource-server/playground': {
    floors: [
      ['at-once.ts', 'http1-message.ts', 'person.ts'],
      ['browser.ts'],
      ['recorded.ts'],
      ['exchange.ts', 'checks'],
      ['in-shell.ts'],
      ['exchanges'],
      ['.'],
    ],
  },
  'resource-server/pages': { floors: [['texts'], ['views'], ['.']] },
};

/** The name in an order that matches a file; `below`: the file's path from that folder. */
function placeOf(below: string, { floors }: Order): string {
  const [first = '', ...rest] = below.split('/');
  return rest.length > 0 || floors.flat().includes(first) ? first : '.';
}

/**
 * Imports that go up in an order, or beside on the same floor; files without a floor; names that match no
 * file.
 */
function arrowsUpIn([at, order]: readonly [string, Order], imports: Imports): string[] {
  const { floors, forTests = [] } = order;
  const top = `${at}/`;
  const place = (path: string) => placeOf(path.slice(top.length), order);
  const floor = (path: string) => floors.findIndex((places) => places.includes(place(path)));
  const paths = [...imports.keys()].filter((path) => path.startsWith(top));
  const missing = floors.flat().filter((name) => !paths.some((path) => place(path) === name));
  return [
    ...missing.map((name) => `${top}${name} is not there`),
    ...paths.flatMap((path) => {
      if (floor(path) === -1) return `${path} stands on no floor of ${at}`;
      return (imports.get(path) ?? [])
        .filter((target) => {
          if (!target.startsWith(top) || place(target) === place(path)) return false;
          if (isTest(path) && forTests.includes(place(target))) return false;
          return floor(target) >= floor(path);
        })
        .map((target) => `${path} -> ${target}`);
    }),
  ];
}

export function arrowsUpInside(imports: Imports, orders: Orders): string[] {
  return Object.entries(orders).flatMap((order) => arrowsUpIn(order, imports));
}
