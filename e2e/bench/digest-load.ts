import { digestClient } from '../clients/digest/digest-client.ts';
import { run } from '../clients/digest/exchange.ts';
import type { Exchange, SchemeClient } from '../clients/digest/exchange.ts';
import { overHttp } from '../clients/digest/over-http.ts';
import type { HttpRequest, Load } from './requests.ts';

export interface DigestLoadOptions {
  /** The origin of the server. */
  readonly url: string;
  readonly path: string;
  readonly username: string;
  readonly password: string;
  readonly algorithm: 'MD5' | 'SHA-256';
  /** The number of clients that send in rotation. Each has its own nonce and nc. */
  readonly clients: number;
  /** Responses per second, more than any server checks, because each response is valid once. */
  readonly perSecond: number;
}

export interface DigestLoad extends Load {
  /** A response to a real nonce, made with another password. */
  forged(): Promise<HttpRequest>;
}

/** Digest responses (RFC 7616), made before each run. None is sent twice. */
export function digestLoad(options: DigestLoadOptions): DigestLoad {
  const { url, path, clients, perSecond, ...claims } = options;
  const { hostname, port } = new URL(url);
  const send = overHttp({ host: hostname, port: Number(port) });
  const asked = { method: 'GET', target: path, fields: [], content: Buffer.alloc(0) };

  /** A client with a nonce, to which the server has proved itself once. */
  async function begin(): Promise<SchemeClient> {
    const client = digestClient(claims);
    const { status } = await run(client.exchange(asked), send);
    if (status !== 200) throw new Error(`${url}${path} answered ${status} by Digest`);
    return client;
  }

  return {
    async take(seconds) {
      const begun = await Promise.all(Array.from({ length: clients }, begin));
      const requests: HttpRequest[] = [];
      while (requests.length < seconds * perSecond) {
        for (const client of begun) requests.push(sent(await client.exchange(asked).next()));
      }
      return requests;
    },
    sent: () => {},
    async forged() {
      const exchange = digestClient({ ...claims, password: `${claims.password}!` }).exchange(asked);
      await exchange.next();
      return sent(await exchange.next(await send(asked)));
    },
  };
}

function sent({ value }: Awaited<ReturnType<Exchange['next']>>): HttpRequest {
  if (!('target' in value)) throw new Error(`answered ${value.status} without a challenge`);
  return { method: value.method, path: value.target, fields: Object.fromEntries(value.fields) };
}
