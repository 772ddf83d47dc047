import { constants } from 'node:http2';
import { Socket } from 'node:net';
import type { Duplex, Writable } from 'node:stream';
import type { Side } from '#shared/server/tunnels/tunnel.ts';
import { breakOff } from '../answers/side.ts';
import { setTimeout } from '#shared/base/safe-timers.ts';

/** Seconds. */
export interface TunnelTimes {
  /** Seconds without a byte in either direction after which a tunnel ends. */
  readonly idle: number;
  /** Such seconds after one side has ended. Default: `idle`. */
  readonly half?: number;
  readonly total: number;
}

/** The most octets on their way to the client. Over HTTP/2 the client may have no window for more. */
const OVER_TCP = 256 * 1024;
const OVER_HTTP2 = 64 * 1024;

/** Passes data from the destination to the client, up to its end. `most`: octets on their way at a time. */
export interface Flow {
  start(from: Socket, to: Writable, most: number): void;
}

/**
 * Why a tunnel ended: both sides ended, one side broke off, the second side did not end in time, or a time limit
 * passed.
 */
export type End = 'done' | 'client' | 'destination' | 'half' | 'idle' | 'total';

/**
 * Forwards bytes both ways until both sides are closed. Each direction is as fast as its receiver, and ends separately
 * (RFC 9110 section 9.3.6, RFC 9113 section 8.5).
 * If one side breaks off, the other side breaks off, too, and does not look complete. `broken`: the error code for an
 * HTTP/2 stream in this case.
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
    side.on('error', () => {}); // the event `close` follows
  }
  const stream: Duplex = client;
  stream.once('aborted', () => stop('client')); // HTTP/2 emits it before a misleading `end`
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
