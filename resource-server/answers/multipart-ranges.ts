import { inPieces, type Pieces } from './pieces.ts';
import { contentRange, lengthOf, type Range } from './range.ts';

/** Content that can be read in parts. */
export interface Ranged {
  readonly type: string;
  /** Bytes. */
  readonly length: number;
  /** Returns the whole content, or a part. Undefined: the content was removed. */
  content(range?: Range): Promise<Buffer | Pieces | undefined>;
}

/** Returns several parts of a representation as one multipart/byteranges content (RFC 9110 section 14.6). */
export function multipartRanges(
  { type, length, content }: Ranged,
  ranges: readonly Range[],
  boundary: string,
): Ranged {
  const parts = ranges.map((range) => ({
    range,
    head: `\r\n--${boundary}\r\nContent-Type: ${type}\r\nContent-Range: ${contentRange(range, length)}\r\n\r\n`,
  }));
  const end = `\r\n--${boundary}--\r\n`;

  return {
    type: `multipart/byteranges; boundary=${boundary}`,
    length: parts.reduce((sum, { head, range }) => sum + head.length + lengthOf(range), end.length),

    /** Opens each part only when the previous part has been sent. */
    async content() {
      const first = await content(ranges[0]);
      if (first === undefined) return undefined;
      return {
        each: (most) => pieces(first, most),
        async [Symbol.asyncDispose]() {
          if (inPieces(first)) await first[Symbol.asyncDispose]();
        },
      };
    },
  };

  async function* pieces(first: Buffer | Pieces, most: number): AsyncGenerator<Buffer> {
    for (const [index, { range, head }] of parts.entries()) {
      yield Buffer.from(head);
      const part = index === 0 ? first : await content(range);
      if (part === undefined) throw new Error('the content went between two of its parts');
      if (inPieces(part)) {
        await using held = part;
        yield* held.each(most);
      } else yield part;
    }
    yield Buffer.from(end);
  }
}
