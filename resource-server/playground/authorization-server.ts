import { once } from 'node:events';
import { connect } from 'node:net';
import type { LogFields } from '#shared/base/log-fields.ts';
import { RecentMap } from '#shared/base/recent-map.ts';
import { setTimeout } from '#shared/base/safe-timers.ts';
import { partsOf } from './http1-message.ts';
import { exchangeOn, type Way } from './listener.ts';

/** Milliseconds to wait for the log line of a request, which is written after the answer. */
const PATIENCE = 2000;
/** The most lines that are kept until the playground asks for them. */
const LINES = 1000;

/** The log of the authorization server, line by line as it arrives. */
export class AuthzLog {
  readonly #lines = new RecentMap<LogFields>(LINES);
  readonly #waiting = new Map<string, (line: LogFields | undefined) => void>();

  /** Stores a line. Returns whether the operator should see it. */
  take(text: string): boolean {
    const { level, event, ...line } = lineIn(text);
    if (event === 'request' && line.id !== undefined) {
      this.#lines.set(line.id, line);
      this.#waiting.get(line.id)?.(line);
    }
    return level !== 'info';
  }

  /** Resolves to the log line of the request with this id. Undefined: the line did not arrive in time. */
  of(id: string): Promise<LogFields | undefined> {
    const { promise, resolve } = Promise.withResolvers<LogFields | undefined>();
    const line = this.#lines.get(id);
    if (line !== undefined) return Promise.resolve(line);
    const timer = setTimeout(resolve, PATIENCE, undefined);
    this.#waiting.set(id, resolve);
    return promise.finally(() => {
      clearTimeout(timer);
      this.#waiting.delete(id);
    });
  }
}

/** Reads a line. An empty object: Node itself wrote the text, for example about a crash. */
function lineIn(text: string): LogFields & { readonly level?: string; readonly event?: string } {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

/** Sends requests to the authorization server of the playground at this port. Their Host field names the issuer. */
export function wayToAuthorizationServer(port: number, log: Pick<AuthzLog, 'of'>): Way {
  return {
    async send(write) {
      const socket = connect({ host: '127.0.0.1', port });
      const received = await exchangeOn(socket, undefined, async (signal) => {
        await once(socket, 'connect', { signal });
        return write(undefined);
      });
      const [, id] = partsOf(received).fields.find(([name]) => /^x-request-id$/i.test(name)) ?? [];
      return { received, noted: id === undefined ? undefined : await log.of(id) };
    },
  };
}
