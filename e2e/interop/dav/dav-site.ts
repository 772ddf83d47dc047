/** The pair with its tour behind a recorder, and a HOME folder for programs. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../parts/free-port.ts';
import { startPair } from '../../pair/pair.ts';
import type { Pair } from '../../pair/pair.ts';
import { until } from '../../parts/process.ts';
import { temporaryFolder } from '../../parts/temporary-folder.ts';
import { ALICE, JASON } from '../site.ts';
import { startRecorder } from './recorder.ts';
import type { Exchange, Redirect } from './recorder.ts';

/** Limits that no test reaches. */
const UNLIMITED = { burst: 1_000_000, per: 0.001 };
const LIMITS = { credentials: UNLIMITED, signIn: UNLIMITED };

/** A request as the server logged it. */
export interface Served {
  readonly method: string;
  readonly path: string;
  readonly status: number;
}

export interface DavSite extends AsyncDisposable {
  readonly pair: Pair;
  /** The public origin in clear text, which is the recorder's origin. */
  readonly origin: string;
  /** The addresses of the caller's own tree: through the recorder, and over TLS without the recorder. */
  readonly url: string;
  readonly tlsUrl: string;
  /** The file with the server's certificate, readable by every user. */
  readonly certificate: string;
  /** The HOME folder. It contains only the certificate. */
  readonly home: string;
  /** Returns the exchanges that the recorder saw during the action. */
  recorded(action: () => Promise<unknown>): Promise<readonly Exchange[]>;
  /** The requests in the server's log so far. Over TLS the recorder sees nothing. */
  served(): readonly Served[];
  /**
   * Resolves once the server's log has this request, because a client may finish before the line is
   * written.
   */
  hasServed(method: string, path: string, status: number): Promise<void>;
}

/** Redirects by target at the recorder. */
export type Redirects = Readonly<Record<string, Redirect>>;

export async function startDavSite(redirects: Redirects = {}): Promise<DavSite> {
  await using parts = new AsyncDisposableStack();
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const pair = parts.use(await startPair({ settings: { resource: origin, limits: LIMITS } }));
  await Promise.all([ALICE, JASON].map(({ name, password }) => pair.addPerson(name, password)));
  const { exchanges } = parts.use(
    await startRecorder(port, pair.resource, new Map(Object.entries(redirects))),
  );
  const { path: home } = parts.use(await temporaryFolder());
  const certificate = join(home, 'certificate.pem');
  const made = await readFile(join(pair.data, 'tls', 'certificate.pem'));
  await writeFile(certificate, made, { mode: 0o644 });
  const served = () =>
    (pair.resources[0]?.log ?? '')
      .split('\n')
      .filter((line) => line.includes('"event":"request"') && line.endsWith('}'))
      .map((line) => JSON.parse(line) as Served);
  const owned = parts.move();
  return {
    pair,
    origin,
    url: `${origin}/dav/`,
    tlsUrl: `${pair.resourceTls}/dav/`,
    certificate,
    home,
    async recorded(action) {
      const before = exchanges.length;
      await action();
      return exchanges.slice(before);
    },
    served,
    hasServed: (method, path, status) =>
      until(() =>
        served().some((one) => one.method === method && one.path === path && one.status === status),
      ),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
