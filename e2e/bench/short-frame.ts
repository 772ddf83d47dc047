/**
 * Frames of messages whose length is in one octet (RFC 6455 section 5.2): what a client sends, and what a server
 * gives back.
 */

/** FIN, and a binary message. */
const BINARY = 0x82;
const MASKED = 0x80;
/** The octets before a message. */
const HEAD = 2;
const MASK = 4;

/** As a server sends it. */
export function frameOf(message: Buffer): Buffer {
  return Buffer.concat([Buffer.of(BINARY, message.length), message]);
}

/** As a client sends it, by a mask of four octets (RFC 6455 section 5.3). */
export function maskedFrameOf(message: Buffer, mask: Buffer): Buffer {
  const masked = message.map((octet, at) => octet ^ (mask[at % MASK] ?? 0));
  return Buffer.concat([Buffer.of(BINARY, MASKED | message.length), mask, masked]);
}

/** How long a frame is that a client sends, by its first octets; undefined: too few have come. */
export function maskedLength(octets: Buffer): number | undefined {
  const second = octets[1];
  return second === undefined ? undefined : HEAD + MASK + (second ^ MASKED);
}

/** The frame of a client as a server gives it back. */
export function echoOf(frame: Buffer): Buffer {
  const length = frame.length - MASK;
  const echo = Buffer.allocUnsafe(length);
  echo[0] = frame[0] ?? 0;
  echo[1] = length - HEAD;
  for (let at = HEAD; at < length; at += 1) {
    echo[at] = (frame[at + MASK] ?? 0) ^ (frame[HEAD + ((at - HEAD) % MASK)] ?? 0);
  }
  return echo;
}
