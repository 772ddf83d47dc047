/** Two gateways with caches in front of one application, on one store. */
import { Agent, request as send } from 'undici';
import { startStore } from '../../flows/flow.ts';
import type { StoreKind } from '../../flows/flow.ts';
import { type Pair, startPair } from '../../pair/pair.ts';

const MIB = 1024 ** 2;
/** Milliseconds until an answer begins, and between its pieces. A busy machine needs less. */
const PATIENCE = 60_000;
/** Error codes of undici for an answer that did not begin or continue within PATIENCE. */
const LATE: ReadonlySet<string> = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);
/** Long answers are on disk, and the cache has too little room for all answers. */
const CACHE = {
  kind: 'shared',
  maxBytes: MIB,
  disk: { maxBytes: 4 * MIB },
  purge: { networks: ['127.0.0.1/32'] },
};

export interface Asked {
  readonly method: string;
  /** The path below the space's address. */
  readonly path: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly content?: string;
}

export interface Reply {
  readonly status: number;
  /** The last value of each field. Names are in lower case. */
  readonly fields: Readonly<Record<string, string | undefined>>;
  readonly content: Buffer;
}

export interface Gateways extends AsyncDisposable {
  readonly pair: Pair;
  /**
   * Resolves to a complete answer, or to undefined if the connection breaks off or no process listens.
   * Rejects after PATIENCE without a byte.
   */
  ask(gateway: number, asked: Asked): Promise<Reply | undefined>;
  /** Kills the process of the gateway with SIGKILL. */
  kill(gateway: number): Promise<void>;
  restart(gateway: number): Promise<void>;
}

export async function startGateways(kind: StoreKind, upstream: string): Promise<Gateways> {
  await using parts = new AsyncDisposableStack();
  const store = await startStore(kind, parts);
  const settings = ({ resource }: Pick<Pair, 'resource'>) => ({
    spaces: [
      {
        url: `${resource}/app/`,
        realm: 'app',
        schemes: [],
        serves: 'upstream',
        upstream: { url: upstream },
        cache: CACHE,
      },
    ],
  });
  const pair = parts.use(await startPair({ ...store, resource: 2, settings }));
  // The server accepts BAN only as the first request of a connection, so each request opens its own
  // connection.
  const dispatcher = parts.adopt(
    new Agent({ pipelining: 0, headersTimeout: PATIENCE, bodyTimeout: PATIENCE }),
    (agent) => agent.destroy(),
  );
  const owned = parts.move();
  return {
    pair,
    async ask(gateway, { method, path, fields: headers, content }) {
      const url = `${pair.resources[gateway]?.url}/app/${path}`;
      try {
        const body = content === undefined ? {} : { body: content };
        const options = { dispatcher, method: method as 'GET', headers, ...body };
        const { statusCode, headers: lines, body: answered } = await send(url, options);
        const fields = Object.entries(lines).map(([name, value]) => [name, [value].flat().at(-1)]);
        return {
          status: statusCode,
          fields: Object.fromEntries(fields) as Reply['fields'],
          content: Buffer.from(await answered.arrayBuffer()),
        };
      } catch (error) {
        const { code = '' } = error as { code?: string };
        if (LATE.has(code))
          throw new Error(`${method} ${url} ${JSON.stringify(headers)} waits for ever`, {
            cause: error,
          });
        return undefined;
      }
    },
    async kill(gateway) {
      await pair.resources[gateway]?.kill();
    },
    async restart(gateway) {
      await pair.resources[gateway]?.start();
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
