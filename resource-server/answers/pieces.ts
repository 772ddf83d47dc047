import type { Answer } from '#shared/http/answer.ts';

/**
 * Content that is read piece by piece. A reader may use a piece until it asks for the next, since the octets may be
 * overwritten then. A reader reads the content at most once, and disposes of it.
 */
export interface Pieces extends AsyncDisposable {
  /** Iterates over the pieces, none longer than `most` octets. */
  each(most: number): AsyncIterable<Buffer>;
}

/** The content of a resource's answer. */
export type Body = string | Uint8Array | Pieces;

export type ResourceAnswer = Answer<Body>;

export function inPieces(body: Body | undefined): body is Pieces {
  return typeof body === 'object' && !(body instanceof Uint8Array);
}

/** Returns pieces of content in memory. `release`: called once they are no longer needed. */
export function piecesOf(content: Buffer, release: () => void): Pieces {
  let held = true;
  return {
    async *each(most) {
      for (let at = 0; at < content.length; at += most) yield content.subarray(at, at + most);
    },
    async [Symbol.asyncDispose]() {
      if (held) release();
      held = false;
    },
  };
}

/** Reads all of the content into memory. */
export async function wholeOf(content: Buffer | Pieces): Promise<Buffer> {
  if (!inPieces(content)) return content;
  await using held = content;
  const copies: Buffer[] = [];
  for await (const piece of held.each(Infinity)) copies.push(Buffer.from(piece));
  return Buffer.concat(copies);
}
