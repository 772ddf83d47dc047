/** Sends requests byte by byte, because an HTTP library would normalize them. */
import { expect } from '@jest/globals';
import type { Field, HttpResponse } from '../clients/digest/exchange.ts';
import type { Realm, AttackedPair } from './attacked-pair.fixture.ts';

export interface Shape {
  readonly method?: string;
  /** Default: the realm's path. */
  readonly target?: string;
  readonly version?: string;
  /** One character is one octet. */
  readonly content?: string;
}

/** Sends a request with these field lines unchanged, and with `Connection: close`. */
export type Wire = (
  server: number,
  realm: Realm,
  lines: readonly string[],
  shape?: Shape,
) => Promise<HttpResponse>;

export const wireOf =
  (attacked: AttackedPair): Wire =>
  async (server, realm, lines, shape = {}) => {
    const { method = 'GET', target = `/${realm}/`, version = '1.1', content = '' } = shape;
    const head = [`${method} ${target} HTTP/${version}`, 'Connection: close', ...lines];
    if (version === '1.1') head.push('Host: localhost');
    if (content !== '') head.push(`Content-Length: ${content.length}`);
    return parseAnswer(await attacked.raw(server, `${head.join('\r\n')}\r\n\r\n${content}`));
  };

/** Parses the answer to the only request of a connection; status 0 if there is none. */
export function parseAnswer(received: string): HttpResponse {
  const end = received.indexOf('\r\n\r\n');
  const [first = '', ...lines] = received.slice(0, end).split('\r\n');
  return {
    status: Number(/^HTTP\/1\.1 ([0-9]{3}) /.exec(first)?.[1] ?? 0),
    fields: lines.map((line): Field => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    }),
    content: Buffer.from(received.slice(end + 4), 'latin1'),
    trailers: [],
  };
}

/**
 * Checks that both processes are alive, no logged error is a defect, and the log has none of these words.
 */
export async function expectSound(
  { pair }: AttackedPair,
  secrets: readonly string[],
): Promise<void> {
  for (const { url, log } of pair.resources) {
    expect((await fetch(`${url}/health/ready`)).status).toBe(200);
    expect(log).toContain('"event":"request"');
    expect(log.split('\n').filter((line) => line.includes('"level":"error"'))).toEqual([]);
    expect(secrets.filter((secret) => log.includes(secret))).toEqual([]);
  }
}
