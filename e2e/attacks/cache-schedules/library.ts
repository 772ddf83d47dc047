/**
 * An application whose answers change and may be cached for an hour. It can tell at any time which version
 * is current.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Dice } from '../dice.ts';

/** The length of each target's content in octets: the cache keeps some in memory and some on disk. */
const LENGTHS = [200, 4000, 60_000, 70_000, 200_000, 400_000] as const;
export const TARGETS = [...LENGTHS.keys()];

/** The path of each target. */
export const pathOf = (target: number) => `t${target}`;
export const TAGS = ['even', 'odd'] as const;
export const hasTag = (tag: (typeof TAGS)[number], target: number) => TAGS[target % 2] === tag;

/**
 * Pauses in milliseconds: before an answer begins (LONG_PAUSE for one answer in LONG_PAUSES), and between
 * its pieces.
 */
const PAUSE = 8;
const LONG_PAUSE = 120;
const LONG_PAUSES = 4;
const BETWEEN = 3;
const PIECES = 6;
/** One of BREAKS answers breaks off, and one of REFUSALS changes is refused. */
const BREAKS = 30;
const REFUSALS = 10;

/** The version that an answer shows; `variant`: the selecting fields of the request. */
export interface Version {
  readonly version: number;
  readonly variant: string;
}

export const etagOf = ({ version, variant }: Version) => `"${version}.${variant}"`;

/** Undefined if this application did not make the entity tag. */
export function versionOf(etag: string | undefined): Version | undefined {
  const [, version, variant] = /^"(\d+)\.(\w*)"$/.exec(etag ?? '') ?? [];
  return variant === undefined ? undefined : { version: Number(version), variant };
}

export const lengthOf = (target: number) => LENGTHS[target] ?? 0;

/** Every part of the content names its target, version and variant, so that a mixture is visible. */
export const contentOf = (target: number, { version, variant }: Version): Buffer =>
  Buffer.alloc(lengthOf(target), `${pathOf(target)} ${version} ${variant};`);

export class Library implements AsyncDisposable {
  readonly #versions = TARGETS.map(() => 1);
  readonly #roll: Dice;
  readonly #server = createServer((request, response) => {
    // If a gateway is killed, its requests to this application break off.
    this.#answer(request, response).catch(() => response.destroy());
  });

  constructor(roll: Dice) {
    this.#roll = roll;
  }

  async start(): Promise<string> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/base/`;
  }

  /** Returns the current version. */
  version(target: number): number {
    return this.#versions[target] ?? 0;
  }

  /** Changes a target without notice to the gateways. */
  change(target: number): number {
    return (this.#versions[target] = this.version(target) + 1);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request;
    const target = Number(/\/t(\d+)$/.exec(url)?.[1]);
    const content = await text(request);
    if (!['GET', 'HEAD', 'QUERY'].includes(method)) return this.#write(target, response);
    const variant = method === 'QUERY' ? content : (headers['accept-language'] ?? '');
    const state = { version: this.version(target), variant };
    await sleep(this.#roll(this.#roll(LONG_PAUSES) === 0 ? LONG_PAUSE : PAUSE));
    response
      .setHeader('ETag', etagOf(state))
      .setHeader('Cache-Control', 'public, max-age=3600')
      .setHeader('Vary', 'Accept-Language')
      .setHeader('Surrogate-Key', TAGS[target % 2] ?? '');
    if (headers['if-none-match']?.split(', ').includes(etagOf(state))) {
      response.writeHead(304).end();
      return undefined;
    }
    return this.#send(contentOf(target, state), method, response);
  }

  async #send(content: Buffer, method: string, response: ServerResponse): Promise<void> {
    if (this.#roll(2) === 0) response.setHeader('Content-Length', content.length);
    if (method === 'HEAD') {
      response.end();
      return;
    }
    const breaks = this.#roll(BREAKS) === 0;
    const pieces = 1 + this.#roll(PIECES);
    const length = Math.ceil(content.length / pieces);
    for (let piece = 0; piece < pieces; piece += 1) {
      if (breaks && piece === pieces - 1) return void response.destroy();
      response.write(content.subarray(piece * length, (piece + 1) * length));
      await sleep(this.#roll(BETWEEN));
    }
    response.end();
  }

  /** Handles a write. The answer may break off although the write is done. */
  async #write(target: number, response: ServerResponse): Promise<void> {
    if (this.#roll(REFUSALS) === 0) return void response.writeHead(409).end();
    const version = this.change(target);
    await sleep(this.#roll(this.#roll(LONG_PAUSES) === 0 ? LONG_PAUSE : PAUSE));
    if (this.#roll(BREAKS) === 0) return void response.destroy();
    response.writeHead(200, { Version: `${version}` }).end();
    return undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await this.#server[Symbol.asyncDispose]();
  }
}
