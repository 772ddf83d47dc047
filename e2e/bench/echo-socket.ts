import { connect } from 'node:net';
import { systemRandom } from '#shared/base/random.ts';
import type { HttpRequest } from './requests.ts';
import { frameOf, maskedFrameOf } from './short-frame.ts';

/** Octets of a message. */
const LENGTH = 64;

/** The key of RFC 6455 section 1.3, and what accepts it. */
const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';
const SWITCHED =
  /^HTTP\/1\.1 101 [^]*\r\nsec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=\r\n(?:[^]*\r\n)?\r\n$/i;

/** A WebSocket with one message, whose frame was made beforehand. */
export interface EchoSocket extends Disposable {
  /** Sends it; rejects when anything else comes back, or nothing. */
  echo(): Promise<void>;
}

/** Where a WebSocket is, and what its handshake says besides. */
export interface SocketTarget extends Pick<HttpRequest, 'path' | 'fields'> {
  /** Origin. */
  readonly url: string;
}

/** Opens one (RFC 6455 section 4.1). Rejects with the status when there is none. */
export function openEchoSocket({ url, path, fields }: SocketTarget): Promise<EchoSocket> {
  const { host, hostname, port } = new URL(url);
  const message = systemRandom(LENGTH);
  const [frame, answer] = [maskedFrameOf(message, systemRandom(4)), frameOf(message)];
  const opening = Promise.withResolvers<EchoSocket>();
  let waiting: PromiseWithResolvers<void> | undefined;
  let read: (octets: Buffer) => void = readHead;
  let head = '';
  let came = 0;

  function readHead(octets: Buffer): void {
    head += octets.toString('latin1');
    if (!head.includes('\r\n\r\n')) return;
    if (!SWITCHED.test(head)) return fail(`answered ${head.split(' ')[1]}`);
    read = readEcho;
    opening.resolve({ echo, [Symbol.dispose]: () => socket.destroy() });
  }

  function readEcho(octets: Buffer): void {
    const right = octets.equals(answer.subarray(came, came + octets.length));
    if (waiting === undefined || !right) return fail('sent something else');
    came += octets.length;
    if (came < answer.length) return;
    came = 0;
    waiting.resolve();
    waiting = undefined;
  }

  function echo(): Promise<void> {
    waiting = Promise.withResolvers();
    socket.write(frame, (error) => error && fail('is closed'));
    return waiting.promise;
  }

  function fail(reason: string): void {
    const error = new Error(`${path} ${reason}`);
    opening.reject(error);
    waiting?.reject(error);
    socket.destroy();
  }

  const callback = (length: number, buffer: Uint8Array) => {
    read(Buffer.from(buffer.buffer, buffer.byteOffset, length));
    return true;
  };
  const onread = { buffer: Buffer.alloc(4096), callback };
  const socket = connect({ host: hostname, port: Number(port), onread })
    .on('error', () => {}) // `close` follows
    .once('close', () => fail('ended'));
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${KEY}\r\n${lines.join('')}\r\n`,
  );
  return opening.promise;
}
