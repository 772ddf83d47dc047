import { constants } from 'node:http2';
import { Socket } from 'node:net';
import type { Duplex, Writable } from 'node:stream';
import type { Side } from '#shared/server/tunnels/tunnel.ts';
import { breakOff } from '../answers/side.ts';
import { setTimeout } from '#shared/base/safe-timers.ts';

/** Seconds. */
export interface TunnelTimes {
  /** Without a byte in either direction. */
  readonly idle: number;
  /** The same when one side has ended; default: no other. */
  readonly half?: number;
  readonly total: number;
}

/** Octets that are on their way to the client at a time; over HTTP/2 it may have no window for more. */
const OVER_TCP = 256 * 1024;
const OVER_HTTP2 = 64 * 1024;

/** How what comes from the destination goes on to the client, to its end; the last: octets on their way at a time. */
export interface Flow {
  start(from: Socket, to: Writable, most: number): void;
}

/** The cause of a tunnel's end: both sides are done, one of them broke off, only one was done, or its time is over. */
export type End = 'done' | 'client' | 'destination' | 'half' | 'idle' | 'total';

/**
 * Forwards bytes both ways until both sides are closed; each direction is as fast as its receiver, and
 * ends by itself (RFC 9110 section 9.3.6, RFC 9113 section 8.5). What breaks off on one side breaks
 * off on the other and does not look like an end. `broken`: what a stream of HTTP/2 is told then.
 */
export async function relay(
  client: Side,
  destination: Socket,
  inflow: Flow,
  { idle, half, total }: TunnelTimes,
  broken = constants.NGHTTP2_CONNECT_ERROR,
): Promise<End> {
  let end: End | undefined;
  function stop(reason: End): void {
    if (end !== undefined) return;
    end = reason;
    breakOff(client, broken);
    breakOff(destination);
  }

  const timer = setTimeout(stop, total * 1000, 'total');
  const sides = [client, destination];
  let silent: End = 'idle';
  const hurry = () => {
    if (half === undefined) return;
    silent = 'half';
    for (const side of sides) side.setTimeout(Math.min(half, idle) * 1000);
  };
  for (const side of sides) {
    side.setTimeout(idle * 1000, () => stop(silent));
    side.on('error', () => {}); // `close` follows
  }
  const stream: Duplex = client;
  stream.once('aborted', () => stop('client')); // HTTP/2 has it before an `end` that is none
  stream.pipe(destination, { end: false });
  const ended = () => {
    if ('rstCode' in client && client.rstCode !== constants.NGHTTP2_NO_ERROR) return stop('client');
    hurry();
    destination.end();
  };
  if (stream.readableEnded) ended();
  else stream.once('end', ended);
  destination.once('end', hurry);
  inflow.start(destination, stream, client instanceof Socket ? OVER_TCP : OVER_HTTP2);
  await Promise.all([
    closed(client).then(() => {
      if (!client.readableEnded || !destination.readableEnded) stop('client');
    }),
    closed(destination).then(() => {
      if (!client.readableEnded || !destination.readableEnded) stop('destination');
    }),
  ]);
  clearTimeout(timer);
  return end ?? 'done';
}

async function closed(side: Duplex): Promise<void> {
  if (!side.closed) await new Promise((resolve) => side.once('close', resolve));
}
