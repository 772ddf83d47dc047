/** For tests: HTTP/2 as bytes (RFC 9113 section 4), for what no client library sends. */

/** How a client begins: the preface and empty SETTINGS. */
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

/** A HEADERS frame with END_HEADERS, its fields as literals (RFC 7541 section 6.2.2); under 127 bytes each. */
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

/** The whole frames in what was received. */
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

/** The status of the answer on a stream, if it is one that HPACK has in its table; 0 when there is none. */
export function statusOn(stream: number, received: string): number {
  const answer = framesOf(received).find((one) => one.type === 1 && one.stream === stream);
  return [200, 204, 206, 304, 400, 404, 500][(answer?.payload[0] ?? 0) - 0x88] ?? 0;
}

/** The content of the answer on a stream, so far. */
export function contentOn(stream: number, received: string): string {
  const data = framesOf(received).filter((one) => one.type === 0 && one.stream === stream);
  return Buffer.concat(data.map(({ payload }) => payload)).toString('latin1');
}

/** The error codes of the GOAWAY frames (RFC 9113 section 7), or of the RST_STREAM frames of a stream. */
export function errorsOf(received: string, reset?: number): number[] {
  return framesOf(received)
    .filter((one) =>
      reset === undefined ? one.type === 7 : one.type === 3 && one.stream === reset,
    )
    .map(({ payload }) => payload.readUInt32BE(reset === undefined ? 4 : 0));
}
