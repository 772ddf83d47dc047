/** HTTP/2 as bytes (RFC 9113 section 4), for tests that send what no client library sends. */

/** The first octets of a client: the preface and empty SETTINGS. */
export const OPENING = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  frame(4, 0, 0, Buffer.alloc(0)),
]);

export function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/**
 * Returns a HEADERS frame with END_HEADERS. Its fields are literals (RFC 7541 section 6.2.2), each under 127 bytes.
 */
export function headersFrame(
  stream: number,
  fields: readonly (readonly [string, string])[],
  { endStream = true } = {},
): Buffer {
  const literals = fields.flatMap(([name, value]) => [
    Buffer.from([0, name.length]),
    Buffer.from(name, 'latin1'),
    Buffer.from([value.length]),
    Buffer.from(value, 'latin1'),
  ]);
  return frame(1, endStream ? 5 : 4, stream, Buffer.concat(literals));
}

export interface Frame {
  readonly type: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** Returns the complete frames in the received octets. */
export function framesOf(received: string): Frame[] {
  const bytes = Buffer.from(received, 'latin1');
  const frames: Frame[] = [];
  for (let at = 0; at + 9 <= bytes.length;) {
    const end = at + 9 + bytes.readUIntBE(at, 3);
    const stream = bytes.readUInt32BE(at + 5);
    frames.push({ type: bytes[at + 3] ?? 0, stream, payload: bytes.subarray(at + 9, end) });
    at = end;
  }
  return frames;
}

/** Returns the status of the answer on a stream if HPACK has it in its table; 0 if there is none. */
export function statusOn(stream: number, received: string): number {
  const answer = framesOf(received).find((one) => one.type === 1 && one.stream === stream);
  return [200, 204, 206, 304, 400, 404, 500][(answer?.payload[0] ?? 0) - 0x88] ?? 0;
}

/** Returns the content of the answer on a stream so far. */
export function contentOn(stream: number, received: string): string {
  const data = framesOf(received).filter((one) => one.type === 0 && one.stream === stream);
  return Buffer.concat(data.map(({ payload }) => payload)).toString('latin1');
}

/** Returns the error codes of the GOAWAY frames (RFC 9113 section 7), or of the RST_STREAM frames of a stream. */
export function errorsOf(received: string, reset?: number): number[] {
  return framesOf(received)
    .filter((one) =>
      reset === undefined ? one.type === 7 : one.type === 3 && one.stream === reset,
    )
    .map(({ payload }) => payload.readUInt32BE(reset === undefined ? 4 : 0));
}
