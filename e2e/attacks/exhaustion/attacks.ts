import http2 from 'node:http2';
import { connect } from 'node:net';
import type { Site } from './site.ts';
import {
  download,
  downloadNow,
  exchange,
  handshake,
  head,
  opening,
  ROUND,
  type Visit,
} from './visits.ts';

/** An attack that tries to use up the server, and the visits that must succeed meanwhile. */
export interface Attack {
  readonly title: string;
  /** Runs until `over` is aborted, then closes every connection. */
  readonly begin: (site: Site, over: AbortSignal) => void;
  /** The visit that clients at other addresses repeat during the attack. */
  readonly visit: Visit;
}

const SEMICOLONS = 78_000;
/** Milliseconds between two pieces of content: 200 octets per second. */
const DRIP = 250;
const DROP = Buffer.alloc(50, 'x');

/** Milliseconds after which the attacker replaces a closed connection. */
const PAUSE = 1000;

interface Kept {
  readonly address: string;
  /** The octets sent at once. */
  readonly head: string;
  /** The octets sent after each DRIP. If there are none, the attacker does not read the connection. */
  readonly drip?: Buffer;
}

/** Keeps a connection open; if the server closes it, opens another. */
function keep(site: Site, over: AbortSignal, kept: Kept): void {
  const socket = connect({ port: site.port, host: '127.0.0.1', localAddress: kept.address });
  socket.on('error', () => {}).write(kept.head);
  const { drip } = kept;
  const timer = drip && setInterval(() => socket.write(drip), DRIP);
  if (drip) socket.resume();
  const end = () => socket.destroy();
  over.addEventListener('abort', end);
  socket.once('close', () => {
    clearInterval(timer);
    over.removeEventListener('abort', end);
    const again = () => {
      if (!over.aborted) keep(site, over, kept);
    };
    if (!over.aborted) setTimeout(again, PAUSE).unref();
  });
}

const many = (number: number, work: (n: number) => void) =>
  Array.from({ length: number }, (_, n) => n).forEach(work);

/** Sends the same request repeatedly on one connection, each after an answer. */
function repeat({ port }: Site, over: AbortSignal, request: string): void {
  const socket = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.10' });
  socket.on('error', () => {}).on('data', () => socket.write(request));
  socket.write(request);
  over.addEventListener('abort', () => socket.destroy());
}

/** Repeats a request over HTTP/2, where a repeated field line is one octet (RFC 7541 section 6.1). */
function repeatIndexed({ port }: Site, over: AbortSignal): void {
  const session = http2.connect(`http://127.0.0.1:${port}`, {
    createConnection: () => connect({ port, host: '127.0.0.1', localAddress: '127.0.0.10' }),
  });
  session.on('error', () => {});
  over.addEventListener('abort', () => session.destroy());
  const cookie = Array.from({ length: 20 }, () => ';'.repeat(SEMICOLONS / 20));
  const ask = () => {
    // A session that the server has closed refuses at once: asking it again would block this process.
    if (over.aborted || session.closed || session.destroyed) return;
    const fields = { ':path': '/private/x', accept: 'text/html', cookie };
    session
      .request(fields)
      .on('error', () => {})
      .on('close', ask)
      .resume();
  };
  ask();
}

/** The attacks by the name for `npm run soak`. */
export const ATTACKS: Readonly<Record<string, Attack>> = {
  cookies: {
    title: 'Cookie of 78,000 semicolons on four connections, two of them HTTP/2',
    visit: exchange,
    begin(site, over) {
      const cookie = `Cookie: ${';'.repeat(SEMICOLONS)}`;
      many(2, () => repeat(site, over, head('GET /private/x', 'Accept: text/html', cookie)));
      many(2, () => repeatIndexed(site, over));
    },
  },
  places: {
    title:
      '110 POSTs of 200 octets a second, and 120 downloads that nobody reads, from two addresses',
    visit: exchange,
    begin(site, over) {
      many(110, (n) => {
        const post = head('POST /open/x', 'Content-Length: 100000000');
        keep(site, over, { address: `127.0.0.${10 + (n % 2)}`, head: post, drip: DROP });
      });
      many(120, (n) => {
        const get = head('GET /open/long');
        keep(site, over, { address: `127.0.0.${10 + (n % 2)}`, head: get });
      });
    },
  },
  'many-places': {
    title: '40 POSTs of 200 octets a second from each of thirty addresses',
    visit: exchange,
    begin(site, over) {
      many(30 * 40, (n) => {
        const post = head('POST /open/x', 'Content-Length: 100000000');
        keep(site, over, { address: `127.0.1.${1 + (n % 30)}`, head: post, drip: DROP });
      });
    },
  },
  readers: {
    title: '20 readers at one address of a shared download that stop reading',
    visit: download,
    begin({ port }, over) {
      const begin = () => {
        const get = head(`GET ${downloadNow()}`);
        many(20, () => {
          const socket = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.10' });
          socket.on('error', () => {}).write(get);
          const end = () => socket.destroy();
          const timer = setTimeout(end, ROUND);
          over.addEventListener('abort', end);
          socket.once('close', () => {
            clearTimeout(timer);
            over.removeEventListener('abort', end);
          });
        });
      };
      begin();
      const timer = setInterval(begin, ROUND / 4);
      over.addEventListener('abort', () => clearInterval(timer));
    },
  },
  sockets: {
    title: '900 WebSockets of one address',
    visit: opening,
    begin(site, over) {
      many(900, () => keep(site, over, { address: '127.0.0.10', head: handshake }));
    },
  },
};
